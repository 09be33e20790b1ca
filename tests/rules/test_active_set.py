"""The joint step on the Gram matrix where it is hard: many ties, equal and nearly equal vectors, uneven lengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from scipy.optimize import nnls
from tests.helpers import as_compiled
from tests.reference.strategies import patience
from tests.rules.trials import Trial, assert_feasible, gap, margins, rounding, trials

from hinged.rules import active_set, factor, gram
from hinged.rules.gram import Gram
from hinged.rules.optimal import by_sorting, on_gram

maximise, append, remove, solve, make_known, whole = as_compiled(
    active_set.maximise, factor.append, factor.remove, factor.solve, gram.make_known, gram.whole
)

UNCOMPILED = bool(config.DISABLE_JIT)  # hundreds of labels, and of random trials, are left to compiled code
many = settings(max_examples=40 if UNCOMPILED else 100 * patience)
more = settings(max_examples=80 if UNCOMPILED else 250 * patience)


def tied(k, n_right, gram, seed=0):
    """A trial in which all scores are 0, with a Gram matrix of a given kind."""
    trial = Trial(seed, k, n_right, "any")
    trial.scores = np.zeros(k)
    trial.V = {"own": np.eye(k), "own and shared": np.hstack([np.eye(k), np.ones((k, 1))])}.get(gram, trial.V)
    trial.K = trial.V @ trial.V.T
    return trial


def unknown(trial):
    """The Gram matrix of a trial, of which nothing but the diagonal is known."""
    k = len(trial.scores)
    squares, phi = np.diag((trial.V**2).sum(axis=1)), np.ascontiguousarray(trial.V.T)[np.newaxis]
    return Gram(squares, np.zeros(k, np.bool_), phi, np.zeros(1, np.int64))


def separable(seed, k, n_right, d, kind):
    """A trial in at most `d` dimensions whose margins can all be met: a plane parts right and wrong vectors."""
    trial, rng = Trial(seed, k, n_right, kind), np.random.default_rng(seed)
    trial.V = trial.V[:, :d]
    w = rng.normal(size=trial.V.shape[1])
    trial.V *= np.where(trial.V @ w < 0.0, -1.0, 1.0)[:, None]
    trial.V += 0.05 * np.linalg.norm(trial.V, axis=1, keepdims=True) * w / np.linalg.norm(w)
    trial.V[~trial.right] *= -1.0
    trial.K, trial.scores = trial.V @ trial.V.T, trial.V @ rng.normal(size=len(w)) * rng.integers(0, 2)
    return trial


def shortest_move(trial, margin):
    """The shortest move that meets every margin: Lawson and Hanson's least distance programming, by SciPy's `nnls`."""
    pairs = [(r, s) for r in np.flatnonzero(trial.right) for s in np.flatnonzero(~trial.right)]
    Z = np.array([trial.V[r] - trial.V[s] for r, s in pairs])
    asked = margin - np.array([trial.scores[r] - trial.scores[s] for r, s in pairs])
    lengths = np.linalg.norm(Z, axis=1)
    target = np.append(np.zeros(Z.shape[1]), 1.0)
    size = 1.0
    for _ in range(2):  # exact only for moves of about length 1, which the second time they are
        E = np.vstack([(Z / lengths[:, None]).T, asked / lengths / size])
        residual = E @ nnls(E, target)[0] - target
        move = -size * residual[:-1] / residual[-1]
        size = np.linalg.norm(move)
    return move


def assert_met(trial, g, margin):
    """Every margin is met, and only pairs that meet it exactly carry weight, up to rounding."""
    now = trial.scores + trial.K @ g
    size = 1e-13 * (margin + np.max(np.abs(trial.scores) + np.abs(trial.K) @ np.abs(g)))
    assert now[trial.right].min() - now[~trial.right].max() >= margin - size
    total = g[trial.right].sum()
    assert margin * total - g @ now == pytest.approx(0.0, abs=size * (1.0 + total))
    assert np.all(g[trial.right] >= 0.0)
    assert np.all(g[~trial.right] <= 0.0)


# ------------------------------------------------------------------ many ties
@pytest.mark.parametrize("C", [0.01, 1.0, np.inf])
@pytest.mark.parametrize("gram", ["own", "own and shared", "any"])
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("k", [10, 40] if UNCOMPILED else [10, 60, 200])
def test_each_of_many_tied_labels_joins_about_once(k, several, gram, C):
    """Two passes a label, and a pass is O(k²): the step is O(k³)."""
    trial, g = tied(k, k // 2 if several else 1, gram), np.zeros(k)
    total, passes = maximise(trial.scores, trial.right, whole(trial.K), 1.0, C, False, g)
    assert passes <= 5 * k
    assert_feasible(trial, total, g, C)
    if np.isfinite(C):
        assert gap(trial, g, 1.0, C) <= 1e-12 * (1.0 + C)
    else:
        assert_met(trial, g, 1.0)


@more
@given(trials(), margins, st.sampled_from([0.05, 1.0, np.inf]), st.booleans())
def test_inner_products_are_computed_for_the_labels_that_join(trial, margin, C, skip_flat):
    asked, all_known = unknown(trial), unknown(trial)
    for r in range(len(trial.scores)):
        make_known(all_known, r)
    np.testing.assert_allclose(all_known.K, trial.K, atol=1e-12 * np.abs(trial.K).max(initial=1.0))
    g, same_g = np.zeros((2, len(trial.scores)))
    maximise(trial.scores, trial.right, asked, margin, C, skip_flat, g)
    maximise(trial.scores, trial.right, all_known, margin, C, skip_flat, same_g)
    np.testing.assert_array_equal(g, same_g)
    assert asked.known[g != 0.0].all()


def test_labels_that_stay_far_below_are_never_compared():
    scores, right = np.append(np.zeros(2), np.full(98, -9.0)), np.arange(100) < 1
    asked = Gram(np.eye(100), np.zeros(100, np.bool_), np.zeros((1, 0, 100)), np.zeros(1, np.int64))
    maximise(scores, right, asked, 1.0, 1.0, False, np.zeros(100))
    assert np.flatnonzero(asked.known).tolist() == [0, 1]


@many
@given(trials(kinds=("any", "integers", "twins", "zeros", "flat", "line")), margins, st.sampled_from([0.01, 1.0, 1e3]))
def test_random_trials_take_a_few_passes_a_label(trial, margin, C):
    g = np.zeros(len(trial.scores))
    assert maximise(trial.scores, trial.right, whole(trial.K), margin, C, False, g)[1] <= 6 * len(g) + 60


@pytest.mark.parametrize("k", [50] if UNCOMPILED else [50, 200])
@pytest.mark.parametrize("C", [0.05, 1.0, 1e3, np.inf])
@pytest.mark.parametrize("ties", [False, True])
def test_sorting_agrees_on_many_prototypes(k, C, ties):
    rng = np.random.default_rng(k)
    scores = rng.integers(-1, 2, k) / 4.0 if ties else rng.normal(size=k)
    for n_right in (1, k // 2):
        right = np.arange(k) < n_right
        sorted_g, gram_g = np.zeros(k), np.zeros(k)
        total = by_sorting(scores, right, 0.5, 1.0, C, np.zeros(k), sorted_g)
        assert on_gram(scores, right, 0.5 * np.eye(k), 1.0, C, False, gram_g) == pytest.approx(total, rel=1e-12)
        np.testing.assert_allclose(gram_g, sorted_g, atol=1e-12 * (1.0 + total))


@pytest.mark.parametrize("kind", ["any", "integers", "uneven"])
@pytest.mark.parametrize(("k", "n_right"), [(20, 10), (100, 1), (100, 2), (200, 1)])
def test_least_distance_programming_finds_the_same_move(k, n_right, kind):
    trial, g = Trial(k, k, n_right, kind), np.zeros(k)
    for scores in (trial.scores, np.zeros(k)):
        trial.scores = scores
        on_gram(trial.scores, trial.right, trial.K, 1.0, np.inf, False, g)
        expected = shortest_move(trial, 1.0)
        np.testing.assert_allclose(g @ trial.V, expected, atol=1e-8 * np.abs(expected).max())


# ------------------------------------------------------------------ equal and nearly equal vectors
@pytest.mark.parametrize(("seed", "k", "n_right"), [(324152361, 24, 6), (981188349, 27, 13), (1375755646, 21, 2)])
def test_equal_vectors_under_a_large_cap(seed, k, n_right):
    trial = Trial(seed, k, n_right, "twins")
    for margin in (0.01, 1.0):
        total, g = trial.solve(margin, 1e3)
        assert_feasible(trial, total, g, 1e3)
        assert gap(trial, g, margin, 1e3) <= 1e-9 * trial.objective(g, margin) + 16 * rounding(trial, g, margin, 1e3)


@more
@given(trials(kinds=("twins",)), margins)
def test_equal_vectors_leave_no_gap(trial, margin):
    _, g = trial.solve(margin, 1e3)
    assert gap(trial, g, margin, 1e3) <= 1e-9 * trial.objective(g, margin) + 16 * rounding(trial, g, margin, 1e3)


@more
@given(trials(most=40, kinds=("parallel",)), margins, st.sampled_from([0.01, 1.0, 1e3]))
def test_nearly_equal_vectors_leave_no_gap(trial, margin, C):
    total, g = trial.solve(margin, C)
    assert_feasible(trial, total, g, C)
    assert gap(trial, g, margin, C) <= 1e-9 * trial.objective(g, margin) + 64 * rounding(trial, g, margin, C)


# ------------------------------------------------------------------ without a cap
@many
@given(trials(most=40, kinds=("steep",)), margins)
def test_margins_are_met_whatever_the_lengths(trial, margin):
    _, g = trial.solve(margin, np.inf)
    assert_met(trial, g, margin)


@many
@given(
    st.integers(0, 2**31),
    st.integers(2, 40),
    st.integers(1, 20),
    st.booleans(),
    st.sampled_from(["any", "twins", "steep"]),
)
def test_margins_that_can_be_met_are_met_in_few_dimensions(seed, k, d, several, kind):
    trial = separable(seed, k, k // 2 if several else 1, d, kind)
    _, g = trial.solve(1.0, np.inf)
    assert_met(trial, g, 1.0)


@pytest.mark.parametrize("seed", range(8))
def test_least_distance_programming_finds_the_same_move_for_steep_lengths(seed):
    trial = Trial(seed, 20, (1, 5)[seed % 2], "steep")
    _, g = trial.solve(1.0, np.inf)
    expected = shortest_move(trial, 1.0)
    np.testing.assert_allclose(g @ trial.V, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("short", [1.0, 1e-3, 1e-6, 1e-9])
def test_a_short_vector_is_met_beside_a_long_one(short):
    trial = Trial(0, 3, 1, "any")
    trial.V = np.array([[0.0, 0.0], [-1.0, 0.0], [-0.5 * short, -short]])
    trial.K, trial.scores, trial.right = trial.V @ trial.V.T, np.zeros(3), np.array([True, False, False])
    _, g = trial.solve(1.0, np.inf)
    assert_met(trial, g, 1.0)
    assert on_gram(trial.scores, trial.right, trial.K, 1.0, 1e30, True, g) == pytest.approx(trial.solve(1.0, np.inf)[0])


def test_a_pair_that_contradicts_another_is_left_out_and_the_rest_is_met():
    # labels 0 and 2 have one vector, 1 and 3 another: 0 cannot beat 3 while 1 beats 2; label 4 stands apart
    trial = Trial(0, 5, 2, "any")
    trial.V = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    trial.K, trial.scores = trial.V @ trial.V.T, np.zeros(5)
    trial.right = np.array([True, True, False, False, False])
    total, g = trial.solve(1.0, np.inf)
    now = trial.K @ g
    assert total < 10.0
    assert min(now[0], now[1]) - now[4] >= 1.0 - 1e-12
    assert max(now[0] - now[3], now[1] - now[2]) >= 1.0 - 1e-12


# ------------------------------------------------------------------ pairs of norm 0 left out, under a cap
@many
@given(trials(most=12, kinds=("twins", "zeros", "integers", "any")), margins, st.sampled_from([0.05, 1.0, 1e3]))
def test_leaving_out_pairs_that_cannot_move_solves_the_rest(trial, margin, C):
    """With labels of equal vectors and one right label, leaving out pairs of norm 0 is leaving out labels."""
    right = np.flatnonzero(trial.right)[0]
    trial.right[:] = np.arange(len(trial.right)) == right
    g = np.zeros(len(trial.scores))
    total = on_gram(trial.scores, trial.right, trial.K, margin, C, True, g)
    kept = trial.right | (np.linalg.norm(trial.V - trial.V[right], axis=1) > 0.0)
    assert not np.any(g[~kept])
    assert_feasible(trial, total, g, C)
    if kept.sum() > 1:
        trial.V, trial.scores, trial.right = trial.V[kept], trial.scores[kept], trial.right[kept]
        trial.K = trial.V @ trial.V.T
        assert gap(trial, g[kept], margin, C) <= 64 * rounding(trial, g[kept], margin, C)


# ------------------------------------------------------------------ the factor
@given(st.integers(0, 2**31), st.integers(1, 12), st.data())
def test_a_factor_that_grew_and_shrank_solves_for_what_is_left(seed, n, data):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(n, n + 2))
    G, L, kept = V @ V.T, np.zeros((n + 1, n + 1)), []
    for new in range(n):
        products = G[kept][:, new].copy()
        projection = np.linalg.lstsq(V[kept].T, V[new], rcond=None)[0]
        outside = append(L, len(kept), products, G[new, new])
        np.testing.assert_allclose(products, projection, atol=1e-8)
        assert outside == pytest.approx(np.sum((V[new] - projection @ V[kept]) ** 2))
        L[len(kept), len(kept)] = np.sqrt(outside)
        kept.append(new)
        if data.draw(st.booleans()):
            gone = data.draw(st.integers(0, len(kept) - 1))
            remove(L, len(kept), gone)
            del kept[gone]
    b = rng.normal(size=len(kept))
    x = b.copy()
    solve(L, len(kept), x)
    np.testing.assert_allclose(G[np.ix_(kept, kept)] @ x, b, atol=1e-7 * (1.0 + np.abs(x).max(initial=0.0)))
