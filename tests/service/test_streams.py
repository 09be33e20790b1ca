"""Many examples in one request."""

import http.client
import json
import threading
import time
from urllib.parse import urlsplit

import pytest
from tests.journal.models import learnt_by, same, texts

import hinged
from hinged.journal import DurableModel


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_stream_is_learnt_as_one_by_one_and_counted_chunk_by_chunk(client, ask, server):
    examples = texts(9000)
    model = client.create("stream", "TextClassifier")
    body = lines({"x": x, "y": y} for x, y in examples)
    status, headers, said = ask("POST", "/v1/models/stream/learn-many", body)
    said = [json.loads(line) for line in said.splitlines()]
    assert (status, headers.get_content_type()) == (200, "application/x-ndjson")
    assert said[-1] == {"lines": 9000, "learnt": 9000, "repeated": 0, "refused": 0, "seq": 9000, "done": True}
    assert len(said) >= 3
    model.snapshot()
    (server.folder / "copy").write_bytes(model.download())
    assert same(hinged.load(server.folder / "copy"), learnt_by("texts", examples))
    answers = list(model.predict_many(x for x, _ in examples))
    assert answers == hinged.load(server.folder / "copy").predict([x for x, _ in examples]).tolist()


def test_lines_that_are_refused_are_named_and_hinder_nobody(client, ask):
    model = client.create("mixed", "TextClassifier")
    body = (
        '{"x": "a", "y": "b"}\nnot JSON\n\n{"x": "q", "y": {"z": 1}}\n{"x": 1, "y": "b"}\n{"y": 1}\n{"x": "c", "y": 2}'
    )
    said = [json.loads(line) for line in ask("POST", "/v1/models/mixed/learn-many", body)[2].splitlines()]
    assert [one["line"] for one in said if "line" in one] == [2, 3, 4, 5]
    assert said[-1] == {"lines": 6, "learnt": 2, "repeated": 0, "refused": 4, "seq": 2, "done": True}
    assert model.status().labels == ["b", 2]
    said = ask("POST", "/v1/models/mixed/predict-many", '{"x": "a"}\nno\n{"x": 5}\n{"z": 1}\n')[2].splitlines()
    assert [sorted(json.loads(line)) for line in said] == [["y"], ["error"], ["error"], ["error"]]


def test_lines_cannot_be_joined_into_other_ones(client, ask):
    client.create("joined", "TextClassifier")
    body = '{"x": "a", "y": "b"\n"key": "c"}\n{"x": "a", "y": "b"}, {"x": "c", "y": "d"}\n'
    said = [json.loads(line) for line in ask("POST", "/v1/models/joined/learn-many", body)[2].splitlines()]
    assert said[-1] == {"lines": 3, "learnt": 0, "repeated": 0, "refused": 3, "seq": 0, "done": True}


def test_keys_make_a_stream_safe_to_send_again(client, ask):
    client.create("again", "TextClassifier")
    body = lines({"x": x, "y": y, "key": str(i)} for i, (x, y) in enumerate(texts(50)))
    first, second = (ask("POST", "/v1/models/again/learn-many", body)[2].splitlines()[-1] for _ in range(2))
    assert (json.loads(first)["learnt"], json.loads(second)["repeated"]) == (50, 50)


def test_an_endless_line_is_refused_with_its_status(client, ask):
    client.create("endless", "TextClassifier")
    status, _, said = ask("POST", "/v1/models/endless/learn-many", '{"x": "' + "x" * (1 << 19))
    assert status == 413
    assert "line" in said["error"]
    assert ask("POST", "/v1/models/nobody/learn-many", "{}")[0] == 404
    assert ask("POST", "/v1/models/endless/predict-many", "")[2] == b""


