"""Rows that are mostly zeros: the columns and the values of what is not."""

from __future__ import annotations

import numpy as np

__all__ = ["Sparse"]


class Sparse:
    """Rows in compressed form, of any width.

    Parameters
    ----------
    indptr : int64 array (rows + 1,)
        Where each row begins and ends.
    indices, data : int32 array and float array
        Columns, rising within a row, and values.

    Examples
    --------
    >>> rows = Sparse.of(np.array([[0.0, 2.0, 0.0], [3.0, 0.0, 4.0]]))
    >>> rows.indices.tolist(), rows[1:].squares().tolist(), rows[np.array([1, 0])].dense(3).tolist()
    ([1, 0, 2], [25.0], [[3.0, 0.0, 4.0], [0.0, 2.0, 0.0]])
    """

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray) -> None:
        self.indptr, self.indices, self.data = indptr, indices, data

    @classmethod
    def of(cls, X: np.ndarray) -> Sparse:
        """The same rows, of a matrix."""
        rows, columns = np.nonzero(X)
        ends = np.cumsum(np.bincount(rows, minlength=len(X)), dtype=np.int64)
        return cls(np.concatenate([[0], ends]), columns.astype(np.int32), X[rows, columns])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    @property
    def size(self) -> int:
        """How many values there are."""
        return int(self.indptr[-1] - self.indptr[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and as many columns as they reach."""
        return len(self), int(self.indices.max(initial=-1)) + 1

    def __getitem__(self, some: slice | np.ndarray) -> Sparse:
        """Some of the rows: a range of them, without copying, or those at the places of an array."""
        if isinstance(some, slice):
            first, last, _ = some.indices(len(self))
            ends = self.indptr[first : max(first, last) + 1]
            return Sparse(ends - ends[0], self.indices[ends[0] : ends[-1]], self.data[ends[0] : ends[-1]])
        sizes = np.diff(self.indptr)[some]
        ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        at = np.arange(ends[-1]) + np.repeat(self.indptr[some] - ends[:-1], sizes)
        return Sparse(ends, self.indices[at], self.data[at])

    def rows(self) -> np.ndarray:
        """The row of every value."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def squares(self) -> np.ndarray:
        """‖x‖² of each row."""
        return np.bincount(self.rows(), self.data.astype(np.float64) ** 2, len(self)).astype(self.dtype)

    def divided(self, by: np.ndarray) -> Sparse:
        """Each row divided by a number."""
        return Sparse(self.indptr, self.indices, (self.data / by[self.rows()]).astype(self.dtype))

    def dense(self, width: int) -> np.ndarray:
        """The same rows as a matrix of so many columns."""
        X = np.zeros((len(self), width), self.dtype)
        X[self.rows(), self.indices] = self.data
        return X
