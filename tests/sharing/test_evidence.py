"""Evidence as label features: each kind by hand, and through edits, files, delays, weights and refusals."""

import math

import numpy as np
import pytest
from tests.plain import Classifier
from tests.text.conftest import _hashes_wrap_around  # noqa: F401

import hinged
from hinged.features import Evidence, Frequency
from hinged.io import read
from hinged.io.model_file import write
from hinged.journal import DurableModel

ALONE = {kind: Evidence((kind,), words=None) for kind in ("centroid", "bayes", "recency")}
#: Rows of words a, b, c in the order of time.
ROWS = np.array([[3.0, 4.0, 0.0], [0.0, 2.0, 2.0], [1.0, 0.0, 0.0], [0.0, 0.0, 5.0]])
LABELS = ["x", "y", "x", "y"]
TEXTS = ["tax form due", "cake recipe", "the tax office", "more cake", "tax again", "a cake tax", "the form"] * 4
FOLDERS = ["work", "home", "work", "home", "work", "play", "play"] * 4


def phi(kind, row, rows=ROWS, labels=LABELS, **settings):
    """The evidence of one kind for every label, of a model that has met these rows."""
    model = Classifier(sharing="single", features=ALONE[kind], C=1e-300, **settings)
    model.partial_fit(rows, labels, classes=sorted(set(labels)))
    places, values = model.model_.label_features(model.read(np.array([row])), list(model.classes_), None)
    assert places.tolist() == [0]
    return values[0, 0]


def taught(**settings):
    """A classifier of texts with evidence that has learnt the small mailbox."""
    return hinged.TextClassifier(**settings).partial_fit(TEXTS, FOLDERS)


def same(one, other):
    """Check that two models answer alike, to the last bit, and weigh evidence alike."""
    assert one.model_.evidence() == other.model_.evidence()
    assert one.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_array_equal(one.decision_function(TEXTS), other.decision_function(TEXTS))


# ------------------------------------------------------------------ by hand
def test_the_centroid_is_the_length_along_the_sum_of_the_label_s_rows():
    # x: (4, 4, 0), y: (0, 2, 7)
    row = [1.0, 2.0, -1.0]
    np.testing.assert_allclose(phi("centroid", row), [12 / math.sqrt(32), -3 / math.sqrt(53)], rtol=1e-15)
    units = ROWS / np.linalg.norm(ROWS, axis=1)[:, None]
    x = units[0] + units[2]
    cosine = x @ row / np.linalg.norm(x) / np.linalg.norm(row)
    assert phi("centroid", row, normalize=True)[0] == pytest.approx(cosine, rel=1e-14)


def test_the_log_odds_are_those_of_naive_bayes_with_a_thousand_words_spread_as_all():
    # a 2 times and b once with x, b once and c twice with y, which makes a 2/6, b 2/6, c 2/6
    p = 1 / 3
    a_with_x = math.log((2 + 1000 * p) / (3 + 1000) / p)
    b_with_x = math.log((1 + 1000 * p) / (3 + 1000) / p)
    none = math.log(1000 * p / (3 + 1000) / p)
    expected = [2 * a_with_x + 5 * b_with_x, 2 * none + 5 * b_with_x]
    np.testing.assert_allclose(phi("bayes", [2.0, 5.0, 0.0]), np.array(expected) / 100, rtol=1e-9)


def test_a_word_that_no_label_has_had_says_nothing_of_any():
    rows = np.column_stack([ROWS, np.zeros(4)])
    np.testing.assert_array_equal(phi("bayes", [0.0, 0.0, 0.0, 9.0], rows), [0.0, 0.0])
    np.testing.assert_array_equal(phi("bayes", [0.0, 1.0, 0.0, 9.0], rows), phi("bayes", [0.0, 1.0, 0.0]))


def test_recency_counts_the_rounds_since_the_label_came():
    expected = [-0.03 * 5.0 * math.log(1 + rounds) for rounds in (2, 1)]
    np.testing.assert_allclose(phi("recency", [3.0, 0.0, 4.0]), expected, rtol=1e-15)


@pytest.mark.parametrize("kind", ALONE)
def test_an_empty_row_is_evidence_of_nothing(kind):
    np.testing.assert_array_equal(phi(kind, [0.0, 0.0, 0.0]), [0.0, 0.0])


@pytest.mark.parametrize("kind", ALONE)
def test_a_row_of_weight_zero_is_no_evidence(kind):
    rows, labels = np.insert(ROWS, 1, [7.0, 7.0, 7.0], axis=0), ["x", "y", "y", "x", "y"]
    model = Classifier(sharing="single", features=ALONE[kind], C=1e-300)
    model.partial_fit(rows, labels, classes=["x", "y"], sample_weight=[1, 0, 1, 1, 1])
    _, values = model.model_.label_features(model.read(np.array([[1.0, 2.0, 3.0]])), ["x", "y"], None)
    np.testing.assert_array_equal(values[0, 0], phi(kind, [1.0, 2.0, 3.0]))


