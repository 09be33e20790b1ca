"""geometry="adaptive": what learners with a metric that learns promise beside their twins (tests/test_twins.py)."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

import hinged
from hinged.evaluate import progressive
from hinged.geometry import Adaptive, variance

COLUMNS, LABELS, ROWS = 12, 4, 60
AS_THEY_ARE = {"scaling": None, "normalize": False, "bias": 0.0}
LEARNERS = {
    "one": (hinged.Classifier, {"rule": "pa1", "C": 0.5}),
    "optimal": (hinged.Classifier, {"rule": "optimal", "C": 2.0}),
    "simproj": (hinged.Classifier, {"rule": "simproj", "C": 2.0}),
    "experts": (hinged.Classifier, {}),
    "average": (hinged.Classifier, {"rule": "pa1", "C": 0.5, "average": True}),
    "hybrid": (hinged.Classifier, {"sharing": "hybrid", "features": "frequency"}),
    "costs": (hinged.Classifier, {"rule": "pa1", "C": 0.5, "cost": 1.0 - np.eye(LABELS)}),
    "sets": (hinged.Ranker, {}),
    "binary": (hinged.BinaryClassifier, {}),
    "plain binary": (hinged.BinaryClassifier, {"C": 0.5, "scaling": None}),
    "numbers": (hinged.Regressor, {}),
    "plain numbers": (hinged.Regressor, {"C": 0.5, "scaling": None}),
    "ranks": (hinged.OrdinalClassifier, {}),
}


def stream(name, seed=0, rows=ROWS):
    """Rows with zeros, and answers that can partly be learnt."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, COLUMNS)) * (rng.random((rows, COLUMNS)) < 0.6)
    scores = X @ rng.normal(size=(COLUMNS, LABELS)) + rng.normal(size=(rows, LABELS)) / 3
    if "numbers" in name:
        return X, scores[:, 0]
    if "binary" in name:
        return X, (scores[:, 0] > 0).astype(int)
    return X, [{int(r), int(r + 1) % LABELS} for r in scores.argmax(1)] if name == "sets" else scores.argmax(1)


def made(name, **more):
    kind, settings = LEARNERS[name]
    return kind(**{"geometry": "adaptive", **settings, **more})


def known(name):
    return {} if "numbers" in name else {"classes": [0, 1] if "binary" in name else range(LABELS)}


def learnt(model):
    """What a model knows, whatever the room it has for more."""
    seen = model.model_.metric.seen[: COLUMNS + 1]
    return {"seen": seen, "weights": model.coef_, "counts": model.model_.ledger.counts}


def state_of(model):
    return {name: array.tolist() for name, array in model.model_.arrays().items()}


def test_a_feature_moves_less_the_more_it_has_moved():
    model = hinged.Classifier("pa", geometry=Adaptive(r=1.0), **AS_THEY_ARE).declare(["a", "b"])
    model.learn_one({"often": 1.0}, "a")
    model.learn_one({"often": 1.0, "rare": 1.0}, "b")
    weights = dict(zip(model.feature_names_, model.coef_[0], strict=True))
    # often: ½ in the first round; then gap -1, loss 2, σ = 1/√2 for often and 1 for rare, so τ = 2 / 2(1 + 1/√2)
    step = 1.0 / (1.0 + np.sqrt(0.5))
    assert weights == pytest.approx({"often": 0.5 - step * np.sqrt(0.5), "rare": -step})
    assert model.decision_function([{"often": 1.0, "rare": 1.0}])[0] == pytest.approx(1.0)  # the margin, exactly


def test_variances_are_those_of_adagrad():
    assert [variance(S, 2.0) for S in (0.0, 6.0)] == [1.0, 0.5]
    assert Adaptive() == hinged.geometry.resolve("adaptive") == Adaptive(r=1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LEARNERS)
def test_rows_one_by_one_or_at_once_give_the_same_bits(name, dtype):
    X, y = stream(name)
    at_once, one_by_one = made(name, dtype=dtype), made(name, dtype=dtype)
    told = progressive(at_once, X, y, **known(name))
    flags = [progressive(one_by_one, X[[i]], y[i : i + 1], **known(name)).flags[0] for i in range(ROWS)]
    assert told.flags.tolist() == flags
    assert 0 < told.updates < ROWS or "experts" in name or name == "sets"
    for what in ("seen", "weights", "counts"):
        np.testing.assert_array_equal(learnt(at_once)[what], learnt(one_by_one)[what])
    assert at_once.dual_ is None


