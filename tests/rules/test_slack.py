"""Optimal(slack=δ): as if every row had one more feature, of size √δ, that no other row has."""

import numpy as np
import pytest
from scipy import sparse
from tests.reference.learner import Twin
from tests.reference.vectors import VectorTwin

import hinged
from hinged.mercer import Gaussian
from hinged.rules import Optimal

ROWS, COLUMNS, LABELS, SLACK = 60, 5, 4, 0.75
PLAIN = {"scaling": None, "normalize": False, "average": False}
SETTINGS = {**PLAIN, "C": 0.7, "margin": 0.8, "bias": 0.0}


def stream(seed=1, labels=LABELS):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, COLUMNS)) / np.sqrt(COLUMNS)
    y = np.argmax(X @ rng.normal(size=(COLUMNS, labels)) + rng.normal(size=(ROWS, labels)) / 2, axis=1)
    return X, y, [[int(r)] if i % 3 else [int(r), int((r + 1) % labels)] for i, r in enumerate(y)]


def with_private_features(X):
    return sparse.csr_array(np.hstack([X, np.sqrt(SLACK) * np.eye(len(X))]))


@pytest.mark.parametrize("labels", [LABELS, 70])
@pytest.mark.parametrize("sets", [False, True], ids=["labels", "sets"])
def test_slack_is_a_feature_that_no_other_row_has(sets, labels):
    X, y, several = stream(labels=labels)
    kind, answers = (hinged.Ranker, several) if sets else (hinged.Classifier, y)
    soft = kind(Optimal(slack=SLACK), **SETTINGS)
    wide = kind("optimal", **SETTINGS)
    told = hinged.evaluate.progressive(soft, X, answers, classes=range(labels))
    same = hinged.evaluate.progressive(wide, with_private_features(X), answers, classes=range(labels))
    assert told.flags.tolist() == same.flags.tolist()
    np.testing.assert_allclose(told.losses, same.losses, atol=1e-9)
    np.testing.assert_allclose(soft.coef_, wide.coef_[:, :COLUMNS], atol=1e-9)
    assert soft.dual_ == pytest.approx(wide.dual_, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sets", [False, True], ids=["labels", "sets"])
def test_labels_are_learnt_as_by_the_twin(sets, weighted):
    X, y, several = stream(2)
    weights = 1.0 + np.arange(ROWS) % 3 - (np.arange(ROWS) % 7 == 2) if weighted else None
    answers = [tuple(labels) for labels in several] if sets else y.tolist()
    twin = Twin(COLUMNS, range(LABELS), "optimal", 0.7, slack=SLACK, classes=range(LABELS)).run(X, answers, weights)
    model = (hinged.Ranker if sets else hinged.Classifier)(Optimal(slack=SLACK), C=0.7, bias=0.0, **PLAIN)
    told = hinged.evaluate.progressive(model, X, several if sets else y, classes=range(LABELS), sample_weight=weights)
    np.testing.assert_allclose(told.losses, twin.history.losses, atol=1e-9)
    np.testing.assert_allclose(model.coef_, twin.coef, atol=1e-9)
    assert model.dual_ == pytest.approx(twin.dual, abs=1e-9)


@pytest.mark.parametrize("average", [False, True])
def test_ranks_are_learnt_as_by_the_twin(average):
    X, y, _ = stream(3)
    settings = {**SETTINGS, "average": average}
    twin = VectorTwin(COLUMNS, "ordinal", "optimal", 0.7, k=LABELS, slack=SLACK, margin=0.8, average=average).run(X, y)
    model = hinged.OrdinalClassifier(Optimal(slack=SLACK), **settings)
    told = hinged.evaluate.progressive(model, X, y, classes=range(LABELS))
    assert told.flags.tolist() == twin.flags
    np.testing.assert_allclose(model.coef_, twin.coef, atol=1e-9)
    np.testing.assert_allclose(model.thresholds_, twin.thresholds, atol=1e-9)
    assert model.dual_ == pytest.approx(twin.dual, abs=1e-9)


def test_no_slack_changes_nothing():
    X, y, several = stream(4)
    for kind, answers in ((hinged.Classifier, y), (hinged.Ranker, several), (hinged.OrdinalClassifier, y)):
        one, other = kind(Optimal(), **SETTINGS).fit(X, answers), kind("optimal", **SETTINGS).fit(X, answers)
        assert np.array_equal(one.coef_, other.coef_)
        assert one.dual_ == other.dual_


def test_a_model_with_slack_goes_on_after_a_file(tmp_path):
    X, _, several = stream(5)
    whole, first = hinged.Ranker(), hinged.Ranker()
    whole.partial_fit(X, several)
    first.partial_fit(X[:30], several[:30])
    first.save(tmp_path / "model")
    again = hinged.load(tmp_path / "model")
    for x, labels in zip(X[30:], several[30:], strict=True):
        again.learn_one(x, labels)
    assert again.settled_["rule"] == Optimal(slack=1.0)
    assert np.array_equal(again.coef_, whole.coef_)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hinged.Classifier(Optimal(slack=1.0), kernel=Gaussian()), "does not run with a kernel"),
        (lambda: hinged.OrdinalClassifier(Optimal(slack=-1.0)), "slack must be positive; got slack=-1.0"),
        (lambda: hinged.Classifier(Optimal(slack=np.inf)), "slack must be finite"),
        (lambda: hinged.Classifier(Optimal("interior-point", slack=1.0)), "needs solver='search'"),
        (lambda: hinged.Classifier(Optimal(slack=1.0), geometry="entropy"), "does not run with geometry='entropy'"),
        (
            lambda: hinged.Classifier(Optimal(slack=1.0), sharing="hybrid", features="first"),
            "does not run with sharing='hybrid'",
        ),
    ],
)
def test_slack_is_refused_by_name_where_rows_cannot_have_it(make, message):
    with pytest.raises(ValueError, match=message):
        make().fit(np.eye(2), [0, 1])


def test_trials_and_sequences_have_no_slack():
    with pytest.raises(ValueError, match="does not run in Trials"):
        hinged.Trials(Optimal(slack=1.0)).learn_one([[1.0]], [1])
    with pytest.raises(ValueError, match="does not run in a SequenceTagger"):
        hinged.SequenceTagger(Optimal(slack=1.0)).fit([["a"]], [["x"]])
