"""The exact joint step: the maximiser of the trial's dual over all its constraints.

The problem, for right labels Y, the others N, scores s and the Gram matrix K of the labels' vectors V_r:

    max  m Z - sum_r g_r s_r - 1/2 g'Kg     g >= 0 on Y, g <= 0 on N, sum_Y g = -sum_N g = Z <= C

Update III of the label-ranking paper; eq. (2) of the simultaneous-projections paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

__all__ = ["Optimal", "by_sorting", "on_gram"]


@dataclass(frozen=True)
class Optimal:
    """The rule `"optimal"` with its settings.

    Parameters
    ----------
    solver : "search" or "interior-point"
        How the joint problem is solved. "search" is exact: sorting for Euclidean prototypes, a one-dimensional search
        under entropy, an active-set method on the Gram matrix for shared vectors. "interior-point" is the
        label-ranking paper's method, in either geometry, for labels with vectors of their own.

    Examples
    --------
    >>> Optimal()
    Optimal(solver='search')
    """

    solver: str = "search"


@njit(cache=True)
def by_sorting(scores: Any, is_relevant: Any, q: float, margin: float, C: float, work: Any, g: Any) -> float:
    r"""Exact joint step where every label has its own prototype (K = ‖x‖² I); return its total Z.

    For a fixed total Z the two sides fall apart into projections onto a simplex:
    :math:`g_r = (\mu - s_r)_+ / q` on Y and :math:`-(s_r - \nu)_+ / q` on N. The objective's slope in Z is
    :math:`m - \mu(Z) + \nu(Z)`, piecewise linear and falling, so one walk over the sorted scores finds its zero:
    O(k log k).

    Parameters
    ----------
    scores : float64 array (labels,)
    is_relevant : bool array (labels,)
    q : float
        ‖x‖², positive.
    margin, C : float
        The margin asked for, and the cap on Z (may be infinite).
    work : float64 array (at least labels,)
        Scratch.
    g : float64 array (labels,)
        Zeros on entry; net coefficients on return.
    """
    n_labels = scores.shape[0]
    lowest, highest = math.inf, -math.inf
    for r in range(n_labels):
        if is_relevant[r]:
            lowest = min(lowest, scores[r])
        else:
            highest = max(highest, scores[r])
    # only labels within the margin of the other side's extreme can move
    n_right, n_wrong = 0, 0
    for r in range(n_labels):
        if is_relevant[r] and scores[r] < highest + margin:
            work[n_right] = scores[r]
            n_right += 1
        elif not is_relevant[r] and scores[r] > lowest - margin:
            n_wrong += 1
            work[n_labels - n_wrong] = -scores[r]
    if n_right == 0 or n_wrong == 0:
        return 0.0
    right = work[:n_right]
    wrong = work[n_labels - n_wrong : n_labels]
    right.sort()
    wrong.sort()

    p, n = 1, 1
    sum_right, sum_wrong = right[0], -wrong[0]
    while True:
        best = (margin - sum_right / p + sum_wrong / n) / (q * (1.0 / p + 1.0 / n))
        Z = min(best, C)
        next_right = (p * right[p] - sum_right) / q if p < n_right else math.inf
        next_wrong = (sum_wrong + n * wrong[n]) / q if n < n_wrong else math.inf
        if min(next_right, next_wrong) >= Z:
            break
        if next_right <= next_wrong:
            sum_right += right[p]
            p += 1
        else:
            sum_wrong -= wrong[n]
            n += 1
    up, down = (q * Z + sum_right) / p, (sum_wrong - q * Z) / n
    for r in range(n_labels):
        if is_relevant[r]:
            g[r] = max(0.0, (up - scores[r]) / q)
        else:
            g[r] = -max(0.0, (scores[r] - down) / q)
    return Z


@njit(cache=True)
def on_gram(scores: Any, is_relevant: Any, K: Any, margin: float, C: float, skip_flat: bool, g: Any) -> float:
    r"""Exact joint step for any sharing scheme, from the Gram matrix K of the labels' vectors; return its total.

    An active-set method over pairs (r, s), r right and s wrong: the total `C` starts on a slack that moves nothing;
    each turn brings in the pair that the current solution violates most, solves for the active pairs alone, and
    drops those that would turn negative. Pairs need not be listed: the worst one joins the lowest right label to the
    highest wrong one. Ends after finitely many turns, at the optimum up to rounding.

    Pairs of norm 0 cannot be met by any move. They take what is left of `C` in the dual, as its definition has it,
    unless `skip_flat` leaves them out, as MIRA does; without a cap they are always left out.
    """
    n_labels = scores.shape[0]
    largest = 0.0
    for r in range(n_labels):
        largest = max(largest, K[r, r])
    capped = math.inf > C
    if largest == 0.0:  # the dual is linear: all of C on the worst pair, and no weight moves
        r, s = _most_violated(scores, is_relevant, K, 0.0)
        if r < 0 or skip_flat or not capped or margin - (scores[r] - scores[s]) <= 0.0:
            return 0.0
        g[r], g[s] = C, -C
        return C
    limit = 2 * n_labels + 2
    up, down = np.empty(limit, np.int64), np.empty(limit, np.int64)
    lam = np.zeros(limit)
    now = scores.copy()
    slack, at_cap = C if capped else 0.0, False
    price, scale, n, given_back = 0.0, margin, 0, False
    for _ in range(50 * n_labels + 100):
        if at_cap and not given_back and price < -1e-13 * scale:
            at_cap, given_back = False, True  # the pairs would rather use less than all of C: the slack comes back
        else:
            r, s = _most_violated(now, is_relevant, K, 1e-14 * largest if skip_flat or not capped else 0.0)
            if r < 0:
                break
            gain = margin - (now[r] - now[s])
            scale = margin + abs(now[r]) + abs(now[s])
            if gain <= price + 1e-13 * scale or n == limit:
                break
            known = False
            for i in range(n):
                known = known or (up[i] == r and down[i] == s)
            if known:  # rounding, not progress
                break
            up[n], down[n], lam[n] = r, s, 0.0
            n += 1
            given_back = False
        while n > 0:
            target, price = _solve_active(scores, K, up[:n], down[:n], margin, C, at_cap, largest)
            rest = C - target.sum() if capped and not at_cap else 0.0
            if not capped and np.max(np.abs(target)) * largest > 1e10 * scale:
                n -= 1  # the constraints contradict one another: the newcomer cannot be met as well
                target = lam[:n].copy()
            step, leaves = 1.0, -1
            for i in range(target.shape[0]):
                if target[i] < 0.0 and lam[i] < step * (lam[i] - target[i]):
                    step, leaves = lam[i] / (lam[i] - target[i]), i
            if rest < 0.0 and slack < step * (slack - rest):
                step, leaves = slack / (slack - rest), n
            for i in range(target.shape[0]):
                lam[i] = max(0.0, lam[i] + step * (target[i] - lam[i]))
            slack += step * (rest - slack)
            if leaves < 0:
                break
            if leaves == n:
                slack, at_cap = 0.0, True
            else:
                for i in range(leaves, n - 1):
                    up[i], down[i], lam[i] = up[i + 1], down[i + 1], lam[i + 1]
                n -= 1
        g[:] = 0.0
        for i in range(n):
            g[up[i]] += lam[i]
            g[down[i]] -= lam[i]
        for t in range(n_labels):
            moved = 0.0
            for i in range(n):
                moved += lam[i] * (K[t, up[i]] - K[t, down[i]])
            now[t] = scores[t] + moved
    return lam[:n].sum()


@njit(cache=True)
def _most_violated(now: Any, is_relevant: Any, K: Any, least_norm: float) -> tuple[int, int]:
    """Lowest right and highest wrong label; with `least_norm` > 0, the worst pair at least that far apart."""
    r, s = -1, -1
    if least_norm == 0.0:
        for t in range(now.shape[0]):
            if is_relevant[t]:
                if r < 0 or now[t] < now[r]:
                    r = t
            elif s < 0 or now[t] > now[s]:
                s = t
        return (r, s) if r >= 0 and s >= 0 else (-1, -1)
    for a in range(now.shape[0]):
        for b in range(now.shape[0]):
            if is_relevant[a] and not is_relevant[b] and K[a, a] + K[b, b] - 2.0 * K[a, b] > least_norm:
                if r < 0 or now[a] - now[b] < now[r] - now[s]:
                    r, s = a, b
    return r, s


@njit(cache=True)
def _solve_active(
    scores: Any, K: Any, up: Any, down: Any, margin: float, C: float, at_cap: bool, largest: float
) -> tuple[Any, float]:
    """Coefficients that meet every active pair's margin (at the cap: up to one common shortfall), and that shortfall.

    A ridge of 1e-13 keeps dependent pairs solvable: along a direction without curvature the answer is then very
    long, and the caller's step stops at the first bound, as it should. Refinements take the ridge's error out.
    """
    n = up.shape[0]
    size = n + 1 if at_cap else n
    A = np.zeros((size, size))
    b = np.empty(size)
    for i in range(n):
        for j in range(n):
            A[i, j] = K[up[i], up[j]] - K[up[i], down[j]] - K[down[i], up[j]] + K[down[i], down[j]]
        b[i] = margin - (scores[up[i]] - scores[down[i]])
    if at_cap:
        A[:n, n] = 1.0
        A[n, :n] = 1.0
        b[n] = C
    ridged = A.copy()
    for i in range(n):
        ridged[i, i] += 1e-13 * largest
    inverse = np.linalg.inv(ridged)
    x = inverse @ b
    for _ in range(30):
        left = b - A @ x
        if np.max(np.abs(left)) <= 1e-15 * np.max(np.abs(b)):
            break
        x += inverse @ left
    return x[:n].copy(), x[n] if at_cap else 0.0
