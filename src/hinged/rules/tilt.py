"""Moments of a row's values under a label's tilted weights, written so that the compiler does several values at once.

An exponential of one's own, because the library's is a call per value: e^x = 2^n e^r with n = round(x / log 2) and a
polynomial for |r| ≤ log 2 / 2, in error by less than two units in the last place.
"""

from __future__ import annotations

import math

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats
from hinged.compiling.lanes import moments

__all__ = ["FARTHEST", "exponentials", "tilted_level"]

FARTHEST = 300.0  # tilts up to e^±300 need no common factor
LEAST = -708.0  # below, e^x is no normal number
SHIFTER = 6755399441055744.0  # 1.5 · 2^52: adding it rounds to a whole number, which then fills the last bits
PER_LOG_2, LOG_2_HIGH, LOG_2_LOW = 1.4426950408889634, 0.693147180369123816490, 1.90821492927058770002e-10


@compiled
def exponentials(logs: Floats, v: Floats, a: float, out: Floats) -> None:
    """out = e^(logs + a v), for arguments up to 700; below -708 it stays at e^-708."""
    for j in range(v.shape[0]):
        x = max(LEAST, logs[j] + a * v[j])
        shifted = x * PER_LOG_2 + SHIFTER
        n = shifted - SHIFTER
        r = (x - n * LOG_2_HIGH) - n * LOG_2_LOW
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * (r * r) + r + 1.0
        power = (np.float64(shifted).view(np.int64) + 1023) << 52  # the bits of 2^n
        out[j] = p * np.int64(power).view(np.float64)


@compiled
def tilted_level(
    logs: Floats, rest: float, v: Floats, lowest: float, highest: float, a: float, out: Floats
) -> tuple[float, float]:
    """Log odds of a score within its range at coefficient `a`, and how fast they rise; NaN where digits would be lost.

    `logs` and `rest` are of the weights in the row and outside of it (of 1 in all), `out` is scratch.
    """
    if abs(a) * max(highest, -lowest) > FARTHEST:
        return math.nan, math.nan
    exponentials(logs, v, a, out)
    total, above, below, inner = moments(out, v, v.shape[0], lowest, highest)
    outside = math.exp(rest)  # there v is 0
    total += outside
    above = (above - outside * lowest) / total
    below = (below + outside * highest) / total
    inner = (inner - outside * lowest * highest) / total
    if min(above, below) < 1e-200:
        return math.nan, math.nan
    return math.log(above / below), max(0.0, above * below - inner) * (1.0 / above + 1.0 / below)
