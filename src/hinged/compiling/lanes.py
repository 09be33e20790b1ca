"""Sums by vector registers that have the same bits on every processor.

A loop that adds one term after another waits for each sum before the next, and a compiler that may choose the order
chooses another one for every processor. Here the order is part of the definition: term i goes to lane i mod 16, the
lanes are halved (lane i + lane i + 8, then + 4, + 2, + 1), and the terms that fill no further 16 follow one by one.

The functions below are that definition, in plain loops; `lane_code` has the instructions that take their place.
"""

from __future__ import annotations

import os

import numpy as np

from hinged.compiling.arrays import Floats
from hinged.compiling.decorator import COMPILES, compiled

__all__ = ["LANES", "dot", "moments", "squared_distance"]

LANES = 16


@compiled(helper=True)
def _halved(lanes: Floats) -> float:
    half = LANES // 2
    while half:
        for k in range(half):
            lanes[k] += lanes[k + half]
        half //= 2
    return lanes[0]


@compiled(helper=True)
def dot(a: Floats, b: Floats, n: int) -> float:
    """Return Σ a_i b_i over the first `n` values.

    Examples
    --------
    >>> dot(np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 9.0]), 2)
    np.float64(4.0)
    """
    lanes, whole = np.zeros(LANES, a.dtype), n - n % LANES
    for i in range(whole):
        lanes[i % LANES] += a[i] * b[i]
    total = _halved(lanes)
    for i in range(whole, n):
        total += a[i] * b[i]
    return total


@compiled(helper=True)
def squared_distance(a: Floats, b: Floats, n: int) -> float:
    """Return Σ (a_i - b_i)² over the first `n` values.

    Examples
    --------
    >>> squared_distance(np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.0, 9.0]), 2)
    np.float64(5.0)
    """
    lanes, whole = np.zeros(LANES, a.dtype), n - n % LANES
    for i in range(whole):
        lanes[i % LANES] += (a[i] - b[i]) * (a[i] - b[i])
    total = _halved(lanes)
    for i in range(whole, n):
        total += (a[i] - b[i]) * (a[i] - b[i])
    return total


@compiled(helper=True)
def moments(w: Floats, v: Floats, n: int, lowest: float, highest: float) -> tuple[float, float, float, float]:
    """Return Σ w, Σ w (v - lowest), Σ w (highest - v) and Σ w (v - lowest) (highest - v) over the first `n` values.

    Examples
    --------
    >>> moments(np.array([0.5, 1.0]), np.array([1.0, 3.0]), 2, 0.0, 4.0)
    (np.float64(1.5), np.float64(3.5), np.float64(2.5), np.float64(4.5))
    """
    lanes, totals, whole = np.zeros((4, LANES)), np.zeros(4), n - n % LANES
    for i in range(n):
        up, down = w[i] * (v[i] - lowest), highest - v[i]
        if i < whole:
            sums = lanes[:, i % LANES]
        else:
            sums = totals
            if i == whole:
                for k in range(4):
                    totals[k] = _halved(lanes[k])
        sums[0] += w[i]
        sums[1] += up
        sums[2] += w[i] * down
        sums[3] += up * down
    if n == whole:
        for k in range(4):
            totals[k] = _halved(lanes[k])
    return totals[0], totals[1], totals[2], totals[3]


if COMPILES and os.environ.get("HINGED_PLAIN", "0") in ("", "0"):
    from hinged.compiling.lane_code import dot, moments, squared_distance
