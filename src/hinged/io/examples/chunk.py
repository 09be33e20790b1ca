"""What every reader yields: chunks of examples as columns, and an error for each malformed line."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from hinged.io.examples.columns import Layout

__all__ = ["LARGEST_VALUE", "Answer", "BadLine", "Chunk", "Named", "Parts", "Strings", "excerpt"]

Item = TypeVar("Item")
LARGEST_VALUE = float(np.finfo(np.float32).max)  # of a feature
SHOWN = 40  # bytes of a file that a message quotes

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Answer = Hashable | list[Hashable] | None
Columns = tuple[Places, npt.NDArray[np.int32], npt.NDArray[np.float64]]  # row pointers, numbers of features, values


class Strings(NamedTuple):
    """UTF-8 texts as pieces of one buffer, as Arrow stores them."""

    buffer: Bytes
    starts: Places  # (texts,)
    ends: Places  # (texts,)

    @classmethod
    def joined(cls, texts: Sequence[bytes], n: int) -> Strings:
        """Put texts into one buffer; empty ones follow until there are `n`.

        Examples
        --------
        >>> Strings.joined([b"ab", b"c"], 3).decoded()
        ['ab', 'c', '']
        """
        lengths = np.zeros(n, np.int64)
        lengths[: len(texts)] = np.fromiter(map(len, texts), np.int64, len(texts))
        ends = np.cumsum(lengths)
        return cls(np.frombuffer(bytearray().join(texts), np.uint8), ends - lengths, ends)

    @classmethod
    def of_table(cls, texts: dict[str, Strings], has_numbers: bool, n: int) -> dict[str, Strings]:
        """Return the texts of a table of `n` rows; where it has no numbers either, each row is an empty text."""
        return texts if texts or has_numbers else {"text": cls.joined([], n)}

    def decoded(self) -> list[str]:
        """Return the texts as Python strings."""
        raw = self.buffer.tobytes()
        places = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [raw[start:end].decode("utf-8", "replace") for start, end in places]

    def taken(self, rows: slice | Places) -> Strings:
        """Return some of the texts, in the same buffer."""
        return Strings(self.buffer, self.starts[rows], self.ends[rows])


class Named(NamedTuple):
    """Sparse rows whose features have names: namespace and name as pieces of one buffer."""

    indptr: Places  # (rows + 1,)
    buffer: Bytes
    spaces: Places  # (2, features): where the namespace begins and ends; empty for none
    names: Places  # (2, features): where the name begins and ends
    values: npt.NDArray[np.float32]  # (features,)

    @classmethod
    def joined(
        cls, indptr: Places, pieces: Sequence[bytes], spaces: Places, names: Places, values: npt.ArrayLike
    ) -> Named:
        """Put pieces into one buffer; `spaces` and `names` say which piece is the namespace and name of a feature."""
        ends = np.cumsum([0, *map(len, pieces)])
        buffer = np.frombuffer(bytearray().join(pieces), np.uint8)
        own, named = (np.stack([ends[which], ends[which + 1]]) for which in (spaces, names))
        return cls(indptr, buffer, own, named, np.asarray(values, np.float32))

    @classmethod
    def of_columns(cls, numbers: Mapping[str, npt.NDArray[np.float64]]) -> Named:
        """Return the rows of columns of numbers, without zeros and missing ones.

        Examples
        --------
        >>> named = Named.of_columns({"a": np.array([1.0, 0.0]), "b": np.array([np.nan, 2.0])})
        >>> named.indptr.tolist(), named.values.tolist(), [named.buffer[slice(*at)].tobytes() for at in named.names.T]
        ([0, 1, 2], [1.0, 2.0], [b'a', b'b'])
        """
        table = np.nan_to_num(np.column_stack(list(numbers.values())))
        there = table != 0.0
        indptr, which = np.cumsum([0, *there.sum(axis=1)]), np.nonzero(there)[1] + 1
        return cls.joined(indptr, [b"", *map(str.encode, numbers)], np.zeros_like(which), which, table[there])

    def taken(self, rows: slice | Places) -> Named:
        """Return some rows; with a slice, nothing is copied, and features stay in one piece for the loops."""
        if isinstance(rows, slice):
            return self._replace(indptr=self.indptr[rows.start : rows.stop + 1])
        indptr, places = _places(self.indptr, rows)
        spaces, names = (np.ascontiguousarray(spans[:, places]) for spans in (self.spaces, self.names))
        return Named(indptr, self.buffer, spaces, names, self.values[places])


@dataclass
class Chunk:
    """Some consecutive examples: a table (`numbers`, `texts` or both), or `named` or `columns`.

    Attributes
    ----------
    answers : list of labels, or of lists of labels, or None for an example without
    lines : int64 array
        Line (or record) number of each example in its file, from 1.
    source : str
        The file it came from, for messages.
    weights : float64 array, optional
    tags : list of str, optional
        What the file calls each example, for predictions.
    texts : dict of field → Strings, optional
    numbers : dict of column → float64 array, optional
        NaN where a number is missing.
    named : Named, optional
    columns : (indptr, indices, values), optional
        Rows of a format whose features are numbers.
    skipped : int
        Malformed lines skipped since the last chunk.
    layout : Layout, optional
        Which columns or keys were read as what, where the format has them.
    """

    answers: list[Answer]
    lines: Places
    source: str
    weights: npt.NDArray[np.float64] | None = None
    tags: list[str] | None = None
    texts: dict[str, Strings] = field(default_factory=dict)
    numbers: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    named: Named | None = None
    columns: Columns | None = None
    skipped: int = 0
    layout: Layout | None = None

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def has_sets(self) -> bool:
        """Whether an answer is a list of labels."""
        return any(isinstance(answer, list) for answer in self.answers)

    @property
    def sizes(self) -> Places:
        """How much work each example is: the bytes of its text, or its features."""
        sizes = np.full(len(self), 1 + len(self.numbers), np.int64)
        for text in self.texts.values():
            sizes += text.ends - text.starts
        for rows in filter(None, (self.named, self.columns)):
            sizes += np.diff(rows[0])
        return sizes

    def taken(self, rows: slice | Places) -> Chunk:
        """Return some of the examples: a slice shares its memory, an array of positions copies.

        Examples
        --------
        >>> chunk = Chunk(["a", "b", "c"], np.arange(1, 4), "x", columns=(np.arange(4), np.arange(3), np.ones(3)))
        >>> chunk.taken(slice(1, 3)).columns[0].tolist(), chunk.taken(np.array([2, 0])).columns[1].tolist()
        ([0, 1, 2], [2, 0])
        """
        if isinstance(rows, slice) and (rows.start or 0) <= 0 and rows.stop >= len(self):
            return self
        picked = np.arange(len(self))[rows].tolist()
        return replace(
            self,
            answers=_picked(self.answers, picked),
            lines=self.lines[rows],
            weights=None if self.weights is None else self.weights[rows],
            tags=self.tags and _picked(self.tags, picked),
            texts={name: strings.taken(rows) for name, strings in self.texts.items()},
            numbers={name: values[rows] for name, values in self.numbers.items()},
            named=self.named and self.named.taken(rows),
            columns=self.columns and _taken(self.columns, rows),
            skipped=0,
        )


def _picked(items: list[Item], which: list[int]) -> list[Item]:
    return [items[i] for i in which]


def _taken(columns: Columns, rows: slice | Places) -> Columns:
    indptr, places = _places(columns[0], rows)
    return indptr, columns[1][places], columns[2][places]


def _places(indptr: Places, rows: slice | Places) -> tuple[Places, slice | Places]:
    """Return row pointers of some rows, and the positions of their values."""
    if isinstance(rows, slice):
        bounds = indptr[rows.start : rows.stop + 1]
        return bounds - bounds[0], slice(int(bounds[0]), int(bounds[-1]))
    lengths = indptr[rows + 1] - indptr[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return ends, np.repeat(indptr[rows] - ends[:-1], lengths) + np.arange(ends[-1])


class BadLine(ValueError):  # noqa: N818
    """One malformed line (or record) of a file.

    Parameters
    ----------
    source : str
        The file, or "stdin".
    line : int
        Number of the line, from 1; of the record where a format has no lines.
    problem : str
        What was found.
    expected : str
        What would have been right.

    Examples
    --------
    >>> print(BadLine("mail.vw", 3, "the value 'x' of feature 'a' is not a number", "name:number"))
    mail.vw:3: the value 'x' of feature 'a' is not a number; expected name:number.
    """

    def __init__(self, source: str, line: int, problem: str, expected: str) -> None:
        super().__init__(f"{source}:{line}: {problem}; expected {expected}.")
        self.source = source
        self.line = line
        self.problem = problem
        self.expected = expected

    def __reduce__(self) -> tuple[type[BadLine], tuple[str, int, str, str]]:
        return type(self), (self.source, self.line, self.problem, self.expected)


#: What the reader of a format yields: a chunk, and the malformed lines among it.
Parts = Iterator[tuple[Chunk, list[BadLine]]]


def excerpt(piece: bytes) -> str:
    """Quote a piece of a file in a message: short, whatever its bytes.

    Examples
    --------
    >>> excerpt(b"abc"), excerpt(b"a" * 100), excerpt(bytes([255]))
    ("'abc'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'", "'\\\\xff'")
    """
    if len(piece) > SHOWN:
        return repr(piece[:SHOWN].decode("utf-8", "ignore") + "…")
    return repr(piece.decode("utf-8", "surrogateescape")).replace("\\udc", "\\x")
