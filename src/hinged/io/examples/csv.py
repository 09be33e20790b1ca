"""CSV and TSV with a header row; quoted cells may hold delimiters, doubled quotes and newlines.

Malformed: a record with another number of cells than the header; a quote that never closes, or is followed by more
text; a cell that is not a finite number in a column of numbers or weights; bytes that are not UTF-8.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from hinged.io.examples.blocks import Blocks, LineBlock
from hinged.io.examples.cells import (
    AFTER_QUOTE,
    LONGEST,
    OPEN_QUOTE,
    WIDTH,
    Dialect,
    Records,
    first_record,
    numbers_of_cells,
    split,
)
from hinged.io.examples.chunk import LARGEST_VALUE, Answer, BadLine, Bytes, Chunk, Parts, Places, Strings, excerpt
from hinged.io.examples.columns import PLURAL, SAMPLE, Options, Roles, kind_of, looks_like_number
from hinged.io.examples.formats import delimiter_of
from hinged.io.examples.labels import split_labels
from hinged.io.examples.scan import NEWLINE, Marks, not_utf8, strings_of, utf8_faults
from hinged.io.examples.source import ByteStream

__all__ = ["chunks", "tab_chunks"]

NEVER = 256  # no byte has this value: cells are not quoted
FAULTS = {
    OPEN_QUOTE: ("a quote opens and never closes", "a closing quote, or quote='' where quotes are plain text"),
    AFTER_QUOTE: ("there is text after a closing quote", 'quotes inside a cell to be doubled, as in "say ""hi"""'),
}


def tab_chunks(stream: ByteStream, options: Options) -> Parts:
    """Yield the examples of a TSV file, and its malformed records."""
    return _CsvTable(stream, options, "\t").chunks()


def chunks(stream: ByteStream, options: Options) -> Parts:
    """Yield the examples of a CSV file, and its malformed records; semicolons separate where there is no comma."""
    head = stream.peek().lstrip(b" \t\r\n").split(b"\n", 1)[0]
    return _CsvTable(stream, options, delimiter_of(head)).chunks()


EXPECTED = {
    "weight": "a number of 0 or more, or nothing",
    "value": "a number, or nothing where it is missing; --text and --numbers (text=, numbers=) name columns",
}


