"""Dual ascent in hindsight for weights on the simplex: the moves of `ascent`, with steps found by safeguarded Newton.

With θ_r = Σ_t g_tr x_t and w_r = U·softmax(θ_r), the dual is Σ_t m Z_t - Σ_r U (log Σ_i e^θ_ri - log n).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, xlogy

from hinged.bounds.ascent import NONE, RAISE, RETURN, AscentProblem, best_move, mark_right, nearly_least, take
from hinged.bounds.comparators import losses
from hinged.bounds.streams import RoundArrays, Stream, as_arrays, mark
from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.loops.columns import PER_LABEL

__all__ = ["entropic_hindsight"]


def entropic_hindsight(
    stream: Stream, C: float, radius: float, signed: bool, tol: float, max_epochs: int
) -> tuple[np.ndarray, float, float, int]:
    """Weights (labels, features) near the least of F(u) + C Σ ℓ_t(u), their objective, the dual, and the epochs."""
    if stream.columns.kind != PER_LABEL or stream.n_parts:
        raise ValueError(
            "in hindsight the entropic geometry is for vectors of the labels' own, not for shared ones or raw trials; "
            'use sharing="multi".'
        )
    rows = sparse.csr_array(sparse.hstack([stream.X, -stream.X])) if signed else stream.X
    rows.sort_indices()
    n, k = rows.shape[1], len(stream.labels)
    theta, g = np.zeros((n, k)), np.zeros(int(stream.starts[-1]))
    problem = AscentProblem(stream.margin, C, False, 1e-10 * stream.margin, 10 + 2 * k)
    constraints = stream.constraints._replace(X=as_arrays(rows))
    rounds, rng = np.flatnonzero(stream.constrained), np.random.default_rng(0)
    log_z = np.zeros(k)

    def measure() -> tuple[np.ndarray, float, float]:
        log_z[:] = logsumexp(theta, axis=0) if n else 0.0
        w = radius * np.exp(theta - log_z).T
        u = w[:, : n // 2] - w[:, n // 2 :] if signed else w
        price = float(xlogy(w, w * n / radius).sum()) + C * float(losses(stream, u).sum())
        gained, paid = float(g[stream.right_places].sum()), float((log_z - math.log(max(1, n))).sum())
        return u, price, stream.margin * gained - radius * paid

    def improve() -> None:
        ascend_entropic(rng.permutation(rounds), constraints, problem, radius, theta, log_z, g)

    return nearly_least(measure, improve, tol, max_epochs if len(rounds) else 0)


@compiled
def ascend_entropic(
    order: Ints, rounds: RoundArrays, problem: AscentProblem, radius: float, theta: Floats, log_z: Floats, g: Floats
) -> None:
    """Visit rounds in that order, changing θ (features, labels), log Z (labels,) and g in place."""
    k, X = max(1, np.max(rounds.known)), rounds.X
    longest_row = 0
    for t in order:
        longest_row = max(longest_row, X[0][t + 1] - X[0][t])
    is_right, s, p = np.zeros(k, np.bool_), np.zeros(k), np.zeros((k, longest_row))
    for t in order:
        known, n = rounds.known[t], X[0][t + 1] - X[0][t]
        own_g = g[rounds.starts[t] : rounds.starts[t + 1]]
        _visit(t, rounds, problem, radius, theta, log_z, own_g, (s[:known], p[:known, :n], is_right[:known]))
        mark(rounds.right, t, is_right, False)


@compiled(helper=True)
def _visit(
    t: int,
    rounds: RoundArrays,
    problem: AscentProblem,
    radius: float,
    theta: Floats,
    log_z: Floats,
    g: Floats,
    work: tuple[Floats, Floats, Bools],
) -> None:
    """Make the moves of one round that gain; `work` is room for scores, weights on the row, and marks."""
    # p (labels, non-zeros): each label's weights on the row, of sum 1 with those off it · s = U ⟨p, x⟩
    (s, p, is_right), margin = work, problem.margin
    f, x = rounds.X[1][rounds.X[0][t] : rounds.X[0][t + 1]], rounds.X[2][rounds.X[0][t] : rounds.X[0][t + 1]]
    n = x.shape[0]
    s[:] = 0.0
    for j in range(n):
        row = theta[f[j]]
        for r in range(s.shape[0]):
            p[r, j] = math.exp(row[r] - log_z[r])
            s[r] += radius * p[r, j] * x[j]
    Z = mark_right(rounds.right, t, g, is_right)
    for _ in range(problem.most):
        kind, up, down, rate, longest = best_move(s, g, is_right, Z, margin, problem.C, False)
        if kind == NONE or rate <= problem.enough:
            break
        pull = margin if kind == RAISE else -margin if kind == RETURN else 0.0
        step = _best_step(x, p[up], p[down], pull, radius, longest)
        if step <= 0.0:
            break
        Z = take(g, Z, kind, up, down, step, longest, problem.C)
        for r, way in ((up, step), (down, -step)):
            log_z[r] += math.log1p(_tilt(x, p[r], way))
            s[r] = 0.0
            for j in range(n):
                theta[f[j], r] += way * x[j]
                s[r] += radius * p[r, j] * x[j]


@compiled(helper=True)
def _tilt(x: Floats, p: Floats, way: float) -> float:
    """Multiply weights on a row by e^(way · x), keeping their sum with those off it at 1; return how much it grew."""
    grown = 0.0
    for j in range(x.shape[0]):
        grown += p[j] * math.expm1(way * x[j])
    for j in range(x.shape[0]):
        p[j] *= math.exp(way * x[j]) / (1.0 + grown)
    return grown


@compiled(helper=True)
def _best_step(x: Floats, p_up: Floats, p_down: Floats, pull: float, radius: float, longest: float) -> float:
    """The δ in [0, longest] at which pull · δ - G(θ_up + δx) - G(θ_down - δx) is largest; its slope falls with δ."""
    low, high = 0.0, longest
    slope, bend = _slope(x, p_up, p_down, pull, radius, high)
    if slope >= 0.0:
        return longest
    slope, bend = _slope(x, p_up, p_down, pull, radius, 0.0)
    if slope <= 0.0:
        return 0.0
    step = min(high, slope / bend) if bend > 0.0 else 0.5 * high
    for _ in range(60):
        slope, bend = _slope(x, p_up, p_down, pull, radius, step)
        if slope > 0.0:
            low = step
        else:
            high = step
        if abs(slope) <= 1e-13 * (1.0 + abs(pull)) or high - low <= 1e-15 * high:
            break
        step = step + slope / bend if bend > 0.0 else 0.5 * (low + high)
        if not low < step < high:
            step = 0.5 * (low + high)
    return step


@compiled(helper=True)
def _slope(x: Floats, p_up: Floats, p_down: Floats, pull: float, radius: float, step: float) -> tuple[float, float]:
    """Slope at δ = step, and how fast it falls there."""
    slope, bend = pull, 0.0
    for way in (1.0, -1.0):
        p = p_up if way > 0.0 else p_down
        total, first, second = 1.0, 0.0, 0.0
        for j in range(x.shape[0]):
            grown = p[j] * math.exp(way * step * x[j])
            total += p[j] * math.expm1(way * step * x[j])
            first += grown * x[j]
            second += grown * x[j] * x[j]
        mean = first / total
        slope -= way * radius * mean
        bend += radius * (second / total - mean * mean)
    return slope, bend
