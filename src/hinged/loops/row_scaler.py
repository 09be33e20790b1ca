"""Many rows scaled one after another, for theory and for learners that keep past rows in place of weights."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats
from hinged.loops.base import ScaledModel
from hinged.loops.ledger import LEARNT
from hinged.loops.rows import Dense, Rows, Scaling, enter_row, longest_row, read_row

__all__ = ["RowScaler", "scale_rows"]


@compiled
def scale_rows(
    rows: Rows, scaling: Scaling, longest: int, n_features: int, learnt: int, weights: Floats, out: Rows
) -> int:
    """Rows as a learner of so many rounds reads them, put into `out`; return how many it has learnt then.

    Each is scaled by the rows before it that have a weight (all where `weights` is empty), which enter the statistics.
    The constant feature comes last.
    """
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    at = 0
    for i in range(rows.indptr.shape[0] - 1):
        n, _q = read_row(rows, i, scaling, learnt, f, v)
        for j in range(n):
            out.indices[at] = f[j] - 1 if f[j] > 0 else n_features
            out.data[at] = v[j]
            at += 1
        out.indptr[i + 1] = at
        if weights.shape[0] == 0 or weights[i] > 0.0:
            enter_row(scaling, rows, i, learnt)
            learnt += 1
    return learnt


class RowScaler(ScaledModel):
    """What is known of columns, to scale rows by that are learnt as they were read then.

    Parameters
    ----------
    dtype : float32 or float64
    scaling : "standard" or "mixed"
    unit : bool
        Whether scaled rows get length 1.
    """

    def __init__(self, dtype: DTypeLike, scaling: str, unit: bool) -> None:
        super().__init__(dtype, scaling=scaling, unit=unit)

    def learn(self, rows: Rows | Dense, weights: np.ndarray) -> Rows | Dense:
        """Each row as it is after those before it; rows of a weight enter what later ones are scaled by."""
        self._tabulate(len(rows.indptr) - 1)
        found, self.ledger.counts[LEARNT] = self._scaled(rows, weights)
        return found

    def scaled(self, rows: Rows | Dense) -> Rows | Dense:
        """Rows by what is known now; nothing is learnt of them."""
        return self._scaled(rows, np.zeros(len(rows.indptr) - 1))[0]

    def _scaled(self, rows: Rows | Dense, weights: np.ndarray) -> tuple[Rows | Dense, int]:
        given = rows.rows() if isinstance(rows, Dense) else rows
        room, learnt = int(given.indptr[-1] - given.indptr[0]), int(self.ledger.counts[LEARNT])
        out = Rows(np.zeros(len(given.indptr), np.int64), np.empty(room, np.int32), np.empty(room, given.data.dtype))
        learnt = scale_rows(given, self._scaling(), longest_row(given), self.n_features, learnt, weights, out)
        return Dense(out.data.reshape(rows.values.shape)) if isinstance(rows, Dense) else out, learnt

    def copy(self) -> Self:
        """Return one of its own that knows the same."""
        twin = object.__new__(type(self))
        known = {name: getattr(self, name).copy() for name in ("df", "means", "spreads")}
        ledger = self.ledger._replace(counts=self.ledger.counts.copy())
        vars(twin).update(vars(self) | known, ledger=ledger)
        return twin

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything known, as plain arrays."""
        return self._statistics(self.n_features + 1)

    def restore(self, arrays: dict[str, np.ndarray], n_features: int, learnt: int) -> None:
        """Become what `arrays` described after so many learnt rounds, if it makes sense; the arrays are copied."""
        self.n_features, self.ledger.counts[LEARNT] = n_features, learnt
        self._restore_statistics(arrays, n_features + 1, learnt)
