"""Vowpal Wabbit's text: `label weight base 'tag |namespace:scale name:value name …`, parsed in compiled code.

Malformed: no bar; more than three words before it (the tag aside); a weight or base that is not a number; a label with
a colon (cost-sensitive and bandit labels); a value that is not a finite number, or has no name; bytes that are not
UTF-8.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats
from hinged.io.examples.blocks import Blocks, Memory
from hinged.io.examples.chunk import LARGEST_VALUE, Bytes, Chunk, Named, Parts, Places
from hinged.io.examples.columns import Options
from hinged.io.examples.labels import LabelTable
from hinged.io.examples.scan import Marks, blank_out_bad_utf8, faults_as_errors, read_number, strings_of
from hinged.io.examples.source import ByteStream

__all__ = ["chunks", "most", "parse"]

BAR, COLON, NEWLINE, QUOTE = 124, 58, 10, 39
ONE = np.uintp(1)

#: What a byte means to the parser: part of a word, between words, or one of three marks.
WORD, BLANK, COLON_MARK, BAR_MARK, END = 0, 1, 2, 3, 4
KIND = np.zeros(256, np.uint8)
KIND[[32, 9, 13]] = BLANK
KIND[COLON], KIND[BAR], KIND[NEWLINE] = COLON_MARK, BAR_MARK, END

#: What can be wrong with a line, by the parser's code for it.
FAULTS = {
    1: ("there is no '|'", "label |namespace features"),
    2: ("there are too many words before '|'", "label, weight, base and 'tag, in that order"),
    3: ("the importance weight {} is not a number of 0 or more", "a number after the label, as in: spam 2.0 |f word"),
    4: ("the base {} is not a number", "a number after the weight"),
    5: ("the label {} has a colon", "one label, or several with commas; labels with costs are not read"),
    6: ("the namespace's scale {} is not a finite number", "|namespace:number"),
    7: ("the value {} is not a finite number", "name:number; a colon inside a name must be replaced"),
    8: ("there is a value {} without a name", "name:number"),
}
NO_BAR, MANY_WORDS, BAD_WEIGHT, BAD_BASE, BAD_LABEL, BAD_SCALE, BAD_VALUE, NAMELESS = FAULTS


def chunks(stream: ByteStream, options: Options) -> Parts:
    """Yield the examples of a VW file, and its malformed lines."""
    table, finder, memory = LabelTable(), Marks(b" \t\r:|\n"), Memory()
    line = 1
    for block in Blocks(stream, options.chunk_bytes, memory):
        bad = blank_out_bad_utf8(block.data, stream.name, line)
        marks = finder.find(block.data)
        rows, features = most(block.data, marks)
        spaces, names = memory.array((2, features), np.int64), memory.array((2, features), np.int64)
        values = memory.array(features, np.float32)
        indptr, lines, labels, tags, weights, faults, passed = parse(block.data, marks, rows, spaces, names, values)
        k = int(indptr[-1])
        if k < features:  # rare: words before the bar were counted, or a line was malformed
            spaces, names, values = spaces[:, :k].copy(), names[:, :k].copy(), values[:k]
        bad += faults_as_errors(faults, FAULTS, block.data, b" \t\r|\n", stream.name, line)
        chunk = Chunk(
            answers=table.answers(strings_of(block.data, *labels)),
            lines=lines + line,
            source=stream.name,
            weights=None if (weights == 1.0).all() else weights,
            tags=strings_of(block.data, *tags) if (tags[0] != tags[1]).any() else None,
            named=Named(indptr, block.data, spaces, names, values),
        )
        line += passed
        yield chunk, bad


@compiled
def parse(
    b: Bytes, marks: Places, most_rows: int, spaces: Places, names: Places, values: Floats
) -> tuple[Places, Places, Places, Places, npt.NDArray[np.float64], Places, int]:
    """Parse a buffer that ends with a newline; `spaces`, `names` and `values` are filled in.

    `marks` are the places of blanks, colons, bars and newlines, `most_rows` comes from `most`.

    Returns
    -------
    indptr, lines, labels (2, rows), tags (2, rows), weights, faults (n, 3), lines passed
        Pieces are places in `b`; a fault is its line, its code and where the offending word begins.
    """
    indptr = np.zeros(most_rows + 1, np.int64)
    lines = np.empty(most_rows, np.int64)
    labels = np.empty((2, most_rows), np.int64)
    tags = np.empty((2, most_rows), np.int64)
    weights = np.empty(most_rows, np.float64)
    faults = np.empty((most_rows, 3), np.int64)
    rows, bad, line, t = 0, 0, 0, 0
    start = 0  # of the line
    while start < len(b):
        while KIND[b[start]] == BLANK:
            start += 1
        while marks[t] < start:
            t += 1
        if b[start] != NEWLINE:
            k = indptr[rows]
            code, weight, at, t = _read_label(b, marks, start, t, labels[:, rows], tags[:, rows])
            if code == 0:
                code, k, at, t = _read_features(b, marks, t, k, spaces, names, values)
            elif not _has_bar(b, marks, t):
                code = NO_BAR
            if code == 0:
                lines[rows], weights[rows] = line, weight
                rows += 1
                indptr[rows] = k
            else:
                faults[bad, 0], faults[bad, 1], faults[bad, 2] = line, code, at
                bad += 1
        while b[marks[t]] != NEWLINE:
            t += 1
        start = marks[t] + 1
        line += 1
    labels, tags = labels[:, :rows].copy(), tags[:, :rows].copy()
    return indptr[: rows + 1], lines[:rows], labels, tags, weights[:rows], faults[:bad], line


@compiled
def most(b: Bytes, marks: Places) -> tuple[int, int]:
    """Count lines, and words after a blank: upper bounds of the examples and features."""
    lines, words = 0, 0
    for t in range(len(marks) - 1):
        kind = KIND[b[marks[t]]]
        lines += kind == END
        words += (kind == BLANK) & (marks[t + 1] > marks[t] + 1)
    return lines + 1, words


@compiled(helper=True)
def _has_bar(b: Bytes, marks: Places, t: int) -> bool:
    """Return True if a bar follows in the line."""
    while b[marks[t]] != NEWLINE and b[marks[t]] != BAR:
        t += 1
    return b[marks[t]] == BAR


@compiled(helper=True)
def _read_label(b: Bytes, marks: Places, start: int, t: int, label: Places, tag: Places) -> tuple[int, float, int, int]:
    """Read what stands before the first bar; fill in the places of label and tag.

    As in VW, the last word is the tag if it begins with a quote or touches the bar.

    Returns
    -------
    fault, weight, place of the offending word, and which mark is the bar
    """
    label[:] = start
    tag[:] = start
    weight = 1.0
    words = 0
    while b[start] != BAR:
        colon = False
        while b[marks[t]] == COLON:
            colon = True
            t += 1
        end = marks[t]
        while KIND[b[marks[t]]] == BLANK and KIND[b[marks[t] + 1]] == BLANK:
            t += 1
        after = marks[t] + (KIND[b[marks[t]]] == BLANK)
        if b[after] == NEWLINE:
            return NO_BAR, weight, start, t
        if b[after] == BAR and (b[start] == QUOTE or end == after):
            tag[0], tag[1] = start + (b[start] == QUOTE), end
        elif words == 0:
            label[0], label[1] = start, end
            if colon:
                return BAD_LABEL, weight, start, t
        else:
            fault, number = _read_weight_or_base(b, start, end, words)
            if fault != 0:
                return fault, weight, start, t
            weight = number if words == 1 else weight
        words += 1
        t += after > marks[t]
        start = after
    return 0, weight, start, t


@compiled(helper=True)
def _read_weight_or_base(b: Bytes, start: int, end: int, words: int) -> tuple[int, float]:
    """Return the fault or 0, and the number, of the word after `words` others: first a weight, then a base."""
    if words > 2:
        return MANY_WORDS, 0.0
    number, sound = read_number(b, start, end)
    sound = sound and abs(number) <= LARGEST_VALUE
    if words == 1:
        return (0 if sound and number >= 0.0 else BAD_WEIGHT), number
    return (0 if sound else BAD_BASE), number


@compiled(helper=True)
def _read_features(
    b: Bytes, marks: Places, t: int, k: int, spaces: Places, names: Places, values: Floats
) -> tuple[int, np.int64, int | np.int64, np.int64]:
    """Read the namespaces from the bar at mark `t` to the end of the line, written from feature `k` on.

    Returns
    -------
    fault, features so far, place of the offending word, and the mark where reading stopped
    """
    at, j = np.uintp(t), np.uintp(k)  # unsigned, as in scan.py
    mark = np.uintp(marks[at])
    while b[mark] == BAR:
        space = mark + ONE
        at += ONE
        mark = space_end = np.uintp(marks[at])
        scale = 1.0
        if b[mark] == COLON:
            at += ONE
            mark = np.uintp(marks[at])
            scale, sound = read_number(b, space_end + ONE, mark)
            if not sound or b[mark] == COLON or not abs(scale) <= LARGEST_VALUE:
                return BAD_SCALE, np.int64(j), np.int64(space_end) + 1, np.int64(at)
        while KIND[b[mark]] == BLANK:
            start = mark + ONE
            at += ONE
            mark = end = np.uintp(marks[at])
            value = scale
            if b[mark] == COLON:
                at += ONE
                mark = np.uintp(marks[at])
                number, sound = read_number(b, end + ONE, mark)
                value = scale * number
                if start == end:
                    return NAMELESS, np.int64(j), np.int64(start), np.int64(at)
                if not sound or b[mark] == COLON or not abs(value) <= LARGEST_VALUE:
                    return BAD_VALUE, np.int64(j), np.int64(end) + 1, np.int64(at)
            elif start == end:
                continue
            spaces[0, j], spaces[1, j] = space, space_end
            names[0, j], names[1, j] = start, end
            values[j] = value
            j += ONE
    return 0, np.int64(j), 0, np.int64(at)
