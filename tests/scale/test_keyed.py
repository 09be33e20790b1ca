"""Small models by key: each is that of a local learner, whatever the buckets, and goes on from where it was."""

from functools import cache

import numpy as np
import pytest
from tests.scale.test_mixing import bits, mail

import hinged
from hinged.scale.lessons import Lessons

SCHEMA = "user string, at long, body string, subject string, label string"


def events(n_users, n_each, seed=0):
    """Rows of many users, mixed, each with a time."""
    rng = np.random.default_rng(seed)
    rows = []
    for user in range(n_users):
        times = seed * 10**6 + rng.permutation(n_each * 10)[:n_each]
        rows += [(f"u{user}", int(at), *row) for at, row in zip(times, mail(n_each, seed + user), strict=True)]
    return [rows[i] for i in rng.permutation(len(rows))]


def by_hand(rows, *more):
    """Each user's model, taught the rows of each frame in order of time."""
    models = {}
    for some in (rows, *more):
        for user, _, body, subject, label in sorted(some):
            model = models.setdefault(user, hinged.TextClassifier())
            model.notes = {"fields": ["body", "subject"]}
            model.learn_one({"body": body, "subject": subject}, label)
    return models


def learnt(found):
    return {row["user"]: Lessons.from_bytes(row["model"]).learner(noted()) for row in found.collect()}


def noted():
    model = hinged.TextClassifier()
    model.notes = {"fields": ["body", "subject"]}
    return model


@pytest.mark.parametrize("snapshot", ["due", "always"])
def test_every_key_has_the_model_of_a_local_learner(spark, snapshot):
    rows, later = events(30, 20), events(35, 5, seed=7)
    keyed = {"key": "user", "order": "at", "snapshot": snapshot}
    first = hinged.scale.learn_keyed(spark.createDataFrame(rows, SCHEMA), hinged.TextClassifier(), **keyed).cache()
    second = hinged.scale.learn_keyed(
        spark.createDataFrame(later, SCHEMA), hinged.TextClassifier(), known=first, buckets=3, **keyed
    )
    expected, found = by_hand(rows, later), learnt(second)
    assert {user: bits(model) for user, model in found.items()} == {u: bits(model) for u, model in expected.items()}
    assert {row["user"]: row["rows"] for row in second.collect()} == {u: m.n_rounds_ for u, m in expected.items()}


def test_two_thousand_keys_with_fifty_events_each(spark):
    X, _, labels = many()
    df = spark.range(0, len(X), numPartitions=4).selectExpr("id", "id % 2000 as user")
    table = spark.createDataFrame(
        [(i, x, label) for i, (x, label) in enumerate(zip(X.tolist(), labels, strict=True))],
        "id long, x array<double>, label string",
    )
    found = hinged.scale.learn_keyed(df.join(table, "id"), plain(), key="user", order="id", features="x", buckets=2)
    by_user = {row["user"]: Lessons.from_bytes(row["model"]) for row in found.collect()}
    assert sorted(by_user) == list(range(2000))
    assert {kept.n_rows for kept in by_user.values()} == {50}
    for user, kept in by_user.items():
        assert bits(kept.learner(plain())) == of_user(user)


def plain():
    return hinged.Classifier("pa1", C=1.0, scaling=None, bias=0.0, average=False)


@cache
def many():
    """The rows, users and labels of 2,000 keys with 50 events each."""
    X = np.random.default_rng(0).integers(0, 2, (100_000, 3)).astype(float)
    return X, np.tile(np.arange(2000), 50), ["ab"[int(x)] for x in X[:, 0]]


@cache
def of_user(user):
    """The model of a local learner taught a user's events, as bits."""
    X, users, labels = many()
    mine = np.flatnonzero(users == user)
    return bits(plain().partial_fit(X[mine], [labels[i] for i in mine]))


def test_rows_are_in_order_of_several_columns_and_last_without_a_place(spark):
    rows = [("a", 2, 0.5, "w3"), ("a", 1, None, "w2"), ("a", 1, 7.0, "w1"), ("a", None, 1.0, "w4"), ("b", 1, 1.0, "w5")]
    df = spark.createDataFrame([(*row, "ab"[i % 2]) for i, row in enumerate(rows)], SHUFFLED)
    found = hinged.scale.learn_keyed(
        df, hinged.TextClassifier(), key="user", order=["day", "at"], features="text", buckets=2
    )
    (kept,) = [Lessons.from_bytes(row["model"]) for row in found.collect() if row["user"] == "a"]
    assert [lesson.x for lesson in kept.lessons()] == ["w1", "w2", "w3", "w4"]


SHUFFLED = "user string, day int, at double, text string, label string"


def test_rows_without_a_key_are_skipped_and_belong_to_nobody(spark):
    rows = [("a", 1, [1.0], "x"), (None, 2, [1.0], "x"), ("None", 3, [2.0], "y")]
    df = spark.createDataFrame(rows, "user string, at int, v array<double>, label string")
    asked = {"key": "user", "order": "at", "features": "v"}
    first = hinged.scale.learn_keyed(df, hinged.Classifier(), **asked).cache()
    found = {row["user"]: row for row in first.collect()}
    assert {user: (row["rows"], row["skipped"]) for user, row in found.items()} == {
        "a": (1, 0),
        "None": (1, 0),
        None: (0, 1),
    }
    assert found[None]["problem"] == "the key in column 'user' is null"
    again = hinged.scale.learn_keyed(df.where("user = 'a'"), hinged.Classifier(), known=first, **asked)
    assert {row["user"]: row["rows"] for row in again.collect()} == {"a": 2, "None": 1}
    said = hinged.scale.predict_keyed(df, first, hinged.Classifier(), key="user", id="at", features="v").collect()
    assert {row["at"]: row["prediction"] for row in said} == {1: "x", 2: None, 3: "y"}


