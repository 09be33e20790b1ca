"""Dual ascent in hindsight for weights on the simplex: the moves of `ascent`, with steps found by safeguarded Newton.

With θ_r = Σ_t g_tr x_t and w_r = U·softmax(θ_r), the dual is Σ_t m Z_t - Σ_r U (log Σ_i e^θ_ri - log n).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from scipy import sparse
from scipy.special import logsumexp, xlogy

from hinged.bounds.ascent import NONE, RAISE, RETURN, best_move
from hinged.bounds.comparators import losses
from hinged.bounds.streams import Stream
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
    X = (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)
    theta, g = np.zeros((n, k)), np.zeros(int(stream.starts[-1]))
    right = (stream.right.indptr, stream.right.labels)
    rounds = np.flatnonzero(np.diff(stream.starts) > 0)
    places = np.repeat(np.arange(len(stream)), np.diff(stream.right.indptr))
    kept = (np.diff(stream.starts) > 0)[places]
    is_right = stream.starts[places[kept]] + stream.right.labels[kept]
    rng = np.random.default_rng(0)
    best, best_u, dual, epochs = math.inf, np.zeros((k, stream.X.shape[1])), -math.inf, 0
    while True:
        log_z = logsumexp(theta, axis=0) if n else np.zeros(k)
        w = radius * np.exp(theta - log_z).T
        u = w[:, : n // 2] - w[:, n // 2 :] if signed else w
        price = float(xlogy(w, w * n / radius).sum()) + C * float(losses(stream, u).sum())
        if price < best:
            best, best_u = price, u
        dual = max(dual, stream.margin * float(g[is_right].sum()) - radius * float((log_z - math.log(max(1, n))).sum()))
        if best - dual <= tol * abs(best) or epochs >= max_epochs or not len(rounds):
            return best_u, best, dual, epochs
        most_moves = 10 + 2 * k
        ascend_entropic(
            rng.permutation(rounds), X, right, stream.known, stream.starts, stream.margin, C, radius, most_moves,
            theta, log_z, g,
        )  # fmt: skip
        epochs += 1


@njit(cache=True, nogil=True)
def ascend_entropic(
    order: Any,
    X: Any,
    right: Any,
    known: Any,
    starts: Any,
    margin: float,
    C: float,
    radius: float,
    most_moves: int,
    theta: Any,
    log_z: Any,
    g: Any,
) -> None:
    """Visit rounds in that order, changing θ (features, labels), log Z (labels,) and g in place."""
    # p (labels, non-zeros): each label's weights on the row, of sum 1 with those off it · s = U ⟨p, x⟩
    k_most = max(1, np.max(known))
    is_right = np.zeros(k_most, np.bool_)
    all_s = np.zeros(k_most)
    longest_row = 0
    for t in order:
        longest_row = max(longest_row, X[0][t + 1] - X[0][t])
    all_p = np.zeros((k_most, longest_row))
    for t in order:
        k, first, n = known[t], X[0][t], X[0][t + 1] - X[0][t]
        s, p, own_g = all_s[:k], all_p[:k, :n], g[starts[t] : starts[t + 1]]
        x = X[2][first : first + n]
        s[:] = 0.0
        for j in range(n):
            row = theta[X[1][first + j]]
            for r in range(k):
                p[r, j] = math.exp(row[r] - log_z[r])
                s[r] += radius * p[r, j] * x[j]
        Z = 0.0
        for j in range(right[0][t], right[0][t + 1]):
            is_right[right[1][j]] = True
            Z += own_g[right[1][j]]
        for _ in range(most_moves):
            kind, up, down, rate, longest = best_move(s, own_g, is_right[:k], Z, margin, C, False)
            if kind == NONE or rate <= 1e-10 * margin:
                break
            pull = margin if kind == RAISE else -margin if kind == RETURN else 0.0
            step = _best_step(x, p[up], p[down], pull, radius, longest)
            if step <= 0.0:
                break
            own_g[up] += step
            own_g[down] -= step
            if step == longest and kind != RAISE:
                own_g[up] = 0.0 if not is_right[up] and own_g[up] > -1e-15 * step else own_g[up]
                own_g[down] = 0.0 if is_right[down] and own_g[down] < 1e-15 * step else own_g[down]
            if kind == RAISE:
                Z = C if step == longest else Z + step
            elif kind == RETURN:
                Z = max(0.0, Z - step)
            for r, way in ((up, step), (down, -step)):
                grown = 0.0
                for j in range(n):
                    grown += p[r, j] * math.expm1(way * x[j])
                log_z[r] += math.log1p(grown)
                s[r] = 0.0
                for j in range(n):
                    theta[X[1][first + j], r] += way * x[j]
                    p[r, j] *= math.exp(way * x[j]) / (1.0 + grown)
                    s[r] += radius * p[r, j] * x[j]
        for j in range(right[0][t], right[0][t + 1]):
            is_right[right[1][j]] = False


@njit(cache=True)
def _best_step(x: Any, p_up: Any, p_down: Any, pull: float, radius: float, longest: float) -> float:
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


@njit(cache=True)
def _slope(x: Any, p_up: Any, p_down: Any, pull: float, radius: float, step: float) -> tuple[float, float]:
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