def test_the_centroid_of_rows_that_cancel_is_no_longer_than_the_row():
    rows = np.array([[0.1, 0.7], [-0.1, -0.7], [0.3, 0.0], [-0.3, 1e-17]])
    assert np.abs(phi("centroid", [1.0, 1.0], rows, ["x"] * 3 + ["y"])).max() <= math.sqrt(2.0)


# ------------------------------------------------------------------ learning
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("novel", ["learn", "skip"])
@pytest.mark.parametrize("average", [False, True])
def test_texts_one_by_one_are_a_batch_to_the_last_bit(dtype, novel, average):
    settings = {"dtype": dtype, "novel": novel, "average": average, "features": Evidence(), "bias": 0.5}
    at_once, one_by_one = taught(**settings), hinged.TextClassifier(**settings)
    for text, folder in zip(TEXTS, FOLDERS, strict=True):
        one_by_one.learn_one(text, folder)
    same(one_by_one, at_once)


def test_answers_that_come_late_are_learnt_with_the_evidence_of_their_moment():
    model, steady = hinged.TextClassifier(), taught()
    hinged.evaluate.progressive(model, TEXTS, FOLDERS, delay=3)
    same(model, steady)


def test_evidence_has_a_share_in_every_explanation():
    model = taught()
    found = dict(model.explain("tax and cake", "work", top=None))
    assert {"evidence:centroid", "evidence:bayes", "evidence:recency"} <= found.keys()
    score = model.decision_function(["tax and cake"])[0][model.classes_.tolist().index("work")]
    assert sum(found.values()) == pytest.approx(score, abs=1e-6)


def test_the_shared_vector_has_a_place_for_each_column_alone():
    model = Classifier(sharing="hybrid", features="evidence", bias=1.0).partial_fit(ROWS, LABELS)
    plain = Classifier(sharing="hybrid", features=Frequency(high=0.4), bias=1.0).partial_fit(ROWS, LABELS)
    assert model.shared_coef_.shape == plain.shared_coef_.shape == (3,)
    alone = Classifier(sharing="hybrid", features=ALONE["centroid"]).partial_fit(ROWS, LABELS)
    np.testing.assert_array_equal(alone.shared_coef_, [0.0, 0.0, 0.0])
    assert alone.model_.evidence()["centroid"] != 0.0


# ------------------------------------------------------------------ labels that change
def test_joined_labels_have_the_evidence_of_both():
    model = taught().merge_labels("play", into="home")
    joined = ["home" if folder == "play" else folder for folder in FOLDERS]
    expected = taught_so(joined).model_.totals
    totals = model.model_.totals
    assert model.classes_.tolist() == ["work", "home"]
    np.testing.assert_array_equal(totals.last, expected.last)
    np.testing.assert_array_equal(totals.occurrences, expected.occurrences)
    np.testing.assert_allclose(totals.squares, expected.squares, rtol=1e-12)


def taught_so(folders):
    """A classifier that has learnt the same texts in other folders."""
    return hinged.TextClassifier().partial_fit(TEXTS, folders)


def test_a_renamed_label_keeps_its_evidence_and_a_removed_one_leaves_none():
    model, kept = taught(), taught()
    model.rename_label("work", "office")
    np.testing.assert_array_equal(model.decision_function(TEXTS), kept.decision_function(TEXTS))
    model.remove_label("home")
    assert model.classes_.tolist() == ["office", "play"]
    for name, array in model.model_.totals._asdict().items():
        np.testing.assert_array_equal(array[:2], getattr(kept.model_.totals, name)[[0, 2]])
    assert np.isfinite(model.partial_fit(TEXTS, FOLDERS).decision_function(TEXTS)).all()


# ------------------------------------------------------------------ files and journals
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_loaded_model_goes_on_to_the_last_bit(tmp_path, dtype):
    model = taught(dtype=dtype, average=True, features=Evidence(("bayes", "centroid"), words="tfidf"))
    model.save(tmp_path / "m.hinged")
    loaded = hinged.load(tmp_path / "m.hinged")
    assert loaded.features == model.features
    same(loaded, model)
    same(loaded.partial_fit(TEXTS, FOLDERS), model.partial_fit(TEXTS, FOLDERS))


def test_what_auto_meant_is_kept_with_the_model(tmp_path):
    model = taught()
    assert model.settled_["features"] == Evidence()
    model.save(tmp_path / "m.hinged")
    assert hinged.load(tmp_path / "m.hinged").settled_["features"] == Evidence()
    assert taught(sharing="multi").settled_["features"] is None


