"""Random trials for the joint step, and what its solution must satisfy."""

import numpy as np
from hypothesis import strategies as st

from hinged.rules.optimal import on_gram

KINDS = ("any", "integers", "twins", "zeros", "flat", "line", "uneven", "steep")
caps = st.sampled_from([0.01, 0.1, 0.5, 1.0, 5.0, 1e3])
margins = st.sampled_from([0.01, 0.5, 1.0, 2.0])


class Trial:
    """Labels' vectors V, scores V w, and which labels are right.

    Parameters
    ----------
    kind : {"any", "integers", "twins", "zeros", "flat", "line", "uneven", "steep", "parallel"}
        Any vectors; small integers, for ties; each vector twice; some vectors 0; fewer dimensions than labels;
        all on one line; lengths from 1/10 to 10; lengths from 1e-6 to 1; each vector twice, nearly.
    """

    def __init__(self, seed, k, n_right, kind):
        rng = np.random.default_rng(seed)
        d = {"flat": max(1, k // 3), "line": 1}.get(kind, k + 1)
        V = rng.normal(size=(k, d))
        if kind == "integers":
            V = rng.integers(-1, 3, (k, d)).astype(float)
        if kind == "twins":
            V = V[rng.integers(0, (k + 1) // 2, k)]
        if kind == "zeros":
            V[rng.random(k) < 0.4] = 0.0
        if kind == "uneven":
            V *= 10.0 ** rng.uniform(-1, 1, (k, 1))
        if kind == "steep":
            V *= 10.0 ** rng.uniform(-6, 0, (k, 1))
        if kind == "parallel":
            V = V[rng.integers(0, (k + 1) // 2, k)] + 10.0 ** rng.uniform(-8, -3, (k, 1)) * V
        w = rng.integers(-2, 3, d) / 2.0 * rng.integers(0, 2)
        self.V, self.scores, self.K = V, V @ w, V @ V.T
        self.right = np.zeros(k, np.bool_)
        self.right[rng.choice(k, n_right, replace=False)] = True

    def solve(self, margin, C):
        g = np.zeros(len(self.scores))
        total = on_gram(self.scores, self.right, self.K, margin, C, False, g)
        return total, g

    def objective(self, g, margin):
        return margin * g[self.right].sum() - g @ self.scores - 0.5 * g @ self.K @ g


def gap(trial, g, margin, C):
    """How far g may be from the optimum: the price C max(0, worst loss after the step) less what the step earns.

    Weak duality makes it an upper bound of the shortfall, and it is 0 at the optimum alone.
    """
    now = trial.scores + trial.K @ g
    worst = margin - (now[trial.right].min() - now[~trial.right].max())
    return C * max(0.0, worst) - (margin * g[trial.right].sum() - g @ now)


def rounding(trial, g, margin, C):
    """What rounding the moved scores may do to `gap`."""
    largest = np.max(np.abs(trial.scores) + np.abs(trial.K) @ np.abs(g))
    return np.finfo(float).eps * C * (margin + largest)


def assert_feasible(trial, total, g, C):
    size = 1e-9 * (1.0 + np.abs(g).sum())
    assert np.all(g[trial.right] >= -size)
    assert np.all(g[~trial.right] <= size)
    assert abs(g.sum()) <= size
    assert abs(g[trial.right].sum() - total) <= size
    assert total <= C * (1 + 1e-9)


@st.composite
def trials(draw, most=30, kinds=KINDS):
    k = draw(st.integers(2, most))
    n_right = draw(st.sampled_from(sorted({1, min(2, k - 1), k // 2 or 1, k - 1})))
    return Trial(draw(st.integers(0, 2**31)), k, n_right, draw(st.sampled_from(kinds)))
