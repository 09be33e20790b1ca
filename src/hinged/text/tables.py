"""Tables as sparse rows: columns of numbers first, then the words of strings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from hinged.compiling.arrays import Floats
from hinged.io.examples.chunk import Chunk
from hinged.loops.rows import Rows
from hinged.text.vocabulary import Vocabulary

__all__ = ["beside_numbers", "table_rows"]


def beside_numbers(numbers: Sequence[Floats | None], rows: Rows) -> Rows:
    """Put columns of numbers in front of rows of words.

    Parameters
    ----------
    numbers : sequence of arrays (rows,), or None for a column that is missing altogether
        NaN where a number is missing: the row does not have it. Zeros are values like any other.
    rows : Rows

    Examples
    --------
    >>> words = Rows(np.array([0, 1, 2]), np.array([0, 3], np.int32), np.ones(2, np.float32))
    >>> rows = beside_numbers([np.array([2.5, np.nan])], words)
    >>> rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()
    ([0, 2, 3], [0, 1, 4], [2.5, 1.0, 1.0])
    """
    n, width = len(rows.indptr) - 1, len(numbers)
    table = np.column_stack([np.full(n, np.nan) if column is None else column for column in numbers])
    there = ~np.isnan(table)
    lengths = np.diff(rows.indptr)
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1) + lengths)]).astype(np.int64)
    words = np.repeat(indptr[1:] - rows.indptr[1:], lengths) + np.arange(rows.indptr[0], rows.indptr[-1])
    is_word = np.zeros(indptr[-1], bool)
    is_word[words] = True
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    span = slice(rows.indptr[0], rows.indptr[-1])
    indices[words], data[words] = rows.indices[span] + width, rows.data[span]
    indices[~is_word], data[~is_word] = np.nonzero(there)[1], table[there]
    return Rows(indptr, indices, data)


def table_rows(chunk: Chunk, known: Mapping[Hashable, int], first: int) -> tuple[Rows, list[Hashable]]:
    """Return the rows of a chunk by names, and the names not known yet, numbers before words.

    Parameters
    ----------
    chunk : Chunk
        Without numbered columns.
    known : mapping of name → column
    first : int
        The first column of names that are not known.

    Examples
    --------
    >>> from hinged.io.examples import read
    >>> import io
    >>> chunk, = read(io.BytesIO(b"sex,length,y\\nM,0,a\\nF,,b\\n"))
    >>> rows, new = table_rows(chunk, {"sex:f": 0}, 1)
    >>> rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist(), new
    ([0, 2, 3], [1, 2, 0], [0.0, 1.0, 1.0], ['length', 'sex:m'])
    """
    space = Vocabulary()
    empty = Rows(np.zeros(len(chunk) + 1, np.int64), np.zeros(0, np.int32), np.zeros(0))
    rows = space.read(chunk, grow=True) if chunk.texts or chunk.named is not None else empty
    names: list[Hashable] = [*chunk.numbers, *(space.get_feature_names_out().tolist())]
    if chunk.numbers:
        rows = beside_numbers(list(chunk.numbers.values()), rows)
    columns = np.empty(len(names), np.int64)
    new: list[Hashable] = []
    for i, name in enumerate(names):
        columns[i] = known.get(name, -1)
        if columns[i] < 0:
            columns[i] = first + len(new)
            new.append(name)
    return _sorted(rows._replace(indices=columns[rows.indices].astype(np.int32))), new


def _sorted(rows: Rows) -> Rows:
    """Return the rows with columns rising."""
    row = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, row))
    return Rows(rows.indptr, rows.indices[order], rows.data[order].astype(np.float64))