def test_a_file_from_before_there_was_evidence_goes_on_without(tmp_path):
    before = taught(features=Frequency(high=0.4))
    before.save(tmp_path / "new.hinged")
    about, arrays, names = read(tmp_path / "new.hinged")
    about["params"]["features"] = "auto"  # as files said it then, with no word on what it meant
    write(tmp_path / "old.hinged", about, arrays, names)
    loaded = hinged.load(tmp_path / "old.hinged")
    assert (loaded.features, loaded.settled_["features"]) == ("auto", Frequency(high=0.4))
    same(loaded.partial_fit(TEXTS, FOLDERS), before.partial_fit(TEXTS, FOLDERS))
    loaded.save(tmp_path / "again.hinged")
    assert hinged.load(tmp_path / "again.hinged").settled_["features"] == Frequency(high=0.4)


def test_a_journal_from_before_there_was_evidence_goes_on_without(tmp_path):
    before = hinged.TextClassifier(features=Frequency(high=0.4))
    DurableModel(tmp_path, before).close()
    for given in (None, hinged.TextClassifier(), before):
        with DurableModel(tmp_path, given) as kept:
            for text, folder in zip(TEXTS[:7], FOLDERS, strict=False):
                kept.learn(text, folder)
    with DurableModel(tmp_path) as kept:
        same(kept.model, hinged.TextClassifier(features=before.features).partial_fit(TEXTS[:21], FOLDERS[:21]))
    with pytest.raises(ValueError, match="of other settings than those given"):
        DurableModel(tmp_path, hinged.TextClassifier(features="tfidf"))


def test_damaged_totals_are_refused(tmp_path):
    taught().save(tmp_path / "m.hinged")
    about, arrays, names = read(tmp_path / "m.hinged")
    for damage in (np.full(3, np.nan), np.zeros(2), np.zeros(3, np.int64)):
        write(tmp_path / "bad.hinged", about, {**arrays, "totals.squares": damage}, names)
        with pytest.raises(ValueError, match="its squares are damaged"):
            hinged.load(tmp_path / "bad.hinged")


# ------------------------------------------------------------------ what goes with it
def test_bounds_know_the_places_of_evidence():
    model = Classifier("pa1", sharing="single", features=Evidence(), bias=1.0)
    rng = np.random.default_rng(5)
    X, y = (rng.random((60, 6)) < 0.4).astype(float), rng.integers(0, 3, 60).tolist()
    stream = hinged.bounds.as_stream(X, y, like=model, classes=[0, 1, 2])
    assert stream.phi.shape == (3 * 60, 6 + 3 + 1)  # columns, kinds of evidence, the constant
    for t in (1, 59):  # φ as the learner has it, for every label
        model = Classifier("pa1", sharing="single", features=Evidence(), bias=1.0)
        model.partial_fit(X[:t], y[:t], classes=[0, 1, 2])
        places, phi = model.model_.label_features(model.read(X[[t]]), [0, 1, 2], None)
        row = np.zeros((10, 3))
        row[places] = phi[0]
        np.testing.assert_array_equal(stream.phi[3 * t : 3 * t + 3].toarray().T, row[[*range(4, 10), 0, 1, 2, 3]])
    model.partial_fit(X[59:], y[59:])
    assert hinged.bounds.hindsight(stream).objective >= model.dual_ > 0.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": Evidence(("centroids",))}, "one or more kinds of 'centroid', 'bayes', 'recency'"),
        ({"features": Evidence(())}, "one or more kinds"),
        ({"features": Evidence("bayes")}, "Give a tuple"),
        ({"features": Evidence(("bayes", "bayes"))}, "each kind once"),
        ({"features": Evidence(words=lambda x, r: x)}, "words of Evidence must be label features"),
        ({"features": Evidence(words="no such")}, "must be known label features"),
        ({"features": "evidence", "scaling": "standard"}, "the evidence of 'bayes' count the rows"),
        ({"features": "evidence", "sharing": "multi"}, "sharing='multi' has no label features"),
        ({"sharing": hinged.sharing.Groups([{"x", "y"}], features=[Evidence()])}, "one vector that all labels share"),
        ({"features": Evidence(), "kernel": hinged.mercer.Centred(1.0)}, "features cannot be used with a kernel"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(settings, message):
    settings = {"sharing": "hybrid", **settings}
    with pytest.raises(ValueError, match=message):
        hinged.Classifier(**settings).partial_fit(ROWS, LABELS)


def test_evidence_that_counts_nothing_goes_with_columns():
    features = Evidence(("centroid", "recency"), words=None)
    model = hinged.Classifier(sharing="hybrid", features=features, scaling="standard").partial_fit(ROWS * 1.5, LABELS)
    assert model.model_.evidence()["centroid"] != 0.0
