"""One weight vector that learns: memory that grows with the features, and the calls that teach and ask it."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from copy import copy, deepcopy
from functools import partial
from typing import Any, Self

import numpy as np

from hinged.loops.direct import Direct
from hinged.loops.explain import Share
from hinged.loops.hearing import pieces
from hinged.loops.ledger import GAIN, LEARNT, PENALTY, ROUNDS, SQ_NORM, new_ledger
from hinged.loops.memory import longer
from hinged.loops.rows import Dense, Rows, Scaling, longest_row, read_row
from hinged.loops.state import LONGEST_LOG_TABLE
from hinged.loops.steps import Setting
from hinged.loops.vector import Vector, learn_dense, learn_one_constraint, learn_thresholds, score, score_dense

__all__ = ["BINARY", "ORDINAL", "REGRESSION", "VectorModel"]

BINARY, REGRESSION, ORDINAL = "binary", "regression", "ordinal"

DIRECT = {loop: Direct(loop) for loop in (learn_one_constraint, learn_thresholds)}


class VectorModel:
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
    idf, unit, bias, average
        What happens to rows before they are scored, and whether mean weights are kept.
    """

    functions = ()  # no label features of the user's own

    def __init__(
        self,
        task: str,
        dtype: Any,
        setting: Setting,
        *,
        epsilon: float = 0.0,
        idf: bool = False,
        unit: bool = False,
        bias: float = 0.0,
        average: bool = False,
    ) -> None:
        self.task, self.dtype, self.setting, self.epsilon = task, np.dtype(dtype), setting, epsilon
        self.own = None
        self.idf, self.unit, self.bias, self.average = idf, unit, bias, average
        self.ledger = new_ledger()
        self.vector = Vector(np.zeros(1, self.dtype), np.zeros(int(average)), np.zeros(0), np.zeros(0))
        self.df = np.zeros(1, np.int32)
        self.logs = np.zeros(0)
        self.n_features = 0
        self.lock = threading.RLock()

    # ------------------------------------------------------------------ memory
    def widen(self, n_features: int) -> None:
        """Admit columns up to `n_features`."""
        if n_features <= self.n_features:
            return
        with self.lock:
            w = longer(self.vector.w, n_features + 1)
            late = longer(self.vector.late, len(w)) if self.average else self.vector.late
            self.vector = self.vector._replace(w=w, late=late)
            if self.idf:
                self.df = longer(self.df, n_features + 1)
            self.n_features = n_features  # last: readers go by it

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
    def dual(self) -> float:
        """The dual certificate, Σ λ m - ½‖ω‖² (less Σ λ²/4C for pa2)."""
        sums = self.ledger.sums
        return float(sums[GAIN] - 0.5 * sums[SQ_NORM] - sums[PENALTY])

    @property
    def weights(self) -> np.ndarray:
        """What answers are given by: ω with the bias first, or its mean over the rounds."""
        n, vector = self.n_features + 1, self.vector
        return self._mean(vector.w[:n], vector.late[:n]).astype(self.dtype, copy=False)

    @property
    def thresholds(self) -> np.ndarray:
        """The thresholds, or their mean over the rounds."""
        vector = self.vector
        return self._mean(vector.b, vector.late_b)

    def _mean(self, now: np.ndarray, late: np.ndarray) -> np.ndarray:
        """The mean over the rounds of what is `now`, or itself where no mean is kept.

        Beside a writer the order matters: a move that is found in `late` is also found in `now`, and is older than the
        rounds counted last. So each counts for something between nothing and the whole of it.
        """
        if not self.average:
            return now
        late = late.copy()
        now = now.copy()
        rounds = int(self.ledger.counts[LEARNT])
        return now - late / rounds if rounds else now

    # ------------------------------------------------------------------ learning and asking
    def learn(
        self, rows: Rows | Dense, targets: np.ndarray, weights: np.ndarray, judged: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Learn rows in order; return each round's flag and loss. Rows not `judged` are only counted."""
        n = len(rows.indptr) - 1
        flags, losses = np.zeros(n, np.int8), np.zeros(n)
        if isinstance(rows, Dense) and not judged:
            with self.lock:
                self.ledger.counts[ROUNDS] += n
                self.ledger.counts[LEARNT] += np.count_nonzero(weights) if len(weights) else n
            return flags, losses
        if isinstance(rows, Dense):
            vector = self.vector
            epsilon = self.epsilon if self.task == REGRESSION else -1.0
            common: tuple[Any, ...] = (self.setting, self.bias, vector, self.ledger, flags, losses)
            with self.lock:
                learn_dense(rows.values, targets, weights, epsilon, *common)
            return flags, losses
        with self.lock:
            self._tabulate(n)
            vector = self.vector
            common = (
                self.setting,
                self._scaling(),
                vector,
                self.ledger,
                judged,
                longest_row(rows),
                flags,
                losses,
            )
            learn: Any = learn_one_constraint
            if self.task == ORDINAL:
                learn = learn_thresholds
            else:
                common = (self.epsilon if self.task == REGRESSION else -1.0, *common)
            if n == 1:  # one row at a time is how streams come
                learn = partial(DIRECT[learn], self.dtype)
            learn(rows, targets, weights, *common)
        return flags, losses

    def score(self, rows: Rows | Dense, current: bool = False) -> np.ndarray:
        """⟨w, x⟩ of each row by the weights answers are given by, or by the current ones."""
        out = np.zeros(len(rows.indptr) - 1)
        w = self.vector.w if current else self.weights
        if isinstance(rows, Dense):
            w = longer(w, rows.values.shape[1] + 1)  # columns that nobody has learnt have no weight
            for part in pieces(rows.indptr):
                score_dense(rows.values[part], w, self.bias, out[part])
            return out
        learnt, longest = int(self.ledger.counts[LEARNT]), longest_row(rows)
        for part in pieces(rows.indptr):
            some = Rows(rows.indptr[part.start : part.stop + 1], *rows[1:])
            score(some, self._scaling(), w, learnt, longest, out[part])
        return out

    def read(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Features and scaled values of one row; feature 0 is the bias, column c is feature c + 1."""
        longest = longest_row(rows)
        f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
        n, _q = read_row(rows, 0, self._scaling(), int(self.ledger.counts[LEARNT]), f, v)
        return f[:n], v[:n]

    def _tabulate(self, n_rows: int) -> None:
        """Logarithms by count, as far as these rows may need them."""
        need = min(int(self.ledger.counts[LEARNT]) + n_rows + 1, LONGEST_LOG_TABLE) if self.idf else 0
        if need > len(self.logs):
            self.logs = np.log(np.arange(max(need, 2 * len(self.logs))) + 0.5)

    def _scaling(self) -> Scaling:
        return Scaling(self.idf, self.unit, self.bias, self.idf, self.df, self.logs)

    # ------------------------------------------------------------------ what learners ask of every model
    all_or_nothing = fixed_space = False

    @property
    def counts(self) -> np.ndarray:
        """Rounds, mistakes and the like; see `hinged.loops.ledger`."""
        return self.ledger.counts

    def explain(self, rows: Rows, labels: Sequence[Hashable] = (), at: int = 0, describe: Any = None) -> list[Share]:
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
            "df": self.df[: n if self.idf else 1],
        }

    def restore(self, arrays: dict[str, np.ndarray], names: Any, n_labels: int) -> None:
        """Become what `arrays` described, if it makes sense; the arrays are copied."""
        n = len(arrays["w"])
        n_thresholds = max(0, n_labels - 1) if self.task == ORDINAL else 0
        expected = {
            "counts": (self.ledger.counts.shape, np.int64),
            "sums": (self.ledger.sums.shape, np.float64),
            "w": ((max(1, n),), self.dtype),
            "late": ((n if self.average else 0,), np.float64),
            "b": ((n_thresholds,), np.float64),
            "late_b": ((n_thresholds if self.average else 0,), np.float64),
            "df": ((n if self.idf else 1,), np.int32),
        }
        for name, (shape, dtype) in expected.items():
            kept = arrays[name]
            if kept.shape != shape or kept.dtype != dtype or not np.isfinite(kept).all():
                raise ValueError(f"its {name} are damaged")
        if (arrays["counts"] < 0).any() or (arrays["df"] < 0).any():
            raise ValueError("its counts are damaged")
        self.ledger = self.ledger._replace(counts=arrays["counts"].copy(), sums=arrays["sums"].copy())
        self.n_features = n - 1
        self.vector = Vector(*(arrays[name].copy() for name in Vector._fields))
        self.df = arrays["df"].copy()
        self._tabulate(0)

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock())
