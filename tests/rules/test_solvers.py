"""Update III by search and by interior points, steps on curves: against each other, SciPy and the papers' formulas."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from scipy.optimize import brentq, minimize
from tests.reference.entropy import Simplices, jointly
from tests.reference.quadratic import maximise

from hinged.rules import by_search, interior_point, joint_step, linear
from hinged.rules.optimal import by_sorting
from hinged.rules.response import LOGISTIC, TILTED, Responses, lone_step, pair_step, reach, respond

UNCOMPILED = bool(config.DISABLE_JIT)
SIZES = (2, 3, 10) if UNCOMPILED else (2, 3, 10, 100, 1000)
KINDS = ("linear", "logistic", "tilted")


class Problem:
    """A random joint problem: curves of k labels, which of them are right, a margin, a cap that may bind or not.

    Parameters
    ----------
    kind : {"linear", "logistic", "tilted"}
    """

    def __init__(self, seed, k, kind):
        rng = np.random.default_rng([seed, k, KINDS.index(kind)])
        self.right = np.zeros(k, np.bool_)
        n_right = int(rng.choice(sorted({1, min(2, k - 1), max(1, k // 2), k - 1})))
        self.right[rng.choice(k, n_right, replace=False)] = True
        self.C, self.k, self.kind = float(10 ** rng.uniform(-2, 1.5)), k, kind
        spread, U, share = rng.choice([0.3, 1.0, 3.0]), float(rng.choice([1.0, 3.0])), rng.choice([0.02, 0.3, 0.9, 1.2])
        if kind == "linear":
            self.curves = linear(rng.normal(size=k) * spread, float(10 ** rng.uniform(-1, 1)))
            self.margin = float(rng.choice([0.2, 1.0, 3.0]))
        elif kind == "logistic":
            v = float(rng.choice([1.0, 0.3, 3.0]))
            odds = rng.normal(size=k) * spread - rng.choice([0.0, 3.0])
            self.curves = Responses(LOGISTIC, odds, v, 0.0, U, np.zeros((0, 0)), np.zeros(0), 0.0, v)
            self.margin = float(share * U * v)
        else:
            n = int(rng.integers(1, 6 if UNCOMPILED else 12))
            v = rng.normal(size=n) if rng.random() < 0.5 else rng.random(n)
            theta = rng.normal(size=(k, n + 1)) * spread
            logs = theta - np.logaddexp.reduce(theta, axis=1, keepdims=True)
            low, high = min(0.0, float(v.min())), max(0.0, float(v.max()))
            body, rest = np.ascontiguousarray(logs[:, :n]), logs[:, n].copy()
            self.curves = Responses(TILTED, rest, 0.0, 0.0, U, body, v, low, high)
            self.margin = float(share * U * (high - low))
        self.scores = self.after(np.zeros(k))

    @property
    def is_violated(self):
        return self.scores[self.right].min() - self.scores[~self.right].max() < self.margin

    def after(self, g):
        return np.array([respond(self.curves, r, a)[1] for r, a in enumerate(g)])

    def gain(self, g):
        return self.margin * g[self.right].sum() - sum(respond(self.curves, r, a)[0] for r, a in enumerate(g))

    def gap(self, g):
        """How far g may be from the best: no feasible point lies above the tangent."""
        s = self.after(g)
        worst = self.margin - (s[self.right].min() - s[~self.right].max())
        return self.C * max(0.0, worst) - (self.margin * g[self.right].sum() - g @ s)

    def search(self):
        g = np.zeros(self.k)
        if self.kind == "linear":
            by_sorting(self.scores, self.right, self.curves.rate, self.margin, self.C, np.zeros(self.k), g)
        else:
            by_search(self.curves, self.scores, self.right, self.margin, self.C, g)
        return g

    def points(self, tolerance=1e-14):
        g = np.zeros(self.k)
        return g, *interior_point(self.curves, self.right, self.margin, self.C, tolerance, 100, g)

    def assert_feasible(self, g):
        size = 1e-12 * (1.0 + np.abs(g).sum())
        assert np.all(g[self.right] >= 0.0)
        assert np.all(g[~self.right] <= 0.0)
        assert abs(g.sum()) <= size
        assert g[self.right].sum() <= self.C + size


def problems(kind, k, n):
    drawn = (Problem(seed, k, kind) for seed in range(4 * n))
    return [problem for problem in drawn if problem.is_violated][:n]


# ------------------------------------------------------------------ update III
@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_search_and_interior_points_agree(kind, k):
    for problem in problems(kind, k, 5 if k == 1000 or UNCOMPILED else 40):
        g = problem.search()
        h, total, _, _ = problem.points()
        problem.assert_feasible(g)
        problem.assert_feasible(h)
        assert total == pytest.approx(h[problem.right].sum())
        best = problem.gain(g)
        assert problem.gap(g) <= 1e-9 * (1.0 + best)
        assert problem.gain(h) == pytest.approx(best, abs=1e-8 * max(1.0, best))
        np.testing.assert_allclose(problem.after(h), problem.after(g), atol=1e-8)


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_interior_points_need_few_iterations(kind, k):
    for problem in problems(kind, k, 10 if k == 1000 or UNCOMPILED else 100):
        g, _, iterations, gap = problem.points(tolerance=1e-10)
        assert gap <= 1e-10
        assert problem.gap(g) <= 2e-10 * abs(problem.gain(g)) + 1e-14 * problem.C
        assert iterations <= (30 if k <= 100 else 60)


@pytest.mark.parametrize("kind", KINDS)
def test_scipy_finds_nothing_better(kind):
    for problem in problems(kind, 5, 3 if UNCOMPILED else 12):
        sign = np.where(problem.right, 1.0, -1.0)
        answer = minimize(
            lambda a, p=problem, sign=sign: -p.gain(sign * a),
            np.full(5, 0.01 * problem.C),
            jac=lambda a, p=problem, sign=sign: sign * p.after(sign * a) - p.margin * p.right,
            bounds=[(0.0, problem.C)] * 5,
            constraints=[
                {"type": "eq", "fun": lambda a, sign=sign: sign @ a, "jac": lambda a, sign=sign: sign},
                {
                    "type": "ineq",
                    "fun": lambda a, p=problem: p.C - a[p.right].sum(),
                    "jac": lambda a, p=problem: -1.0 * p.right,
                },
            ],
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-13},
        )
        assert problem.gain(problem.search()) >= -answer.fun - 1e-8 * (1.0 + abs(answer.fun))


@pytest.mark.parametrize("kind", ["logistic", "tilted"])
def test_without_a_cap_the_margin_is_met_or_nothing_moves(kind):
    for problem in problems(kind, 6, 10):
        problem.C = math.inf
        g = problem.search()
        if problem.margin >= reach(problem.curves):
            assert not g.any()
        else:
            s = problem.after(g)
            assert s[problem.right].min() - s[~problem.right].max() == pytest.approx(problem.margin, abs=1e-9)


def test_labels_at_a_tie_move_alike():
    odds = np.array([-1.0, -2.0, -2.0, -2.0])
    curves = Responses(LOGISTIC, odds, 1.0, 0.0, 1.0, np.zeros((0, 0)), np.zeros(0), 0.0, 1.0)
    right = np.array([True, False, False, False])
    scores, g = np.array([respond(curves, r, 0.0)[1] for r in range(4)]), np.zeros(4)
    by_search(curves, scores, right, 0.5, 10.0, g)
    assert g[1] == g[2] == g[3]


# ------------------------------------------------------------------ single steps
def quadratic_root(q_r, q_s, gamma):
    """The label-ranking paper's quadratic in e^tau, for binary rows and radius 1."""
    a, b = (1 - gamma) * q_r * (1 - q_s), -gamma * (q_r * q_s + (1 - q_r) * (1 - q_s))
    c = -(1 + gamma) * q_s * (1 - q_r)
    return math.log((-b + math.sqrt(b * b - 4 * a * c)) / (2 * a))


