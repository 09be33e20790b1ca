"""Decimal numbers out of bytes, compiled: as Python's float reads them, but for the last bit of very long ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit

__all__ = ["read_number"]

PLUS, MINUS, DOT, ZERO, LOWER_E = 43, 45, 46, 48, 101
EXACT = 22  # 10^22 is the largest power of ten that a double holds exactly
WHOLE = 1 << 53  # up to here doubles hold every whole number
ROOM = (1 << 62) // 10 - 1  # below it, one more digit fits
LEAST, MOST = -300, 308  # powers of ten in the tables


def _powers() -> tuple[np.ndarray, np.ndarray]:
    """10^k as the sum of two doubles, for k from LEAST to MOST."""
    exact = [Fraction(10) ** k for k in range(LEAST, MOST + 1)]
    high = [float(power) for power in exact]
    return np.array(high), np.array([float(power - Fraction(h)) for power, h in zip(exact, high, strict=True)])


HIGH, LOW = _powers()


@njit(cache=True)
def read_number(b: Any, i: int) -> tuple[float, int]:
    """The number that begins at byte `i` and the place after it; that place is `i` where no number begins.

    Sign, digits with or without a point, exponent. Up to 18 digits count; further ones only move the point. Too large
    a number is inf. A byte that is no digit must end the buffer.

    Examples
    --------
    >>> read_number(np.array(list(b"-12.5e1 "), np.uint8), 0)
    (-125.0, 7)
    """
    at = i
    negative = b[at] == MINUS
    if negative or b[at] == PLUS:
        at += 1
    digits = at
    m: Any = 0  # the number is m · 10^scale
    scale = 0
    d = np.int64(b[at]) - ZERO
    while 0 <= d <= 9:
        if m < ROOM:
            m = 10 * m + d
        else:
            scale += 1
        at += 1
        d = np.int64(b[at]) - ZERO
    seen = at - digits
    if b[at] == DOT:
        at += 1
        digits = at
        d = np.int64(b[at]) - ZERO
        while 0 <= d <= 9:
            if m < ROOM:
                m = 10 * m + d
                scale -= 1
            at += 1
            d = np.int64(b[at]) - ZERO
        seen += at - digits
    if seen == 0:
        return 0.0, i
    if np.int64(b[at]) | 32 == LOWER_E:
        exponent, after = _exponent(b, at + 1)
        if after > at + 1:
            scale += exponent
            at = after
    value = float(m)
    if scale != 0 or m > WHOLE:
        value = _scaled(m, scale)
    return (-value if negative else value), at


@njit(cache=True)
def _exponent(b: Any, i: int) -> tuple[int, int]:
    at = i
    negative = b[at] == MINUS
    if negative or b[at] == PLUS:
        at += 1
    digits = at
    e: Any = 0
    d = np.int64(b[at]) - ZERO
    while 0 <= d <= 9:
        e = min(10 * e + d, 99999)
        at += 1
        d = np.int64(b[at]) - ZERO
    return (-e if negative else e), (at if at > digits else i)


@njit(cache=True)
def _scaled(m: int, scale: int) -> float:
    """m · 10^scale."""
    if m <= WHOLE and -EXACT <= scale <= EXACT:  # both are exact, so one rounding
        return m * HIGH[scale - LEAST] if scale >= 0 else m / HIGH[-scale - LEAST]
    if m == 0 or scale < LEAST - 45:
        return 0.0
    if scale > MOST:
        return np.inf
    if scale < -280:  # down to where doubles thin out: the last bit may be off
        return (float(m) * HIGH[-280 - LEAST]) * (HIGH[scale + 280 - LEAST])
    high = float(m)
    low = float(m - np.int64(high))
    p, q = HIGH[scale - LEAST], LOW[scale - LEAST]
    product = high * p
    if not product < 1e300:
        return product
    return product + (_lost(high, p, product) + (high * q + low * p))


@njit(cache=True)
def _lost(x: float, y: float, product: float) -> float:
    """What the product of two doubles lost to rounding (Dekker 1971)."""
    t = 134217729.0 * x
    x1 = t - (t - x)
    x2 = x - x1
    if y > 1e290 or y < 1e-260:  # splitting would leave the range
        return 0.0
    t = 134217729.0 * y
    y1 = t - (t - y)
    y2 = y - y1
    return x2 * y2 - (((product - x1 * y1) - x2 * y1) - x1 * y2)
