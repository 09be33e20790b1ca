"""The description against the server: whatever its schemas allow is answered without a fault, by every estimator."""

import json
import os

import hypothesis
import pytest
from hypothesis import strategies as st
from tests.service.test_endpoints import KINDS

schemathesis = pytest.importorskip("schemathesis")

EXAMPLES = 100 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 3
NAMES = [*(f"fuzz-{kind}" for kind in KINDS), "fuzz-unknown"]
SETTINGS = hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
DEEP = json.loads("[" * 150 + "]" * 150)
ROWS = [x for _, x, _, other, _ in KINDS.values() for x in (x, other)]
ODD_ROWS = [
    ["the", "cat"],
    [[10**30], ["cat"]],
    [{"word": "the", "next": {"word": "cat"}}, {"capital": True}],
    *([], {}, [[]], [None], [True], [10**400], "", "\0", DEEP),
    *({"a": None}, {"a": 10**400}, {"a": DEEP}, {"indices": [1], "values": [10**400]}),
]
LABELS = [*(y for _, _, y, _, other in KINDS.values() for y in (y, other)), 10**30, [1 << 63], "y" * 1001, 1e308, ["D"]]
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return value.encode("utf-8", "replace") if isinstance(value, str) else b""


def made_sensible(case, data):
    """Replace what the schema makes at random, often by something a model might take, or almost."""
    rows, labels = st.sampled_from([*ROWS, *ODD_ROWS]), st.sampled_from(LABELS)
    if isinstance(case.body, dict) and "x" in case.body:
        if data.draw(st.integers(0, 3)):
            case.body["x"] = data.draw(rows)
        if "y" in case.body and data.draw(st.integers(0, 3)):
            case.body["y"] = data.draw(labels)
        if data.draw(st.booleans()):
            case.body.pop("position", None)
    elif isinstance(case.body, str):
        several = st.lists(st.tuples(rows, labels), max_size=5)
        own = "".join(json.dumps({"x": x, "y": y}) + "\n" for x, y in data.draw(several))
        case.body = data.draw(st.sampled_from(["", own])) + case.body


def test_nothing_that_can_be_sent_makes_the_server_fail(server, client):
    for kind, (settings, x, y, other_x, other_y) in KINDS.items():
        model = client.create(f"fuzz-{kind}", kind, **settings)
        model.learn(x, y)
        model.learn(other_x, other_y)
    sent = set()

    def send(case, data):
        for name in NAMES if case.path_parameters else [None]:
            if name is not None:
                case.path_parameters["name"] = name
            made_sensible(case, data)
            answer = case.call_and_validate(headers={"Authorization": f"Bearer {server.token}"}, checks=CHECKS)
            sent.add((case.operation.label, name, answer.status_code))

    for found in schemathesis.openapi.from_url(f"{server.url}/openapi.json").get_all_operations():
        operation = found.ok()
        if operation.method.upper() != "DELETE":  # which would leave nothing to ask
            SETTINGS(hypothesis.given(case=operation.as_strategy(), data=st.data())(send))()
    asked = {(label, name) for label, name, _ in sent if name is not None}
    assert len(asked) == 11 * len(NAMES), "every estimator at every path"
    assert {200, 404, 422} <= {status for _, _, status in sent}
    assert client.healthy()
    for kind, (_, x, _, _, _) in KINDS.items():  # whatever they were taught meanwhile
        model = client.model(f"fuzz-{kind}")
        assert model.status().estimator == kind
        model.predict(x)
        if kind not in ("Uniclass", "Regressor", "BinaryClassifier", "OrdinalClassifier"):
            assert model.rank(x)
