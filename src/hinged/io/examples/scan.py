"""Bytes of a block at compiled speed: where the special ones are, numbers, strings, lines that are not UTF-8.

Parsers find the special bytes first, without branches, and then jump from one to the next.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hinged.compiling import compiled
from hinged.io.examples.chunk import BadLine, Bytes, Places, excerpt
from hinged.io.utf8 import decode
from hinged.native import BLOCK, equal_bytes, lowest_bit, wide_bytes

__all__ = [
    "Marks",
    "blank_out_bad_utf8",
    "faults_as_errors",
    "is_blank",
    "not_utf8",
    "read_number",
    "strings_of",
    "utf8_faults",
]

SPACE, TAB, RETURN, NEWLINE = 32, 9, 13, 10
PLUS, MINUS, DOT, ZERO, LOWER_E = 43, 45, 46, 48, 101
EXACT = 22  # 10^22 is the largest power of ten that a double holds exactly
WHOLE = 1 << 53  # up to here doubles hold every whole number
ROOM = (1 << 62) // 10 - 1  # below it, one more digit fits
LEAST, MOST = -300, 308  # powers of ten in the tables
NONE, ONE = np.uintp(0), np.uintp(1)
SHORT = np.uintp(15)  # digits; fewer than EXACT, so that one division rounds once
NO_BITS, ONE_BIT = np.uint64(0), np.uint64(1)
NOT_UTF8_EXPECTED = "UTF-8 text (convert the file: iconv -f LATIN1 -t UTF-8)"


# ------------------------------------------------------------------ special bytes
class Marks:
    """Finds every occurrence of some bytes; the memory for their positions is reused for the next buffer.

    Examples
    --------
    >>> Marks(b" :").find(np.array(list(b"ab c:d "), np.uint8))
    array([2, 4, 6])
    """

    def __init__(self, special: bytes) -> None:
        self._special = np.frombuffer(special, np.uint8)
        self._places = np.empty(0, np.int64)

    def find(self, b: Bytes) -> Places:
        """Return their positions in `b`, valid until the next call."""
        if len(self._places) <= len(b):
            self._places = np.empty(len(b) + 1, np.int64)
        return self._places[: _find(b, self._special, self._places)]


@compiled
def _find(b: Bytes, special: Bytes, places: Places) -> int:
    # unsigned: for a signed index, Numba tests whether it counts from the end
    n, whole = NONE, len(b) - len(b) % BLOCK
    for base in range(0, whole, BLOCK):
        bits = NO_BITS
        for byte in special:
            bits |= equal_bytes(b.ctypes.data + base, byte)
        while bits != NO_BITS:
            places[n] = base + lowest_bit(bits)
            bits &= bits - ONE_BIT
            n += ONE
    for i in range(whole, len(b)):
        places[n] = i
        for byte in special:
            n += np.uintp(b[i] == byte)
    return int(n)


# ------------------------------------------------------------------ numbers
def _powers() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return 10^k as the sum of two doubles, for k from LEAST to MOST."""
    exact = [Fraction(10) ** k for k in range(LEAST, MOST + 1)]
    high = [float(power) for power in exact]
    return np.array(high), np.array([float(power - Fraction(h)) for power, h in zip(exact, high, strict=True)])


HIGH, LOW = _powers()


@compiled
def read_number(b: Bytes, start: int | np.uintp, end: int | np.uintp) -> tuple[float, bool | np.bool_]:
    """Return the number that fills the bytes from `start` to `end`, and whether there is one.

    Sign, digits with or without a point, exponent, as Python's float reads them, but for the last bit of very long
    ones: up to 18 digits count, further ones only move the point. Too large a number is inf. The byte at `end` must
    not be a digit.

    Examples
    --------
    >>> value, found = read_number(np.array(list(b"-12.5 "), np.uint8), 0, 5)
    >>> float(value), bool(found)
    (-12.5, True)
    """
    first, last = np.uintp(start), np.uintp(end)  # unsigned, as in `_find`
    sign = -1.0 if b[first] == MINUS else 1.0
    i = first + ONE if b[first] == MINUS else first
    length = last - i
    if length == ONE:
        d = np.int64(b[i]) - ZERO
        return sign * d, 0 <= d <= 9
    m: Any = 0
    point = last
    if length <= SHORT:  # most numbers are this short, and have no exponent
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
            return sign * m, length > NONE
        if i == last:
            return sign * (m / HIGH[np.int64(last) - np.int64(point) - 1 - LEAST]), True
    value, after = _read_any_number(b, np.int64(first))  # type: ignore[arg-type]
    return value, after == np.int64(last)


@compiled(helper=True)
def is_blank(c: int) -> bool:
    """Return True for the blanks within a line."""
    return c in (SPACE, TAB, RETURN)


@compiled(helper=True)
def _read_any_number(b: Bytes, i: int) -> tuple[float, int]:
    """Return the number that begins at byte `i` and the place after it, which is `i` where no number begins."""
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


@compiled(helper=True)
def _exponent(b: Bytes, i: int) -> tuple[int, int]:
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


