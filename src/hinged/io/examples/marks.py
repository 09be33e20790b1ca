"""Where the bytes that mean something are: found first, without branches, so that parsers jump from one to the next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hinged.io.examples.numbers import DOT, EXACT, HIGH, LEAST, ZERO, read_number

__all__ = ["Marks", "read_word"]

NONE, ONE, SHORT = np.uintp(0), np.uintp(1), np.uintp(15)


class Marks:
    """Finds every one of some bytes; the memory for their places is used again for the next buffer.

    Examples
    --------
    >>> Marks(b" :").find(np.array(list(b"ab c:d "), np.uint8))
    array([2, 4, 6])
    """

    def __init__(self, those: bytes) -> None:
        self._table = np.zeros(256, np.uint8)
        self._table[list(those)] = 1
        self._places = np.empty(0, np.int64)

    def find(self, b: np.ndarray) -> np.ndarray:
        """Their places in `b`, valid until the next call."""
        if len(self._places) <= len(b):
            self._places = np.empty(len(b) + 1, np.int64)
        return self._places[: _find(b, self._table, self._places)]


@njit(cache=True, nogil=True)
def _find(b: Any, table: Any, places: Any) -> int:
    n = np.uintp(0)  # unsigned: a negative place would be counted from the end, and asking costs time
    for i in range(len(b)):
        places[n] = i
        n += np.uintp(table[b[i]])
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
