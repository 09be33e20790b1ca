"""The joint step maximises the trial's dual: by its optimality conditions, by SciPy, and by trying every support."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from scipy.optimize import minimize
from tests.reference.quadratic import maximise
from tests.reference.strategies import patience
from tests.rules.trials import Trial, assert_feasible, caps, gap, margins, rounding, trials

from hinged.compiling import compiled
from hinged.rules import RULES
from hinged.rules.combine import simultaneous
from hinged.rules.optimal import by_sorting, on_gram
from hinged.rules.taking import OneRight, by_taking


@compiled
def taken(one, q, margin, C, g):
    return by_taking(one, q, margin, C, g)


many = settings(max_examples=25 if config.DISABLE_JIT else 50 * patience)


@settings(max_examples=100 if config.DISABLE_JIT else 400 * patience)
@given(trials(), margins, caps)
def test_the_joint_step_meets_the_optimality_conditions(trial, margin, C):
    total, g = trial.solve(margin, C)
    assert_feasible(trial, total, g, C)
    left = gap(trial, g, margin, C)
    assert left <= 64 * rounding(trial, g, margin, C)
    assert left <= 1e-9 * (1.0 + C * (margin + np.abs(trial.scores).max()) + abs(trial.objective(g, margin)))


@many
@given(trials(most=12), margins, caps)
def test_scipy_finds_nothing_better(trial, margin, C):
    _, g = trial.solve(margin, C)
    rights, wrongs = np.flatnonzero(trial.right), np.flatnonzero(~trial.right)
    pairs = [(r, s) for r in rights for s in wrongs][:40]
    Z = np.array([trial.V[r] - trial.V[s] for r, s in pairs])
    loss = margin - np.array([trial.scores[r] - trial.scores[s] for r, s in pairs])
    answer = minimize(
        lambda a: 0.5 * np.sum((Z.T @ a) ** 2) - loss @ a,
        np.zeros(len(pairs)),
        jac=lambda a: Z @ (Z.T @ a) - loss,
        bounds=[(0.0, C)] * len(pairs),
        constraints={"type": "ineq", "fun": lambda a: C - a.sum(), "jac": lambda a: -np.ones(len(pairs))},
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    a = np.clip(answer.x, 0.0, None)
    a *= min(1.0, C / max(a.sum(), 1e-300))
    found = loss @ a - 0.5 * np.sum((Z.T @ a) ** 2)
    assert trial.objective(g, margin) >= found - 1e-9 * (1.0 + abs(found))


@many
@given(trials(most=6, kinds=("any", "integers", "twins", "zeros")), margins, caps)
def test_trying_every_support_gives_the_same_move(trial, margin, C):
    if trial.right.sum() * (~trial.right).sum() > 5:
        trial.right[:] = np.arange(len(trial.right)) == 0
    _, g = trial.solve(margin, C)
    pairs = [(r, s) for r in np.flatnonzero(trial.right) for s in np.flatnonzero(~trial.right)]
    Z = np.array([trial.V[r] - trial.V[s] for r, s in pairs])
    linear = margin - np.array([trial.scores[r] - trial.scores[s] for r, s in pairs])
    a = maximise(linear, Z, C)
    np.testing.assert_allclose(g @ trial.V, a @ Z, atol=1e-7 * (1 + np.abs(Z).max() + C))


@many
@given(trials(kinds=("any", "uneven")), margins)
def test_without_a_cap_every_margin_is_met_by_the_shortest_move(trial, margin):
    total, g = trial.solve(margin, np.inf)
    now = trial.scores + trial.K @ g
    size = 1e-7 * (1.0 + np.abs(now).max())
    assert now[trial.right].min() - now[~trial.right].max() >= margin - size
    assert np.all(g[trial.right] >= 0)
    assert np.all(g[~trial.right] <= 0)
    # complementary slackness: only pairs that meet the margin exactly carry weight
    assert margin * total - g @ now == pytest.approx(0.0, abs=size * (1.0 + total))


@many
@given(trials(kinds=("twins", "zeros", "flat", "line", "integers")), margins, st.booleans())
def test_without_a_cap_constraints_that_contradict_each_other_do_no_harm(trial, margin, skip):
    g = np.zeros(len(trial.scores))
    total = on_gram(trial.scores, trial.right, trial.K, margin, np.inf, skip, g)
    assert np.isfinite(g).all()
    assert np.isfinite(total)
    assert total >= 0.0
    assert np.all(g[trial.right] >= 0)
    assert np.all(g[~trial.right] <= 0)
    assert trial.objective(g, margin) >= -1e-9


@many
@given(
    st.integers(0, 2**31), st.integers(2, 30), margins, st.sampled_from([0.01, 0.5, 1.0, 1e3, np.inf]), st.booleans()
)
def test_sorting_and_the_gram_matrix_agree_on_prototypes(seed, k, margin, C, ties):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, k) / 2.0 if ties else rng.normal(size=k)
    right = np.zeros(k, np.bool_)
    right[rng.choice(k, rng.integers(1, k), replace=False)] = True
    q = float(rng.choice([0.01, 1.0, 7.0, 400.0]))
    sorted_g, gram_g = np.zeros(k), np.zeros(k)
    total = by_sorting(scores, right, q, margin, C, np.zeros(k), sorted_g)
    other = on_gram(scores, right, q * np.eye(k), margin, C, False, gram_g)
    size = 1e-9 * (1.0 + total + np.abs(scores).max() / q)
    np.testing.assert_allclose(gram_g, sorted_g, atol=size)
    assert other == pytest.approx(total, abs=size)
    assert sorted_g[right].sum() == pytest.approx(total, abs=size)


@many
@given(
    st.integers(0, 2**31),
    st.integers(2, 64),
    margins,
    st.sampled_from([0.01, 0.5, 1.0, 1e3, np.inf]),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
)
def test_taking_one_rival_after_another_gives_the_bits_of_sorting(seed, k, margin, C, dtype, ties):
    rng = np.random.default_rng(seed)
    columns = next(width for width in (8, 16, 32, 64) if width >= k)
    scores = np.full(columns, 99.0, dtype)  # what lies beyond the labels does not count
    scores[:k] = rng.integers(-3, 4, k) / 2.0 if ties else rng.normal(size=k)
    right = np.arange(k) == rng.integers(k)
    y, rival = int(np.argmax(right)), int(np.argmax(np.where(right, -np.inf, scores[:k])))
    q = float(rng.choice([0.01, 1.0, 7.0, 400.0]))
    others = np.uint64(sum(1 << r for r in range(k) if r not in (y, rival)))
    sorted_g, taken_g = np.zeros(k), np.full(k, np.nan)
    total = by_sorting(scores[:k].astype(np.float64), right, q, margin, C, np.zeros(k), sorted_g)
    assert taken(OneRight(scores, columns, k, y, rival, others), q, margin, C, taken_g) == total
    assert taken_g.tobytes() == sorted_g.tobytes()


def test_sorting_on_a_worked_example():
    # right label at 0, rivals at 0 and -1/2, unit row, margin 1: both pairs are lifted to the margin together.
    # down = (0 - 1/2 - Z)/2, up = Z, up - down = 1 gives Z = 1/2, down = -1/2: the second rival just stays out.
    g = np.zeros(3)
    total = by_sorting(np.array([0.0, 0.0, -0.5]), np.array([True, False, False]), 1.0, 1.0, np.inf, np.zeros(3), g)
    assert total == 0.5
    np.testing.assert_array_equal(g, [0.5, -0.5, 0.0])
    # capped at 1/4, all of it goes to the worst pair
    g[:] = 0.0
    assert (
        by_sorting(np.array([0.0, 0.0, -0.5]), np.array([True, False, False]), 1.0, 1.0, 0.25, np.zeros(3), g) == 0.25
    )
    np.testing.assert_array_equal(g, [0.25, -0.25, 0.0])
    one = OneRight(np.array([0.0, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0]), 8, 3, 0, 1, np.uint64(0b100))
    assert taken(one, 1.0, 1.0, np.inf, g) == 0.5
    np.testing.assert_array_equal(g, [0.5, -0.5, 0.0])


def test_two_rivals_at_a_tie_share_the_step():
    # scores 0, 0, 0 and a unit row: up = Z, down = -Z/2, up - down = 1 gives Z = 2/3
    for solve in (
        lambda g: by_sorting(np.zeros(3), np.array([True, False, False]), 1.0, 1.0, 9.0, np.zeros(3), g),
        lambda g: on_gram(np.zeros(3), np.array([True, False, False]), np.eye(3), 1.0, 9.0, False, g),
    ):
        g = np.zeros(3)
        assert solve(g) == pytest.approx(2 / 3)
        np.testing.assert_allclose(g, [2 / 3, -1 / 3, -1 / 3])


def test_a_pair_that_cannot_move_takes_the_cap_or_nothing():
    K = np.ones((2, 2))  # both labels have the same vector
    right = np.array([True, False])
    g = np.zeros(2)
    assert on_gram(np.zeros(2), right, K, 1.0, 0.5, False, g) == pytest.approx(0.5)
    np.testing.assert_allclose(g, [0.5, -0.5])
    g = np.zeros(2)
    assert on_gram(np.zeros(2), right, K, 1.0, 0.5, True, g) == 0.0  # mira
    assert on_gram(np.zeros(2), right, K, 1.0, np.inf, False, g) == 0.0
    np.testing.assert_array_equal(g, [0.0, 0.0])


def test_a_cap_that_was_reached_on_the_way_is_given_back():
    """The first pairs need all of the cap; the pair that comes last does their work for less."""
    trial = Trial(0, 4, 1, "any")
    trial.V = np.array([[2.0, 2.0], [-1.0, -3.0], [-1.0, -1.0], [2.0, 0.0]])
    trial.K, trial.scores = trial.V @ trial.V.T, np.array([-2.0, 2.0, 1.0, -1.0])
    trial.right = np.array([True, False, False, False])
    total, g = trial.solve(1.0, 0.5)
    assert_feasible(trial, total, g, 0.5)
    assert gap(trial, g, 1.0, 0.5) <= 1e-9


@many
@given(trials(), margins, st.sampled_from([0.01, 0.1, 1.0, 5.0]))
def test_no_feasible_rule_earns_more_than_the_joint_step(trial, margin, C):
    _, g = trial.solve(margin, C)
    best = trial.objective(g, margin)
    relevant = np.flatnonzero(trial.right)
    norms = np.array([np.sum((trial.V[r] - trial.V) ** 2, axis=1) for r in relevant])
    for rule in ("simperc", "simproj", "conproj"):
        other = np.zeros(len(g))
        simultaneous(RULES[rule].words, trial.scores, relevant, trial.right, norms, margin, C, other)
        earned = trial.objective(other, margin)
        assert best >= earned - 1e-9 * (1.0 + abs(earned) + C * np.abs(trial.scores).max())
