"""One model by Spark: one partition is the local learner bit for bit, several are merged, nothing is half merged."""

import json

import numpy as np
import pytest

import hinged
from hinged.estimators.beginning import begin
from hinged.scale import mixing
from hinged.scale.reading import Columns, columns_of

WORDS = [f"w{i}" for i in range(60)]


def mail(n, seed=0, labels="abcd"):
    """Rows of two fields of text and a label that its words give away."""
    rng = np.random.default_rng(seed)
    found = []
    for label in rng.choice(list(labels), n).tolist():
        found.append((" ".join(rng.choice(WORDS, 5)), f"about {label}{rng.integers(3)} " + rng.choice(WORDS), label))
    return found


def bits(model):
    state = model.get_state()
    arrays = {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in state.arrays.items()}
    return json.dumps(state.about, sort_keys=True), arrays, state.names


def on_partitions(spark, parts, schema):
    """A frame whose partitions hold these rows, in this order; an empty list is an empty partition."""
    rows = spark.sparkContext.parallelize(parts, len(parts)).flatMap(lambda part: part)
    return spark.createDataFrame(rows, schema)


def local(model, rows, texts=("body", "subject")):
    model.notes = {"fields": list(texts)}
    documents = [dict(zip(texts, row, strict=False)) for row in rows]
    return model.partial_fit(documents, [row[2] for row in rows])


def begun(row):
    """A learner that has settled what it settles by a first row, and knows all labels, so that parts begin with it."""
    model = hinged.TextClassifier()
    model.notes = {"fields": ["body", "subject"]}
    begin(model, [dict(zip(("body", "subject"), row, strict=False))], [row[2]])
    return model.declare(list("abcd"))


MAIL = "body string, subject string, label string"


def test_one_partition_is_the_local_learner_bit_for_bit(spark):
    rows = mail(300)
    df = on_partitions(spark, [rows], MAIL)
    model = hinged.TextClassifier()
    done = hinged.scale.fit(df, model)
    twin = local(hinged.TextClassifier(), rows)
    assert bits(model) == bits(twin)
    assert done.rounds[0][:4] == (300, twin.n_mistakes_, twin.n_updates_, 1)
    again = mail(100, seed=1)  # and it goes on from there, twice
    hinged.scale.fit(on_partitions(spark, [again], MAIL), model, rounds=2)
    assert bits(model) == bits(local(local(twin, again), again))


def test_parts_are_merged_as_the_states_of_local_learners_are(spark):
    rows, parts = mail(240), 3
    each = [rows[i::parts] for i in range(parts)]
    start = begun(each[0][0]).get_state()
    states = [local(hinged.TextClassifier().set_state(start), part).get_state() for part in each]
    for mix in ("uniform", "updates", "mistakes"):
        model = hinged.TextClassifier()
        done = hinged.scale.fit(on_partitions(spark, [*each, []], MAIL), model, mix=mix, classes=list("abcd"))
        assert bits(model) == bits(hinged.TextClassifier().merge(states, start, mix))
        assert done.rounds[0].parts == 3  # the empty one learnt nothing
        assert model.n_rounds_ == 240


def test_labels_and_words_that_one_partition_met_are_known_to_the_model(spark):
    parts = [mail(80, 1, "ab"), mail(80, 2, "cd")]
    model = hinged.TextClassifier()
    hinged.scale.fit(on_partitions(spark, parts, MAIL), model, rounds=3)
    assert set(model.known_labels()) == set("abcd")
    for label in "abcd":
        assert model.predict_one({"body": "", "subject": f"about {label}1"}) == label


def test_many_partitions_are_merged_in_groups_first(spark, monkeypatch):
    parts = [mail(20, seed) for seed in range(5)]
    df, whole, grouped = on_partitions(spark, parts, MAIL), hinged.TextClassifier(), hinged.TextClassifier()
    hinged.scale.fit(df, whole)
    monkeypatch.setattr(mixing, "FAN_IN", 2)
    done = hinged.scale.fit(df, grouped)
    assert done.rounds[0].parts == 5
    X = [{"body": body, "subject": subject} for body, subject, _ in mail(30, 9)]
    names = [list(model.known_labels()) for model in (whole, grouped)]
    order = [names[1].index(label) for label in names[0]]
    np.testing.assert_allclose(whole.decision_function(X), grouped.decision_function(X)[:, order], atol=1e-5)
    assert [getattr(grouped, n) for n in ("n_rounds_", "n_mistakes_")] == [whole.n_rounds_, whole.n_mistakes_]


