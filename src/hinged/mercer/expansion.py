"""Sums over past rows: the rows that took part in a step, once each, with their coefficients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from hinged.mercer.functions import RowKernel, gram, matrix, squares
from hinged.mercer.workers import Share

__all__ = ["Expansion", "Means", "joined_by"]

TILE = 1 << 17  # values of the kernel that a thread holds at once, unless asked otherwise: they stay in its cache


class Held(NamedTuple):
    """The arrays of an expansion, with room for more; what is filled never changes, so readers may keep them."""

    rows: np.ndarray  # (room, features)
    squares: np.ndarray  # (room,)
    coef: np.ndarray  # (room, outputs)
    rounds: np.ndarray  # int64 (room,): when each row was learnt


class Expansion:
    """f_r(x) = Σ_j coef[j, r] K(rows[j], x), with rows that are only ever appended.

    Parameters
    ----------
    n_features, n_outputs : int
    dtype : float32 or float64
    """

    def __init__(self, n_features: int, n_outputs: int, dtype: DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.state = 0, self._room(0, n_features, n_outputs)  # rows in use, and where: replaced as one, for readers

    def _room(self, room: int, n_features: int, n_outputs: int) -> Held:
        return Held(
            np.zeros((room, n_features), self.dtype),
            np.zeros(room, self.dtype),
            np.zeros((room, n_outputs), self.dtype),
            np.zeros(room, np.int64),
        )

    @property
    def n(self) -> int:
        """Rows in use."""
        return self.state[0]

    @n.setter
    def n(self, n: int) -> None:
        self.state = n, self.state[1]

    @property
    def held(self) -> Held:
        """Their arrays, with room for more."""
        return self.state[1]

    @held.setter
    def held(self, held: Held) -> None:
        self.state = self.state[0], held

    @property
    def n_features(self) -> int:
        return self.held.rows.shape[1]

    @property
    def n_outputs(self) -> int:
        return self.held.coef.shape[1]

    @property
    def filled(self) -> Held:
        """What is in use."""
        n, held = self.state
        return Held(*(array[:n] for array in held))

    @property
    def used(self) -> Held:
        """What is in use, where it lies; the same as `filled` on the CPU."""
        return self.filled

    def fit_to(self, n_features: int, n_outputs: int) -> None:
        """Admit wider rows, or more outputs; what is new is 0."""
        n_features, n_outputs = max(n_features, self.n_features), max(n_outputs, self.n_outputs)
        if (n_features, n_outputs) != (self.n_features, self.n_outputs):
            self._move(self._room(len(self.held.rows), n_features, n_outputs))

    def _move(self, to: Held) -> None:
        now = self.used
        to.rows[: self.n, : now.rows.shape[1]] = now.rows
        to.coef[: self.n, : now.coef.shape[1]] = now.coef
        to.squares[: self.n], to.rounds[: self.n] = now.squares, now.rounds
        self.held = to

    def append(self, rows: np.ndarray, coef: np.ndarray, rounds: np.ndarray) -> None:
        """Take in rows that made a step."""
        room = self.room_for(len(rows))
        room.rows[...], room.coef[...], room.rounds[...] = rows, self.fitting(coef), rounds
        room.squares[...] = self.squares_of(room.rows)
        self.n += len(rows)

    def room_for(self, more: int) -> Held:
        """Where the next rows go; add their number to `n` once they are there."""
        end = self.n + more
        if end > len(self.held.rows):
            self._move(self._room(max(end, 2 * self.n, 64), self.n_features, self.n_outputs))
        return Held(*(array[self.n : end] for array in self.held))

    def squares_of(self, rows: Any) -> Any:
        """‖x‖² of each row."""
        return squares(rows)

    def replace(self, rows: np.ndarray, sq: np.ndarray, coef: np.ndarray, rounds: np.ndarray) -> None:
        """Remember these rows and no others; readers of the old ones keep them."""
        self.state = len(rows), Held(rows, sq.astype(self.dtype), self.fitting(coef), rounds)

    def fitting(self, coef: Any) -> Any:
        """Coefficients in the type they are kept in, if they have a place there."""
        if isinstance(coef, np.ndarray):
            with np.errstate(over="ignore"):
                coef = coef.astype(self.dtype)
            if not np.isfinite(coef).all():
                raise ValueError(
                    f"coefficients of past rows left the range of {self.dtype.name}. Scale the rows up, or C, the "
                    "margin or the targets down."
                )
        return coef

    def merge(self, onto: np.ndarray, n_outputs: int) -> None:
        """Add the coefficients of output r to those of onto[r], -1 to drop them."""
        used = self.used
        coef = self._room(self.n, 0, n_outputs).coef
        for r, to in enumerate(onto[: self.n_outputs]):
            if to >= 0:
                coef[:, to] += used.coef[:, r]
        self.held = used._replace(coef=coef)

    def add_scores(
        self,
        kernel: RowKernel,
        X: np.ndarray,
        sq: np.ndarray,
        out: np.ndarray,
        tile: int = TILE,
        share: Share = map,
        start: int = 0,
    ) -> None:
        """Add f(x) of each row to `out` (outputs, rows), or what past rows from `start` on have in it.

        `tile` bounds the kernel's values that a thread holds.
        """
        held = self.filled
        n, d, k = len(held.rows), min(X.shape[1], held.rows.shape[1]), min(len(out), held.coef.shape[1])
        X = X[:, :d]
        step = max(1, min(n - start, tile // max(1, len(X))))
        buffers: list[np.ndarray] = []  # as many as there are threads

        def scores_by(first: int) -> np.ndarray:
            part = slice(first, min(n, first + step))
            buffer = buffers.pop() if buffers else np.empty((step, len(X)), self.dtype)
            room = buffer[: part.stop - first].reshape(len(X), -1)
            values = matrix(kernel, X, held.rows[part, :d], sq, held.squares[part], out=room)
            found = (values @ held.coef[part, :k]).T
            buffers.append(buffer)
            return found

        for found in share(scores_by, range(start, n, step)):
            out[:k] += found

    def values(self, kernel: RowKernel, X: np.ndarray, sq: np.ndarray) -> np.ndarray:
        """K of every row of X with every past row."""
        held = self.filled
        d = min(X.shape[1], held.rows.shape[1])
        return matrix(kernel, X[:, :d], held.rows[:, :d], sq, held.squares)

    def gram(self, kernel: RowKernel, X: np.ndarray, sq: np.ndarray) -> np.ndarray:
        """K among the rows of X, checked."""
        return gram(kernel, X, sq)

    def copy(self) -> Expansion:
        """The same sum; the rows are shared, and neither will write over the other's."""
        twin, filled = object.__new__(type(self)), self.filled
        twin.dtype, twin.state = self.dtype, (len(filled.rounds), filled)
        return twin


