"""Targets in units of their deviation: what is promised of predictions, of their unit, and of what is kept."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import plain as papers
from tests.reference.forecasters import TogetherTwin

import hinged
from hinged.estimators.files import settings_from_before
from hinged.evaluate import progressive
from hinged.loops.targets import Numbers
from hinged.loops.vector_model import VectorModel

N = 4


def stream(seed, rows=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, N))
    return X, X @ rng.normal(size=N) + 0.1 * rng.normal(size=rows)


def scaled(**more):
    """A learner of scaled targets on rows as they are."""
    plain = {"C": 1.0, "scaling": None, "average": False, "bias": 0.0}
    return hinged.Regressor(**{**plain, "target_scaling": "standard", "epsilon": "auto", **more})


@pytest.mark.parametrize("rule", hinged.Regressor._rules)
@pytest.mark.parametrize("epsilon", [0.25, "auto"])
def test_one_learner_of_scaled_targets_agrees_with_its_plain_twin(rule, epsilon):
    X, y = stream(1)
    y, weights = 50.0 + 10.0 * y, np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(X))
    model = scaled(rule=rule, C=0.4, epsilon=epsilon, average=True)
    told = progressive(model, X, y, sample_weight=weights)
    twin = TogetherTwin(N, "regression", rule, [0.4], average=True, scaled=True, epsilon=epsilon).run(X, y, weights)
    clear = np.abs(twin.gaps) > 1e-9
    assert told.flags[clear].tolist() == np.array(twin.flags)[clear].tolist()
    np.testing.assert_allclose(told.losses, twin.losses, atol=1e-9)
    assert (told.updates, model.n_rounds_, model.dual_) == (twin.updates, len(X), None)
    np.testing.assert_allclose(model.predict(X), [twin.score(x) for x in X], rtol=1e-10)


@given(st.integers(0, 10_000), st.sampled_from([0.001, 1.0, 1e6]), st.sampled_from([0.0, -3.0, 1e3]))
def test_another_unit_of_the_targets_is_another_unit_of_the_predictions(seed, size, offset):
    X, y = stream(seed, 30)
    settings = {"C": "auto", "scaling": "standard", "bias": 0.5}
    plain, other = scaled(**settings).partial_fit(X, y), scaled(**settings).partial_fit(X, size * (y + offset))
    np.testing.assert_allclose(other.predict(X) / size, plain.predict(X) + offset, rtol=1e-6, atol=1e-6)
    assert list(other.experts_.values()) == pytest.approx(list(plain.experts_.values()), rel=1e-6)


def test_the_prediction_is_the_mean_while_nothing_else_is_known():
    model = scaled()
    assert model.predict_one([1.0, 2.0]) == 0.0
    model.learn_one([0.0, 0.0], 7.0, sample_weight=0.0)
    assert model.predict_one([1.0, 2.0]) == 0.0
    model.learn_one([1.0, 2.0], 7.0)
    assert model.predict_one([1.0, 2.0]) == 7.0
    assert model.explain([1.0, 2.0]) == [("mean", 7.0)]
    model.learn_one([0.0, 0.0], 9.0)
    assert model.predict_one([0.0, 0.0]) == 8.0
    assert model.predict_one([1.0, 2.0]) == 8.0


def test_the_first_target_counts_as_an_error_in_its_own_unit():
    told = progressive(scaled(epsilon=0.5), [[1.0], [1.0], [1.0]], [7.0, 7.25, 9.0])
    assert told.flags.tolist() == [1, 0, 1]
    assert told.losses[:2].tolist() == [6.5, 0.0]


def test_constant_targets_are_predicted_and_move_nothing():
    X, _ = stream(2)
    model = scaled(bias=1.0).partial_fit(X, np.full(len(X), 0.1))
    assert model.predict(X).tolist() == [0.1] * len(X)
    assert (model.n_updates_, model.n_mistakes_) == (0, 1)


@pytest.mark.parametrize(("dtype", "within"), [("float64", 1e-3), ("float32", 1e-2)])
@pytest.mark.parametrize("offset", [1e9, -1e9])
def test_targets_far_from_zero_are_predicted_as_well_as_those_near_it(offset, dtype, within):
    X, y = stream(3)
    X, y = X.astype(dtype), np.round(y * 2**10) / 2**10  # so that the offset leaves every digit
    settings = {"C": 0.5, "scaling": "standard", "bias": 0.5}
    near, far = scaled(**settings).partial_fit(X, y), scaled(**settings).partial_fit(X, y + offset)
    assert far.coef_.dtype == np.dtype(dtype)
    np.testing.assert_allclose(far.predict(X) - offset, near.predict(X), atol=within)
    assert np.abs(far.predict(X) - offset - y).mean() < 0.5 * y.std()


def test_rows_of_weight_zero_enter_nothing():
    X, y = stream(4)
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    with_them = scaled(scaling="standard").partial_fit(X, np.where(weights > 0, y, 1e6), sample_weight=weights)
    without = scaled(scaling="standard").partial_fit(X[weights > 0], y[weights > 0])
    assert with_them.predict(X).tolist() == without.predict(X).tolist()
    assert with_them.model_.unit_of_targets == without.model_.unit_of_targets
    assert with_them.model_.unit_of_targets == pytest.approx((y[weights > 0].mean(), y[weights > 0].std()))


def test_auto_scales_targets_where_rows_are_scaled():
    X, y = stream(5)
    for scaling, known in ((None, 0), ("idf", 2), ("standard", 2)):
        model = hinged.Regressor(C=1.0, scaling=scaling, target_scaling="auto", epsilon="auto").partial_fit(X, y)
        assert len(model.model_.numbers.known) == known
        assert model.model_.numbers.relative == (known > 0)
        assert (model.dual_ is None) == (known > 0)
    plain = papers.Regressor().partial_fit(X, y)
    auto = papers.Regressor(epsilon="auto", target_scaling="auto").partial_fit(X, y)
    assert auto.coef_.tolist() == plain.coef_.tolist()


def test_the_answer_does_not_depend_on_the_unit_without_any_setting():
    X, y = stream(6)
    settings = {"C": "auto", "scaling": "standard", "target_scaling": "auto", "epsilon": "auto"}
    grams = progressive(hinged.Regressor(**settings), X, 1000.0 * y)
    kilos = progressive(hinged.Regressor(**settings), X, y)
    assert grams.flags.tolist() == kilos.flags.tolist()


def test_epsilon_may_change_and_the_scaling_of_targets_may_not():
    X, y = stream(7)
    model = scaled().partial_fit(X, y)
    unit = model.model_.unit_of_targets
    model.set_params(epsilon=100.0).learn_one(X[0], y[0])
    assert model.model_.numbers.epsilon == 100.0
    assert not model.model_.numbers.relative
    assert model.model_.unit_of_targets == pytest.approx(unit, rel=0.1)
    with pytest.raises(ValueError, match="target_scaling cannot change once something is learnt"):
        model.set_params(target_scaling=None).learn_one(X[0], y[0])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"target_scaling": "robust"},
            "target_scaling must be None, 'standard' or 'auto'; got target_scaling='robust'",
        ),
        ({"epsilon": "small"}, "epsilon must be a finite number that is not negative; got epsilon='small'"),
        (
            {"target_scaling": "standard", "kernel": hinged.mercer.Linear()},
            "target_scaling cannot be used with a kernel",
        ),
    ],
)
def test_a_setting_that_makes_no_sense_gets_a_sentence(settings, said):
    with pytest.raises(ValueError, match=said):
        hinged.Regressor(**settings).fit([[1.0]], [1.0])


def test_what_was_kept_before_targets_were_scaled_goes_on_as_it_began():
    assert settings_from_before("Regressor")["target_scaling"] is None
    X, y = stream(8)
    for average in (False, True):
        model = papers.Regressor(average=average, bias=0.5).partial_fit(X[:40], y[:40])
        arrays = model.model_.arrays()
        assert arrays["w"].ndim == arrays["late"].ndim == 1  # as in files of one learner since the first version
        assert not {"shares", "losses", "target"} & set(arrays)
        state = model.model_.__getstate__()
        w, late, b, late_b = state["vector"]
        old = {name: value for name, value in state.items() if name not in ("forecasters", "numbers", "mean")}
        old |= {"vector": (w.reshape(-1), late.reshape(-1), b, late_b), "epsilon": 0.1}
        again = object.__new__(VectorModel)
        again.__setstate__(pickle.loads(pickle.dumps(old)))
        assert again.numbers._replace(known=None) == Numbers(0.1, False, None)
        twin = pickle.loads(pickle.dumps(model))
        twin._parts = twin._parts._replace(model=again)
        del twin.__dict__["target_scaling"]
        assert (
            twin.partial_fit(X[40:], y[40:]).predict(X).tolist()
            == model.partial_fit(X[40:], y[40:]).predict(X).tolist()
        )
