"""One weight vector that learns: memory that grows with the features, and the calls that learn and score."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from hinged.loops.base import ScaledModel, check_arrays, restored_ledger
from hinged.loops.direct import Direct
from hinged.loops.explain import Share
from hinged.loops.hearing import pieces
from hinged.loops.ledger import LEARNT, ROUNDS
from hinged.loops.memory import longer
from hinged.loops.rows import Dense, Rows
from hinged.loops.steps import Setting
from hinged.loops.vector import (
    Vector,
    VectorLearner,
    learn_dense,
    learn_one_constraint,
    learn_thresholds,
    score,
    score_dense,
)

__all__ = ["BINARY", "ORDINAL", "REGRESSION", "VectorModel"]

BINARY, REGRESSION, ORDINAL = "binary", "regression", "ordinal"

learn_one_constraint_direct, learn_thresholds_direct = Direct(learn_one_constraint), Direct(learn_thresholds)


class VectorModel(ScaledModel):
    """Weights, thresholds and counts of one learner.

    Parameters
    ----------
    task : BINARY, REGRESSION or ORDINAL
    dtype : float32 or float64
        Of the weights; thresholds and sums are float64.
    setting : Setting
        The rule.
    epsilon : float
        How far a predicted number may lie from the right one.
    scaling, unit, bias, average
        What happens to rows before they are scored, and whether mean weights are kept.
    """

    def __init__(self, task: str, dtype: DTypeLike, setting: Setting, *, epsilon: float = 0.0, **scaled: Any) -> None:
        super().__init__(**scaled)
        self.task, self.dtype, self.setting, self.epsilon = task, np.dtype(dtype), setting, epsilon
        self.vector = Vector(np.zeros(1, self.dtype), np.zeros(int(self.average)), np.zeros(0), np.zeros(0))

    # ------------------------------------------------------------------ memory
    def widen(self, n_features: int) -> None:
        """Admit columns up to `n_features`."""
        if n_features <= self.n_features:
            return
        with self.lock:
            w = longer(self.vector.w, n_features + 1)
            late = longer(self.vector.late, len(w)) if self.average else self.vector.late
            self.vector = self.vector._replace(w=w, late=late)
            self.n_features = n_features

    def with_thresholds(self, before: int, after: int) -> Self:
        """The same model with new thresholds of 0 at either end; this one stays as it is for its readers."""
        twin, (w, late, b, late_b) = copy(self), self.vector
        b = np.concatenate((np.zeros(before), b, np.zeros(after)))
        if self.average:
            late_b = np.concatenate((np.zeros(before), late_b, np.zeros(after)))
        twin.vector = Vector(w, late, b, late_b)
        return twin

    @property
    def sizes(self) -> tuple[int]:
        """Features that are known."""
        return (self.n_features,)

    def cut(self, n_features: int) -> None:
        """Forget the features after those; nothing may have been learnt of them."""
        self.n_features = n_features

    @property
    def weights(self) -> np.ndarray:
        """The weights that predictions use: ω with the bias first, or its mean over the rounds."""
        n, vector = self.n_features + 1, self.vector
        return self._mean(vector.w[:n], vector.late[:n]).astype(self.dtype, copy=False)

    @property
    def thresholds(self) -> np.ndarray:
        """The thresholds, or their mean over the rounds."""
        vector = self.vector
        return self._mean(vector.b, vector.late_b)

    def _mean(self, now: np.ndarray, late: np.ndarray) -> np.ndarray:
        """The mean over the rounds of what is `now`, or itself where no mean is kept.

        With a concurrent writer the order matters: a move that is found in `late` is also found in `now`, and is older
        than the rounds counted last. So each counts for something between nothing and the whole of it.
        """
        if not self.average:
            return now
        late = late.copy()
        now = now.copy()
        rounds = int(self.ledger.counts[LEARNT])
        return now - late / rounds if rounds else now

    # ------------------------------------------------------------------ learning and scoring
    def learn(
        self, rows: Rows | Dense, targets: np.ndarray, weights: np.ndarray, judged: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Learn rows in order; return each round's flag and loss. Rows not `judged` are only counted."""
        n = len(rows.indptr) - 1
        flags, losses = np.zeros(n, np.int8), np.zeros(n)
        epsilon = self.epsilon if self.task == REGRESSION else -1.0
        with self.lock:
            if isinstance(rows, Dense) and not judged:
                self.ledger.counts[ROUNDS] += n
                self.ledger.counts[LEARNT] += np.count_nonzero(weights) if len(weights) else n
                return flags, losses
            self._tabulate(n)
            learner = VectorLearner(self.setting, self._scaling(), self.vector, self.ledger)
            if isinstance(rows, Dense):
                learn_dense(rows.values, targets, weights, learner, epsilon, flags, losses)
            elif self.task == ORDINAL and n == 1:  # one row at a time is how streams come
                learn_thresholds_direct(self.dtype, rows, targets, weights, learner, judged, flags, losses)
            elif self.task == ORDINAL:
                learn_thresholds(rows, targets, weights, learner, judged, flags, losses)
            elif n == 1:
                learn_one_constraint_direct(self.dtype, rows, targets, weights, learner, epsilon, judged, flags, losses)
            else:
                learn_one_constraint(rows, targets, weights, learner, epsilon, judged, flags, losses)
        return flags, losses

    def score(self, rows: Rows | Dense, current: bool = False) -> np.ndarray:
        """⟨w, x⟩ of each row by the weights that predictions use, or by the current ones."""
        out = np.zeros(len(rows.indptr) - 1)
        w = self.vector.w if current else self.weights
        if isinstance(rows, Dense):
            w = longer(w, rows.values.shape[1] + 1)  # columns never learnt have no weight
            for part in pieces(rows.indptr):
                score_dense(rows.values[part], w, self.bias, out[part])
            return out
        learnt = int(self.ledger.counts[LEARNT])
        for part in pieces(rows.indptr):
            some = Rows(rows.indptr[part.start : part.stop + 1], *rows[1:])
            score(some, self._scaling(), w, learnt, out[part])
        return out

    def explain(self, rows: Rows, labels: Sequence[Hashable] = (), at: int = 0, describe: object = None) -> list[Share]:
        """What the features of one row add to its score."""
        (f, v), w = self.read(rows), self.weights
        known = f < len(w)
        return list(map(Share, f[known].tolist(), (v[known] * w[f[known]]).tolist()))

    def copy(self) -> Self:
        """A model of its own that knows the same."""
        twin = object.__new__(type(self))
        twin.__setstate__(deepcopy(self.__getstate__()))
        return twin

    # ------------------------------------------------------------------ keeping
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learnt, as plain arrays, without the room for more."""
        n = self.n_features + 1
        return {
            "counts": self.ledger.counts,
            "sums": self.ledger.sums,
            "w": self.vector.w[:n],
            "late": self.vector.late[: n if self.average else 0],
            "b": self.vector.b,
            "late_b": self.vector.late_b,
            **self._statistics(n),
        }

    def restore(self, arrays: dict[str, np.ndarray], names: object, n_labels: int) -> None:
        """Load what `arrays` describe after checking it; the arrays are copied."""
        n = len(arrays["w"])
        n_thresholds = max(0, n_labels - 1) if self.task == ORDINAL else 0
        ledger = restored_ledger(arrays, ("counts", "sums"), "")
        expected: dict[str, tuple[tuple[int, ...], Any]] = {
            "w": ((max(1, n),), self.dtype),
            "late": ((n if self.average else 0,), np.float64),
            "b": ((n_thresholds,), np.float64),
            "late_b": ((n_thresholds if self.average else 0,), np.float64),
        }
        check_arrays(arrays, expected)
        self._restore_statistics(arrays, n)
        self.ledger, self.n_features = ledger, n - 1
        self.vector = Vector(*(arrays[name].copy() for name in Vector._fields))
        self._tabulate(0)
