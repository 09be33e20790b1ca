"""C="auto" on one vector: learners side by side, each as it would be alone, answer together with a mean of weights."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.reference.forecasters import FORGETTING, GROWTH, LARGEST_ERROR, RATE, TogetherTwin

import hinged
from hinged.evaluate import progressive
from hinged.loops import shares, vector
from hinged.loops.experts import BOLD, SINGLE
from hinged.loops.rows import Dense, Rows
from hinged.loops.steps import Setting
from hinged.loops.targets import Numbers
from hinged.loops.vector_model import BINARY, REGRESSION, VectorModel
from hinged.rules.table import resolve

ROWS, N = 60, 5
STANDARD = {"scaling": "standard", "bias": 0.4}
OPTIONS = [
    pytest.param(STANDARD, id="standard"),
    pytest.param({**STANDARD, "average": True}, id="standard-average"),
    pytest.param({"scaling": "idf", "normalize": True}, id="idf"),
    pytest.param({"scaling": None, "bias": -0.5}, id="plain"),
    pytest.param({**STANDARD, "geometry": hinged.geometry.Adaptive(0.5)}, id="metric"),
    pytest.param({**STANDARD, "half_life": hinged.geometry.HalfLife(statistics=9.0)}, id="statistics"),
]
NUMBERS = [
    {"epsilon": epsilon, "target_scaling": how}
    for epsilon, how in ((0.1, None), (0.1, "standard"), ("auto", "standard"))
]
TASKS = [
    pytest.param(hinged.BinaryClassifier, {}, id="binary"),
    pytest.param(hinged.BinaryClassifier, {"margin": 0.5}, id="binary-margin"),
    *(pytest.param(hinged.Regressor, more, id="-".join(["numbers", *map(str, more.values())])) for more in NUMBERS),
]


def stream(seed, rows=ROWS):
    """Rows with some zeros, and a score that can partly be learnt."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, N)) * [1.0, 5.0, 0.2, 1.0, 1.0] * (rng.random((rows, N)) < 0.7)
    return X, 30.0 + 4.0 * (X @ rng.normal(size=N)) + rng.normal(size=rows)


def answers(kind, y):
    return y if kind is hinged.Regressor else (y > 30.0).astype(int)


def caps_of(kind, options):
    """C of the learners: a vector for each of two labels needs half as much."""
    caps = BOLD if options["scaling"] == "standard" else SINGLE
    return [2 * C for C in caps] if kind is hinged.BinaryClassifier else list(caps)


def known(kind):
    return {} if kind is hinged.Regressor else {"classes": [0, 1]}


def given_as(form, X):
    if form == "dicts":
        return [{j: v for j, v in enumerate(row) if v} for row in X.tolist()]
    return sparse.csr_array(X) if form == "sparse" else X


def ask(model, X):
    return model.predict(X) if isinstance(model, hinged.Regressor) else model.decision_function(X)


def state_of(model):
    return {name: array.tolist() for name, array in model.model_.arrays().items()}


def test_the_twin_has_the_constants_of_the_loops():
    assert (RATE, FORGETTING, GROWTH) == (shares.RATE, shares.FORGETTING, shares.GROWTH)
    assert vector.LARGEST_ERROR == LARGEST_ERROR


@pytest.mark.parametrize("form", ["dense", "sparse", "dicts"])
@pytest.mark.parametrize("rule", ["pa1", "pa2"])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("kind", "more"), TASKS)
def test_learners_side_by_side_agree_with_their_plain_twins(kind, more, options, rule, form):
    X, y = stream(len(form))
    y, weights = answers(kind, y), np.where(np.arange(ROWS) % 11 == 4, 0.0, 1.0 + np.arange(ROWS) % 2)
    settings = {
        name: value for name, value in {**more, **options}.items() if name not in ("target_scaling", "geometry")
    }
    if "geometry" in options:
        settings["metric"] = options["geometry"].r
    if "half_life" in options:
        settings["half_life"] = (None, options["half_life"].statistics)
    twin = TogetherTwin(
        N,
        "regression" if kind is hinged.Regressor else "binary",
        rule,
        caps_of(kind, options),
        mean="average" not in options,
        scaled=more.get("target_scaling") is not None,
        dense=form == "dense",
        **settings,
    ).run(X[:-5], y[:-5], weights[:-5])
    model = kind(rule, C="auto", **more, **options)
    told = progressive(model, given_as(form, X[:-5]), y[:-5], sample_weight=weights[:-5], **known(kind))
    clear = np.abs(twin.gaps) > 1e-9
    assert clear[2:].mean() > 0.9
    assert told.flags[clear].tolist() == np.array(twin.flags)[clear].tolist()
    np.testing.assert_allclose(told.losses, twin.losses, atol=1e-8)
    assert told.updates == twin.updates
    np.testing.assert_allclose(list(model.experts_.values()), twin.shares, atol=1e-9)
    expected = [twin.score(raw) for raw in X[-5:]]
    np.testing.assert_allclose(ask(model, given_as(form, X[-5:])), expected, rtol=1e-9, atol=1e-9)
    assert model.dual_ is None


