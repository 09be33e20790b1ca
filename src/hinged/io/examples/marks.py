"""Where the bytes that mean something are: found first, without branches, so that parsers jump from one to the next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hinged.io.examples.numbers import DOT, EXACT, HIGH, LEAST, ZERO, read_number
from hinged.native import BLOCK, equal_bytes, lowest_bit

__all__ = ["Marks", "read_word"]

NONE, ONE, SHORT = np.uintp(0), np.uintp(1), np.uintp(15)
NO_BITS, ONE_BIT = np.uint64(0), np.uint64(1)


class Marks:
    """Finds every one of some bytes; the memory for their places is used again for the next buffer.

    Examples
    --------
    >>> Marks(b" :").find(np.array(list(b"ab c:d "), np.uint8))
    array([2, 4, 6])
    """

    def __init__(self, those: bytes) -> None:
        self._those = np.frombuffer(those, np.uint8)
        self._places = np.empty(0, np.int64)

    def find(self, b: np.ndarray) -> np.ndarray:
        """Their places in `b`, valid until the next call."""
        if len(self._places) <= len(b):
            self._places = np.empty(len(b) + 1, np.int64)
        return self._places[: _find(b, self._those, self._places)]


@njit(cache=True, nogil=True)
def _find(b: Any, those: Any, places: Any) -> int:
    n, whole = NONE, len(b) - len(b) % BLOCK  # unsigned: a negative place would be counted from the end, and costs time
    for base in range(0, whole, BLOCK):
        bits = NO_BITS
        for byte in those:
            bits |= equal_bytes(b.ctypes.data + base, byte)
        while bits != NO_BITS:
            places[n] = base + lowest_bit(bits)
            bits &= bits - ONE_BIT
            n += ONE
    for i in range(whole, len(b)):
        places[n] = i
        for byte in those:
            n += np.uintp(b[i] == byte)
    return int(n)


@njit(cache=True)
def read_word(b: Any, start: Any, end: Any) -> Any:
    """The number that fills the bytes from `start` to `end`, and whether there is one; short plain ones are quick."""
    first, last = np.uintp(start), np.uintp(end)  # unsigned, as in `_find`
    length = last - first
    if length == ONE:
        d = np.int64(b[first]) - ZERO
        return float(d), 0 <= d <= 9
    m: Any = 0
    point = last
    if length <= SHORT:
        i = first
        while i < last:
            d = np.int64(b[i]) - ZERO
            if 0 <= d <= 9:
                m = 10 * m + d
            elif d == DOT - ZERO and point == last:
                point = i
            else:
                break
            i += ONE
        if i == last and point == last:
            return float(m), length > NONE
        if i == last:
            return m / HIGH[np.int64(last) - np.int64(point) - 1 - LEAST], True
    value, after = read_number(b, np.int64(first))  # type: ignore[arg-type]
    return value, after == np.int64(last)


assert EXACT >= 15  # so that one division above rounds once