@pytest.mark.parametrize("name", LEARNERS)
def test_saved_loaded_copied_and_pickled_it_goes_on_to_the_same_bits(name, tmp_path):
    X, y = stream(name)
    model = made(name, geometry=Adaptive(0.25)).partial_fit(X[:40], y[:40], **known(name))
    model.save(tmp_path / "model")
    twins = [hinged.load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    model.partial_fit(X[40:], y[40:])
    for twin in twins:
        twin.partial_fit(X[40:], y[40:])
        assert twin.geometry == Adaptive(0.25)
        assert state_of(twin) == state_of(model)


@pytest.mark.parametrize("name", LEARNERS)
def test_only_rounds_with_a_step_and_a_weight_change_the_metric(name):
    X, y = stream(name)
    model = made(name).partial_fit(X[:40], y[:40], **known(name))
    before, updates = model.model_.metric.seen.copy(), model.n_updates_
    model.partial_fit(X[40:], y[40:], sample_weight=np.zeros(20))
    assert model.model_.metric.seen.tolist() == before.tolist()
    assert model.n_updates_ == updates > 0
    assert (before > 0).any()


@pytest.mark.parametrize("name", ["one", "experts", "hybrid", "sets", "binary", "numbers"])
def test_a_delay_changes_when_rows_are_predicted_and_nothing_that_is_learnt(name):
    X, y = stream(name)
    plain, late = made(name), made(name)
    progressive(plain, X, y, **known(name))
    progressive(late, X, y, delay=7, **known(name))
    assert late.model_.metric.seen.tolist() == plain.model_.metric.seen.tolist()
    np.testing.assert_array_equal(late.coef_, plain.coef_)


@pytest.mark.parametrize("name", ["one", "experts", "hybrid", "sets"])
def test_labels_are_renamed_merged_and_removed_and_the_metric_stays(name):
    X, y = stream(name)
    model = made(name).partial_fit(X, y, **known(name))
    before, coef = model.model_.metric.seen.copy(), model.coef_.copy()
    model.rename_label(0, "zero")
    model.remove_label(1)
    model.merge_labels(2, into=3)
    assert list(model.classes_) == ["zero", 3]
    np.testing.assert_allclose(model.coef_, [coef[0], coef[2] + coef[3]], atol=1e-12)
    assert model.model_.metric.seen.tolist() == before.tolist()
    answer = [{"zero"}] if name == "sets" else ["zero"]
    model.partial_fit(-X[:1], answer)
    assert (model.model_.metric.seen >= before).all()


def test_reasons_sum_to_the_score():
    X, y = stream("experts")
    for name in ("experts", "hybrid", "average"):
        model = made(name).partial_fit(X, y)
        reasons = [sum(value for _, value in model.explain(X[0], r, top=None)) for r in model.classes_]
        np.testing.assert_allclose(model.decision_function(X[:1])[0], reasons, atol=1e-9)


def test_many_features_and_labels_come_over_time():
    rng = np.random.default_rng(5)
    model = hinged.Classifier("pa1", C=1.0, geometry="adaptive", **AS_THEY_ARE)
    for t in range(300):
        names = rng.integers(0, 10 + 5 * t, 6)
        model.learn_one({f"w{n}": 1.0 for n in names}, t // 4)
    assert len(model.classes_) > 64  # more than one segment
    assert len(model.model_.metric.seen) > model.n_known_features


def test_a_huge_value_leaves_everything_finite():
    for dtype, huge in (("float32", 1e9), ("float64", 1e29)):
        X, y = np.array([[huge, 1.0], [huge, -1.0], [1.0, 1.0]] * 4, dtype), [0, 1, 1] * 4
        for name in ("one", "optimal", "plain binary"):
            model = made(name, dtype=dtype, **AS_THEY_ARE).partial_fit(X, y)
            assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("r", [0, -1.0, np.inf, np.nan])
def test_a_rate_that_is_not_positive_is_refused(r):
    with pytest.raises(ValueError, match=r"r must be positive and finite; got r=.*Try 1.0"):
        hinged.Classifier(geometry=Adaptive(r)).fit([[1.0], [2.0]], [0, 1])


REFUSED = {
    "a kernel": (lambda: hinged.Classifier(geometry="adaptive", kernel=hinged.mercer.Gaussian(1.0)), "with a kernel"),
    "a kernel on one vector": (
        lambda: hinged.BinaryClassifier(geometry="adaptive", kernel=hinged.mercer.Gaussian(1.0)), "with a kernel",
    ),
    "own label features": (
        lambda: hinged.Classifier(geometry="adaptive", sharing="single", features=lambda x, r: x), "of your own",
    ),
    "trials": (lambda: hinged.Trials(geometry="adaptive"), "no metric that learns"),
    "entropy on one vector": (lambda: hinged.Regressor(geometry="entropy"), "for Classifier and Ranker"),
    "another name": (lambda: hinged.Classifier(geometry="arow"), "'adaptive'"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(what):
    make, why = REFUSED[what]
    with pytest.raises(ValueError, match=why):
        make().check_settings()


def test_the_geometry_cannot_change_later():
    for name in ("one", "binary"):
        X, y = stream(name)
        model = made(name).partial_fit(X, y)
        with pytest.raises(ValueError, match="geometry cannot change"):
            model.set_params(geometry="euclidean").partial_fit(X, y)


@pytest.mark.parametrize("harm", [lambda seen: -seen - 1.0, lambda seen: seen * np.nan, lambda seen: np.zeros(0)])
def test_a_damaged_metric_is_refused(harm):
    for name in ("one", "binary"):
        X, y = stream(name)
        model = made(name).partial_fit(X, y).model_
        arrays = model.arrays()
        arrays["seen"] = harm(arrays["seen"])
        with pytest.raises(ValueError, match="damaged"):
            model.copy().restore(arrays, (), LABELS)


def test_sparse_and_dense_rows_agree():
    X, y = stream("one")
    one, other = made("one", **AS_THEY_ARE), made("one", **AS_THEY_ARE)
    assert one.partial_fit(X, y).coef_ == pytest.approx(other.partial_fit(sparse.csr_array(X), y).coef_)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("name", ["plain binary", "plain numbers"])
def test_the_loop_over_dense_rows_has_the_bits_of_the_one_over_sparse_rows(name, average, dtype):
    X, y = stream(name)
    dense, compressed = (made(name, dtype=dtype, average=average, bias=0.5) for _ in range(2))
    rows = X.astype(dtype)
    told = progressive(dense, rows, y), progressive(compressed, sparse.csr_array(rows), y)
    assert told[0].flags.tolist() == told[1].flags.tolist()
    assert told[0].losses.tolist() == told[1].losses.tolist()
    for what in ("seen", "weights"):
        np.testing.assert_array_equal(learnt(dense)[what], learnt(compressed)[what])