def test_vectors_and_numbers_are_learnt_too(spark):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 3, 120)
    X[:, 0] += 2 * y
    vectors = on_partitions(
        spark, [[(x.tolist(), int(label)) for x, label in zip(X, y, strict=True)]], "x array<double>, y int"
    )
    model = hinged.Classifier()
    hinged.scale.fit(vectors, model, features="x")
    assert bits(model) == bits(hinged.Classifier().partial_fit(X, y.tolist()))
    parts = [[(*x, 2.0 * x[0]) for x in X.tolist()]] * 2
    table = on_partitions(spark, parts, "a double, b double, c double, target double")
    number = hinged.Regressor()
    hinged.scale.fit(table, number, features=["a", "b", "c"])
    assert number.feature_names_ == ["a", "b", "c"]
    assert abs(number.predict_one({"a": 3.0, "b": 0.0, "c": 0.0}) - 6.0) < 1.0


def test_a_row_that_cannot_be_read_stops_it_or_is_counted_and_can_be_written_aside(spark):
    good, bad = ([1.0, 0.0], "a"), ([1.0, None], "b")
    df = on_partitions(
        spark, [[good, ([0.0, 1.0], "b")], [good, bad, ([2.0, 1.0], None)]], "x array<double>, label string"
    )
    model = hinged.Classifier().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    before = bits(model)
    with pytest.raises(ValueError, match=r"row 2 of partition 1 cannot be learnt: column 'x' holds no vector of 2"):
        hinged.scale.fit(df, model, features="x")
    assert bits(model) == before  # nothing is half merged
    done = hinged.scale.fit(df, model, features="x", on_error="skip")
    assert (done.unlabelled, done.skipped, done.rounds[0].rows) == (1, 1, 3)
    assert "row 2 of partition 1" in done.fault
    (aside,) = hinged.scale.rejected(df, features="x").collect()
    assert aside["label"] == "b"
    assert "finite numbers" in aside["problem"]


V = "x array<double>, label string, w double"
SOUND = [([1.0, 0.0], "a", 1.0), ([0.0, 1.0], "b", 2.0)]


def test_rows_that_a_learner_refuses_are_named_or_counted_and_can_be_written_aside(spark):
    wide, huge, third = ([1.0, 2.0, 3.0], "a", 1.0), ([1e300, 0.0], "a", 1.0), ([1.0, 1.0], "c", 0.5)
    more = ([0.5, 1.0], "b", 0.5)
    df = on_partitions(spark, [[huge, *SOUND], [wide, *SOUND, third, more]], V)
    asked = {"features": "x", "weight": "w"}
    model = hinged.BinaryClassifier("pa1", C=0.1)
    with pytest.raises(ValueError, match=r"row 1 of partition 0 cannot be learnt: values of X must not exceed"):
        hinged.scale.fit(df, model, **asked)
    assert not model.__sklearn_is_fitted__()
    done = hinged.scale.fit(df, model, on_error="skip", **asked)
    assert (done.skipped, done.rounds[0].rows) == (3, 5)
    start = begin(hinged.BinaryClassifier("pa1", C=0.1), [SOUND[0][0]], ["a"]).get_state()
    states = []
    for part in (SOUND, [*SOUND, more]):  # what is left of each, at once
        x, y, w = zip(*part, strict=True)
        local = hinged.BinaryClassifier("pa1", C=0.1).set_state(start)
        states.append(local.partial_fit(list(x), list(y), sample_weight=w).get_state())
    assert bits(model) == bits(hinged.BinaryClassifier("pa1", C=0.1).merge(states, start))
    aside = hinged.scale.rejected(df, hinged.BinaryClassifier("pa1", C=0.1), **asked).collect()
    assert [(row["x"], row["label"], row["w"]) for row in aside] == [huge, wide, third]
    for row, words in zip(aside, ("must not exceed", "no vector of 2", "'c' came beside"), strict=True):
        assert words in row["problem"]
    (unread,) = hinged.scale.rejected(df, **asked).collect()  # without a learner, what cannot be read
    assert unread["x"] == wide[0]


