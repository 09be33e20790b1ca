"""Forgetting without a pass over all weights: rows shrink in the place of weights, and steps grow.

After every round that is learnt, weights are multiplied by d = 2^(-1/h). What is stored is w / s, where s = d^t and t
is the number of rounds learnt since the origin. A row is read as s·x, so that its scores are those of w, and weights
move by steps along x / s, which is what a metric of 1/s² makes of it (metric.py). Sums of statistics are stored in the
same way, by a half-life of their own. From time to time all that is stored is multiplied by what it has shrunk to and
the origin moves on, always after the same rounds of a stream. docs/maths.md, "Forgetting".
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats

__all__ = [
    "FOREVER",
    "Fading",
    "fades",
    "left",
    "multiply",
    "origin_of",
    "period",
    "statistics_left",
    "weight_of_all",
    "weights_left",
]

#: Half-lives from one origin to the next, by the bytes of a weight: what is stored must fit its type.
HALVINGS = {4: 16, 8: 64}
LN_2 = math.log(2.0)


class Fading(NamedTuple):
    """How fast a learner forgets: learnt rounds after which half is left, 0 where all is kept."""

    weights: float  # half-life of weights and thresholds
    statistics: float  # of means, deviations, and what a metric has seen
    origin: int  # the number of rounds learnt at which what is stored was true as it stands


FOREVER = Fading(0.0, 0.0, 0)


def fades(fading: Fading) -> bool:
    """Return True if anything is forgotten."""
    return fading.weights > 0.0 or fading.statistics > 0.0


def period(fading: Fading, itemsize: int) -> int:
    """Rounds from one origin to the next, where weights have that many bytes.

    Examples
    --------
    >>> period(Fading(100.0, 100.0, 0), 8), period(Fading(0.0, 100.0, 0), 4), period(Fading(50.0, 100.0, 0), 4)
    (6400, 1600, 800)
    """
    shortest = min(half_life for half_life in fading[:2] if half_life > 0.0)
    return max(1, int(HALVINGS[itemsize] * shortest))


def origin_of(fading: Fading, itemsize: int, learnt: int) -> int:
    """The origin after so many learnt rounds.

    Examples
    --------
    >>> fading = Fading(100.0, 0.0, 0)
    >>> origin_of(fading, 4, 1599), origin_of(fading, 4, 1600), origin_of(FOREVER, 4, 1600)
    (0, 1600, 0)
    """
    return learnt - learnt % period(fading, itemsize) if fades(fading) else 0


@compiled(helper=True)
def left(half_life: float, rounds: int) -> float:
    """What so many rounds leave of a weight; all of it where the half-life is 0.

    Examples
    --------
    >>> left(2.0, 4), left(0.0, 4)
    (0.25, 1.0)
    """
    return math.pow(0.5, rounds / half_life) if half_life > 0.0 else 1.0


@compiled(helper=True)
def weights_left(fading: Fading, learnt: int) -> float:
    """What weights are to what is stored of them, s, after so many learnt rounds."""
    return left(fading.weights, learnt - fading.origin)


@compiled(helper=True)
def statistics_left(fading: Fading, learnt: int) -> float:
    """What sums of statistics are to what is stored of them after so many learnt rounds."""
    return left(fading.statistics, learnt - fading.origin)


@compiled(helper=True)
def multiply(v: Floats, n: int, s: float) -> None:
    """Multiply the first `n` values by s."""
    for j in range(n if s != 1.0 else 0):
        v[j] = v[j] * s


@compiled(helper=True)
def weight_of_all(half_life: float, learnt: int) -> float:
    """What so many learnt rounds count for together, Σ d^age, the last one having the age 1; their number where d = 1.

    Examples
    --------
    >>> round(weight_of_all(1.0, 3), 12), weight_of_all(0.0, 3)
    (0.875, 3.0)
    """
    if half_life <= 0.0:
        return float(learnt)
    rate = -LN_2 / half_life
    return math.exp(rate) * math.expm1(learnt * rate) / math.expm1(rate)
