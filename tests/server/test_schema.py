"""The description against the server: whatever its schemas allow is answered without a fault."""

import os

import hypothesis
import pytest

schemathesis = pytest.importorskip("schemathesis")

EXAMPLES = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 5
MODELS = {"TextClassifier": ("tax", "a"), "Classifier": ({"tax": 1.0}, "a"), "Ranker": ({"tax": 1.0}, ["a"])}
NAMES = [*(f"fuzz-{kind}" for kind in MODELS), "fuzz-unknown"]
SETTINGS = hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return value.encode("utf-8", "replace") if isinstance(value, str) else b""


def test_nothing_that_can_be_sent_makes_the_server_fail(server, client):
    for kind, (x, y) in MODELS.items():
        client.create(f"fuzz-{kind}", kind).learn(x, y)
    checks = [
        schemathesis.checks.not_a_server_error,
        schemathesis.checks.status_code_conformance,
        schemathesis.checks.content_type_conformance,
        schemathesis.checks.response_schema_conformance,
    ]

    def send(case, name):
        if case.path_parameters:
            case.path_parameters["name"] = name
        sent.append(
            case.call_and_validate(headers={"Authorization": f"Bearer {server.token}"}, checks=checks).status_code
        )

    sent = []
    for found in schemathesis.openapi.from_url(f"{server.url}/openapi.json").get_all_operations():
        operation = found.ok()
        if operation.method.upper() != "DELETE":  # which would leave nothing to ask
            names = hypothesis.strategies.sampled_from(NAMES)
            SETTINGS(hypothesis.given(case=operation.as_strategy(), name=names)(send))()
    assert {200, 404, 422} <= set(sent)
    assert client.healthy()
