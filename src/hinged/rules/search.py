"""The exact joint step on a simplex by a one-dimensional search.

The problem, for right labels Y, the others N and the labels' potentials Φ (see `hinged.rules.response`):

    max  m Z - Σ_r Φ_r(a_r)     a >= 0 on Y, a <= 0 on N, Σ_Y a = -Σ_N a = Z <= C

Update III of the label-ranking paper. With its two multipliers fixed the problem falls apart over the labels: right
labels below a level t are lifted to it, wrong labels above a level u pressed to it. Levels are log odds within the
row's range, where every label's curve is a line or nearly one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from hinged.rules.response import FINE, LOGISTIC, level_of, propose, reach, spread_at

__all__ = ["by_search"]

RIGHT, WRONG = 1.0, -1.0
FAR = 600.0  # levels of a tilted curve further out than this cannot be told apart


@njit(cache=True)
def by_search(curves: Any, scores: Any, is_relevant: Any, margin: float, C: float, g: Any) -> float:
    r"""Net coefficients of the exact joint step; return their total Z.

    While the cap is not reached the levels stand one margin apart, :math:`\sigma(t) - \sigma(u) = \gamma`, so both
    hang on their middle M, and the totals of the two sides, one rising and one falling in M, must agree. Where that
    asks for more than `C`, each side finds its level for a total of `C` alone.

    Parameters
    ----------
    curves : Responses
        Logistic or tilted, filled in for every label within the margin of the other side's extreme.
    scores : float64 array (labels,)
    is_relevant : bool array (labels,)
    margin, C : float
        The margin asked for, and the cap on Z. Without a cap, a margin out of reach on this row takes no step.
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
    if lowest - highest >= margin:
        return 0.0
    # only labels within the margin of the other side's extreme can move; right ones first, wrong ones from the end
    n_right, n_wrong = 0, 0
    least, most = math.inf, -math.inf
    work = np.zeros((3, n_labels))
    levels, places, rates = work[0], work[1], work[2]
    for r in range(n_labels):
        if is_relevant[r] and scores[r] < highest + margin:
            levels[r] = level_of(curves, r, 0.0)[0]
            least = min(least, levels[r])
            places[n_right] = r
            n_right += 1
        elif not is_relevant[r] and scores[r] > lowest - margin:
            levels[r] = level_of(curves, r, 0.0)[0]
            most = max(most, levels[r])
            n_wrong += 1
            places[n_labels - n_wrong] = r
    right, wrong = places[:n_right], places[n_labels - n_wrong : n_labels]
    gamma = margin / reach(curves)
    total = math.inf
    if gamma < 1.0:
        total = _balance(curves, right, wrong, levels, rates, least, most, gamma, C, g)
    if total > C:
        if math.inf == C:
            for r in range(n_labels):
                g[r] = 0.0
            return 0.0
        _fill(curves, right, levels, rates, RIGHT, least, C, g)
        _fill(curves, wrong, levels, rates, WRONG, most, C, g)
        total = C
    return total


@njit(cache=True)
def _coefficient(curves: Any, r: int, start: float, level: float, side: float, guess: float) -> tuple[float, float]:
    """The coefficient that brings label `r` from its level to another, if that lies on its side; and 1 / its slope."""
    if side * (level - start) <= 0.0:
        return 0.0, 0.0
    if curves.kind == LOGISTIC:
        return (level - start) / curves.rate, 1.0 / curves.rate
    # of |a|: the level never rises faster than the width of the row's range
    low, high = abs(level - start) / (curves.highest - curves.lowest), math.inf
    a, slope = max(low, abs(guess)), 0.0
    older, last = math.inf, math.inf
    for _ in range(100):
        at, slope = level_of(curves, r, side * a)
        short = side * (level - at)
        if short > 0.0:
            low = a
        else:
            high = a
        after = a + short / slope if slope > 0.0 else math.inf
        if abs(after - a) <= FINE * a or high - low <= FINE * a:
            break
        after = propose(a, after, low, high, older)
        older, last = last, abs(after - a)
        a = after
    return side * a, 1.0 / slope if slope > 0.0 else math.inf


