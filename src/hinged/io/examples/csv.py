"""CSV and TSV with a header row; quoted cells may hold delimiters, doubled quotes and newlines.

Malformed: a record with another number of cells than the header; a quote that never closes, or is followed by more
text; a cell that is no finite number in a column of numbers or weights; bytes that are not UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hinged.io.examples.blocks import Block, Blocks
from hinged.io.examples.cells import AFTER_QUOTE, LONGEST, OPEN_QUOTE, WIDTH, first_record, split
from hinged.io.examples.chunk import Chunk, Strings
from hinged.io.examples.columns import PLURAL, Roles, kind_of, looks_like_number
from hinged.io.examples.errors import BadLine, excerpt
from hinged.io.examples.labels import split_labels
from hinged.io.examples.options import Options
from hinged.io.examples.source import Stream
from hinged.io.examples.spans import count_lines, not_utf8, utf8_faults
from hinged.io.examples.tables import features_of_cells, trimmed_numbers

__all__ = ["chunks", "tab_chunks"]

NEVER = 256  # no byte: where cells are not quoted
FAULTS = {
    OPEN_QUOTE: ("a quote opens and never closes", "a closing quote, or quote='' where quotes are plain text"),
    AFTER_QUOTE: ("there is text after a closing quote", 'quotes inside a cell to be doubled, as in "say ""hi"""'),
}


def tab_chunks(stream: Stream, options: Options) -> Iterator[tuple[Chunk, list[BadLine]]]:
    """The examples of a TSV file, and the records that are none."""
    return _Table(stream, options, "\t").chunks()


def chunks(stream: Stream, options: Options) -> Iterator[tuple[Chunk, list[BadLine]]]:
    """The examples of a CSV file, and the records that are none; semicolons separate where there is no comma."""
    head = stream.peek().lstrip(b" \t\r\n").split(b"\n", 1)[0]
    return _Table(stream, options, ";" if b";" in head and b"," not in head else ",").chunks()


