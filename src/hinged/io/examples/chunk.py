"""What every reader yields: chunks of examples as columns, and an error for each malformed line."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hinged.io.examples.columns import Layout

__all__ = ["Answer", "BadLine", "Chunk", "Named", "Parts", "Strings", "excerpt"]

SHOWN = 40  # bytes of a file that a message quotes

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Answer = Hashable | list[Hashable] | None


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

    def decoded(self) -> list[str]:
        """Return the texts as Python strings."""
        raw = self.buffer.tobytes()
        places = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [raw[start:end].decode("utf-8", "replace") for start, end in places]


class Named(NamedTuple):
    """Sparse rows whose features have names: namespace and name as pieces of one buffer."""

    indptr: Places  # (rows + 1,)
    buffer: Bytes
    spaces: Places  # (2, features): where the namespace begins and ends; empty for none
    names: Places  # (2, features): where the name begins and ends
    values: npt.NDArray[np.float32]  # (features,)


@dataclass
class Chunk:
    """Some consecutive examples; exactly one of `texts`, `named` and `columns` is given.

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
    named: Named | None = None
    columns: tuple[Places, npt.NDArray[np.int32], npt.NDArray[np.float64]] | None = None
    skipped: int = 0
    layout: Layout | None = None

    def __len__(self) -> int:
        return len(self.answers)

    def head(self, n: int) -> Chunk:
        """Return the first `n` examples."""
        named, columns = self.named, self.columns
        if named is not None:
            k = int(named.indptr[n])
            spaces, names = named.spaces[:, :k].copy(), named.names[:, :k].copy()
            named = Named(named.indptr[: n + 1], named.buffer, spaces, names, named.values[:k])
        if columns is not None:
            k = int(columns[0][n])
            columns = (columns[0][: n + 1], columns[1][:k], columns[2][:k])
        return replace(
            self,
            answers=self.answers[:n],
            lines=self.lines[:n],
            weights=None if self.weights is None else self.weights[:n],
            tags=None if self.tags is None else self.tags[:n],
            texts={name: Strings(s.buffer, s.starts[:n], s.ends[:n]) for name, s in self.texts.items()},
            named=named,
            columns=columns,
        )


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
