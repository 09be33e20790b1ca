"""Every endpoint of a real server, with every kind of model and input."""

import json
import threading

import numpy as np
import pytest

import hinged
from hinged.client import Client, ServiceError
from hinged.journal import DurableModel
from hinged.service import Settings, serving
from hinged.text import window

TEXTS = [("tax form due", "work"), ("cake recipe", "home"), ("the tax office", "work"), ("bake a cake", "home")] * 2


def test_a_model_is_made_taught_asked_explained_and_saved(client, tmp_path):
    mail = client.create("first", "TextClassifier")
    twin = hinged.TextClassifier()
    for i, (x, y) in enumerate(TEXTS, 1):
        assert mail.learn(x, y) == (i, True)
        twin.learn_one(x, y)
    assert mail.predict("a tax question") == twin.predict_one("a tax question")
    assert [label for label, _ in mail.rank("chocolate cake")] == twin.rank_one("chocolate cake")
    (best, score), (_, second) = mail.rank("chocolate cake")
    assert mail.rank("chocolate cake", top=1) == [(best, score)]
    assert score - second == pytest.approx(twin.score_gap(["chocolate cake"])[0])
    assert mail.explain("chocolate cake", "home") == twin.explain("chocolate cake", "home")
    status = mail.status()
    assert (status.estimator, status.rounds, status.mistakes, status.labels, status.journal) == (
        "TextClassifier",
        8,
        twin.n_mistakes_,
        ["work", "home"],
        8,
    )
    assert mail.snapshot() == 8
    (tmp_path / "m.hinged").write_bytes(mail.download())
    assert hinged.load(tmp_path / "m.hinged").predict_one("tax") == "work"
    assert "first" in client.models()