def test_models_that_cannot_go_on_are_named(spark):
    df = spark.createDataFrame([("a", 1, "text", "x")], "user string, at int, body string, label string")

    def learnt(known):
        asked = {"key": "user", "order": "at", "features": "body", "known": known, "snapshot": "always"}
        return hinged.scale.learn_keyed(df, hinged.TextClassifier(), **asked).collect()

    for rows, schema, words in [
        ([(1, b"")], "user int, model binary", "the key 'user' holds string, in known int"),
        ([("a", 1)], "user string, rows int", "known has no column 'model'"),
        ([("a", "x")], "user string, model string", "known holds no models"),
    ]:
        with pytest.raises(ValueError, match=words):
            learnt(spark.createDataFrame(rows, schema))
    other = Lessons.of(hinged.TextClassifier("pa2").partial_fit(["text"], ["x"])).to_bytes()
    for data, words in [(b"zz", "not the model of a key"), (other, "learnt with rule='pa2'")]:
        with pytest.raises(Exception, match=f"the model of the key 'a' cannot go on: .*{words}"):
            learnt(spark.createDataFrame([("a", bytearray(data))], "user string, model binary"))


def test_a_models_file_of_one_key_comes_out_and_goes_in(spark, tmp_path):
    rows = events(3, 10)
    df = spark.createDataFrame(rows, SCHEMA)
    found = hinged.scale.learn_keyed(df, hinged.TextClassifier(), key="user", order="at")
    kept = Lessons.from_bytes(found.where("user = 'u1'").first()["model"])
    kept.learner(noted()).save(tmp_path / "u1.hinged")
    back = Lessons.of(hinged.load(tmp_path / "u1.hinged")).to_bytes()
    known = spark.createDataFrame([("u1", bytearray(back))], "user string, model binary")
    later = events(3, 4, seed=5)
    more = spark.createDataFrame(later, SCHEMA).where("user = 'u1'")
    again = hinged.scale.learn_keyed(more, hinged.TextClassifier(), key="user", order="at", known=known)
    expected = by_hand([r for r in rows if r[0] == "u1"], [r for r in later if r[0] == "u1"])["u1"]
    assert bits(learnt(again)["u1"]) == bits(expected)


def test_rows_without_a_label_and_rows_that_cannot_be_read_are_counted(spark):
    rows = [("a", 1, [1.0], "x"), ("a", 2, None, "x"), ("a", 3, [2.0], None), ("b", 1, [float("nan")], "y")]
    df = spark.createDataFrame(rows, "user string, at int, v array<double>, label string")
    found = {
        r["user"]: r
        for r in hinged.scale.learn_keyed(df, hinged.Classifier(), key="user", order="at", features="v").collect()
    }
    assert [found[u][n] for u in "ab" for n in ("rows", "unlabelled", "skipped")] == [1, 1, 1, 0, 0, 1]
    assert "no vector of finite numbers" in found["b"]["problem"]


def test_answers_are_those_of_each_rows_own_model(spark):
    rows = events(6, 12)
    df = spark.createDataFrame(rows, SCHEMA)
    known = hinged.scale.learn_keyed(df, hinged.TextClassifier(), key="user", order="at")
    asked = [("u1", 1, "x", "about a1"), ("u2", 2, "y", "about b0"), ("stranger", 3, "z", "about c1")]
    new = spark.createDataFrame(asked, "user string, id long, body string, subject string")
    asking = {"key": "user", "id": "id"}
    found = hinged.scale.predict_keyed(new, known, hinged.TextClassifier(), **asking).collect()
    top = hinged.scale.predict_keyed(new, known, hinged.TextClassifier(), top=1, **asking).collect()
    models = by_hand(rows)
    said = {row["id"]: row for row in found}
    for user, number, body, subject in asked[:2]:
        scored = models[user].scored_one({"body": body, "subject": subject})
        assert said[number]["prediction"] == models[user].predict_one({"body": body, "subject": subject})
        ranking = [scored.labels[i] for i in scored.order(0)]
        assert said[number]["score"] == scored.scores.max()
        assert said[number]["ranking"] == ranking
        assert said[number]["scores"] == sorted(scored.scores[0].tolist(), reverse=True)
        assert said[number]["confidence"] == scored.confidence[0]
        best = next(row for row in top if row["id"] == number)
        assert (best["ranking"], best["scores"]) == (ranking[:1], [scored.scores.max()])
    assert [*said[3]][2:] == [None] * 5


@pytest.mark.parametrize(("asked", "words"), [
    ({"key": "who"}, "no column 'who'"),
    ({"order": []}, "order must name a column"),
    ({"snapshot": "now"}, "snapshot must be"),
])  # fmt: skip
def test_what_is_wrong_with_a_call_is_said_before_anything_runs(spark, asked, words):
    df = spark.createDataFrame(events(1, 2), SCHEMA)
    with pytest.raises(ValueError, match=words):
        hinged.scale.learn_keyed(df, hinged.TextClassifier(), **{"key": "user", "order": "at", **asked})