@settings(max_examples=60)
@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.sampled_from([0.1, 1.0, 10.0]))
def test_update_two_is_the_papers_root(q_r, q_s, gamma, C):
    odds = np.array([math.log(q_r / (1 - q_r)), math.log(q_s / (1 - q_s))])
    curves = Responses(LOGISTIC, odds, 1.0, 0.0, 1.0, np.zeros((0, 0)), np.zeros(0), 0.0, 1.0)
    expected = min(C, quadratic_root(q_r, q_s, gamma)) if q_r - q_s < gamma else 0.0
    assert pair_step(curves, 0, 1, gamma, C) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("odds", [(-600.0, 500.0), (400.0, 390.0), (-1e-9, 1e-9), (700.0, 700.0)])
def test_update_two_far_out_meets_the_margin(odds):
    curves = Responses(LOGISTIC, np.array(odds), 1.0, 0.0, 1.0, np.zeros((0, 0)), np.zeros(0), 0.0, 1.0)
    step = pair_step(curves, 0, 1, 0.3, math.inf)
    gap = respond(curves, 0, step)[1] - respond(curves, 1, -step)[1]
    assert math.isfinite(step)
    assert gap == pytest.approx(0.3, abs=1e-9)


@pytest.mark.parametrize("seed", range(6 if UNCOMPILED else 30))
def test_steps_on_tilted_curves_are_roots(seed):
    problem = Problem(seed, 3, "tilted")
    curves, top = problem.curves, problem.curves.radius * problem.curves.highest
    for margin in (0.1 * reach(curves), 0.7 * reach(curves)):
        for step, short in (
            (
                pair_step(curves, 0, 1, margin, 5.0),
                lambda t, m=margin: m - respond(curves, 0, t)[1] + respond(curves, 1, -t)[1],
            ),
            (lone_step(curves, 0, margin, 5.0), lambda t, m=margin: m - respond(curves, 0, t)[1]),
        ):
            expected = 0.0 if short(0.0) <= 0 else 5.0 if short(5.0) >= 0 else brentq(short, 0.0, 5.0, xtol=1e-14)
            assert step == pytest.approx(expected, abs=1e-10)
    assert pair_step(curves, 0, 1, 1.5 * reach(curves), 5.0) == 5.0
    assert pair_step(curves, 0, 1, 1.5 * reach(curves), math.inf) == 0.0
    assert lone_step(curves, 0, top + 0.1, 5.0) == 5.0
    assert lone_step(curves, 0, top + 0.1, math.inf) == 0.0


