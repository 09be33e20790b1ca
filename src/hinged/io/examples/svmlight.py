"""svmlight's text: `label index:value …  # comment`, several labels with commas, parsed in compiled code.

Malformed: a word without a colon after the label; an index that is not a whole number below 2³¹ - 1, or does not rise;
a value that is not a finite number. `qid:` is ignored, so are lines of comment alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s
from hinged.io.examples.blocks import Blocks, Memory
from hinged.io.examples.chunk import BadLine, Bytes, Chunk, Parts, Places
from hinged.io.examples.columns import Options
from hinged.io.examples.labels import LabelTable
from hinged.io.examples.scan import Marks, faults_as_errors, not_utf8, read_number, strings_of, utf8_faults
from hinged.io.examples.source import ByteStream

__all__ = ["chunks", "most", "parse"]

SPACE, TAB, RETURN, COLON, NEWLINE, HASH = 32, 9, 13, 58, 10, 35
QID = 113, 105, 100  # the word, as bytes
LARGEST = float(np.finfo(np.float64).max)
LAST_INDEX = 2**31 - 2

#: What can be wrong with a line, by the parser's code for it.
FAULTS = {
    1: ("the word {} has no colon", "index:value after the label"),
    2: ("the index in {} is not a whole number from 0 to 2147483646", "index:value"),
    3: ("the index in {} does not rise", "indices in rising order, each once"),
    4: ("the value in {} is not a finite number", "index:value"),
}
NO_COLON, BAD_INDEX, NOT_RISING, BAD_VALUE = FAULTS


def chunks(stream: ByteStream, options: Options) -> Parts:
    """Yield the examples of an svmlight file, and its malformed lines."""
    table, finder, memory = LabelTable(), Marks(b" \t\r:#\n"), Memory()
    line = 1
    for block in Blocks(stream, options.chunk_bytes, memory):
        marks = finder.find(block.data)
        rows, pairs = most(block.data, marks)
        indices, values = memory.array(pairs, np.int32), memory.array(pairs, np.float64)
        indptr, lines, labels, faults, passed = parse(block.data, marks, rows, indices, values)
        bad = faults_as_errors(faults, FAULTS, block.data, b" \t\r\n#", stream.name, line)
        try:
            spellings = strings_of(block.data, *labels)
        except UnicodeDecodeError:
            bad += _blank_out_bad_labels(block.data, labels, lines + line, stream.name)
            marks = finder.find(block.data)
            indptr, lines, labels, _, _ = parse(block.data, marks, rows, indices, values)
            spellings = strings_of(block.data, *labels)
        columns = (indptr, indices[: indptr[-1]], values[: indptr[-1]])
        yield Chunk(table.answers(spellings), lines + line, stream.name, columns=columns), bad
        line += passed


def _blank_out_bad_labels(data: Bytes, labels: Places, lines: Places, source: str) -> list[BadLine]:
    """Overwrite lines whose label is not UTF-8 with spaces; a comment may hold any bytes."""
    bad = []
    for start, end, at in utf8_faults(data):
        row = int(np.searchsorted(labels[0], at, side="right")) - 1
        if row >= 0 and start <= labels[0, row] <= at < labels[1, row]:
            bad.append(not_utf8(source, int(lines[row]), int(data[at]), at - start + 1))
            data[start:end] = SPACE
    return bad


@compiled
def parse(
    b: Bytes, marks: Places, most_rows: int, indices: Int32s, values: Floats
) -> tuple[Places, Places, Places, Places, int]:
    """Parse a buffer that ends with a newline; `indices` and `values` are filled in.

    `marks` are the places of blanks, colons, # and newlines, `most_rows` comes from `most`.

    Returns
    -------
    indptr, lines, labels (2, rows), faults (n, 3), lines passed
        A label's piece is empty if the example has none; a fault is its line, its code and where the word begins.
    """
    indptr = np.zeros(most_rows + 1, np.int64)
    lines = np.empty(most_rows, np.int64)
    labels = np.empty((2, most_rows), np.int64)
    faults = np.empty((most_rows, 3), np.int64)
    rows, bad, line, t, start = 0, 0, 0, 0, 0
    while start < len(b):
        while b[start] == SPACE or b[start] == TAB or b[start] == RETURN:
            start += 1
        while marks[t] < start:
            t += 1
        if b[start] != NEWLINE and b[start] != HASH:
            labels[:, rows] = start
            if b[marks[t]] != COLON:
                labels[1, rows] = marks[t]
                start = marks[t]
            code, k, at, t = _read_features(b, marks, start, t, indptr[rows], indices, values)
            if code == 0:
                lines[rows] = line
                rows += 1
                indptr[rows] = k
            else:
                faults[bad, 0], faults[bad, 1], faults[bad, 2] = line, code, at
                bad += 1
        while b[marks[t]] != NEWLINE:
            t += 1
        start = marks[t] + 1
        line += 1
    return indptr[: rows + 1], lines[:rows], labels[:, :rows].copy(), faults[:bad], line


@compiled
def most(b: Bytes, marks: Places) -> tuple[int, int]:
    """Count lines and colons: upper bounds of the examples and pairs."""
    lines, colons = 0, 0
    for t in range(len(marks)):
        lines += b[marks[t]] == NEWLINE
        colons += b[marks[t]] == COLON
    return lines, colons


@compiled(helper=True)
def _read_features(
    b: Bytes, marks: Places, start: int, t: int, k: int, indices: Int32s, values: Floats
) -> tuple[int, int, int, int]:
    """Read pairs up to the end of the line or a comment, written from `k` on; `t` is the first mark from `start` on.

    Returns
    -------
    fault, pairs so far, place of the offending word, and the mark where reading stopped
    """
    last = -1
    while True:
        end = marks[t]
        if b[end] == COLON:
            index = _whole(b, start, end)
            t += 1
            if index >= 0:
                value, sound = read_number(b, end + 1, marks[t])
                if not sound or b[marks[t]] == COLON or not abs(value) <= LARGEST:
                    return BAD_VALUE, k, start, t
                if index <= last:
                    return NOT_RISING, k, start, t
                indices[k], values[k] = index, value
                last = index
                k += 1
            else:
                fault = _fault_of_qid(b, start, end, marks[t])
                if fault != 0:
                    return fault, k, start, t
        elif start < end:
            return NO_COLON, k, start, t
        if b[marks[t]] == NEWLINE or b[marks[t]] == HASH:
            return 0, k, start, t
        start = marks[t] + 1
        t += 1


@compiled(helper=True)
def _fault_of_qid(b: Bytes, start: int, colon: int, end: int) -> int:
    """Return 0 for a qid, which is ignored, the fault of other words before a colon that are no index."""
    if colon - start != 3 or (b[start], b[start + 1], b[start + 2]) != QID:
        return BAD_INDEX
    return BAD_VALUE if b[end] == COLON else 0


@compiled(helper=True)
def _whole(b: Bytes, start: int, end: int) -> int:
    """Return the whole number that fills these bytes, -1 if there is none or it is too large."""
    if start == end or end - start > 10:
        return -1
    m: Any = 0
    for i in range(start, end):
        d = np.int64(b[i]) - 48
        if d < 0 or d > 9:
            return -1
        m = 10 * m + d
    return m if m <= LAST_INDEX else -1
