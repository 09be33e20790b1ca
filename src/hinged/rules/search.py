"""The exact joint step on a simplex by a one-dimensional search.

The problem, for right labels Y, the others N and the labels' potentials Φ (see `hinged.rules.response`):

    max  m Z - Σ_r Φ_r(a_r)     a >= 0 on Y, a <= 0 on N, Σ_Y a = -Σ_N a = Z <= C

Update III of the label-ranking paper. With its two multipliers fixed the problem falls apart over the labels: right
labels below a level t are lifted to it, wrong labels above a level u pressed to it. Levels are log odds within the
row's range, where every label's curve is a line or nearly one.
"""

from __future__ import annotations

import math

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.rules.response import FINE, LOGISTIC, Responses, level_of, propose, reach, spread_at
from hinged.rules.tilt import tilted_level

__all__ = ["by_search"]

RIGHT, WRONG = 1.0, -1.0
LEVEL, SLOPE, STEP, RATE = (
    0,
    1,
    2,
    3,
)  # what is kept of each label: its line, |a|, and how fast |a| moves with the level
MOST_TANGENTS = 20
DISTINCT = 1e-6  # a score this near to an end of its range, relative to that, has lost digits
SETTLED = 1e-9  # a relative move of this size is the last: the next would be of its square


@compiled
def by_search(curves: Responses, scores: Floats, is_relevant: Bools, margin: float, C: float, g: Floats) -> float:
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
    # only labels within the margin of the other side's extreme can move; right ones first, wrong ones after them
    places = np.empty(n_labels, np.int64)
    n = 0
    for r in range(n_labels):
        if is_relevant[r] and scores[r] - highest < margin:
            places[n] = r
            n += 1
    n_right = n
    for r in range(n_labels):
        if not is_relevant[r] and lowest - scores[r] < margin:
            places[n] = r
            n += 1
    work = np.zeros((4, n))
    gamma = margin / reach(curves)
    if curves.kind == LOGISTIC:
        for i in range(n):
            work[LEVEL, i], work[SLOPE, i] = level_of(curves, places[i], 0.0)
        total = _settle(curves, places, n_right, work, gamma, C, True)
    else:
        total = _by_lines(curves, scores, places[:n], n_right, work, gamma, C)
        if total < 0.0:
            total = _settle(curves, places, n_right, work, gamma, C, False)
    for i in range(n):
        g[places[i]] = work[STEP, i] if i < n_right else -work[STEP, i]
    return total


@compiled(helper=True)
def _settle(
    curves: Responses, places: Ints, n_right: int, work: Floats, gamma: float, C: float, straight: bool
) -> float:
    """The answer for curves as they are, or as straight lines of given level and slope; return the total."""
    n = work.shape[1]
    right, wrong = places[:n_right], places[n_right:n]
    up, down = work[:, :n_right], work[:, n_right:]
    least, most = up[LEVEL].min(), down[LEVEL].max()
    total = math.inf
    if gamma < 1.0:
        total = _balance(curves, places, n_right, work, 0.5 * (least + most), gamma, C, straight)
    if total > C:
        if math.inf == C:
            work[STEP] = 0.0
            return 0.0
        _fill(curves, right, up, RIGHT, least, C, straight)
        _fill(curves, wrong, down, WRONG, most, C, straight)
        total = C
    return total


@compiled(helper=True)
def _by_lines(
    curves: Responses, scores: Floats, places: Ints, n_right: int, work: Floats, gamma: float, C: float
) -> float:
    """Newton's method on all labels together: each curve's tangent for the curve, until the answer stays.

    One look at each curve that moves per iteration, and some four iterations, because levels are nearly straight.
    Returns -1, with everything as it was, where that does not settle.
    """
    logs, start, v, lowest, highest = curves.logs, curves.start, curves.values, curves.lowest, curves.highest
    n, scratch = work.shape[1], np.empty(v.shape[0])
    near, slope = True, 0.0
    for i in range(n):  # levels follow from scores; slopes only begin as those of the side's first label
        r = places[i]
        above, below = scores[r] / curves.radius - lowest, highest - scores[r] / curves.radius
        apart = min(above, below) > DISTINCT * (highest - lowest)
        level = math.log(above / below) if apart else 0.0
        if i in (0, n_right) or not apart:
            exact, own = tilted_level(logs[r], start[r], v, lowest, highest, 0.0, scratch)
            level = level if apart else exact  # labels equal to the last bit must stay equal: no tie may be broken
            slope = own if i in (0, n_right) else slope
            near = near and own > 0.0
        work[LEVEL, i], work[SLOPE, i] = level, slope
    if not near:
        for i in range(n):
            work[LEVEL, i], work[SLOPE, i] = level_of(curves, places[i], 0.0)
        return -1.0
    first = work[:2].copy()
    steps, before = work[STEP], np.zeros(n)
    for _ in range(MOST_TANGENTS):
        total = _settle(curves, places, n_right, work, gamma, C, True)
        largest, moved = 0.0, 0.0
        for i in range(n):
            largest, moved = max(largest, steps[i]), max(moved, abs(steps[i] - before[i]))
        if not largest < math.inf:
            break
        if moved <= SETTLED * largest:
            return total
        for i in range(n):
            if steps[i] > 0.0:
                side, r = RIGHT if i < n_right else WRONG, places[i]
                level, slope = tilted_level(logs[r], start[r], v, lowest, highest, side * steps[i], scratch)
                if not slope > 0.0:
                    largest = math.inf
                    break
                work[LEVEL, i], work[SLOPE, i] = level - side * slope * steps[i], slope
            elif before[i] > 0.0:
                work[LEVEL, i], work[SLOPE, i] = first[0, i], first[1, i]
            before[i] = steps[i]
        if largest == math.inf:
            break
    for i in range(n):
        work[LEVEL, i], work[SLOPE, i] = level_of(curves, places[i], 0.0)
        work[STEP, i] = 0.0
    return -1.0