KINDS = {
    "Classifier": ({"rule": "pa2"}, {"tax": 1.0}, "work", {"cake": 1.0}, "home"),
    "Ranker": ({}, {"tax": 1.0}, ["work", "money"], {"cake": 1.0}, ["home"]),
    "TextRanker": ({}, "tax form", ["work", "money"], "cake recipe", ["home"]),
    "TextClassifier": ({"words": [1, 2]}, {"subject": "tax", "body": "due"}, 1, {"subject": "cake", "body": ""}, 2),
    "BinaryClassifier": ({}, [1.0, 0.0], True, [0.0, 1.0], False),
    "Regressor": ({"rule": "pa", "epsilon": 0.0, "scaling": None}, {"rooms": 2}, 200.0, {"garden": 1}, 50.0),
    "OrdinalClassifier": ({"order": ["poor", "good"]}, {"bad": 1}, "poor", {"fine": 1}, "good"),
    "SequenceTagger": ({}, [["the"], ["cat"]], ["D", "N"], [["sat"]], ["V"]),
    "Uniclass": ({"radius": 0.5}, [1.0, 0.0], None, [1.0, 0.1], None),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_estimator_learns_and_answers(kind, client):
    settings, x, y, other_x, other_y = KINDS[kind]
    model = client.create(f"kind-{kind}", kind, **settings)
    for _ in range(10):
        model.learn(x, y)
        model.learn(other_x, other_y)
    expected = 1 if kind == "Uniclass" else sorted(y) if isinstance(y, list) and "Ranker" in kind else y
    answer = model.predict(x)
    assert (sorted(answer) if "Ranker" in kind else answer) == (
        pytest.approx(expected) if kind == "Regressor" else expected
    )
    assert list(model.predict_many([x, other_x])) == [answer, model.predict(other_x)]
    assert model.status().rounds == 20


def test_a_tagger_takes_words_and_ranks_taggings(client):
    model = client.create("words", "SequenceTagger")
    twin = hinged.SequenceTagger()
    for words, tags in [("the cat sat", "D N V"), ("a dog ran", "D N V"), ("the dog sat", "D N V")] * 3:
        model.learn(words.split(), tags.split())
        twin.learn_one(window(words.split()), tags.split())
    asked = ["a", "cat", "ran"]
    assert model.predict(asked) == twin.predict_one(window(asked)) == ["D", "N", "V"]
    assert model.rank(asked) == twin.rank_one(window(asked), 5)
    assert model.rank(asked, top=2) == twin.rank_one(window(asked), 2)
    assert [score for _, score in model.explain(asked, "N", position=1)] == [
        score for _, score in twin.explain(window(asked), 1, "N")
    ]
    assert model.status().labels == ["D", "N", "V"]
    with pytest.raises(ServiceError, match="give the position"):
        model.explain(asked, "N")
    with pytest.raises(ServiceError, match="at most 100"):
        model.rank(asked, top=101)


def test_a_sparse_row_is_the_dense_one_and_as_wide_as_the_model(client):
    dense, sparse = (client.create(name, "Classifier", scaling=None) for name in ("dense", "sparse"))
    for indices, y in [([0, 3], "a"), ([1], "b"), ([3], "a"), ([1, 2], "b")]:
        row = [float(i in indices) for i in range(4)]
        dense.learn(row, y)
        sparse.learn({"indices": indices, "values": [1.0] * len(indices)}, y)
    assert sparse.rank({"indices": [0], "values": [2.0]}) == dense.rank([2.0, 0.0, 0.0, 0.0])
    assert sparse.predict({"indices": [1], "values": [1], "width": 4}) == "b"


def test_the_same_key_teaches_the_same_label_once(client, ask):
    model = client.create("keys", "TextClassifier")
    assert model.learn("tax", "work", key="a") == (1, True)
    assert model.learn("tax", "work", key="a") == (1, False)
    assert model.learn("tax", "home", key="a") == (2, True)
    body = json.dumps({"x": "cake", "y": "home"})
    answers = [ask("POST", "/v1/models/keys/learn", body, **{"Idempotency-Key": "b"})[2] for _ in range(2)]
    assert answers == [{"seq": 3, "new": True}, {"seq": 3, "new": False}]
    assert model.status().rounds == 3


def test_asking_changes_nothing(client):
    model = client.create("still", "TextClassifier")
    for x, y in TEXTS:
        model.learn(x, y)
    model.snapshot()
    before = model.status(), model.download()
    for x in ("tax", "words that nobody knows yet", ""):
        model.predict(x), model.rank(x), model.explain(x, "work"), list(model.predict_many([x, x]))
    model.snapshot()
    assert (model.status(), model.download()) == before, "equal models make equal files"


def test_a_model_that_is_there_is_found_and_another_of_its_name_refused(client, ask):
    body = {"estimator": "Classifier", "settings": {"C": 0.5}}
    assert ask("PUT", "/v1/models/twice", json.dumps(body))[0] == 201
    assert ask("PUT", "/v1/models/twice", json.dumps(body))[0] == 200
    status, _, said = ask("PUT", "/v1/models/twice", json.dumps({"estimator": "Ranker"}))
    assert status == 409
    assert "other settings" in said["error"]


def test_a_model_from_before_a_setting_existed_goes_on_as_it_began(tmp_path):
    before = hinged.TextClassifier(novel="skip")
    with DurableModel(tmp_path / "models" / "old", before) as kept, kept.journal.transaction():
        stored = kept.journal.get("model")
        del stored["settings"]["novel"]
        kept.journal.put("model", stored)
    with serving(Settings(tmp_path)) as (url, token), Client(url, token) as client:
        old, new = client.create("old", "TextClassifier"), client.create("new", "TextClassifier")
        for model in (old, new):
            for x, y in TEXTS[:2]:
                model.learn(x, y)
        assert [model.status().settings["novel"] for model in (old, new)] == ["skip", "learn"]
        assert [model.status().updates for model in (old, new)] == [0, 1]
        assert client.create("other", "TextClassifier", novel="skip").status().settings["novel"] == "skip"
        with pytest.raises(ServiceError, match="novel must be 'learn' or 'skip'"):
            client.create("wrong", "TextClassifier", novel="maybe")


def test_a_model_says_what_it_chose(client):
    model = client.create("choosing", "Classifier", scaling="auto", margin=0.5)
    assert model.status().settled == {}
    twin = hinged.Classifier(margin=0.5)
    for x, y in [([1.0, 5.0], "a"), ([2.0, 1.0], "b"), ([1.5, 4.0], "a"), ([3.0, 0.5], "b")]:
        model.learn(x, y)
        twin.learn_one(np.array(x), y)
    status = model.status()
    assert (status.settings["scaling"], status.settled["scaling"]) == ("auto", "standard")
    assert status.settled["C"] == list(twin.settled_["C"])
    assert status.settled["experts"] == {str(cap): share for cap, share in twin.experts_.items()}
    assert client.create("choosing", "Classifier", margin=0.5).status() == status


def test_a_deleted_model_is_gone_and_its_name_free(client):
    model = client.create("gone", "TextClassifier")
    model.learn("tax", "work")
    model.delete()
    assert "gone" not in client.models()
    assert client.create("gone", "Classifier").status().rounds == 0


def test_an_object_of_the_library_can_be_a_setting(client):
    rule = {"object": "Mira", "with": {"beta": 0.5, "cap": {"number": "inf"}}}
    assert client.create("mira", "Classifier", rule=rule).status().settings["rule"] == rule


def test_healthz_needs_no_token_and_metrics_count(client, ask):
    def counted():
        text = ask("GET", "/metrics")[2].decode()
        return next(
            int(float(line.split()[1])) for line in text.splitlines() if line.startswith("hinged_examples_total")
        )

    assert client.healthy()
    assert ask("GET", "/healthz", token="none")[2]["status"] == "ok"
    model, before = client.create("counted", "TextClassifier"), counted()
    model.learn("tax", "work", key="once")
    model.learn("tax", "work", key="once")
    with pytest.raises(ServiceError):
        model.learn(1, "work")
    model.learn_many([("tax", "work"), (1, "work")])
    assert counted() == before + 2, "repeats and refusals are not counted"
    model.delete()
    assert counted() == before + 2
    status, headers, text = ask("GET", "/metrics")
    assert (status, headers.get_content_type()) == (200, "text/plain")
    lines = dict(line.rsplit(" ", 1) for line in text.decode().splitlines() if not line.startswith("#"))
    assert float(lines["hinged_models_bytes"]) > 1000
    assert float(lines['hinged_requests_total{route="/v1/models/{name}/learn",status="200"}']) >= 1


def test_a_snapshot_can_be_fetched_while_others_are_written(client, server, tmp_path):
    model, stop = client.create("fetched", "TextClassifier"), threading.Event()

    def write(client):
        for i in range(10_000):
            if stop.is_set():
                return
            client.model("fetched").learn(f"word{i} and another{i}", f"label {i % 50}")
            client.model("fetched").snapshot()

    model.learn("tax", "work")
    model.snapshot()
    with server.client() as other:
        writer = threading.Thread(target=write, args=[other])
        writer.start()
        for _ in range(60):
            (tmp_path / "copy").write_bytes(model.download())
            assert hinged.load(tmp_path / "copy").n_rounds_ >= 1
        stop.set()
        writer.join()


def test_a_model_whose_labels_json_cannot_carry_still_answers(tmp_path):
    labels = [10**30, float("inf"), ("a", 1), b"b", "half \ud800"]
    with DurableModel(tmp_path / "models" / "odd", hinged.TextClassifier()) as kept:
        for i, label in [*enumerate(labels)] * 5:
            kept.learn(f"word{i}", label)
    with serving(Settings(tmp_path)) as (url, token), Client(url, token, tries=1) as client:
        model = client.model("odd")
        shown = [str(10**30), None, ["a", 1], "b", "half ?"]
        assert model.status().labels == shown
        assert [model.predict(f"word{i}") for i in range(len(labels))] == shown
        assert list(model.predict_many(f"word{i}" for i in range(len(labels)))) == shown
        assert sorted(map(str, (label for label, _ in model.rank("word0")))) == sorted(map(str, shown))
        client.create("odd", "TextClassifier")


def test_every_answer_forbids_browsers_to_run_anything(ask):
    for path in ("/healthz", "/v1/models", "/nowhere"):
        headers = ask("GET", path)[1]
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["X-Content-Type-Options"] == "nosniff"
