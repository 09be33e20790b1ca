"""One weight vector that learns: memory that grows with the features, and the calls that learn and score."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from hinged.loops.base import ScaledModel, check_arrays, restored_growth, restored_ledger
from hinged.loops.direct import Direct
from hinged.loops.explain import Share
from hinged.loops.fading import fades
from hinged.loops.hearing import pieces
from hinged.loops.ledger import LEARNT, ROUNDS
from hinged.loops.memory import longer
from hinged.loops.rows import Dense, Rows, part_of
from hinged.loops.shares import mass
from hinged.loops.steps import Setting
from hinged.loops.targets import SPREAD, Numbers, unit_of
from hinged.loops.vector import learn_dense, learn_one_constraint, learn_thresholds, score, score_dense
from hinged.loops.vector_memory import Vector, VectorLearner, new_forecasters

__all__ = ["BINARY", "ORDINAL", "REGRESSION", "VectorModel"]

BINARY, REGRESSION, ORDINAL = "binary", "regression", "ordinal"
NO_NUMBERS = Numbers(-1.0, False, np.zeros(0))  # of learners of labels

learn_one_constraint_direct, learn_thresholds_direct = Direct(learn_one_constraint), Direct(learn_thresholds)
score_direct = Direct(score)


class VectorModel(ScaledModel):
    """Weights, thresholds and counts of one learner, or of several that differ in C and answer together.

    Parameters
    ----------
    task : BINARY, REGRESSION or ORDINAL
    dtype : float32 or float64
        Of the weights; thresholds and sums are float64.
    setting : Setting
        The rule.
    numbers : Numbers
        How far a predicted number may lie from the right one, and whether targets are scaled.
    caps : tuple of float
        C of learners side by side; empty for one, with the rule's C.
    mean : bool
        Whether the mean weights of the last learner answer beside the learners.
    scaling, unit, bias, average, adaptive, feature_map, half_lives
        What happens to rows before they are scored, whether mean weights answer in the place of all learners, r of a
        metric that learns, random features, and how fast all is forgotten.
    """

    def __init__(
        self,
        task: str,
        dtype: DTypeLike,
        setting: Setting,
        numbers: Numbers | None = None,
        caps: tuple[float, ...] = (),
        mean: bool = False,
        **scaled: Any,
    ) -> None:
        super().__init__(dtype, **scaled)
        self.task, self.setting = task, setting
        self.numbers = NO_NUMBERS if numbers is None else numbers
        self.forecasters, self.mean = new_forecasters(caps, mean), mean
        learners = max(1, len(caps))
        n, means = 1 if self.feature_map is None else self.n_weights + 1, learners if self.average else int(mean)
        self.vector = Vector(np.zeros((n, learners), self.dtype), np.zeros((n, means)), np.zeros(0), np.zeros(0))

    # ------------------------------------------------------------------ memory
    def widen(self, n_features: int) -> None:
        """Admit columns up to `n_features`."""
        if n_features <= self.n_features:
            return
        with self.lock:
            if self.feature_map is None:
                w = longer(self.vector.w, n_features + 1)
                late = longer(self.vector.late, len(w))
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
    def alone(self) -> bool:
        """Return True if there is one learner and nothing answers beside it."""
        return len(self.forecasters.caps) == 0 and not self.mean

    @property
    def reads_dense(self) -> bool:
        """Return True if a dense matrix is read as it is: by one learner that never forgets, targets in their unit."""
        plain = self.feature_map is None and not fades(self.metric.fading)
        return self.alone and len(self.numbers.known) == 0 and plain

    @property
    def weights(self) -> np.ndarray:
        """The weights that predictions use, in the unit of the targets and with the bias first."""
        now = self._now()
        n, vector, (_, scale) = now.n_weights + 1, now.vector, now.unit_of_targets
        w = now._mixed(vector.w[:n].copy(), vector.late[:n])  # before it is asked how much is left of it
        scale *= now._left
        return (w if scale == 1.0 else scale * w).astype(now.dtype, copy=False)

    @property
    def unit_of_targets(self) -> tuple[float, float]:
        """Mean and deviation of the targets so far, where these are scaled; else 0 and 1."""
        mean, scale = unit_of(self.numbers, int(self.ledger.counts[LEARNT]))
        return float(mean), float(scale)

    @property
    def thresholds(self) -> np.ndarray:
        """The thresholds, or their mean over the rounds."""
        vector = self.vector
        return self._mean(vector.b, vector.late_b) if self.average else vector.b

    def _mixed(self, w: np.ndarray, late: np.ndarray) -> np.ndarray:
        """The weights that answer for the learners `w` (features, learners): their mixture, or that of their means."""
        shares, learners, means = self.forecasters.shares, w.shape[1], late.shape[1]
        if means > 0:
            mean = self._mean(w[:, learners - means :], late)
            w = mean if self.average else np.hstack((w, mean))
        return w[:, 0] if len(shares) == 1 else w @ shares

    def _mean(self, now: np.ndarray, late: np.ndarray) -> np.ndarray:
        """The mean over the rounds of what is `now`.

        With a concurrent writer the order matters: a move that is found in `late` is also found in `now`, and is older
        than the rounds counted last. So each counts for something between nothing and the whole of it.
        """
        late = late.copy()
        now = now.copy()
        rounds = int(self.ledger.counts[LEARNT])
        return now - late / mass(self.forecasters.growth, float(rounds)) if rounds else now

    # ------------------------------------------------------------------ learning and scoring
    def learn(
        self, rows: Rows | Dense, targets: np.ndarray, weights: np.ndarray, judged: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Learn rows in order; return each round's flag and loss. Rows not `judged` are only counted."""
        n, start = len(rows.indptr) - 1, 0
        flags, losses = np.zeros(n, np.int8), np.zeros(n)
        with self.lock:
            for stop in self._up_to_renewals(0, n):
                if stop - start == n:  # one row at a time is how streams come
                    self._learn(rows, targets, weights, judged, flags, losses)
                else:
                    some = slice(start, stop)
                    self._learn(part_of(rows, some), targets[some], weights[some], judged, flags[some], losses[some])
                start = stop
        return flags, losses

    def _learn(
        self,
        rows: Rows | Dense,
        targets: np.ndarray,
        weights: np.ndarray,
        judged: bool,
        flags: np.ndarray,
        losses: np.ndarray,
    ) -> None:
        """Learn rows between which nothing is renewed, and fill in each round's flag and loss."""
        n = len(rows.indptr) - 1
        if isinstance(rows, Dense) and not judged:
            self.ledger.counts[ROUNDS] += n
            self.ledger.counts[LEARNT] += np.count_nonzero(weights) if len(weights) else n
            return
        self._tabulate(n)
        vector, forecasters, numbers, metric = self.vector, self.forecasters, self.numbers, self.metric
        learner = VectorLearner(self.setting, self._scaling(), vector, self.ledger, forecasters, numbers, metric)
        if isinstance(rows, Dense) and self.reads_dense:
            vector = vector._replace(w=vector.w.reshape(-1), late=vector.late.reshape(-1))
            learn_dense(rows.values, targets, weights, learner._replace(vector=vector), flags, losses)
            return
        if isinstance(rows, Dense):
            rows = rows.rows()
        if self.task == ORDINAL and n == 1:  # one row at a time is how streams come
            learn_thresholds_direct(self.dtype, rows, targets, weights, learner, judged, flags, losses)
        elif self.task == ORDINAL:
            learn_thresholds(rows, targets, weights, learner, judged, flags, losses)
        elif n == 1:
            learn_one_constraint_direct(self.dtype, rows, targets, weights, learner, judged, flags, losses)
        else:
            learn_one_constraint(rows, targets, weights, learner, judged, flags, losses)

    def _multiplied(self, s: float) -> dict[str, Any]:
        return {"vector": self.vector._replace(w=s * self.vector.w)}

    def score(self, rows: Rows | Dense, current: bool = False) -> np.ndarray:
        """The answer to each row, in the unit of the targets; `current`: by the weights without their average."""
        now = self._now()
        mean, scale = now.unit_of_targets
        out = now._steadily(now._score, rows, current)
        return mean + scale * out if len(now.numbers.known) else out

    def _score(self, rows: Rows | Dense, current: bool) -> np.ndarray:
        out = np.zeros(len(rows.indptr) - 1)
        vector, together, means = self.vector, self.forecasters, int(self.mean)
        together = together._replace(shares=together.shares.copy())
        if self.average and not current:
            means = vector.late.shape[1]
        if len(together.shares) == 1 and means:  # once for all rows
            w = self._mixed(vector.w, vector.late).astype(self.dtype, copy=False)
            vector, means = vector._replace(w=w.reshape(-1, 1)), 0
        if isinstance(rows, Dense) and self.reads_dense:
            w = longer(vector.w, rows.values.shape[1] + 1)  # columns never learnt have no weight
            for part in pieces(rows.indptr):
                score_dense(rows.values[part], w.reshape(-1), self.bias, out[part])
            return out
        if isinstance(rows, Dense):
            rows = rows.rows()
        counts, scaling, learnt = self.ledger.counts, self._scaling(), self._learnt_here
        if len(out) == 1:
            score_direct(self.dtype, rows, scaling, learnt, vector, means, together, counts, out)
        else:
            for part in pieces(rows.indptr, self.per_raw_value(1)):
                some = Rows(rows.indptr[part.start : part.stop + 1], *rows[1:])
                score(some, scaling, learnt, vector, means, together, counts, out[part])
        return out

    def explain(self, rows: Rows, labels: Sequence[Hashable] = (), at: int = 0, describe: object = None) -> list[Share]:
        """What the features of one row add to its score; "mean" is the mean of scaled targets, which is part of it."""
        self.check_explains()
        return self._now()._explain(rows)

    def _explain(self, rows: Rows) -> list[Share]:
        before, vector, (mean, scale) = self._learnt_here, self.vector, self.unit_of_targets
        f, v = self.read(rows)
        known = f[f < len(vector.w)]
        w = self._mixed(vector.w[known], vector.late[known]).astype(self.dtype, copy=False)
        scale *= self._left_since(before)
        shares = list(map(Share, known.tolist(), (scale * v[f < len(vector.w)] * w).tolist()))
        return [*shares, Share("mean", mean, True)] if mean else shares

    def copy(self) -> Self:
        """A model of its own that knows the same."""
        twin = object.__new__(type(self))
        twin.__setstate__(deepcopy(self.__getstate__()))
        return twin

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "forecasters" not in state:  # of a model pickled when one learner had one vector
            w, late, b, late_b = state["vector"]
            late = late.reshape(-1, 1) if state["average"] else np.zeros((len(w), 0))
            epsilon = state.pop("epsilon") if state["task"] == REGRESSION else -1.0
            state = {
                **state,
                "vector": Vector(w.reshape(-1, 1), late, b, late_b),
                "forecasters": new_forecasters((), False),
                "numbers": NO_NUMBERS._replace(epsilon=epsilon),
                "mean": False,
            }
        super().__setstate__(state)

    # ------------------------------------------------------------------ keeping
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learnt, as plain arrays, without the room for more."""
        n, (w, late, b, late_b), together = self.n_weights + 1, self.vector, self.forecasters
        arrays = {
            "counts": self.ledger.counts,
            "sums": self.ledger.sums,
            "w": w[:n, 0] if self.alone else w[:n],
            "late": late[:n].reshape(-1) if self.alone else late[:n],
            "b": b,
            "late_b": late_b,
            **self._statistics(self.n_features + 1),
        }
        if self.feature_map is not None:
            arrays["n_features"] = np.array([self.n_features])
        if not self.alone:
            arrays |= {"shares": together.shares, "losses": together.losses}
        if self.mean:
            arrays["growth"] = np.array([together.growth])
        return arrays | ({"target": self.numbers.known} if len(self.numbers.known) else {})

    def restore(self, arrays: dict[str, np.ndarray], names: object, n_labels: int) -> None:
        """Load what `arrays` describe after checking it; the arrays are copied."""
        n, forecasters, known = max(1, len(arrays["w"])), self.forecasters, self.numbers.known
        (_, learners), (_, means) = self.vector.w.shape, self.vector.late.shape
        n_thresholds = max(0, n_labels - 1) if self.task == ORDINAL else 0
        ledger = restored_ledger(arrays)
        expected: dict[str, tuple[tuple[int, ...], Any]] = {
            "w": ((n,) if self.alone else (n, learners), self.dtype),
            "late": ((n * means,) if self.alone else (n, means), np.float64),
            "b": ((n_thresholds,), np.float64),
            "late_b": ((n_thresholds if self.average else 0,), np.float64),
        }
        if not self.alone:
            expected |= dict.fromkeys(("shares", "losses"), (forecasters.shares.shape, np.float64))
        if len(known):
            expected |= {"target": (known.shape, np.float64)}
        check_arrays(arrays, expected)
        if not self.alone:
            shares, losses = arrays["shares"].copy(), arrays["losses"].copy()
            if (shares < 0).any() or abs(shares.sum() - 1.0) > 1e-9 or (losses < 0).any():
                raise ValueError("its shares are damaged")
            forecasters = forecasters._replace(shares=shares, losses=losses, growth=restored_growth(arrays))
        if len(known) and arrays["target"][SPREAD] < 0:
            raise ValueError("its target is damaged")
        self.n_features = n - 1 if self.feature_map is None else self._columns_of(arrays, n)
        self._restore_statistics(arrays, self.n_features + 1, int(ledger.counts[LEARNT]))
        self.ledger, self.forecasters = ledger, forecasters
        w, late = arrays["w"].reshape(n, learners), arrays["late"].reshape(n, means)
        self.vector = Vector(w.copy(), late.copy(), arrays["b"].copy(), arrays["late_b"].copy())
        self.numbers = self.numbers._replace(known=arrays["target"].copy() if len(known) else known)
        self._tabulate(0)

    def _columns_of(self, arrays: dict[str, np.ndarray], n: int) -> int:
        """How many columns a model of random features had met; `n` is how many weights it has."""
        check_arrays(arrays, {"n_features": ((1,), np.int64)})
        columns = int(arrays["n_features"][0])
        if columns < 0 or n != self.n_weights + 1:
            raise ValueError("its counts do not fit its weights")
        return columns