@compiled(helper=True)
def _coefficient(
    curves: Responses, r: int, start: float, level: float, side: float, guess: float
) -> tuple[float, float]:
    """|a| that brings label `r` from its level to another, if that lies on its side; and 1 / its slope. Tilted only."""
    if side * (level - start) <= 0.0:
        return 0.0, 0.0
    # the level never rises faster than the width of the row's range
    low, high = abs(level - start) / (curves.highest - curves.lowest), math.inf
    a, slope = max(low, guess), 0.0
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
    return a, 1.0 / slope if slope > 0.0 else math.inf


@compiled(helper=True)
def _bring(
    curves: Responses, places: Ints, work: Floats, level: float, side: float, straight: bool
) -> tuple[float, float]:
    """Bring one side's labels to a level: the total of |a|, and how fast it changes with the level."""
    levels, slopes, a, rates = work[LEVEL], work[SLOPE], work[STEP], work[RATE]
    total, slope = 0.0, 0.0
    for i in range(places.shape[0]):
        if straight:
            way = side * (level - levels[i])
            a[i], rates[i] = (way / slopes[i], 1.0 / slopes[i]) if way > 0.0 else (0.0, 0.0)
        else:
            a[i], rates[i] = _coefficient(curves, places[i], levels[i], level, side, a[i])
        total += a[i]
        slope += rates[i]
    return total, slope


@compiled(helper=True)
def _stretch(work: Floats, slope: float, more: float) -> None:
    """Add `more` to a side's total, each label by its rate: what is left where a level has no further digits."""
    a, rates = work[STEP], work[RATE]
    if 0.0 < slope < math.inf:
        for i in range(a.shape[0]):
            a[i] = max(0.0, a[i] + more * rates[i] / slope)


@compiled(helper=True)
def _balance(
    curves: Responses, places: Ints, n_right: int, work: Floats, middle: float, gamma: float, C: float, straight: bool
) -> float:
    """Find the middle M at which lifting to t = M + x and pressing to u = M - x take the same total; return it."""
    right, wrong = places[:n_right], places[n_right : work.shape[1]]
    up, down = work[:, :n_right], work[:, n_right:]
    low, high = -math.inf, math.inf
    older, last = math.inf, math.inf
    lifted, pressed, rise, fall = 0.0, 0.0, 0.0, 0.0
    for _ in range(200):
        x = spread_at(middle, gamma)
        lifted, rise = _bring(curves, right, up, middle + x, RIGHT, straight)
        pressed, fall = _bring(curves, wrong, down, middle - x, WRONG, straight)
        excess = lifted - pressed
        if excess <= 0.0:
            low = middle
        if excess >= 0.0:
            high = middle
        if lifted > C and pressed > C:  # what balances them lies between the two
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
        _stretch(up, rise, -excess * rise)
        _stretch(down, fall, excess * fall)
        lifted -= excess * rise
    return lifted


@compiled(helper=True)
def _fill(curves: Responses, places: Ints, work: Floats, side: float, start: float, C: float, straight: bool) -> None:
    """Bring one side to the level at which its total is `C`, beginning at its first label's."""
    a = work[STEP]
    if places.shape[0] == 1:
        a[0] = C
        return
    low, high = 0.0, math.inf  # of the way from the first level
    way, total, slope = 1.0, 0.0, 0.0
    older, last = math.inf, math.inf
    for _ in range(200):
        total, slope = _bring(curves, places, work, start + side * way, side, straight)
        if total <= C:
            low = way
        if total >= C:
            high = way
        after = way + (C - total) / slope if 0.0 < slope < math.inf else math.nan
        if abs(after - way) <= FINE * (way + abs(start)) or high - low <= FINE * way:
            break
        after = propose(way, after, low, high, older)
        older, last = last, abs(after - way)
        way = after
    _stretch(work, slope, C - total)
    total = a.sum()
    for i in range(places.shape[0]):  # the last digits
        a[i] = a[i] * (C / total) if 0.0 < total < math.inf else C / places.shape[0]