@compiled(helper=True)
def _scaled(m: int, scale: int) -> float:
    """Return m · 10^scale."""
    if m <= WHOLE and -EXACT <= scale <= EXACT:  # both are exact, so one rounding
        return m * HIGH[scale - LEAST] if scale >= 0 else m / HIGH[-scale - LEAST]
    if m == 0 or scale < LEAST - 45:
        return 0.0
    if scale > MOST:
        return np.inf
    if scale < -280:  # subnormal results: the last bit may be wrong
        return (float(m) * HIGH[-280 - LEAST]) * (HIGH[scale + 280 - LEAST])
    high = float(m)
    low = float(m - np.int64(high))
    p, q = HIGH[scale - LEAST], LOW[scale - LEAST]
    product = high * p
    if not product < 1e300:
        return product
    return product + (_rounding_error(high, p, product) + (high * q + low * p))


@compiled(helper=True)
def _rounding_error(x: float, y: float, product: float) -> float:
    """Return the rounding error of the product of two doubles (Dekker 1971)."""
    t = 134217729.0 * x
    x1 = t - (t - x)
    x2 = x - x1
    if y > 1e290 or y < 1e-260:  # splitting would leave the range
        return 0.0
    t = 134217729.0 * y
    y1 = t - (t - y)
    y2 = y - y1
    return x2 * y2 - (((product - x1 * y1) - x2 * y1) - x1 * y2)


# ------------------------------------------------------------------ strings
def strings_of(b: Bytes, starts: Places, ends: Places) -> list[str]:
    """Return pieces of a buffer as strings.

    Examples
    --------
    >>> strings_of(np.array(list(b"ab cd"), np.uint8), np.array([0, 3, 3]), np.array([2, 3, 5]))
    ['ab', '', 'cd']
    """
    starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
    texts = _joined(b, starts, ends).tobytes().decode("utf-8").split("\n") if len(starts) else []
    if len(texts) == len(starts):
        return texts
    view = b.data  # a piece holds a newline
    return [str(view[start:end], "utf-8") for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


@compiled
def _joined(b: Bytes, starts: Places, ends: Places) -> Bytes:
    """Return the pieces joined by newlines."""
    length = len(starts) - 1
    for r in range(len(starts)):
        length += ends[r] - starts[r]
    out = np.empty(length, np.uint8)
    at = 0
    for r in range(len(starts)):
        if r > 0:
            out[at] = NEWLINE
            at += 1
        for i in range(starts[r], ends[r]):
            out[at] = b[i]
            at += 1
    return out


# ------------------------------------------------------------------ malformed lines
def utf8_faults(data: Bytes) -> list[tuple[int, int, int]]:
    """Return where each line that is not UTF-8 begins and ends, and its first bad byte; `data` ends with a newline.

    Examples
    --------
    >>> utf8_faults(np.frombuffer(b"good" + bytes([10, 97, 255, 10]), np.uint8))
    [(5, 7, 6)]
    """
    faults: list[tuple[int, int, int]] = []
    at = 0
    while (found := _next_fault(data, at))[0] < len(data):
        bad, start, end = found
        faults.append((start, end, bad))
        at = end + 1
    return faults


@compiled
def _next_fault(data: Bytes, at: int) -> tuple[int, int, int]:
    """Return the first byte from `at` on that is not UTF-8, and where its line begins and ends; the end if none."""
    n, here = len(data), data.ctypes.data
    while at < n:
        wide = wide_bytes(here + at) if at + BLOCK <= n else NO_BITS
        if wide == NO_BITS and at + BLOCK <= n:
            at += BLOCK
            continue
        at += lowest_bit(wide) if wide != NO_BITS else 0
        code, length = decode(data, at, n)
        if code < 0:
            start, end = _line_around(data, at)
            return at, start, end
        at += length
    return n, n, n


@compiled(helper=True)
def _line_around(data: Bytes, at: int) -> tuple[int, int]:
    start, end = at, at
    while start > 0 and data[start - 1] != NEWLINE:
        start -= 1
    while data[end] != NEWLINE:
        end += 1
    return start, end


def not_utf8(source: str, line: int, byte: int, column: int) -> BadLine:
    """Return the error for such a line."""
    problem = f"byte 0x{byte:02x} at place {column} is not UTF-8"
    return BadLine(source, line, problem, NOT_UTF8_EXPECTED)


def blank_out_bad_utf8(data: Bytes, source: str, first_line: int) -> list[BadLine]:
    """Overwrite lines that are not UTF-8 with spaces, which every reader skips; return an error for each."""
    bad = []
    line, counted = first_line, 0
    for start, end, at in utf8_faults(data):
        line += int(np.count_nonzero(data[counted:start] == NEWLINE))
        counted = start
        bad.append(not_utf8(source, line, int(data[at]), at - start + 1))
        data[start:end] = SPACE
    return bad


def faults_as_errors(
    faults: Places, meanings: dict[int, tuple[str, str]], data: Bytes, end: bytes, source: str, first_line: int
) -> list[BadLine]:
    """Return an error for each fault (line, code, start of the word), which quotes the word up to a byte of `end`."""
    bad = []
    for offset, code, start in faults.tolist():
        at = start
        while data[at] not in end:
            at += 1
        problem, expected = meanings[code]
        bad.append(BadLine(source, first_line + offset, problem.format(excerpt(data[start:at].tobytes())), expected))
    return bad
