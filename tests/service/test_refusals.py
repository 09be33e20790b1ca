"""What is wrong gets the right status and a sentence, and changes nothing."""

import http.client
import json
import threading

import pytest

from hinged.client import Client, ServiceError
from hinged.journal.folder import FolderLock
from hinged.service import Settings, create_app, serving
from hinged.service.access import create_token, read_tokens, revoke_token

LEARN = "/v1/models/refuses/learn"
GOOD = {"x": "tax", "y": "work"}


@pytest.fixture
def model(client):
    model = client.create("refuses", "TextClassifier")
    model.learn(**GOOD, key="the first")
    return model


WRONG = {
    "broken JSON": (LEARN, b'{"x": "tax', 400, "not JSON"),
    "no UTF-8": (LEARN, b'{"x": "\xff"}', 400, "not JSON"),
    "half a character": (LEARN, b'{"x": "\\ud800", "y": "a"}', 400, "not JSON"),
    "nothing at all": (LEARN, b"", 400, "not JSON"),
    "no object": (LEARN, b"[1]", 422, "object"),
    "no example": (LEARN, {"y": "work"}, 422, "x: field required"),
    "no label": (LEARN, {"x": "tax"}, 422, "y is missing"),
    "something else": (LEARN, {**GOOD, "z": 1}, 422, "z: "),
    "an object as label": (LEARN, {"x": "tax", "y": {"a": 1}}, 422, "got an object"),
    "a list as label": (LEARN, {"x": "tax", "y": ["a", "b"]}, 422, "hashable"),
    "nested lists as label": (LEARN, {"x": "tax", "y": [["a"]]}, 422, "a list that holds"),
    "a label beyond 64 bits": (LEARN, {"x": "tax", "y": 10**30}, 422, "64 bits"),
    "a label that is such a float": (LEARN, {"x": "tax", "y": 1e30}, 422, "64 bits"),
    "an infinite label": (LEARN, b'{"x": "tax", "y": Infinity}', 400, "not JSON"),
    "a label that overflows": (LEARN, b'{"x": "tax", "y": 1e999}', 422, "finite"),
    "a long label": (LEARN, {"x": "tax", "y": "y" * 1001}, 422, "at most 1,000 characters; got one of 1,001"),
    "true as a weight": (LEARN, {**GOOD, "weight": True}, 422, "weight"),
    "text as a weight": (LEARN, {**GOOD, "weight": "1"}, 422, "weight"),
    "true as top": ("/v1/models/refuses/rank", {"x": "tax", "top": True}, 422, "top"),
    "deep nesting": (LEARN, b'{"x": ' + b"[" * 50_000, 400, "not JSON"),
    "a number as text": (LEARN, {"x": 1, "y": "work"}, 422, "must be str"),
    "a negative weight": (LEARN, {**GOOD, "weight": -1}, 422, "weight"),
    "a weight that is true": (LEARN, {**GOOD, "weight": True}, 422, "weight"),
    "a weight in words": (LEARN, {**GOOD, "weight": "2"}, 422, "weight"),
    "a deep example": (LEARN, b'{"x": ' + b"[" * 20_000, 400, "not JSON"),
    "a rather deep example": (LEARN, b'{"x": ' + b"[" * 150 + b"]" * 150 + b', "y": "a"}', 422, ""),
    "a deep label": (LEARN, b'{"x": "a", "y": ' + b"[" * 150 + b"]" * 150 + b"}", 422, "a list that holds"),
    "a long key": (LEARN, {**GOOD, "key": "k" * 201}, 422, "key"),
    "too large": (LEARN, {"x": "x" * 70_000, "y": "work"}, 413, "too large"),
    "an unknown model": ("/v1/models/nobody/learn", GOOD, 404, "no model 'nobody'"),
    "a path as name": ("/v1/models/..%2F..%2Fetc/learn", GOOD, 404, "nothing at this path"),
    "an odd name": ("/v1/models/%00/learn", GOOD, 404, "no model"),
    "an unknown label": ("/v1/models/refuses/explain", {"x": "tax", "label": "nowhere"}, 422, "nowhere"),
    "top below 1": ("/v1/models/refuses/rank", {"x": "tax", "top": 0}, 422, "top"),
    "a top that is true": ("/v1/models/refuses/rank", {"x": "tax", "top": True}, 422, "top"),
    "a position that is true": ("/v1/models/refuses/explain", {"x": "tax", "position": True}, 422, "position"),
    "an unknown path": ("/v2", GOOD, 404, "nothing at this path"),
    "another method": ("/healthz", GOOD, 405, "other methods"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_a_sentence(case, ask, model):
    path, body, expected, words = WRONG[case]
    status, _, said = ask("POST", path, body if isinstance(body, bytes) else json.dumps(body))
    assert (status, words in said["error"]) == (expected, True), said
    assert said["error"].endswith(".")
    assert (model.status().rounds, model.status().journal) == (1, 1)


TAUGHT = {
    "TextClassifier": ({}, "tax", "work", [10**30, 1e30, -(1 << 63) - 1, "y" * 1001, ["work"]]),
    "TextRanker": ({}, "tax", ["work"], [["work", 10**30], ["y" * 1001], "work"]),
    "BinaryClassifier": ({}, [1.0], 1, [10**30, "y" * 1001]),
    "OrdinalClassifier": ({}, [1.0], 1, [10**30, "y" * 1001]),
    "SequenceTagger": ({}, ["the"], ["D"], [[10**30], ["y" * 1001], "D"]),
    "Regressor": ({}, [1.0], 2.0, [True, [2.0], "2", 10**400, 1e200]),
    "Uniclass": ({}, [1.0], None, [10**30, "y" * 1001]),
}


@pytest.mark.parametrize("kind", TAUGHT)
def test_an_answer_that_could_not_be_given_back_is_not_learnt(kind, client, ask):
    settings, x, y, wrong = TAUGHT[kind]
    model, path = client.create(f"carries-{kind}", kind, **settings), f"/v1/models/carries-{kind}"
    model.learn(x, y)
    for label in wrong:
        assert ask("POST", f"{path}/learn", json.dumps({"x": x, "y": label}))[0] == 422, label
    body = "".join(json.dumps({"x": x, "y": label}) + "\n" for label in [y, *wrong, y])
    last = json.loads(ask("POST", f"{path}/learn-many", body)[2].splitlines()[-1])
    assert (last["learnt"], last["refused"]) == (2, len(wrong))
    assert (model.status().rounds, model.status().journal) == (3, 3)
    assert ask("PUT", path, json.dumps({"estimator": kind, "settings": settings}))[0] == 200


def test_one_example_that_is_nested_too_deeply_hinders_nobody(client, ask):
    client.create("nested", "SequenceTagger")
    deep = '{"a": ' * 400 + "1" + "}" * 400
    body = f'{{"x": ["the"], "y": ["D"]}}\n{{"x": [{deep}], "y": ["D"]}}\n{{"x": ["the"], "y": ["D"]}}\n'
    said = [json.loads(line) for line in ask("POST", "/v1/models/nested/learn-many", body)[2].splitlines()]
    assert (said[-1]["learnt"], said[-1]["refused"]) == (2, 1)
    said = ask("POST", "/v1/models/nested/predict-many", f'{{"x": [{deep}]}}\n{{"x": ["the"]}}\n')[2].splitlines()
    assert [sorted(json.loads(line)) for line in said] == [["error"], ["y"]]


SETTINGS = {
    "a label no answer carries": (
        {"estimator": "OrdinalClassifier", "settings": {"order": [1, 10**30]}},
        "64 bits",
    ),
    "a long label": ({"estimator": "OrdinalClassifier", "settings": {"order": ["a", "y" * 1001]}}, "1,000 characters"),
    "a seed beyond 64 bits": ({"estimator": "TextClassifier", "settings": {"random_state": 10**30}}, "64-bit"),
    "an unknown estimator": ({"estimator": "Forest"}, "must be one of"),
    "trials": ({"estimator": "Trials"}, "must be one of"),
    "an unknown setting": ({"estimator": "Classifier", "settings": {"depth": 3}}, "not a setting"),
    "an unknown rule": ({"estimator": "Classifier", "settings": {"rule": "guess"}}, "guess"),
    "a C below 0": ({"estimator": "Regressor", "settings": {"C": -1}}, "C must be"),
    "a function": ({"estimator": "Classifier", "settings": {"rule": {"callable": "f"}}}, "cannot be sent"),
    "an unknown object": (
        {"estimator": "Classifier", "settings": {"rule": {"object": "os", "with": {}}}},
        "are invalid",
    ),
    "too many columns": ({"estimator": "Classifier", "settings": {"n_features": 10**9}}, "n_features must be"),
    "odd words": ({"estimator": "TextClassifier", "settings": {"words": [3, 1]}}, "words"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_settings_that_make_no_sense_make_no_model(case, ask, client):
    body, words = SETTINGS[case]
    status, _, said = ask("PUT", "/v1/models/never", json.dumps(body))
    assert (status, words in said["error"]) == (422, True), said
    assert "never" not in client.models()


@pytest.mark.parametrize("name", ["-x", ".x", "%00", "a%20b", "x" * 65, "%E4", "a%2Fb", "..%2Fetc", "a/b/c"])
def test_a_name_that_no_model_can_have_is_refused(name, ask):
    status, _, said = ask("PUT", f"/v1/models/{name}", '{"estimator": "Classifier"}')
    assert (status, "a model's name has" in said["error"]) == (422, True)
    assert ask("GET", f"/v1/models/{name}")[0] == 404


def test_a_model_that_has_learnt_nothing_says_so(client, ask):
    model = client.create("empty", "TextClassifier")
    assert (model.predict("tax"), model.rank("tax"), model.status().rounds) == (None, [], 0)
    assert ask("POST", "/v1/models/empty/explain", json.dumps({"x": "tax", "label": "a"}))[0] == 409
    assert ask("GET", "/v1/models/empty/snapshot")[0] == 409


def test_tokens_allow_their_model_and_scope_and_nothing_else(server, ask, client, model):
    client.create("other", "TextClassifier")
    path = server.folder / "tokens.json"
    reads, writes = (create_token(path, "refuses", scope) for scope in ("read", "write"))
    predict, learn = "/v1/models/refuses/predict", json.dumps(GOOD | {"key": "the first"})
    assert ask("POST", predict, '{"x": "tax"}', token="a guess")[0] == 401
    assert ask("POST", predict, '{"x": "tax"}', token="")[1]["WWW-Authenticate"] == "Bearer"
    assert ask("POST", predict, '{"x": "tax"}', token=reads)[0] == 200
    assert ask("POST", LEARN, learn, token=reads)[0] == 403
    assert ask("POST", LEARN, learn, token=writes)[0] == 200
    assert ask("POST", "/v1/models/other/predict", '{"x": "tax"}', token=writes)[0] == 403
    assert ask("DELETE", "/v1/models/refuses", token=writes)[0] == 403
    assert ask("GET", "/metrics", token=writes)[0] == 403
    assert ask("GET", "/v1/models", token=reads)[2] == {"models": [{"name": "refuses", "loaded": True}]}
    revoke_token(path, next(token.id for token in read_tokens(path) if token.scope == "read"))
    assert ask("POST", predict, '{"x": "tax"}', token=reads)[0] == 401
    assert reads not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


BROKEN = [b"[", b"{}x", b"\xff", b"[1]", b'{"a": 1}', b'[{"id": "1"}]', b"[" * 100_000]
BROKEN += [
    b'[{"id": "1", "model": "*", "scope": "all", "sha256": ""}]',
    b'[{"id": 1, "model": [], "scope": "read", "sha256": {}}]',
]


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_file_of_tokens_is_the_server_s_trouble(content, tmp_path, caplog):
    with serving(Settings(tmp_path)) as (url, token), Client(url, token, tries=1) as client:
        assert client.models() == []
        sound = (tmp_path / "tokens.json").read_bytes()
        (tmp_path / "tokens.json").write_bytes(content)
        for _ in range(2):
            with pytest.raises(ServiceError, match="cannot read its tokens; its log says more") as refused:
                client.models()
            assert (refused.value.status, str(tmp_path) in str(refused.value)) == (503, False)
        assert [record.getMessage().count("tokens.json") for record in caplog.records] == [1], "logged once"
        (tmp_path / "tokens.json").write_bytes(sound + b"\n")
        assert client.models() == []
    (tmp_path / "tokens.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"tokens.json is not a file of tokens .*; put back a copy, or remove it"):
        create_app(Settings(tmp_path))
    FolderLock(tmp_path).release()  # nobody holds the folder


def test_clients_are_told_nothing_of_the_server_s_folders(tmp_path, caplog):
    with serving(Settings(tmp_path)) as (url, token), Client(url, token, tries=1) as client:
        (tmp_path / "models" / "empty").mkdir()
        (tmp_path / "models" / "foreign").mkdir()
        (tmp_path / "models" / "foreign" / "journal.sqlite").write_bytes(b"no database" * 200)
        for name in ("empty", "foreign"):
            with pytest.raises(ServiceError, match="cannot read or write this model's files") as refused:
                client.model(name).predict("tax")
            assert (refused.value.status, str(tmp_path) in str(refused.value)) == (503, False)
            assert str(tmp_path / "models" / name) in caplog.text


def test_one_name_made_by_many_at_once_is_made_once(server, ask):
    answers = []

    def make(settings):
        answers.append(ask("PUT", "/v1/models/race", json.dumps({"estimator": "Classifier", "settings": settings}))[0])

    threads = [threading.Thread(target=make, args=[{"C": 0.5 + i % 2}]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200] * 3 + [201] + [409] * 4


def test_too_many_requests_are_told_to_wait(tmp_path):
    with serving(Settings(tmp_path, rate=5.0)) as (url, token), Client(url, token, tries=1) as client:
        with pytest.raises(ServiceError, match="5 a second are allowed") as refused:
            [client.models() for _ in range(20)]
        assert refused.value.status == 429
        with Client(url, token) as patient:
            assert [patient.models() for _ in range(3)] == [[]] * 3


def test_an_open_server_serves_no_pages_of_the_web(tmp_path):
    with serving(Settings(tmp_path, open=True)) as (url, _):
        where = url.removeprefix("http://")
        statuses = []
        for headers in ({}, {"Origin": "http://evil.example"}, {"Host": "evil.example"}):
            connection = http.client.HTTPConnection(where)
            connection.request("GET", "/v1/models", headers=headers)
            statuses.append(connection.getresponse().status)
            connection.close()
    assert statuses == [200, 403, 403]