@given(st.integers(0, 10_000), st.sampled_from(["pa1", "pa2"]), st.booleans(), st.booleans(), st.booleans())
def test_one_cap_without_a_mean_is_the_plain_learner_to_the_last_bit(seed, rule, numbers, average, dense):
    X, y = stream(seed, 20)
    step, _ = resolve(rule, 0.4, 1.0)
    models = []
    for caps in ((), (0.4,)):
        setting = Setting(step.words, step.C if not caps else 99.0, step.margin, step.uses_weight)
        task = REGRESSION if numbers else BINARY
        about = Numbers(0.1, False, np.zeros(2 * (seed % 2))) if numbers else None
        model = VectorModel(task, np.float64, setting, about, caps=caps, average=average, bias=0.5)
        model.widen(N)
        rows = Dense(np.ascontiguousarray(X))
        told = model.learn(rows if dense else rows.rows(), y if numbers else 1.0 * (y > 30), np.zeros(0))
        models.append((model, told))
    (plain, told), (other, as_told) = models
    assert plain.weights.tolist() == other.weights.tolist()
    assert [part.tolist() for part in told] == [part.tolist() for part in as_told]
    assert plain.score(Dense(X)).tolist() == plain.score(Dense(X).rows()).tolist()
    np.testing.assert_allclose(plain.score(Dense(X)), other.score(Dense(X)), rtol=1e-12)
    assert plain.counts.tolist() == other.counts.tolist()
    assert plain.dual == other.dual


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("kind", "more"), TASKS)
def test_every_learner_is_what_it_would_be_alone_to_the_last_bit(kind, more, dtype):
    X, y = stream(3)
    y, X = answers(kind, y), X.astype(dtype)
    together = kind(C="auto", **STANDARD, **more).partial_fit(X, y, **known(kind)).model_.arrays()
    for e, C in enumerate(caps_of(kind, STANDARD)):
        alone = kind(C=C, **STANDARD, **more).partial_fit(X, y, **known(kind)).model_.arrays()
        assert together["w"][:, e].tolist() == alone["w"].tolist()
    last, before, late = kind(C=caps_of(kind, STANDARD)[-1], **STANDARD, **more), 0.0, 0.0
    for i in range(ROWS):
        after = last.partial_fit(X[i : i + 1], y[i : i + 1], **known(kind)).model_.arrays()["w"].astype(np.float64)
        late, before = late + i**GROWTH * (after - before), after
    tolerance = (1e-9 if dtype == "float64" else 1e-5) * abs(late).max()
    np.testing.assert_allclose(together["late"][:, 0], late, rtol=0, atol=tolerance)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("kind", "more"), TASKS)
def test_rows_alone_or_at_once_copied_pickled_or_saved_give_the_same_bits(kind, more, options, tmp_path):
    X, y = stream(4)
    y = answers(kind, y)
    whole = kind(C="auto", **more, **options).partial_fit(X, y, **known(kind))
    begun = kind(C="auto", **more, **options).partial_fit(X[:30], y[:30], **known(kind))
    begun.save(tmp_path / "model")
    for other in (hinged.load(tmp_path / "model"), copy.deepcopy(begun), pickle.loads(pickle.dumps(begun))):
        for x, target in zip(X[30:], y[30:].tolist(), strict=True):
            other.learn_one(x, target)
        assert state_of(other) == state_of(whole)
        assert other.experts_ == whole.experts_
        assert ask(other, X).tolist() == ask(whole, X).tolist()
        assert [ask(other, X[i : i + 1])[0] for i in range(5)] == ask(whole, X[:5]).tolist()
    delayed = kind(C="auto", **more, **options)
    told = progressive(delayed, X, y, delay=4, **known(kind))
    assert delayed.model_.arrays()["w"].tolist() == whole.model_.arrays()["w"].tolist()
    assert delayed.n_mistakes_ == told.mistakes


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("kind", "more"), TASKS)
def test_coefficients_and_reasons_are_those_of_the_common_answer(kind, more, options):
    X, y = stream(5)
    model = kind(C="auto", **more, **options).partial_fit(X, answers(kind, y), **known(kind))
    f, v = model.model_.read(Dense(X[:1]).rows())
    said = ask(model, X[:1])[0]
    scaled = np.zeros(N)
    scaled[f[f > 0] - 1] = v[f > 0]
    assert scaled @ model.coef_ + model.intercept_ == pytest.approx(said, abs=1e-9)
    reasons = model.explain(X[0], top=None)
    assert sum(share for _, share in reasons) == pytest.approx(said, abs=1e-9)
    assert ("mean" in dict(reasons)) == (more.get("target_scaling") is not None)
    assert sum(model.experts_.values()) == pytest.approx(1.0)
    assert list(model.experts_) == [*caps_of(kind, options), *(() if "average" in options else ["mean"])]


