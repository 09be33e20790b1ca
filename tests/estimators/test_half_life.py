"""half_life=: what was learnt fades, exactly, whatever the way rows come."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from tests import plain as papers
from tests.estimators.test_adaptive import COLUMNS, LABELS, known, state_of
from tests.estimators.test_adaptive import stream as drawn
from tests.reference.learner import Twin
from tests.reference.vectors import VectorTwin

import hinged
from hinged.evaluate import progressive
from hinged.geometry import Adaptive, HalfLife
from hinged.loops.fading import Fading, period

ROWS = 90
AS_THEY_ARE = {"scaling": None, "normalize": False, "bias": 0.0}
FAST = HalfLife(weights=1.0, statistics=2.0)  # what is stored is renewed after 64 rounds, or 16 in single precision
LEARNERS = {
    "one": (hinged.Classifier, {"rule": "pa1", "C": 0.5}),
    "simproj": (hinged.Classifier, {"rule": "simproj", "C": 2.0, "geometry": "adaptive"}),
    "experts": (hinged.Classifier, {}),
    "statistics": (hinged.Classifier, {"half_life": HalfLife(statistics=1.0)}),
    "words": (hinged.Classifier, {"scaling": "idf", "normalize": True}),
    "groups": (hinged.Classifier, {"sharing": hinged.sharing.Groups([{0, 1}, {1, 2}, {2, 3}, {0, 3}]), "rule": "pa1"}),
    "costs": (hinged.Classifier, {"rule": "pa1", "C": 0.5, "cost": 1.0 - np.eye(LABELS)}),
    "fourier": (hinged.Classifier, {"kernel": hinged.mercer.Fourier(16)}),
    "products": (hinged.Classifier, {"kernel": hinged.mercer.Products(6)}),
    "sets": (hinged.Ranker, {}),
    "binary": (hinged.BinaryClassifier, {"C": 0.5}),
    "binary experts": (hinged.BinaryClassifier, {}),
    "plain binary": (hinged.BinaryClassifier, {"C": 0.5, **AS_THEY_ARE}),
    "numbers": (hinged.Regressor, {}),
    "numbers of a metric": (hinged.Regressor, {"C": 0.5, "geometry": "adaptive", "half_life": HalfLife(None, 1.0)}),
    "ranks": (hinged.OrdinalClassifier, {}),
}


def stream(name, seed=0):
    return drawn(name, seed, ROWS)


def made(name, **more):
    kind, settings = LEARNERS[name]
    return kind(**{"half_life": FAST, **settings, **more})


def learnt(model):
    """What a model knows, in whatever order the features are stored."""
    arrays = state_of(model)
    return {name: array for name, array in arrays.items() if "store" not in name} | {"weights": model.coef_.tolist()}


def said(model, X):
    return model.predict(X) if isinstance(model, hinged.Regressor) else model.decision_function(X)


# ------------------------------------------------------------------ what it means
def test_a_weight_is_half_of_what_it_was_after_a_half_life():
    model = papers.Classifier("pa", half_life=2.0).declare(["a", "b"])
    model.learn_one({"x": 1.0}, "a")
    assert model.coef_[0] == pytest.approx([0.5 * 2**-0.5])  # the margin is met, then a round goes by
    model.learn_one({"y": 1.0}, "b")
    assert dict(zip(model.feature_names_, model.coef_[0], strict=True)) == pytest.approx({"x": 0.25, "y": -(2**-1.5)})
    model.learn_one({"y": 1.0}, "b", sample_weight=0.0)  # nothing is learnt, so no time goes by
    model.learn_one({"z": 0.0}, "b", sample_weight=5.0)
    assert model.coef_[0, 0] == pytest.approx(0.125 * 2**0.5)
    assert model.dual_ is None


def test_means_and_deviations_are_those_of_recent_values():
    X = np.array([[100.0], [104.0]] * 30 + [[0.0], [4.0]] * 30)
    model = hinged.Classifier(C=1.0, bias=0.0, half_life=HalfLife(statistics=3.0)).partial_fit(X, [0, 1] * 60)
    _, value = model.model_.read(model.read([[4.0]]))
    ages = np.array([0, *range(1, 121)])
    values, weights = np.array([4.0, *X[::-1, 0]]), 0.5 ** (ages / 3.0)
    mean = np.average(values, weights=weights)
    assert value[0] == pytest.approx((4.0 - mean) / np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    assert model.dual_ is not None  # weights do not fade, and steps are what they were


def test_it_follows_columns_and_concepts_that_drift():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1200, 3))
    y = (X[:, 0] > 0).astype(int)
    level = X + 5.0 * np.sin(np.arange(1200) / 60.0)[:, None]
    turned = np.where((np.arange(1200) // 100) % 2, 1 - y, y)
    for rows, answers, half_life, C in ((level, y, HalfLife(statistics=20.0), "auto"), (X, turned, 10.0, 0.01)):
        wrong = [progressive(hinged.Classifier(C=C, half_life=h), rows, answers).mistakes for h in (None, half_life)]
        assert wrong[1] < 0.8 * wrong[0]


# ------------------------------------------------------------------ twins
HALF_LIVES = [(1.0, 2.5), (None, 1.0), (7.0, None)]
RULES = [
    ("pa1", "standard"),
    ("pa2", "mixed"),
    ("simproj", None),
    ("optimal", "standard"),
    ("perceptron", "idf"),
    ("uniform", "standard"),
    ("pa", "mixed"),
    ("simperc", "standard"),
    ("conproj", "idf"),
    ("mira", "standard"),
]
KINDS = {"binary": papers.BinaryClassifier, "regression": papers.Regressor, "ordinal": papers.OrdinalClassifier}


@pytest.mark.parametrize("half_life", HALF_LIVES, ids=str)
@pytest.mark.parametrize("metric", [0.0, 0.5])
@pytest.mark.parametrize(("rule", "scaling"), RULES)
def test_labels_fade_as_in_the_twin(rule, scaling, metric, half_life):
    X, y = stream("one", len(rule))
    weights = np.where(np.arange(ROWS) % 7 == 5, 0.0, 1.0 + np.arange(ROWS) % 2)
    settings = {"scaling": scaling, "bias": 0.5} | ({} if rule in ("uniform", "mira") else {"C": 0.4})
    sparsely = scaling in ("mixed", "idf")
    twin = Twin(COLUMNS, range(LABELS), rule, classes=range(LABELS), half_life=half_life, metric=metric, **settings)
    twin.scaler.dense = not sparsely
    twin.run(X[:-5], y[:-5], weights[:-5])
    geometry = Adaptive(metric) if metric else "euclidean"
    given = sparse.csr_array if sparsely else np.asarray
    for dtype, within in (("float64", 1e-9), ("float32", 2e-3)):
        model = papers.Classifier(rule, half_life=HalfLife(*half_life), geometry=geometry, dtype=dtype, **settings)
        told = progressive(model, given(X[:-5], dtype=dtype), y[:-5], classes=range(LABELS), sample_weight=weights[:-5])
        np.testing.assert_allclose(told.losses, twin.history.losses, atol=within)
        np.testing.assert_allclose(
            model.decision_function(given(X[-5:], dtype=dtype)), twin.scores(X[-5:]), atol=within
        )
        np.testing.assert_allclose(model.coef_, twin.coef, atol=within)
        assert model.n_updates_ == twin.history.updates or dtype == "float32"
        assert (model.dual_ is None) == (twin.dual is None)


@pytest.mark.parametrize("half_life", HALF_LIVES, ids=str)
@pytest.mark.parametrize("rule", ["pa1", "simproj", "optimal"])
def test_label_sets_fade_as_in_the_twin(rule, half_life):
    X, y = stream("sets", 2)
    settings = {"scaling": "standard", "bias": 0.5, "C": 0.4}
    twin = Twin(COLUMNS, range(LABELS), rule, classes=range(LABELS), half_life=half_life, metric=0.5, **settings)
    twin.run(X[:-5], [tuple(sorted(labels)) for labels in y[:-5]])
    model = papers.Ranker(rule, half_life=HalfLife(*half_life), geometry=Adaptive(0.5), **settings)
    told = progressive(model, X[:-5], y[:-5], classes=range(LABELS))
    np.testing.assert_allclose(told.losses, twin.history.losses, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X[-5:]), twin.scores(X[-5:]), atol=1e-9)
    assert told.flags.tolist() == twin.history.flags
    assert 0 < told.mistakes < ROWS - 5


@pytest.mark.parametrize("half_life", HALF_LIVES, ids=str)
@pytest.mark.parametrize("more", [{"scaling": "standard"}, {"metric": 0.5}], ids=str)
@pytest.mark.parametrize(("task", "rule"), [("binary", "pa1"), ("regression", "pa2"), ("ordinal", "simproj")])
@pytest.mark.parametrize(("dtype", "within"), [("float64", 1e-9), ("float32", 1e-4)])
def test_one_vector_fades_as_in_the_twin(task, rule, dtype, within, more, half_life):
    X, y = stream("one", 3)
    rows = X.astype(dtype)
    X = rows.astype(np.float64)
    y = {"binary": y % 2, "regression": np.sin(np.arange(ROWS)), "ordinal": y}[task]
    twin = VectorTwin(COLUMNS, task, rule, 0.4, k=LABELS, bias=0.5, half_life=half_life, **more).run(X, y)
    settings = {"bias": 0.5, "half_life": HalfLife(*half_life), **more}
    if "metric" in settings:
        settings["geometry"] = Adaptive(settings.pop("metric"))
    model = KINDS[task](rule, 0.4, **settings)
    told = progressive(model, rows, y, **({} if task == "regression" else {"classes": np.unique(y)}))
    assert told.flags.tolist() == twin.flags
    np.testing.assert_allclose(told.losses, twin.losses, rtol=0, atol=within)
    np.testing.assert_allclose(model.coef_.ravel(), twin.coef, rtol=0, atol=within)
    if task == "ordinal":
        np.testing.assert_allclose(model.thresholds_, twin.thresholds, rtol=0, atol=within)


# ------------------------------------------------------------------ the same bits
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LEARNERS)
def test_rows_one_by_one_or_at_once_give_the_same_bits(name, dtype):
    X, y = stream(name)
    at_once, one_by_one = made(name, dtype=dtype), made(name, dtype=dtype)
    told = progressive(at_once, X, y, **known(name))
    flags = [progressive(one_by_one, X[[i]], y[i : i + 1], **known(name)).flags[0] for i in range(ROWS)]
    assert told.flags.tolist() == flags
    assert learnt(at_once) == learnt(one_by_one)
    assert said(at_once, X).tolist() == said(one_by_one, X).tolist()
    fading = at_once.model_.metric.fading
    assert fading.origin == ROWS - ROWS % period(fading, np.dtype(dtype).itemsize) > 0


@pytest.mark.parametrize("name", LEARNERS)
def test_saved_loaded_copied_and_pickled_it_goes_on_to_the_same_bits(name, tmp_path):
    X, y = stream(name)
    model = made(name).partial_fit(X[:70], y[:70], **known(name))
    model.save(tmp_path / "model")
    state = model.get_state()
    others = [hinged.load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    others.append(made(name).set_state(state))
    model.partial_fit(X[70:], y[70:])
    for other in others:
        other.partial_fit(X[70:], y[70:])
        assert other.half_life == model.half_life
        assert state_of(other) == state_of(model)
        assert said(other, X).tolist() == said(model, X).tolist()


@pytest.mark.parametrize("name", ["one", "experts", "sets", "binary", "numbers"])
def test_a_delay_changes_when_rows_are_predicted_and_nothing_that_is_learnt(name):
    X, y = stream(name)
    prompt, late = made(name), made(name)
    progressive(prompt, X, y, **known(name))
    progressive(late, X, y, delay=7, **known(name))
    np.testing.assert_array_equal(late.coef_, prompt.coef_)
    assert late.model_.metric.fading == prompt.model_.metric.fading


@pytest.mark.parametrize("name", sorted(LEARNERS.keys() - {"fourier", "products"}))  # whose features mix columns
def test_scores_are_explained_by_what_is_left(name):
    X, y = stream(name)
    model = made(name).partial_fit(X, y, **known(name))
    one = said(model, X[:1])[0]
    if "numbers" in name or "binary" in name or name == "ranks":
        reasons = model.explain(X[0], top=None)
    else:
        reasons, one = model.explain(X[0], 1, top=None), one[1]
    assert sum(share for _, share in reasons) == pytest.approx(one, abs=1e-12)


def test_labels_are_renamed_merged_and_forgotten_as_ever():
    X, y = stream("one")
    model = made("one").partial_fit(X, y, classes=range(LABELS))
    before = model.decision_function(X)
    model.rename_label(0, "zero")
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.merge_labels("zero", 1)
    np.testing.assert_allclose(model.decision_function(X)[:, 0], before[:, 0] + before[:, 1], atol=1e-12)


def test_readers_keep_what_they_hold_while_all_that_is_stored_is_renewed():
    for name in ("one", "binary"):
        X, y = stream(name)
        model = made(name).partial_fit(X[:63], y[:63], **known(name))
        held, before = model.model_._now(), model.coef_
        model.partial_fit(X[:1], y[:1], sample_weight=[1e-9])  # round 64, with next to no step
        assert (held.metric.fading.origin, model.model_.metric.fading.origin) == (0, 64)
        stored = held._stored_coef() if name == "one" else held.vector.w[1:, 0]
        np.testing.assert_allclose(0.5**63 * stored, before, rtol=1e-4)
        np.testing.assert_allclose(model.coef_, 0.5 * before, rtol=1e-4)


def test_targets_fade_on_after_a_setting_changed():
    X, y = stream("numbers")
    plain, changed = made("numbers", epsilon=0.5), made("numbers", epsilon=0.25)
    plain.partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:])
    changed.partial_fit(X[:1], y[:1]).set_params(epsilon=0.5).partial_fit(X[1:], y[1:])
    assert changed.model_.unit_of_targets == plain.model_.unit_of_targets
    values, weights = y[::-1], 0.5 ** (np.arange(ROWS) / FAST.statistics)
    mean = np.average(values, weights=weights)
    deviation = np.sqrt(np.average((values - mean) ** 2, weights=weights))
    assert plain.model_.unit_of_targets == pytest.approx((mean, deviation))


# ------------------------------------------------------------------ what is refused
REFUSED = {
    "no number": (lambda: hinged.Classifier(half_life="long"), TypeError, "half_life must be a number of rounds"),
    "yes": (lambda: hinged.Regressor(half_life=True), TypeError, "half_life must be a number of rounds"),
    "too short": (lambda: hinged.Classifier(half_life=0.5), ValueError, "half_life must be between 1 and 1e"),
    "not finite": (
        lambda: hinged.Ranker(half_life=HalfLife(statistics=np.inf)), ValueError, "statistics must be between",
    ),
    "a simplex": (lambda: hinged.Classifier(half_life=9, geometry="entropy"), ValueError, "sum to the radius"),
    "label features": (
        lambda: hinged.Classifier(half_life=9, sharing="hybrid", features="first"), ValueError, "Use sharing='multi'",
    ),
    "a mean": (lambda: hinged.OrdinalClassifier(half_life=9, average=True), ValueError, "a mean over all rounds"),
    "a kernel": (
        lambda: hinged.Classifier(half_life=9, kernel=hinged.mercer.Gaussian(1.0)), ValueError, "half_life",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(what):
    make, kind, why = REFUSED[what]
    with pytest.raises(kind, match=why):
        make().check_settings()


def test_it_cannot_change_later_nor_be_merged_nor_bounded():
    X, y = stream("one")
    model = made("one").partial_fit(X, y)
    with pytest.raises(ValueError, match="with half_life="):
        model.merge([model.get_state(), model.get_state()])
    with pytest.raises(ValueError, match="half_life"):
        hinged.bounds.mistake_bound(papers.Classifier(half_life=9), X, y)
    with pytest.raises(ValueError, match="half_life"):
        hinged.bounds.as_stream(X, y, like=papers.Classifier(half_life=9))
    with pytest.raises(ValueError, match="half_life cannot change"):
        model.set_params(half_life=None).partial_fit(X, y)


@pytest.mark.parametrize("harm", [lambda held: -held - 1.0, lambda held: held * np.nan, lambda held: held[:1]])
def test_damaged_statistics_are_refused(harm):
    for name in ("experts", "binary"):
        X, y = stream(name)
        arrays = made(name).partial_fit(X, y).model_.arrays()
        arrays["held"] = harm(arrays["held"])
        with pytest.raises(ValueError, match="damaged"):
            made(name).partial_fit(X, y).model_.copy().restore(arrays, (), LABELS)


def test_dicts_one_by_one_give_the_bits_of_all_at_once_beyond_a_renewal():
    rng = np.random.default_rng(5)
    rounds = 3 * period(Fading(1.0, 1.0, 0), 8) + 5
    rows = [{f"w{j}": 1.0 + j for j in rng.choice(6, 3, replace=False)} for _ in range(rounds)]
    y = rng.integers(0, 3, rounds).tolist()
    single, batch = (hinged.Classifier(C=0.5, half_life=1.0) for _ in range(2))
    for row, label in zip(rows, y, strict=True):
        single.learn_one(row, label)
    batch.partial_fit(rows, y)
    assert np.array_equal(single.decision_function(rows), batch.decision_function(rows))
