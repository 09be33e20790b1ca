"""The description against the server: whatever its schemas allow is answered without a fault."""

import os

import hypothesis
import pytest

schemathesis = pytest.importorskip("schemathesis")

EXAMPLES = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 12


def test_nothing_that_can_be_sent_makes_the_server_fail(server, client):
    for kind in ("TextClassifier", "Classifier", "Ranker"):
        client.create(f"fuzz-{kind}", kind).learn(
            "tax" if "Text" in kind else {"tax": 1.0}, "a" if kind != "Ranker" else ["a"]
        )
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    checks = [
        schemathesis.checks.not_a_server_error,
        schemathesis.checks.status_code_conformance,
        schemathesis.checks.content_type_conformance,
        schemathesis.checks.response_schema_conformance,
    ]
    names = ("fuzz-TextClassifier", "fuzz-Classifier", "fuzz-Ranker", "fuzz-unknown")
    for operation in schema.get_all_operations():
        strategy = operation.ok().as_strategy()

        @hypothesis.settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(case=strategy, name=hypothesis.strategies.sampled_from(names))
        def send(case, name):
            if "name" in case.path_parameters:
                case.path_parameters["name"] = name
            headers = {"Authorization": f"Bearer {server.token}"}
            case.call_and_validate(headers=headers, checks=checks, timeout=60)

        if operation.ok().method.upper() != "DELETE":
            send()
    assert client.healthy()
