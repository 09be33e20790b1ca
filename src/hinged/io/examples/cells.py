"""Records of CSV and TSV, in compiled code: where each cell is, and cells as numbers.

A quoted cell may hold delimiters and newlines. A quote that never closes, or that anything but a delimiter follows,
makes its own line malformed: reading continues with the next line, not with the next quote.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools
from hinged.io.examples.chunk import Bytes, Places
from hinged.io.examples.scan import is_blank, read_number

__all__ = [
    "AFTER_QUOTE",
    "LONGEST",
    "OPEN_QUOTE",
    "WIDTH",
    "Dialect",
    "Records",
    "first_record",
    "numbers_of_cells",
    "split",
]

SPACE, TAB, RETURN, NEWLINE = 32, 9, 13, 10
LONGEST = 1 << 26  # bytes that one record may have
WIDTH, OPEN_QUOTE, AFTER_QUOTE = 1, 2, 3


class Dialect(NamedTuple):
    """The bytes that separate and surround cells; 256 where cells are not quoted."""

    delimiter: int
    quote: int


class Records(NamedTuple):
    """The records of a buffer.

    A fault is its line, its code and, for a record of the wrong width, how many cells it has. Bytes are left unused
    where a quote is still open at the end and more is to come.
    """

    cells: Places  # (rows, width, 2): where each cell begins and ends
    extents: Places  # (rows, 2): where each record begins and ends
    lines: Places  # (rows,)
    faults: Places  # (n, 3)
    used: int  # bytes
    passed: int  # lines


# ------------------------------------------------------------------ records
@compiled
def first_record(b: Bytes, marks: Places, dialect: Dialect) -> tuple[Places, int, int, int, int]:
    """Return the cells (n, 2), the place after the record, lines before it, its own lines, and the fault or 0."""
    i, t, line = 0, 0, 0
    while i < len(b):
        after = _after_blank_line(b, i)
        while marks[t] < i:
            t += 1
        if after == i:
            cells = np.empty((len(marks) - t, 2), np.int64)
            doubled = np.empty(len(cells), np.int64)
            count, after, passed, fault = _read_record(b, marks, t, i, dialect, cells, doubled)
            _undouble(b, marks, dialect.quote, cells[: (count if fault == 0 else 0)], doubled)
            return cells[:count].copy(), after, line, passed, fault
        i = after
        line += 1
    return np.empty((0, 2), np.int64), i, line, 0, 0


@compiled
def split(b: Bytes, marks: Places, dialect: Dialect, width: int, last: bool) -> Records:
    """Return the `Records` of a buffer that ends with a newline; doubled quotes are made single, in place.

    `marks` are the places of delimiters, quotes and newlines; `last` says that nothing follows the buffer.
    """
    newlines = 0
    for t in range(len(marks)):
        newlines += b[marks[t]] == NEWLINE
    most = min(len(b) // width, newlines)
    cells = np.empty((most + 1, width, 2), np.int64)
    doubled = np.empty(width, np.int64)
    extents = np.empty((most, 2), np.int64)
    lines = np.empty(most, np.int64)
    faults = np.empty((newlines, 3), np.int64)
    rows, bad, line, i, t = 0, 0, 0, 0, 0
    while i < len(b):
        while marks[t] < i:
            t += 1
        after, passed = _after_blank_line(b, i), 1
        if after == i:
            count, after, passed, fault = _read_record(b, marks, t, i, dialect, cells[rows], doubled)
            if fault == OPEN_QUOTE and not last and len(b) - i <= LONGEST:
                break
            if fault == 0 and count == width:
                _undouble(b, marks, dialect.quote, cells[rows], doubled)
                extents[rows, 0], extents[rows, 1], lines[rows] = i, after, line
                rows += 1
            else:
                faults[bad, 0], faults[bad, 1], faults[bad, 2] = line, (fault if fault != 0 else WIDTH), count
                bad += 1
            if fault != 0:
                while b[marks[t]] != NEWLINE:
                    t += 1
                after, passed = marks[t] + 1, 1
        i = after
        line += passed
    return Records(cells[:rows], extents[:rows], lines[:rows], faults[:bad], i, line)


@compiled(helper=True)
def _read_record(
    b: Bytes, marks: Places, t: int, i: int, dialect: Dialect, cells: Places, doubled: Places
) -> tuple[int, int, int, int]:
    """Read one record from `i`; mark `t` is the first from there on. Cells for which there is no room are counted.

    `doubled` gets the first mark of each cell that is a doubled quote, or -1. Returns how many cells there are, the
    place after the record, lines passed, and the fault or 0.
    """
    delimiter, quote = dialect.delimiter, dialect.quote
    count, passed = 0, 0
    while True:
        start = i
        twice: Any = np.int64(-1)
        if b[i] == quote:
            start = i + 1
            end, t, twice, newlines = _end_of_quoted(b, marks, t + 1, quote)
            passed += newlines
            if end == len(b):
                return count, end, passed, OPEN_QUOTE
            i = end + 1
            if b[i] == RETURN and b[i + 1] == NEWLINE:
                i += 1
            if b[i] != delimiter and b[i] != NEWLINE:
                return count, i, passed, AFTER_QUOTE
        else:
            while b[marks[t]] != delimiter and b[marks[t]] != NEWLINE:
                t += 1
            i = end = marks[t]
            if b[i] == NEWLINE and i > start and b[i - 1] == RETURN:
                end -= 1
        if count < len(cells):
            cells[count, 0], cells[count, 1], doubled[count] = start, end, twice
        count += 1
        if b[i] == NEWLINE:
            return count, i + 1, passed + 1, 0
        i += 1
        t += 1


@compiled(helper=True)
def _end_of_quoted(b: Bytes, marks: Places, t: int, quote: int) -> tuple[int, int, int, int]:
    """Return where a quoted cell ends (at the end of `b` if it is never closed), the mark after its closing quote, its
    first mark that is a doubled quote, or -1, and its newlines; `t` is the first mark in it.
    """
    newlines = 0
    twice: Any = np.int64(-1)
    while t < len(marks):
        end = marks[t]
        t += 1
        if b[end] != quote:
            newlines += b[end] == NEWLINE
        elif b[end + 1] != quote:
            return end, t, twice, newlines
        else:
            twice = t - 1 if twice < 0 else twice
            t += 1
    return len(b), t, twice, newlines


@compiled(helper=True)
def _undouble(b: Bytes, marks: Places, quote: int, cells: Places, doubled: Places) -> None:
    """Make doubled quotes single where there are any, moving the rest of the cell up."""
    for c in range(len(cells)):
        t, end = doubled[c], cells[c, 1]
        if t < 0:
            continue
        at = marks[t] + 1
        while marks[t] < end:
            start = marks[t] + 2
            t += 2
            while b[marks[t]] != quote:  # the closing quote at the latest
                t += 1
            for i in range(start, min(marks[t] + 1, end)):
                b[at] = b[i]
                at += 1
        cells[c, 1] = at


@compiled(helper=True)
def _after_blank_line(b: Bytes, i: int) -> int:
    """Return the place after the line at `i` if it is blank, else `i`."""
    at = i
    while is_blank(b[at]):
        at += 1
    return at + 1 if b[at] == NEWLINE else i


# ------------------------------------------------------------------ numbers
@compiled
def numbers_of_cells(b: Bytes, cells: Places, c: int, empty: float) -> tuple[npt.NDArray[np.float64], Bools]:
    """Return column `c` as numbers, `empty` for an empty cell, and whether each is a number."""
    values = np.empty(len(cells), np.float64)
    sound = np.empty(len(cells), np.bool_)
    for r in range(len(cells)):
        values[r], sound[r] = _read_trimmed(b, cells[r, c, 0], cells[r, c, 1], empty)
    return values, sound


@compiled(helper=True)
def _read_trimmed(b: Bytes, start: int, end: int, empty: float) -> tuple[float, bool | np.bool_]:
    while start < end and (b[start] == SPACE or b[start] == TAB):
        start += 1
    while start < end and (b[end - 1] == SPACE or b[end - 1] == TAB):
        end -= 1
    if start == end:
        return empty, True
    return read_number(b, start, end)