class _Table:
    """A file of cells being read: its header, what its columns are, and the line it has come to."""

    def __init__(self, stream: Stream, options: Options, delimiter: str) -> None:
        self.stream, self.options = stream, options
        self.delimiter = ord(delimiter)
        self.quote = ord(options.quote) if options.quote else NEVER
        self.names: list[str] = []
        self.roles: Roles | None = None
        self.line = 1

    def chunks(self) -> Iterator[tuple[Chunk, list[BadLine]]]:
        blocks = Blocks(self.stream, self.options.chunk_bytes)
        for block in blocks:
            used = 0
            if not self.names:
                used = self._read_header(block)
                if not self.names:
                    blocks.give_back(block.data[used:])
                    continue
            used += yield from self._records(block.data[used:], block.last)
            blocks.give_back(block.data[used:])

    def _read_header(self, block: Block) -> int:
        """Bytes used; names stay empty where more is needed to tell."""
        data = block.data
        cells, after, before, own, fault = first_record(data, self.delimiter, self.quote)
        if fault == OPEN_QUOTE and not block.last and len(data) <= LONGEST:
            return 0
        line = self.line + before
        if fault:
            raise BadLine(self.stream.name, line, f"in the header, {FAULTS[fault][0]}", FAULTS[fault][1])
        try:
            names = [data[a:b].tobytes().decode().strip() for a, b in cells.tolist()]
        except UnicodeDecodeError as problem:
            raise BadLine(self.stream.name, line, f"the header is not UTF-8 ({problem.reason})", "UTF-8 text") from None
        if len(names) > 1 and all(map(looks_like_number, names)):
            raise BadLine(self.stream.name, line, "the first row is all numbers", "a header row with names of columns")
        names = [name or f"unnamed:{c}" for c, name in enumerate(names)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise BadLine(self.stream.name, line, f"the header has {twice[0]!r} twice", "a name of its own per column")
        self.names = names
        self.line += before + own
        return int(after)

    def _records(self, data: np.ndarray, last: bool) -> Any:
        """Yield what the bytes hold; return how many of them were used."""
        not_text = utf8_faults(data)
        cells, extents, lines, faults, used, passed = split(data, self.delimiter, self.quote, len(self.names), last)
        lines = lines + self.line
        bad = [self._complaint(*fault) for fault in faults.tolist()]
        keep = np.ones(len(lines), bool)
        for start, _, at in not_text:
            row = int(np.searchsorted(extents[:, 0], at, side="right")) - 1
            if row >= 0 and at < extents[row, 1] and keep[row]:
                line = int(lines[row]) + count_lines(data[extents[row, 0] : at])
                bad.append(not_utf8(self.stream.name, line, int(data[at]), at - start + 1))
                keep[row] = False
        cells, lines = cells[keep], lines[keep]
        self.line += int(passed)
        if len(cells) and self.roles is None:
            first = {
                name: data[a:b].tobytes().decode() for name, (a, b) in zip(self.names, cells[0].tolist(), strict=True)
            }
            kinds = {name: kind_of(name, cell) for name, cell in first.items()}
            self.roles = Roles(kinds, self.options, self.stream.name)
        yield self._chunk(data, cells, lines, bad), bad
        return int(used)

    def _chunk(self, data: np.ndarray, cells: np.ndarray, lines: np.ndarray, bad: list[BadLine]) -> Chunk:
        """The rows as a chunk; those that are malformed after all go to `bad`."""
        roles, place = self.roles, self.names.index
        if roles is None:
            return Chunk([], lines, self.stream.name)
        weights = None
        if roles.weight:
            weights, sound = trimmed_numbers(data, cells, place(roles.weight), 1.0)
            sound &= np.isfinite(weights) & (weights >= 0)
            self._refuse_cells(data, cells, lines, np.where(sound, -1, place(roles.weight)), bad)
            cells, lines, weights = cells[sound], lines[sound], weights[sound]
        named, texts = None, {}
        if roles.numbers:
            numbers, words = map(place, roles.numbers), map(place, roles.words)
            named, faults = features_of_cells(data, cells, self.names, list(numbers), list(words))
            if (faults >= 0).any():
                self._refuse_cells(data, cells, lines, faults, bad)
                kept = faults < 0
                cells, lines, weights = cells[kept], lines[kept], None if weights is None else weights[kept]
                named, _ = features_of_cells(
                    data, cells, self.names, list(map(place, roles.numbers)), list(map(place, roles.words))
                )
        else:
            columns = {name: cells[:, place(name)] for name in roles.texts}
            texts = {name: Strings(data, spans[:, 0].copy(), spans[:, 1].copy()) for name, spans in columns.items()}
            if not texts:
                texts = {"text": Strings(data, np.zeros(len(lines), np.int64), np.zeros(len(lines), np.int64))}
        return Chunk(
            answers=self._answers(data, cells),
            lines=lines,
            source=self.stream.name,
            weights=weights,
            tags=self._column(data, cells, roles.tag) if roles.tag else None,
            texts=texts,
            named=named,
            layout=roles.layout,
        )

    def _answers(self, data: np.ndarray, cells: np.ndarray) -> list[Any]:
        label = self.roles.label if self.roles else None
        if label is None:
            return [None] * len(cells)
        separator = self.options.label_sep or ("|" if label.lower() in PLURAL else None)
        return split_labels([cell.strip() for cell in self._column(data, cells, label)], separator)

    def _column(self, data: np.ndarray, cells: np.ndarray, name: str) -> list[str]:
        view = data.data
        return [str(view[a:b], "utf-8") for a, b in cells[:, self.names.index(name)].tolist()]

    def _refuse_cells(
        self, data: np.ndarray, cells: np.ndarray, lines: np.ndarray, columns: np.ndarray, bad: list[BadLine]
    ) -> None:
        """Complain about the cell that `columns` names in each row; -1 names none."""
        for r in np.flatnonzero(columns >= 0).tolist():
            c = int(columns[r])
            start, end = cells[r, c].tolist()
            what = "weight" if self.roles and self.names[c] == self.roles.weight else "value"
            bad.append(
                BadLine(
                    self.stream.name,
                    int(lines[r]),
                    f"the {what} {excerpt(data[start:end].tobytes())} in column {self.names[c]!r} is no finite number",
                    "a number (weights: 0 or more), or nothing; name columns of text with text=",
                )
            )

    def _complaint(self, offset: int, code: int, count: int) -> BadLine:
        problem, expected = FAULTS.get(code, ("", ""))
        if code == WIDTH:
            problem = f"there {'is one cell' if count == 1 else f'are {count} cells'}"
            expected = f"{len(self.names)}, as in the header"
        return BadLine(self.stream.name, self.line + offset, problem, expected)