@njit(cache=True)
def _side(curves: Any, places: Any, levels: Any, rates: Any, level: float, side: float, g: Any) -> tuple[float, float]:
    """Bring one side's labels to a level: their total, as a positive number, and how fast it changes with the level."""
    total, slope = 0.0, 0.0
    for i in range(places.shape[0]):
        r = int(places[i])
        g[r], rates[r] = _coefficient(curves, r, levels[r], level, side, g[r])
        total += side * g[r]
        slope += rates[r]
    return total, slope


@njit(cache=True)
def _stretch(places: Any, rates: Any, side: float, slope: float, more: float, g: Any) -> None:
    """Add `more` to a side's total, each label by its rate: what is left where a level has no further digits."""
    if 0.0 < slope < math.inf:
        for i in range(places.shape[0]):
            r = int(places[i])
            g[r] = side * max(0.0, side * g[r] + more * rates[r] / slope)


@njit(cache=True)
def _balance(
    curves: Any,
    right: Any,
    wrong: Any,
    levels: Any,
    rates: Any,
    least: float,
    most: float,
    gamma: float,
    C: float,
    g: Any,
) -> float:
    """Find the middle M at which lifting to t = M + x and pressing to u = M - x take the same total; return it."""
    # at M = low nothing is lifted, at M = high nothing is pressed; x hangs on M only a little
    low, high = -math.inf, math.inf
    middle = 0.5 * (least + most)
    older, last = math.inf, math.inf
    lifted, pressed, rise, fall = 0.0, 0.0, 0.0, 0.0
    for _ in range(200):
        x = spread_at(middle, gamma)
        lifted, rise = _side(curves, right, levels, rates, middle + x, RIGHT, g)
        pressed, fall = _side(curves, wrong, levels, rates, middle - x, WRONG, g)
        excess = lifted - pressed
        if excess <= 0.0:
            low = middle
        if excess >= 0.0:
            high = middle
        if lifted > C and pressed > C:  # both sides can only grow further apart than the cap allows
            return math.inf
        c = math.cosh(min(abs(middle), 300.0))
        lean = math.copysign(gamma * math.sqrt(c * c - 1.0), middle)
        lean /= math.sqrt(gamma * gamma * c * c + (1.0 - gamma) * (1.0 + gamma))
        slope = rise * (1.0 + lean) + fall * (1.0 - lean)
        after = middle - excess / slope if 0.0 < slope < math.inf else math.nan
        if abs(after - middle) <= FINE * (abs(middle) + x) or high - low <= FINE * abs(middle):
            break
        after = propose(middle, after, low, high, older)
        older, last = last, abs(after - middle)
        middle = after
    if rise + fall > 0.0:
        excess = (lifted - pressed) / (rise + fall)
        _stretch(right, rates, RIGHT, rise, -excess * rise, g)
        _stretch(wrong, rates, WRONG, fall, excess * fall, g)
        lifted -= excess * rise
    return lifted


@njit(cache=True)
def _fill(curves: Any, places: Any, levels: Any, rates: Any, side: float, start: float, C: float, g: Any) -> None:
    """Bring one side to the level at which its total is `C`."""
    if places.shape[0] == 1:
        g[int(places[0])] = side * C
        return
    low, high = 0.0, math.inf  # of the way from the first label's level
    way, total, slope = 1.0, 0.0, 0.0
    older, last = math.inf, math.inf
    for _ in range(200):
        total, slope = _side(curves, places, levels, rates, start + side * way, side, g)
        if total <= C:
            low = way
        if total >= C:
            high = way
        after = way + (C - total) / slope if 0.0 < slope < math.inf else math.nan
        if abs(after - way) <= FINE * (way + abs(start)) or high - low <= FINE * way:
            break
        after = propose(way, after, low, high, older)
        if curves.kind != LOGISTIC and after > FAR:
            if way >= FAR:
                break
            after = FAR
        older, last = last, abs(after - way)
        way = after
    _stretch(places, rates, side, slope, C - total, g)
    total = 0.0
    for i in range(places.shape[0]):
        total += abs(g[int(places[i])])
    for i in range(places.shape[0]):  # the last digits, and all of it where a level is too far out to be written down
        r = int(places[i])
        g[r] = g[r] * (C / total) if 0.0 < total < math.inf else side * C / places.shape[0]