@pytest.mark.parametrize("path", ["learn-many", "predict-many"])
@pytest.mark.parametrize("newline", ["", "\n"])
def test_a_line_longer_than_the_limit_is_refused_after_those_before_it(path, newline, client, ask):
    client.create("longer", "TextClassifier").learn("a", "b", key="1")
    long = '{"x": "' + "x" * (1 << 16) + '", "y": "b"}' + newline
    status, _, said = ask("POST", f"/v1/models/longer/{path}", long)
    assert (status, "65,536 bytes" in said["error"]) == (413, True)
    rounds = client.model("longer").status().rounds
    status, _, said = ask("POST", f"/v1/models/longer/{path}", '{"x": "a", "y": "b"}\n' + long)
    *before, last = [json.loads(line) for line in said.splitlines()]
    assert (status, last["status"], "too long" in last["error"]) == (200, 413, True)
    if path == "predict-many":
        assert before == [{"y": "b"}]
    else:
        assert (last["learnt"], client.model("longer").status().rounds) == (1, rounds + 1)


def stalled(server, path, lines_sent):
    """A stream that sends some lines and waits."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    connection.putrequest("POST", path)
    connection.putheader("Authorization", f"Bearer {server.token}")
    connection.putheader("Content-Length", "100000000")
    connection.endheaders(lines_sent)
    return connection


@pytest.mark.parametrize("path", ["learn-many", "predict-many"])
def test_a_stalled_stream_keeps_nobody_from_deleting_and_making(path, client, ask, server):
    place = "/v1/models/stalled"
    model = client.create("stalled", "TextClassifier")
    model.learn("tax form", "work")
    sent = lines({"x": "tax form " * 10, "y": "work"} for _ in range(8000)).encode()
    stream = stalled(server, f"{place}/{path}", sent)
    answer = stream.getresponse()
    assert json.loads(answer.readline())
    assert ask("DELETE", place)[0] == 204
    assert ask("GET", place)[0] == 404
    assert ask("PUT", place, json.dumps({"estimator": "Classifier"}))[0] == 201
    stream.send(sent)
    last = [json.loads(line) for line in answer][-1]
    assert (last["status"], "no model 'stalled'" in last["error"]) == (404, True)
    assert model.status().rounds == 0
    stream.close()
    model.delete()


def test_making_beside_deleting_is_never_refused(client, ask):
    place, body = "/v1/models/comes-and-goes", json.dumps({"estimator": "TextClassifier"})
    made, deleted = [], []
    makes = threading.Thread(target=lambda: made.extend(ask("PUT", place, body)[0] for _ in range(30)))
    deletes = threading.Thread(target=lambda: deleted.extend(ask("DELETE", place)[0] for _ in range(30)))
    for thread in (makes, deletes):
        thread.start()
    for thread in (makes, deletes):
        thread.join()
    assert set(made) <= {200, 201}
    assert set(deleted) <= {204, 404}
    assert 201 in made


def test_what_a_stream_taught_is_in_the_journal(client, ask, server):
    client.create("journalled", "TextClassifier")
    ask("POST", "/v1/models/journalled/learn-many", lines({"x": x, "y": y} for x, y in texts(20)))
    with DurableModel(server.folder / "models" / "journalled", read_only=True) as kept:
        assert [(event.x, event.label) for event in kept.journal.examples()] == texts(20)


def test_a_stream_larger_than_any_buffer_is_read_to_its_end(client, ask):
    client.create("large", "TextClassifier", rule="pa1")
    body = lines({"x": f"tax form {'x' * 90}", "y": f"folder {i % 3}"} for i in range(40_000))
    said = ask("POST", "/v1/models/large/learn-many", body)[2].splitlines()
    assert json.loads(said[-1])["learnt"] == 40_000


def test_a_client_that_goes_away_leaves_what_was_learnt(client, server):
    model = client.create("left", "TextClassifier")
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    connection.putrequest("POST", "/v1/models/left/learn-many")
    connection.putheader("Authorization", f"Bearer {server.token}")
    connection.putheader("Content-Length", "100000000")
    connection.endheaders(lines({"x": "tax form " * 10, "y": "work"} for _ in range(4000)).encode())
    while model.status().rounds == 0:
        time.sleep(0.01)
    connection.close()
    assert client.healthy()
    assert model.learn("cake", "home").seq == model.status().journal