@pytest.mark.parametrize(("make", "words"), [
    (lambda: hinged.Classifier(kernel=hinged.mercer.Gaussian(1.0)), "^this learner cannot be merged: with kernel="),
    (lambda: hinged.Uniclass(), "^this learner cannot be merged: a Uniclass"),
    (lambda: hinged.SequenceTagger(), "got a SequenceTagger"),
    (lambda: hinged.Classifier, "got a class; make one of it"),
])  # fmt: skip
def test_what_cannot_be_merged_is_said_before_it_is_learnt(spark, make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        hinged.scale.fit(on_partitions(spark, [SOUND, SOUND], V), make(), features="x")


def test_parts_that_do_not_fit_together_are_one_sentence(spark):
    df = on_partitions(spark, [[(1.0, 1), (2.0, 2)], [(3.0, 3)]], "x double, label int")
    with pytest.raises(ValueError, match=r"ranks can be merged where all states know the same"):
        hinged.scale.fit(df, hinged.OrdinalClassifier())
    model = hinged.OrdinalClassifier()
    hinged.scale.fit(df, model, classes=[1, 2, 3])
    assert model.classes_.tolist() == [1, 2, 3]


def test_what_a_learner_refuses_changes_nothing(spark):
    df = on_partitions(spark, [[(1.0, "a"), (2.0, "b")], [(1.0, "c"), (2.0, "b")]], "x double, label string")
    model = hinged.BinaryClassifier().partial_fit([{"x": 1.0}, {"x": 2.0}], ["a", "b"])
    before = bits(model)
    with pytest.raises(ValueError, match=r"partition 1 .*Only binary classification is supported"):
        hinged.scale.fit(df, model)
    assert bits(model) == before


@pytest.mark.parametrize(("asked", "words"), [
    ({"features": "boddy"}, "no column 'boddy'; the columns are body, subject, label"),
    ({"label": "folder"}, "no column 'folder'"),
    ({"mix": "best"}, "mix must be one of"),
    ({"rounds": 0}, "rounds must be a whole number"),
    ({"on_error": "hide"}, "on_error must be"),
    ({"weight": "body"}, "column 'body' holds string; weights are numbers"),
])  # fmt: skip
def test_what_is_wrong_with_a_call_is_said_before_anything_runs(spark, asked, words):
    with pytest.raises(ValueError, match=words):
        hinged.scale.fit(on_partitions(spark, [mail(4)], MAIL), hinged.TextClassifier(), **asked)


def test_a_frame_without_a_sound_row_says_why(spark):
    for rows, words in [
        ([("text", "x", None)], "none of the first 1,000 rows can be learnt"),
        ([], "the frame has no rows"),
    ]:
        with pytest.raises(ValueError, match=words):
            hinged.scale.fit(on_partitions(spark, [rows], MAIL), hinged.TextClassifier())
    known = begun(mail(1)[0])
    before = bits(known)
    assert hinged.scale.fit(on_partitions(spark, [[]], MAIL), known).rounds[0][:4] == (0, 0, 0, 0)
    assert bits(known) == before


def test_a_name_that_spark_cannot_read_is_said(spark):
    df = on_partitions(spark, [mail(2)], MAIL).withColumnRenamed("body", "my.body")
    with pytest.raises(ValueError, match=r"the column 'my\.body' has a dot in its name"):
        hinged.scale.fit(df, hinged.TextClassifier())
    with pytest.raises(TypeError, match="df must be a data frame of Spark; got a list"):
        hinged.scale.fit([1], hinged.TextClassifier())


def test_columns_are_found_by_type():
    pa = pytest.importorskip("pyarrow")
    schema = pa.schema([("id", pa.int64()), ("x", pa.list_(pa.float64())), ("label", pa.string()), ("b", pa.binary())])
    assert columns_of(schema, "x") == Columns(vector="x", label="label")
    with pytest.raises(ValueError, match="name it alone"):
        columns_of(schema, ["id", "x"])
    with pytest.raises(ValueError, match="holds binary"):
        columns_of(schema, ["b"])
    with pytest.raises(ValueError, match="no column is called like a label"):
        columns_of(pa.schema([("x", pa.string())]))
