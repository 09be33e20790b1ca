"""Records of CSV and TSV as places of cells, in compiled code: quoted cells may hold delimiters and newlines.

A quote that never closes, or is followed by something else than a delimiter, costs its own line only: reading goes on
with the next line, not with the next quote.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["AFTER_QUOTE", "LONGEST", "OPEN_QUOTE", "WIDTH", "first_record", "split"]

SPACE, TAB, RETURN, NEWLINE = 32, 9, 13, 10
LONGEST = 1 << 26  # bytes that one record may have
WIDTH, OPEN_QUOTE, AFTER_QUOTE = 1, 2, 3


@njit(cache=True)
def first_record(b: Any, delimiter: int, quote: int) -> tuple[Any, int, int, int, int]:
    """Cells (n, 2), the place after the record, lines before it, its own lines, fault; no cells where all is blank."""
    i, line = 0, 0
    while i < len(b):
        after = _blank_line(b, i)
        if after == i:
            cells = np.empty((len(b) - i + 1, 2), np.int64)
            twice = np.zeros(len(cells), np.bool_)
            count, after, passed, fault = _scan(b, i, delimiter, quote, cells, twice)
            _undouble(b, quote, cells[: (count if fault == 0 else 0)], twice)
            return cells[:count].copy(), after, line, passed, fault
        i = after
        line += 1
    return np.empty((0, 2), np.int64), i, line, 0, 0


@njit(cache=True, nogil=True)
def split(b: Any, delimiter: int, quote: int, width: int, last: bool) -> Any:
    """The records of a buffer that ends with a newline; doubled quotes are made single, in place.

    Returns
    -------
    cells (rows, width, 2), extents (rows, 2), lines (rows,), faults (n, 3), bytes used, lines passed
        A fault is its line, its code and, for a record of the wrong width, how many cells it has. Bytes are left
        unused where a quote is still open at the end and more is to come.
    """
    most, newlines = len(b) // width, 0
    for i in range(len(b)):
        newlines += b[i] == NEWLINE
    most = min(most, newlines)
    cells = np.empty((most + 1, width, 2), np.int64)
    twice = np.zeros(width, np.bool_)
    extents = np.empty((most, 2), np.int64)
    lines = np.empty(most, np.int64)
    faults = np.empty((newlines, 3), np.int64)
    rows, bad, line, i = 0, 0, 0, 0
    while i < len(b):
        after = _blank_line(b, i)
        if after > i:
            i = after
            line += 1
            continue
        count, after, passed, fault = _scan(b, i, delimiter, quote, cells[rows], twice)
        if fault == OPEN_QUOTE and not last and len(b) - i <= LONGEST:
            break
        if fault == 0 and count == width:
            _undouble(b, quote, cells[rows], twice)
            extents[rows, 0], extents[rows, 1], lines[rows] = i, after, line
            rows += 1
        else:
            faults[bad, 0], faults[bad, 1], faults[bad, 2] = line, (fault if fault != 0 else WIDTH), count
            bad += 1
        if fault != 0:
            after, passed = _next_line(b, i), 1
        i = after
        line += passed
    return cells[:rows], extents[:rows], lines[:rows], faults[:bad], i, line


@njit(cache=True)
def _scan(b: Any, i: int, delimiter: int, quote: int, cells: Any, twice: Any) -> tuple[int, int, int, int]:
    """One record from `i`: how many cells, the place after it, lines passed, fault; cells without room are counted."""
    count, passed = 0, 0
    while True:
        doubled = False
        if b[i] == quote:
            i += 1
            start = i
            while True:
                if i == len(b):
                    return count, i, passed, OPEN_QUOTE
                if b[i] == quote:
                    if b[i + 1] != quote:
                        break
                    doubled = True
                    i += 1
                passed += b[i] == NEWLINE
                i += 1
            end = i
            i += 1
            if b[i] == RETURN and b[i + 1] == NEWLINE:
                i += 1
            if b[i] != delimiter and b[i] != NEWLINE:
                return count, i, passed, AFTER_QUOTE
        else:
            start = i
            while b[i] != delimiter and b[i] != NEWLINE:
                i += 1
            end = i - 1 if b[i] == NEWLINE and i > start and b[i - 1] == RETURN else i
        if count < len(cells):
            cells[count, 0], cells[count, 1], twice[count] = start, end, doubled
        count += 1
        if b[i] == NEWLINE:
            return count, i + 1, passed + 1, 0
        i += 1


@njit(cache=True)
def _undouble(b: Any, quote: int, cells: Any, twice: Any) -> None:
    """Make doubled quotes single where there are any, moving the rest of the cell up."""
    for c in range(len(cells)):
        if twice[c]:
            at, i = cells[c, 0], cells[c, 0]
            while i < cells[c, 1]:
                b[at] = b[i]
                i += 2 if b[i] == quote else 1
                at += 1
            cells[c, 1] = at


@njit(cache=True)
def _blank_line(b: Any, i: int) -> int:
    """The place after the line at `i` if it is blank, else `i`."""
    at = i
    while b[at] == SPACE or b[at] == TAB or b[at] == RETURN:
        at += 1
    return at + 1 if b[at] == NEWLINE else i


@njit(cache=True)
def _next_line(b: Any, i: int) -> int:
    while b[i] != NEWLINE:
        i += 1
    return i + 1