class _CsvTable:
    """A table while it is read: its header, the roles of its columns, and the current line."""

    def __init__(self, stream: ByteStream, options: Options, delimiter: str) -> None:
        self.stream, self.options = stream, options
        self.dialect = Dialect(ord(delimiter), ord(options.quote) if options.quote else NEVER)
        self.marks = Marks(bytes({*delimiter.encode(), *options.quote.encode(), NEWLINE}))
        self.names: list[str] = []
        self.roles: Roles | None = None
        self.line = 1

    def chunks(self) -> Parts:
        blocks = Blocks(self.stream, self.options.chunk_bytes)
        for block in blocks:
            used = 0 if self.names else self._read_header(block)
            if self.names:
                used += yield from self._records(block.data[used:], block.last)
            blocks.give_back(block.data[used:])

    def _read_header(self, block: LineBlock) -> int:
        """Read the names of columns, unless more bytes are needed; return how many were used."""
        data = block.data
        cells, after, before, own, fault = first_record(data, self.marks.find(data), self.dialect)
        if fault == OPEN_QUOTE and not block.last and len(data) <= LONGEST:
            return 0
        self.line += before
        if fault:
            raise self._bad(f"in the header, {FAULTS[fault][0]}", FAULTS[fault][1])
        self.names = self._names_of([data[a:b].tobytes() for a, b in cells.tolist()])
        self.line += own
        return int(after)

    def _names_of(self, header: list[bytes]) -> list[str]:
        """Return the names of columns; a header that cannot be one is refused."""
        try:
            names = [cell.decode().strip() for cell in header]
        except UnicodeDecodeError as problem:
            raise self._bad(f"the header is not UTF-8 ({problem.reason})", "UTF-8 text") from None
        if len(names) > 1 and all(map(looks_like_number, names)):
            raise self._bad("the first row is all numbers", "a header row with names of columns")
        names = [name or f"unnamed:{c}" for c, name in enumerate(names)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise self._bad(f"the header has {twice[0]!r} twice", "a name of its own per column")
        return names

    def _bad(self, problem: str, expected: str, offset: int = 0) -> BadLine:
        return BadLine(self.stream.name, self.line + offset, problem, expected)

    def _records(self, data: Bytes, last: bool) -> Generator[tuple[Chunk, list[BadLine]], None, int]:
        """Yield the records of a block; return how many of its bytes were used."""
        not_text = utf8_faults(data)
        found = split(data, self.marks.find(data), self.dialect, len(self.names), last)
        lines = found.lines + self.line
        bad = [self._fault(*fault) for fault in found.faults.tolist()]
        cells = found.cells
        if wrong := self._not_utf8(data, found, not_text):
            bad += wrong.values()
            cells, lines = (np.delete(rows, list(wrong), axis=0) for rows in (cells, lines))
        self.line += int(found.passed)
        if len(cells) and self.roles is None:
            first = {name: self._column(data, cells[:SAMPLE], name) for name in self.names}
            kinds = {name: kind_of(name, column) for name, column in first.items()}
            self.roles = Roles(kinds, self.options, self.stream.name)
        yield self._chunk(data, cells, lines, bad), bad
        return int(found.used)

    def _not_utf8(self, data: Bytes, found: Records, faults: list[tuple[int, int, int]]) -> dict[int, BadLine]:
        """Return the rows that are not UTF-8, and the first error of each."""
        bad: dict[int, BadLine] = {}
        for start, _, at in faults:
            row = int(np.searchsorted(found.extents[:, 0], at, side="right")) - 1
            if row >= 0 and at < found.extents[row, 1] and row not in bad:
                before = np.count_nonzero(data[found.extents[row, 0] : at] == NEWLINE)
                line = self.line + int(found.lines[row]) + int(before)
                bad[row] = not_utf8(self.stream.name, line, int(data[at]), at - start + 1)
        return bad

    def _chunk(self, data: Bytes, cells: Places, lines: Places, bad: list[BadLine]) -> Chunk:
        """Return the rows as a chunk; malformed ones go to `bad`."""
        roles, place = self.roles, self.names.index
        if roles is None:
            return Chunk([], lines, self.stream.name)
        faults = np.full(len(cells), -1)  # the column that is not a number
        weights = None
        if roles.weight:
            weights, sound = numbers_of_cells(data, cells, place(roles.weight), 1.0)
            faults[~(sound & np.isfinite(weights) & (weights >= 0))] = place(roles.weight)
        numbers = {}
        for name in roles.numbers:
            numbers[name], sound = numbers_of_cells(data, cells, place(name), np.nan)
            faults[~sound | (np.abs(numbers[name]) > LARGEST_VALUE)] = place(name)
        chunk = Chunk(
            answers=self._answers(data, cells, roles.label),
            lines=lines,
            source=self.stream.name,
            weights=weights,
            tags=self._column(data, cells, roles.tag) if roles.tag else None,
            texts=self._texts(data, cells, roles),
            numbers=numbers,
            layout=roles.layout,
        )
        if (faults < 0).all():
            return chunk
        bad += [self._not_a_number(data, cells[r], int(lines[r]), faults[r]) for r in np.flatnonzero(faults >= 0)]
        return chunk.taken(np.flatnonzero(faults < 0))

    def _texts(self, data: Bytes, cells: Places, roles: Roles) -> dict[str, Strings]:
        spans = {name: cells[:, self.names.index(name)] for name in roles.texts}
        texts = {name: Strings(data, span[:, 0].copy(), span[:, 1].copy()) for name, span in spans.items()}
        return Strings.of_table(texts, bool(roles.numbers), len(cells))

    def _answers(self, data: Bytes, cells: Places, label: str | None) -> list[Answer]:
        if label is None:
            return [None] * len(cells)
        separator = self.options.label_sep or ("|" if label.lower() in PLURAL else None)
        return split_labels([cell.strip() for cell in self._column(data, cells, label)], separator)

    def _column(self, data: Bytes, cells: Places, name: str) -> list[str]:
        return strings_of(data, *cells[:, self.names.index(name)].T)

    def _not_a_number(self, data: Bytes, cells: Places, line: int, c: int) -> BadLine:
        start, end = cells[c].tolist()
        what = "weight" if self.roles and self.names[c] == self.roles.weight else "value"
        shown = excerpt(data[start:end].tobytes())
        problem = f"the {what} {shown} in column {self.names[c]!r} is not a finite number"
        return BadLine(self.stream.name, line, problem, EXPECTED[what])

    def _fault(self, offset: int, code: int, count: int) -> BadLine:
        problem, expected = FAULTS.get(code, ("", ""))
        if code == WIDTH:
            problem = f"there {'is one cell' if count == 1 else f'are {count} cells'}"
            expected = f"{len(self.names)}, as in the header"
        return self._bad(problem, expected, offset)
