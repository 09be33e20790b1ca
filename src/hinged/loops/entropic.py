"""A label learner's memory where each label's weights live on a simplex, and the calls that learn and score.

One writer and any number of concurrent readers, as in `hinged.loops.model`. A column whose masses are being rescaled is
inconsistent, so readers compare a counter before and after: if it changed, they read again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from typing import Any, Self

import numpy as np

from hinged.compiling.arrays import Ints
from hinged.geometry.entropy import Entropy, simplex_weights
from hinged.loops.base import ScaledModel, check_arrays, restored_label_ledger
from hinged.loops.entropy import (
    CURSOR,
    DUE,
    FULL,
    MISSING,
    UNTIL,
    WHY,
    EntropicLearner,
    learn_entropic,
    score_entropic,
)
from hinged.loops.explain import Share
from hinged.loops.hearing import pieces
from hinged.loops.labels import Targets
from hinged.loops.ledger import GAIN, LABELS, LEARNT, Told, kept_ledger, moved_ledger, new_notes, new_told
from hinged.loops.memory import longer
from hinged.loops.rows import Rows, longest_row
from hinged.loops.simplex import SHIFT, SWEEP, TOTAL, TOUCHES, Simplex, sweep
from hinged.loops.simplex_mean import COUNTED, grown, kept_means, mean_weights, new_means, renumbered, restored_means
from hinged.loops.steps import Setting
from hinged.sharing.plan import Plan
from hinged.sharing.plan import resolve as resolve_sharing

__all__ = ["EntropicModel"]

PER_LABEL = 8  # operations that a value of a row takes for each label, roughly


class EntropicModel(ScaledModel):
    """Weights and counts of one learner on labels, with weights on simplices.

    Parameters
    ----------
    geometry : Entropy
    setting : Setting
        The rule.
    scaling, unit, bias
        What happens to rows before they are scored.
    average : bool
        Whether to answer with the mean of the weights after each round.
    """

    fixed_space = True  # names not met before stand for features that have weights already
    dtype = np.dtype(np.float64)
    label_rows: Ints = np.zeros(0, np.int64)  # rows of each label are not counted here

    def __init__(self, geometry: Entropy, setting: Setting, **scaled: Any) -> None:
        super().__init__(np.float64, **scaled)
        self.geometry, self.setting = geometry, setting
        self.plan: Plan = resolve_sharing("multi", None)
        self.names: dict[Hashable, int] = {}
        self.notes = new_notes()
        self.simplex = self._empty(0, 0)
        self.rescaled = 0  # odd while columns are being rescaled
        self.told = False  # whether the user was warned of a margin out of reach

    # ------------------------------------------------------------------ room
    def widen(self, n_features: int) -> None:
        """Fix the space: so many features, once and for all."""
        if self.n_features == 0 < n_features:
            self.n_features = n_features
            self.simplex = self._empty(n_features, len(self.simplex.labels[0]))
        elif n_features > self.n_features:
            raise ValueError(beyond(self.n_features, n_features))

    def declare(self, n_labels: int) -> None:
        """Make labels known before any of their rows came."""
        with self.lock:
            self._fit_to(n_labels, 0)
            counts = self.ledger.counts
            self.simplex.means.labels[COUNTED, counts[LABELS] : n_labels] = counts[LEARNT]
            counts[LABELS] = n_labels

    @property
    def mean_over(self) -> int:
        """Rounds the mean weights are taken over; 0 where no average is kept."""
        return int(self.ledger.counts[LEARNT]) if self.average else 0

    def _empty(self, n_features: int, columns: int) -> Simplex:
        """Equal weights on so many features."""
        signs = 2 if self.geometry.signed else 1
        n = (n_features + (self.bias != 0.0)) * signs
        return Simplex(
            slots=np.zeros((n_features + 1) * signs, np.uint32),
            owners=np.zeros(1, np.uint32),
            theta=np.zeros((1, columns)),
            mass=np.ones((1, columns)),
            labels=_fresh(n, columns),
            marks=np.zeros(1, np.int64),
            used=np.zeros(2, np.int64),
            n=n,
            radius=float(self.geometry.radius),
            signed=bool(self.geometry.signed),
            means=new_means(1, columns, self.average),
        )

    def _fit_to(self, n_labels: int, n_rows: int) -> None:
        """Make room for so many labels, and for the logarithms that so many more rows may need."""
        self._tabulate(n_rows)
        self.ledger = self.ledger._replace(records=longer(self.ledger.records, n_labels))
        before = self.simplex
        columns = before.labels.shape[1]
        if n_labels > columns:
            more = max(n_labels, columns + columns // 2, 8) - columns
            rows = before.theta.shape[0]
            self.simplex = before._replace(
                theta=np.concatenate([before.theta, np.zeros((rows, more))], axis=1),
                mass=np.concatenate([before.mass, np.ones((rows, more))], axis=1),
                labels=np.concatenate([before.labels, _fresh(before.n, more)], axis=1),
                means=grown(before.means, 0, more),
            )

    def _make_room(self, new: int) -> None:
        """Make room for so many more learnt coordinates."""
        before = self.simplex
        rows = min(max(int(before.used[0]) + new + 1, 2 * len(before.theta), 64), len(before.slots) + 1)
        theta, mass = np.zeros((rows, before.theta.shape[1])), np.ones((rows, before.theta.shape[1]))
        theta[: len(before.theta)], mass[: len(before.mass)] = before.theta, before.mass
        owners, marks = np.zeros(rows, np.uint32), np.zeros(rows, np.int64)
        owners[: len(before.owners)] = before.owners
        means = grown(before.means, rows - len(before.theta), 0)
        self.simplex = before._replace(theta=theta, mass=mass, owners=owners, marks=marks, means=means)

    def _sweep(self, n_labels: int) -> None:
        self.rescaled += 1
        try:
            sweep(self.simplex, n_labels)
        finally:  # also where compiling it is interrupted: readers wait for an even number
            self.rescaled += 1

    # ------------------------------------------------------------------ learning
    def learn(
        self,
        rows: Rows,
        targets: Targets,
        labels: Sequence[Hashable],
        delay: int = 0,
        describe: object = None,
        advance: Callable[[int], None] | None = None,
    ) -> Told:
        """Learn rows in order; return flag, rank and loss of each round.

        `labels` are all labels after these rows; `advance(n)` is called with the number of rounds done.
        """
        n = len(rows.indptr) - 1
        told = new_told(n)
        rows = _double(rows)
        with self.lock:
            self._fit_to(len(labels), n)
            cursor = np.zeros(CURSOR, np.int64)
            for part in pieces(rows.indptr, PER_LABEL * len(labels), delay, advance):
                cursor[UNTIL] = part.stop
                self._run(rows, targets, len(labels), delay, told, cursor)
        return told

    def _run(self, rows: Rows, targets: Targets, n_labels: int, delay: int, told: Told, cursor: np.ndarray) -> None:
        longest = longest_row(rows)
        while True:
            learner = EntropicLearner(self.setting, self._scaling(), self.simplex, self.ledger, self.notes)
            learn_entropic(rows, targets, delay, learner, longest, n_labels, told, cursor)
            if cursor[WHY] == FULL:
                self._make_room(int(cursor[MISSING]))
            elif cursor[WHY] == DUE:
                self._sweep(n_labels)
            else:
                return

    # ------------------------------------------------------------------ reading
    def score(
        self, rows: Rows, labels: Sequence[Hashable], describe: object = None, current: bool = False
    ) -> np.ndarray:
        """Scores (rows, labels) by the weights learnt so far; by their mean where one is kept, unless `current`."""
        out = np.zeros((len(rows.indptr) - 1, len(labels)))
        rows, longest = _double(rows), longest_row(rows)
        with self.lock if self.average and not current else nullcontext():  # sums half gathered would make no sense
            for part in pieces(rows.indptr, PER_LABEL * len(labels)):
                some = Rows(rows.indptr[part.start : part.stop + 1], *rows[1:])
                self._score(some, longest, 0 if current else self.mean_over, out[part])
        return out

    def _score(self, rows: Rows, longest: int, mean_over: int, out: np.ndarray) -> None:
        while out.size:
            before, simplex = self.rescaled, self.simplex
            if simplex.labels.shape[1] >= out.shape[1]:
                score_entropic(rows, self._scaling(), simplex, self.ledger.counts, mean_over, longest, out)
            if before == self.rescaled and before % 2 == 0:
                break

    def read(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return features and scaled values of one row; feature 0 is the bias, column c is feature c + 1."""
        return super().read(_double(rows))

    def explain(self, rows: Rows, labels: Sequence[Hashable] = (), at: int = 0, describe: object = None) -> list[Share]:
        """What the features of one row add to the score of label `at`."""
        f, v = self.read(rows)
        return list(map(Share, f.tolist(), (v * self._weights(at, at + 1)[0, f]).tolist()))

    def coef(self) -> np.ndarray:
        """Weights (labels, features) on the simplex; with signs, the difference of each feature's two."""
        return self._weights(0, int(self.counts[LABELS]))[:, 1 : self.n_features + 1]

    def _weights(self, first: int, end: int) -> np.ndarray:
        """Weights of some labels on every feature, the bias first."""
        signs, simplex = 2 if self.geometry.signed else 1, self.simplex
        if self.mean_over:
            with self.lock:
                weights = mean_weights(self.simplex, self.simplex.labels[TOTAL], self.mean_over, slice(first, end))
            weights[:, : signs if self.bias == 0.0 else 0] = 0.0
            return weights[:, ::2] - weights[:, 1::2] if simplex.signed else weights
        n = int(simplex.used[0])
        theta = np.zeros((end - first, len(simplex.slots)))
        theta[:, simplex.owners[1 : n + 1]] = simplex.theta[1 : n + 1, first:end].T
        if self.bias == 0.0:  # not a coordinate then
            theta[:, :signs] = -np.inf
        weights = simplex_weights(theta, simplex.radius)
        return weights[:, ::2] - weights[:, 1::2] if simplex.signed else weights

    @property
    def dual(self) -> float:
        """The dual certificate, Σ λ m - Σ_r G(θ_r)."""
        simplex = self.simplex
        k = int(self.ledger.counts[LABELS])
        if simplex.n == 0 or k == 0:
            return float(self.ledger.sums[GAIN])
        logs = np.log(simplex.labels[TOTAL, :k]) + simplex.labels[SHIFT, :k] - np.log(simplex.n)
        return float(self.ledger.sums[GAIN] - simplex.radius * logs.sum())

    @property
    def n_learnt(self) -> int:
        """Coordinates whose weights have moved on their own."""
        return int(self.simplex.used[0])

    # ------------------------------------------------------------------ labels
    def with_labels(self, onto: np.ndarray, n_labels: int) -> Self:
        """A model in which the moves of label r are added to those of label onto[r], -1 to drop them."""
        with self.lock:
            before = self.simplex
            columns = max(n_labels, 1)
            means = renumbered(before.means, before.mass, int(before.used[0]), onto, columns)
            theta = np.zeros((len(before.theta), columns))
            for r, to in enumerate(onto):
                if to >= 0:
                    theta[:, to] += before.theta[:, r]
            labels = _fresh(before.n, columns)
            labels[TOUCHES] = SWEEP
            after = before._replace(theta=theta, mass=np.ones_like(theta), labels=labels, used=before.used.copy())
            sweep(after._replace(means=new_means(0, 0, False)), columns)
            after = after._replace(means=means)
            ledger = moved_ledger(self.ledger, onto, n_labels)
            twin = object.__new__(type(self))
            vars(twin).update(vars(self), simplex=after, ledger=ledger)
            return twin

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Labels, features and no names of label features, as far as they are known."""
        return int(self.ledger.counts[LABELS]), self.n_features, 0

    def cut(self, n_labels: int, n_features: int, n_names: int) -> None:
        """Forget labels that came after; nothing may have been learnt of them."""
        self.ledger.counts[LABELS] = n_labels

    def copy(self) -> Self:
        """A model of its own that knows the same."""
        twin = object.__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin

    # ------------------------------------------------------------------ keeping
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learnt, as plain arrays."""
        simplex, k = self.simplex, int(self.ledger.counts[LABELS])
        n = int(simplex.used[0]) + 1
        return kept_ledger(self.ledger) | {
            "n_features": np.array([self.n_features]),
            "notes": self.notes,
            "owners": simplex.owners[1:n].copy(),
            "theta": simplex.theta[:n, :k].copy(),
            "mass": simplex.mass[:n, :k].copy(),
            "sums": simplex.labels[:, :k].copy(),
            **kept_means(simplex.means, n, k),
            **self._statistics(self.n_features + 1),
        }

    def restore(self, arrays: dict[str, np.ndarray], names: Sequence[Hashable], n_labels: int) -> None:
        """Load what `arrays` describe after checking it; the arrays are copied."""
        ledger, owners, width = restored_label_ledger(arrays), arrays["owners"], arrays["n_features"]
        if ledger.counts[LABELS] != n_labels:
            raise ValueError("its counts do not fit its labels")
        if width.shape != (1,) or width[0] < 0:
            raise ValueError("its counts are damaged")
        fresh = self._empty(int(width[0]), n_labels)
        shape = (len(owners) + 1, n_labels)
        shapes = {"notes": self.notes.shape, "theta": shape, "mass": shape, "sums": (len(fresh.labels), n_labels)}
        check_arrays(arrays, {name: (expected, np.float64) for name, expected in shapes.items()})
        if owners.dtype != np.uint32 or len(np.unique(owners)) != len(owners):
            raise ValueError("its owners are damaged")
        if len(owners) and (int(owners.max()) >= len(fresh.slots) or len(owners) > fresh.n):
            raise ValueError("its owners point outside of it")
        if (arrays["mass"] < 0).any() or (arrays["sums"][TOTAL] <= 0).any():
            raise ValueError("its weights are damaged")
        self.ledger, self.n_features = ledger, int(width[0])
        self.notes = arrays["notes"].copy()
        self._restore_statistics(arrays, self.n_features + 1, 0)  # on a simplex nothing is forgotten
        fresh.slots[owners] = np.arange(1, len(owners) + 1)
        self.simplex = fresh._replace(
            owners=np.concatenate([np.zeros(1, np.uint32), owners]),
            theta=arrays["theta"].copy(),
            mass=arrays["mass"].copy(),
            labels=arrays["sums"].copy(),
            marks=np.zeros(len(owners) + 1, np.int64),
            used=np.array([len(owners), 0]),
            means=restored_means(arrays, *shape) if self.average else fresh.means,
        )
        self._fit_to(n_labels, 0)

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            kept = {"options": self.options, "arrays": self.arrays(), "told": self.told}
            return {"settings": (self.geometry, self.setting), **kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["settings"], **state["options"])  # type: ignore[misc]
        self.told = state["told"]
        self.restore(state["arrays"], (), int(state["arrays"]["ledger.counts"][LABELS]))


def beyond(n_features: int, width: int) -> str:
    """Why a column is refused."""
    return (
        f"geometry='entropy' spreads each label's weights over {n_features} features, fixed by the first rows or by "
        f"n_features=; got {width}. Give n_features={width} or more from the start, or use geometry='euclidean'."
    )


def _fresh(n: int, columns: int) -> np.ndarray:
    """Sums of columns with equal weights."""
    labels = np.zeros((6, columns))
    labels[TOTAL] = n
    return labels


def _double(rows: Rows) -> Rows:
    """The rows in double precision: exponentials need it."""
    return rows if rows.data.dtype == np.float64 else rows._replace(data=rows.data.astype(np.float64))