class Means:
    """The mean of each label's rows so far, 0 before the first.

    A machine's means are replaced whole, never changed: readers keep those they took.
    """

    def __init__(self, n_features: int, n_labels: int) -> None:
        self.sums, self.counts = np.zeros((n_labels, n_features)), np.zeros(n_labels, np.int64)
        self.alike = np.zeros(n_labels, np.int64)  # the first label with the very same mean

    def fitted_to(self, n_features: int, n_labels: int) -> Means:
        """The same means with room for wider rows, or more labels."""
        k, d = self.sums.shape
        if n_features <= d and n_labels <= k:
            return self
        twin = Means(max(d, n_features), max(k, n_labels))
        twin.sums[:k, :d], twin.counts[:k] = self.sums, self.counts
        twin.compare()
        return twin

    @property
    def values(self) -> np.ndarray:
        """p^r, a row for each label."""
        return self.sums / np.maximum(self.counts, 1)[:, None]

    def enter(self, x: np.ndarray, labels: np.ndarray) -> None:
        """Count a row in the means of its labels."""
        if len(labels):
            self.sums[labels] += x
            self.counts[labels] += 1
            self.compare()

    def merged(self, onto: np.ndarray, n_labels: int) -> Means:
        """Means in which the rows of label r are added to those of onto[r], -1 to drop them."""
        twin = Means(self.sums.shape[1], n_labels)
        for r, to in enumerate(onto[: len(self.counts)]):
            if to >= 0:
                twin.sums[to] += self.sums[r]
                twin.counts[to] += self.counts[r]
        twin.compare()
        return twin

    def compare(self) -> None:
        """Labels with equal means must score equally to the last bit, so only the first of them is scored."""
        p = self.values
        keys: dict[bytes, int] = {}
        for r in range(len(p)):
            self.alike[r] = keys.setdefault((p[r] + 0.0).tobytes(), r)

    def copy(self) -> Means:
        """Means of their own that start from the same."""
        twin = Means(0, 0)
        twin.sums, twin.counts, twin.alike = self.sums.copy(), self.counts.copy(), self.alike.copy()
        return twin


def joined_by(g: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """Net coefficients of label vectors that differ: those of equal vectors are one, and all of them sum to exactly 0.

    A step among labels with equal vectors then changes nothing, not even by rounding.
    """
    joined = np.bincount(alike, g, len(g))
    right = alike[int(g.argmax())]
    joined[right] = 0.0
    joined[right] = -joined.sum()
    return joined