def test_flags_and_the_answers_before_each_round_are_one():
    X, y = stream(6)
    model, y = hinged.BinaryClassifier(C="auto", **STANDARD).declare([0, 1]), (y > 30).astype(int)
    model.learn_one(X[0], y[0])
    for x, label in zip(X[1:], y[1:], strict=True):
        wrong = (2 * label - 1) * model.decision_function([x])[0] <= 0.0
        assert progressive(model, [x], [label]).mistakes == wrong


def test_a_label_that_comes_later_moves_no_share():
    X, _ = stream(7)
    model = hinged.BinaryClassifier(C="auto", **STANDARD)
    assert progressive(model, X[:4], ["b", "b", "a", "a"]).flags.tolist()[:3] == [-1, 0, -1]
    one = hinged.BinaryClassifier(C="auto", **STANDARD).partial_fit(X[:3], ["b", "b", "a"])
    assert len(set(one.experts_.values())) == 1


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (hinged.BinaryClassifier, {"rule": "pa"}),
        (hinged.Regressor, {"rule": "pa"}),
        (hinged.BinaryClassifier, {"kernel": hinged.mercer.Gaussian(1.0)}),
        (hinged.Regressor, {"kernel": hinged.mercer.Gaussian(1.0)}),
        (hinged.OrdinalClassifier, {}),
    ],
)
def test_where_nothing_is_gained_by_several_caps_auto_is_one(make, settings):
    X, y = stream(8)
    y = y if make is hinged.Regressor else (y > 30).astype(int)
    auto, plain = make(C="auto", **settings).fit(X, y), make(**{"C": 1.0, **settings}).fit(X, y)
    assert ask(auto, X).tolist() == ask(plain, X).tolist()
    assert auto.experts_ == {} == plain.experts_
    assert auto.dual_ == plain.dual_


def test_a_cap_cannot_become_several_later():
    model = hinged.BinaryClassifier(C="auto").fit([[1.0], [2.0]], [0, 1])
    for change in ({"C": 1.0}, {"rule": "pa"}):
        with pytest.raises(ValueError, match="C cannot change between 'auto' and a number"):
            copy.deepcopy(model).set_params(**change).learn_one([1.0], 0)
    with pytest.raises(ValueError, match="C cannot change between 'auto' and a number"):
        hinged.Regressor(C=1.0).fit([[1.0]], [0.0]).set_params(C="auto").learn_one([1.0], 0.0)
    with pytest.raises(TypeError, match="C must be a number; got C='best'"):
        hinged.Regressor(C="best").fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("name", ["shares", "losses", "target", "w", "late"])
def test_damaged_numbers_are_refused(name):
    X, y = stream(9)
    model = hinged.Regressor(C="auto", **STANDARD, target_scaling="standard").fit(X, y)
    for damage in (lambda a: np.full_like(a, np.nan), lambda a: a[:-1], lambda a: a - 1e3):
        arrays = {key: array.copy() for key, array in model.model_.arrays().items()}
        if name in ("w", "late") and damage(np.ones(1)).tolist() == [-999.0]:
            continue  # weights may be negative
        arrays[name] = damage(arrays[name]) if name != "target" else damage(arrays[name] * [1.0, 0.0])
        with pytest.raises(ValueError, match="damaged"):
            model.model_.copy().restore(arrays, (), 0)


def test_rows_beyond_what_was_learnt_have_no_weight():
    X, y = stream(10)
    model = hinged.Regressor(C="auto", scaling=None, n_features=N).partial_fit(sparse.csr_array(X), y)
    rows = Rows(np.array([0, 1]), np.array([N + 3], np.int32), np.ones(1))
    assert model.model_.score(rows).tolist() == [0.0]
