"""Plain text, one example a line: `label<TAB>text`; a line without a tab, or with nothing before it, has no label.

Malformed: bytes that are not UTF-8.
"""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.io.examples.blocks import Blocks
from hinged.io.examples.chunk import Bytes, Chunk, Parts, Places, Strings
from hinged.io.examples.columns import Options
from hinged.io.examples.labels import split_labels
from hinged.io.examples.scan import Marks, blank_out_bad_utf8, is_blank, strings_of
from hinged.io.examples.source import ByteStream

__all__ = ["chunks", "parse"]

TAB, RETURN, NEWLINE = 9, 13, 10


def chunks(stream: ByteStream, options: Options) -> Parts:
    """Yield the examples of such a file, and its malformed lines."""
    marks = Marks(b"\t\n")
    line = 1
    for block in Blocks(stream, options.chunk_bytes):
        bad = blank_out_bad_utf8(block.data, stream.name, line)
        labels, texts, lines, passed = parse(block.data, marks.find(block.data))
        answers = split_labels(strings_of(block.data, *labels), options.label_sep)
        yield Chunk(answers, lines + line, stream.name, texts={"text": Strings(block.data, *texts)}), bad
        line += passed


@compiled
def parse(b: Bytes, marks: Places) -> tuple[Places, Places, Places, int]:
    """Return the places of labels and texts (2, rows each), lines, and lines passed; `marks` are tabs and newlines."""
    most = 0
    for t in range(len(marks)):
        most += b[marks[t]] == NEWLINE
    labels = np.empty((2, most), np.int64)
    texts = np.empty((2, most), np.int64)
    lines = np.empty(most, np.int64)
    rows, start, tab, line = 0, 0, -1, 0
    for t in range(len(marks)):
        at = marks[t]
        if b[at] == TAB:
            if tab < 0:
                tab = at
            continue
        end = at - 1 if at > start and b[at - 1] == RETURN else at
        first = start
        while first < end and is_blank(b[first]):
            first += 1
        if first < end:
            label, label_end = start, start
            if tab >= 0:
                label, label_end, start = min(first, tab), tab, tab + 1
                while label < label_end and is_blank(b[label_end - 1]):
                    label_end -= 1
            labels[0, rows], labels[1, rows] = label, label_end
            texts[0, rows], texts[1, rows] = start, max(start, end)
            lines[rows] = line
            rows += 1
        start, tab = at + 1, -1
        line += 1
    return labels[:, :rows].copy(), texts[:, :rows].copy(), lines[:rows], line