def test_a_lone_step_on_a_logistic_curve_is_a_difference_of_logits():
    curves = Responses(LOGISTIC, np.array([-1.0]), 2.0, 0.0, 3.0, np.zeros((0, 0)), np.zeros(0), 0.0, 2.0)
    step = lone_step(curves, 0, 4.5, 10.0)
    assert step == pytest.approx((math.log(3.0) + 1.0) / 2.0)
    assert respond(curves, 0, step)[1] == pytest.approx(4.5)
    assert lone_step(curves, 0, 1.0, 10.0) == 0.0  # met already
    assert (lone_step(curves, 0, 6.0, 0.5), lone_step(curves, 0, 6.0, math.inf)) == (0.5, 0.0)
    curves = linear(np.array([0.25]), 0.5)
    assert (lone_step(curves, 0, 1.0, 10.0), lone_step(curves, 0, 1.0, 0.5)) == (1.5, 0.5)


# ------------------------------------------------------------------ any constraints
@pytest.mark.parametrize("seed", range(20))
def test_the_dense_step_equals_trying_every_support(seed):
    rng = np.random.default_rng(seed)
    Z, theta = rng.normal(size=(4, 5)), rng.normal(size=5)
    C, margin = float(rng.choice([0.1, 1.0, 10.0])), 0.5
    gram, achieved = Z @ Z.T, Z @ theta
    alpha, _, gap = joint_step(
        lambda a: (achieved @ a + 0.5 * a @ gram @ a, achieved + gram @ a, gram), np.full(4, margin), np.ones(4), C
    )
    np.testing.assert_allclose(alpha @ Z, maximise(margin - achieved, Z, C) @ Z, atol=1e-7)
    assert gap <= 1e-9

    simplex = Simplices(1, 2.0)

    def potential(a):
        moved = theta + a @ Z
        p = simplex.weights(moved) / 2.0
        centred = Z - (Z @ p)[:, None]
        return simplex.potential(moved) - simplex.potential(theta), 2.0 * Z @ p, 2.0 * (centred * p) @ centred.T

    alpha = joint_step(potential, np.full(4, margin), np.ones(4), C)[0]
    expected = jointly(simplex, theta, Z, margin, C)
    np.testing.assert_allclose(simplex.weights(theta + alpha @ Z), simplex.weights(theta + expected @ Z), atol=1e-7)


def test_weights_of_the_dense_step_scale_its_cap():
    Z, margin = np.diag([1.0, 2.0]), 4.0
    gram = Z @ Z.T

    def half_square(a):
        return 0.5 * a @ gram @ a, gram @ a, gram

    alpha = joint_step(half_square, np.full(2, margin), np.array([2.0, 0.0]), 1.0)[0]
    np.testing.assert_allclose(alpha, [0.5, 1.0], atol=1e-7)  # C/ν = 1/2 binds the first; the second is not capped
