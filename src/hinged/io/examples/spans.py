"""Pieces of a buffer as Python strings, many at once; lines that are not UTF-8."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hinged.io.examples.errors import BadLine
from hinged.io.utf8 import decode
from hinged.native import BLOCK, lowest_bit, wide_bytes

__all__ = ["blank_out_bad_utf8", "count_lines", "strings_of", "utf8_faults"]

NEWLINE, SPACE = 10, 32
NO_BITS = np.uint64(0)


def strings_of(b: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> list[str]:
    """The pieces as strings; none may hold a newline.

    Examples
    --------
    >>> strings_of(np.array(list(b"ab cd"), np.uint8), np.array([0, 3, 3]), np.array([2, 3, 5]))
    ['ab', '', 'cd']
    """
    return _joined(b, starts, ends).tobytes().decode("utf-8").split("\n") if len(starts) else []


@njit(cache=True)
def _joined(b: Any, starts: Any, ends: Any) -> Any:
    """The pieces one after the other, newlines between."""
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


def count_lines(data: np.ndarray) -> int:
    """How many newlines there are."""
    return int(np.count_nonzero(data == NEWLINE))


def utf8_faults(data: np.ndarray) -> list[tuple[int, int, int]]:
    """Where each line that is not UTF-8 begins and ends, and its first bad byte; `data` ends with a newline.

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


@njit(cache=True, nogil=True)
def _next_fault(data: Any, at: int) -> tuple[int, int, int]:
    """The first byte from `at` on that is not UTF-8, and where its line begins and ends; else the end of the data."""
    n, here = len(data), data.ctypes.data
    while at < n:
        wide = wide_bytes(here + at) if at + BLOCK <= n else NO_BITS
        if wide == NO_BITS and at + BLOCK <= n:
            at += BLOCK
            continue
        at += lowest_bit(wide) if wide != NO_BITS else 0
        code, length = decode(data, at, n)
        if code < 0:
            start, end = at, at
            while start > 0 and data[start - 1] != NEWLINE:
                start -= 1
            while data[end] != NEWLINE:
                end += 1
            return at, start, end
        at += length
    return n, n, n


def not_utf8(source: str, line: int, byte: int, column: int) -> BadLine:
    """The complaint about such a line."""
    problem = f"byte 0x{byte:02x} at place {column} is not UTF-8"
    return BadLine(source, line, problem, "UTF-8 text (convert the file: iconv -f LATIN1 -t UTF-8)")


def blank_out_bad_utf8(data: np.ndarray, source: str, first_line: int) -> list[BadLine]:
    """Overwrite lines that are not UTF-8 with spaces, which every reader passes over; say which they were."""
    bad = []
    line, counted = first_line, 0
    for start, end, at in utf8_faults(data):
        line += count_lines(data[counted:start])
        counted = start
        bad.append(not_utf8(source, line, int(data[at]), at - start + 1))
        data[start:end] = SPACE
    return bad
