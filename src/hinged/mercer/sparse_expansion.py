"""Sums over past rows that are mostly zeros; products with them cost what is not zero, whatever the width."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hinged.mercer.expansion import TILE, Expansion, Held
from hinged.mercer.functions import RowKernel, compiled, diagonal
from hinged.mercer.sparse import Sparse
from hinged.mercer.workers import Share

__all__ = ["SparseExpansion"]


class SparseExpansion(Expansion):
    """f_r(x) = Σ_j coef[j, r] K(rows[j], x) over sparse rows; needs Numba, and a kernel that is built in.

    A block of rows is turned into a table, a line of numbers for each column it has; every value of a past row then
    adds its column's line. Columns that the block does not have cost one lookup.
    """

    def __init__(self, n_outputs: int, dtype: DTypeLike) -> None:
        self.rows = Sparse(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, dtype))  # with room for more
        self.places: list[np.ndarray] = []  # tables from columns to lines that are not in use, -1 throughout
        super().__init__(0, n_outputs, dtype)

    @classmethod
    def of(cls, dense: Expansion) -> SparseExpansion:
        """The same sum, of rows that are kept in full so far."""
        held, found = dense.filled, cls(dense.n_outputs, dense.dtype)
        found.append(Sparse.of(held.rows), held.coef, held.rounds)
        return found

    @property
    def filled(self) -> Held:
        """What is in use."""
        n, held = self.state  # before the rows: a concurrent writer fills those first
        rows = self.rows
        ends = rows.indptr[: n + 1]
        kept: Any = Sparse(ends, rows.indices[: ends[-1]], rows.data[: ends[-1]])
        return Held(kept, held.squares[:n], held.coef[:n], held.rounds[:n])

    def fit_to(self, n_features: int, n_outputs: int) -> None:
        """Admit more outputs; rows may be of any width."""
        super().fit_to(0, n_outputs)

    def _move(self, to: Held) -> None:
        now = self.filled
        to.coef[: self.n, : now.coef.shape[1]] = now.coef
        to.squares[: self.n], to.rounds[: self.n] = now.squares, now.rounds
        self.held = to

    def merge(self, onto: np.ndarray, n_outputs: int) -> None:
        """Add the coefficients of output r to those of onto[r], -1 to drop them."""
        super().merge(onto, n_outputs)
        self.held = self.held._replace(rows=np.zeros((self.n, 0), self.dtype))

    def append(self, rows: Any, coef: np.ndarray, rounds: np.ndarray) -> None:
        """Take in rows that made a step."""
        coef = self.fitting(coef)
        end, first = self.n + len(rows), int(self.rows.indptr[self.n])
        last = first + rows.size
        if last > len(self.rows.data) or end >= len(self.rows.indptr):
            room, values = max(2 * end, 64), max(2 * last, 1024)
            to = Sparse(np.zeros(room + 1, np.int64), np.zeros(values, np.int32), np.zeros(values, self.dtype))
            to.indptr[: self.n + 1] = self.rows.indptr[: self.n + 1]
            to.indices[:first], to.data[:first] = self.rows.indices[:first], self.rows.data[:first]
            self.rows = to
        self.rows.indptr[self.n : end + 1] = first + rows.indptr
        self.rows.indices[first:last], self.rows.data[first:last] = rows.indices, rows.data
        if end > len(self.held.squares):
            self._move(self._room(max(end, 2 * self.n, 64), 0, self.n_outputs))
        part = slice(self.n, end)
        self.held.coef[part], self.held.rounds[part], self.held.squares[part] = coef, rounds, rows.squares()
        self.n = end

    def copy(self) -> SparseExpansion:
        """The same sum; the rows are shared, and neither will write over the other's."""
        twin, held = object.__new__(type(self)), self.filled
        n = len(held.rounds)
        twin.rows, twin.places = held.rows, self.places  # type: ignore[assignment]
        twin.dtype, twin.state = self.dtype, (n, held._replace(rows=np.zeros((n, 0), self.dtype)))
        return twin

    # ------------------------------------------------------------------ products
    def _table(self, X: Sparse) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lines (columns of the block, rows), the line of every column, and the columns."""
        columns, at = np.unique(X.indices, return_inverse=True)
        lines = np.zeros((len(columns), len(X)), self.dtype)
        lines[at, X.rows()] = X.data
        width = max(X.shape[1], 1)
        try:
            place = self.places.pop()
        except IndexError:  # all are in use, by other readers too
            place = np.zeros(0, np.int32)
        if len(place) < width:
            place = np.full(max(width, 2 * len(place)), -1, np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32)
        return lines, place, columns

    def _give_back(self, place: np.ndarray, columns: np.ndarray) -> None:
        place[columns] = -1
        self.places.append(place)

    def add_scores(
        self,
        kernel: RowKernel,
        X: Any,
        sq: np.ndarray,
        out: np.ndarray,
        tile: int = TILE,
        share: Share = map,
        start: int = 0,
    ) -> None:
        """Add f(x) of each row to `out` (outputs, rows), or what past rows from `start` on have in it."""
        held = self.filled
        n, k = len(held.rows), min(len(out), held.coef.shape[1])
        if start >= n:
            return
        step = max(1, min(n - start, tile // max(1, len(X))))
        lines, place, columns = self._table(X)

        def scores_by(first: int) -> np.ndarray:
            part = slice(first, min(n, first + step))
            values = _values(kernel, held.rows[part], held.squares[part], lines, place, sq)
            return held.coef[part, :k].T @ values

        for found in share(scores_by, range(start, n, step)):
            out[:k] += found
        self._give_back(place, columns)

    def values(self, kernel: RowKernel, X: Any, sq: np.ndarray) -> np.ndarray:
        """K of every row of X with every past row."""
        lines, place, columns = self._table(X)
        held = self.filled
        values = _values(kernel, held.rows, held.squares, lines, place, sq).T
        self._give_back(place, columns)
        return values

    def gram(self, kernel: RowKernel, X: Any, sq: np.ndarray) -> np.ndarray:
        """K among the rows of X."""
        lines, place, columns = self._table(X)
        values = _values(kernel, X, sq, lines, place, sq)
        self._give_back(place, columns)
        np.fill_diagonal(values, diagonal(kernel, X, sq))
        return values


def _values(
    kernel: Any, rows: Any, squares: np.ndarray, lines: np.ndarray, place: np.ndarray, sq: np.ndarray
) -> np.ndarray:
    """K of every sparse row with every row of a block's table."""
    values = np.zeros((len(rows), lines.shape[1]), lines.dtype)
    compiled().add_lines(rows.indptr, rows.indices, rows.data, place, lines, values)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        kernel.from_products(values, squares, sq)
    return values
