"""Small models by key: each is that of a local learner, whatever the buckets, and goes on from where it was."""

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
    rng = np.random.default_rng(0)
    X, users = rng.integers(0, 2, (100_000, 3)).astype(float), np.repeat(np.arange(2000), 50)
    df = spark.range(0, 100_000, numPartitions=4).selectExpr("id", "id div 50 as user")
    table = spark.createDataFrame(
        [(int(i), x.tolist(), "ab"[int(x[0])]) for i, x in enumerate(X)], "id long, x array<double>, label string"
    )
    model = hinged.Classifier("pa1", C=1.0, scaling=None, bias=0.0, average=False)
    found = hinged.scale.learn_keyed(df.join(table, "id"), model, key="user", order="id", features="x", buckets=2)
    by_user = {row["user"]: Lessons.from_bytes(row["model"]) for row in found.collect()}
    assert len(by_user) == 2000
    assert {kept.n_rows for kept in by_user.values()} == {50}
    for user in range(0, 2000, 40):
        mine = users == user
        local = hinged.Classifier("pa1", C=1.0, scaling=None, bias=0.0, average=False)
        local.partial_fit(X[mine], ["ab"[int(x[0])] for x in X[mine]])
        assert bits(by_user[user].learner(model)) == bits(local)


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
    found = hinged.scale.predict_keyed(new, known, hinged.TextClassifier(), key="user", id="id").collect()
    models = by_hand(rows)
    said = {row["id"]: row for row in found}
    for user, number, body, subject in asked[:2]:
        scored = models[user].scored_one({"body": body, "subject": subject})
        assert said[number]["prediction"] == models[user].predict_one({"body": body, "subject": subject})
        assert said[number]["score"] == scored.scores.max()
    assert said[3]["prediction"] is None


@pytest.mark.parametrize(("asked", "words"), [
    ({"key": "who"}, "no column 'who'"),
    ({"order": []}, "order must name a column"),
    ({"snapshot": "now"}, "snapshot must be"),
])  # fmt: skip
def test_what_is_wrong_with_a_call_is_said_before_anything_runs(spark, asked, words):
    df = spark.createDataFrame(events(1, 2), SCHEMA)
    with pytest.raises(ValueError, match=words):
        hinged.scale.learn_keyed(df, hinged.TextClassifier(), **{"key": "user", "order": "at", **asked})
