"""Learners whose memory is past rows: the same calls as `LabelModel` and `VectorModel`, with a Mercer kernel below."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from hinged.estimators.kernel_rows import (
    Reading,
    as_dense,
    as_sparse,
    mostly_zeros,
    restore_means,
    restore_rows,
    room_for,
    rows_to_arrays,
    with_targets,
)
from hinged.estimators.options import OwnRule
from hinged.estimators.protocol import Advance, Describe
from hinged.loops.base import check_arrays, dual_of, restored_label_ledger
from hinged.loops.explain import Share
from hinged.loops.labels import Targets
from hinged.loops.ledger import (
    GAIN,
    LABELS,
    LEARNT,
    MISTAKES,
    NOVEL,
    PENALTY,
    ROUNDS,
    SQ_NORM,
    UPDATES,
    Told,
    kept_ledger,
    moved_ledger,
    new_ledger,
    new_notes,
    new_told,
    note_rounds,
)
from hinged.loops.memory import longer
from hinged.loops.row_scaler import RowScaler
from hinged.loops.rows import LEAST_NORM, LEAST_NORM_SINGLE, Dense, Rows, part_of
from hinged.loops.steps import Setting
from hinged.mercer.blocked import BLOCK, Machine
from hinged.mercer.expansion import TILE, Expansion, Held
from hinged.mercer.rounds import Constraints, LabelRounds, Rounds
from hinged.mercer.sparse import Sparse
from hinged.mercer.steps import Rule

__all__ = ["KernelLabelModel", "KernelModel", "KernelVectorModel"]

LEAST = {"float64": LEAST_NORM, "float32": LEAST_NORM_SINGLE}
#: Values of dense rows that are made at once.
AT_ONCE = 1 << 24


class KernelModel:
    """Past rows with their coefficients, and counts; subclasses say what a round is.

    Parameters
    ----------
    machine : Machine
        Empty, or what was learnt so far.
    setting, own
        The rule.
    reading : Reading
        What happens to rows before they are compared and kept.
    """

    functions = ()  # no label features of the user's own
    all_or_nothing = True  # a kernel may fail on any row, so calls are undone whole
    fixed_space = False
    bias = 0.0
    scaler: RowScaler | None = None  # of a model pickled when rows were kept as they came

    def __init__(self, machine: Machine, setting: Setting, own: OwnRule | None, reading: Reading) -> None:
        self.machine, self.setting, self.own = machine, setting, own
        self.dtype, (unit, scaling) = machine.dtype, reading
        self.scaler = None if scaling is None else RowScaler(self.dtype, scaling, unit)
        self.unit = unit and scaling is None  # a scaler divides rows itself
        self.ledger, self.notes = new_ledger(), new_notes()
        self.n_features = 0
        self.lock = threading.RLock()

    @property
    def rule(self) -> Rule:
        """The rule as the rounds read it."""
        s = self.setting
        return Rule(s.words, s.C, s.margin, s.uses_weight, self.own, LEAST[self.dtype.name], s.learns_new)

    # ------------------------------------------------------------------ rows
    def widen(self, n_features: int) -> None:
        """Admit columns up to `n_features`."""
        if n_features > self.n_features:
            with self.lock:
                self.machine.fit_to(n_features, self.machine.n_outputs)
                self.n_features = n_features
                if self.scaler is not None:
                    self.scaler.n_features = n_features

    def read(self, rows: Rows | Dense, machine: Machine, weights: np.ndarray | None = None) -> tuple[Any, np.ndarray]:
        """Rows as a machine keeps them, and the squared norm of what they hold beyond the known columns.

        Readers ask a copy of the machine, which no writer changes. Rows that are learnt come with their weights.
        """
        if self.scaler is not None:
            rows = self.scaler.scaled(rows) if weights is None else self.scaler.learn(rows, weights)
        if machine.sparse:
            return as_sparse(rows, self.n_features, self.dtype, self.unit), np.zeros(len(rows.indptr) - 1)
        return as_dense(rows, machine.n_features, self.dtype, self.unit)

    def _choose_storage(self, rows: Rows | Dense) -> None:
        """Keep rows sparse once wide rows come that are mostly zeros; there is no way back."""
        if not self.machine.sparse and mostly_zeros(rows, self.n_features) and self.machine.can_be_sparse:
            self.machine.make_sparse()

    def _portions(self, n: int, advance: Advance | None) -> int:
        """Rows to make dense at once: whole blocks."""
        width = 1 if self.machine.sparse else max(1, self.n_features)
        most = max(BLOCK, min(AT_ONCE, room_for(self.dtype)) // width // BLOCK * BLOCK)
        return most if advance is None else min(most, max(BLOCK, n // 200 // BLOCK * BLOCK))

    @property
    def tile(self) -> int | None:
        """Values of the kernel that a thread may hold, where scikit-learn's `working_memory` leaves less than usual."""
        room = room_for(self.dtype)
        return room if room < TILE else None

    def enter(self, rounds: Rounds) -> None:
        """Count what some rounds amounted to."""
        sums, flags = np.array([rounds.gain, rounds.sq_norm, rounds.penalty]), rounds.flags
        self.machine.check(sums)
        self.ledger.sums[[GAIN, SQ_NORM, PENALTY]] += sums
        counts = len(flags), rounds.learnt, (flags == 1).sum(), (flags == -1).sum(), rounds.updates
        self.ledger.counts[[ROUNDS, LEARNT, MISTAKES, NOVEL, UPDATES]] += np.array(counts, np.int64)

    # ------------------------------------------------------------------ asking
    @property
    def dual(self) -> float:
        """The dual certificate, Σ λ m - ½‖ω‖² (less Σ λ²/4C for pa2)."""
        return dual_of(self.ledger.sums)

    @property
    def counts(self) -> np.ndarray:
        """Rounds, mistakes and the like; see `hinged.loops.ledger`."""
        return self.ledger.counts

    def explain(
        self, rows: Rows | Dense, labels: Sequence[Hashable] = (), at: int = 0, describe: Describe | None = None
    ) -> list[Share]:
        """What past rounds, by their number, add to the score of label `at`, or to the only score."""
        machine = self.machine.copy()
        X, beyond = self.read(rows, machine)
        return [Share(t, value, True) for t, value in machine.shares(X[:1], at, float(beyond[0])).items()]

    @property
    def remembered(self) -> Held:
        """The remembered rows, their rounds and coefficients."""
        expansion = self.machine.shared if self.machine.own is None else self.machine.own
        assert expansion is not None
        return expansion.filled

    @property
    def n_learnt(self) -> int:
        """How many past rows are remembered."""
        return len(self.remembered.rounds)

    def support_vectors(self) -> np.ndarray | csr_array:
        """The remembered rows (steps, features); a sparse array, where rows are kept so."""
        rows = self.remembered.rows
        if not isinstance(rows, Sparse):
            return rows.copy()
        parts = rows.data.copy(), rows.indices.copy(), rows.indptr.copy()
        return csr_array(parts, shape=(len(rows), self.n_features))

    # ------------------------------------------------------------------ keeping
    def copy(self) -> Self:
        """A model of its own that knows the same; past rows are shared, because they never change."""
        twin = object.__new__(type(self))
        ledger = type(self.ledger)(*(array.copy() for array in self.ledger))
        vars(twin).update(vars(self), machine=self.machine.copy(), ledger=ledger, notes=self.notes.copy())
        twin.scaler = None if self.scaler is None else self.scaler.copy()
        return twin

    def _expansions(self) -> dict[str, Expansion]:
        named = {"own": self.machine.own, "shared": self.machine.shared}
        return {name: expansion for name, expansion in named.items() if expansion is not None}

    def _fit_to(self, n_labels: int) -> None:
        self.ledger = self.ledger._replace(records=longer(self.ledger.records, n_labels))

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learnt, as plain arrays."""
        found = kept_ledger(self.ledger) | {"notes": self.notes, "n_features": np.array([self.n_features])}
        for name, expansion in self._expansions().items():
            filled = expansion.filled
            found |= {f"{name}.coef": filled.coef, f"{name}.rounds": filled.rounds}
            found |= rows_to_arrays(name, filled.rows)
        if self.machine.means is not None:
            found |= {"means.sums": self.machine.means.sums, "means.counts": self.machine.means.counts}
        return found if self.scaler is None else found | self.scaler.arrays()

    def restore(self, arrays: dict[str, np.ndarray], names: Sequence[Hashable], n_labels: int) -> None:
        """Become what `arrays` described, if it makes sense; the arrays are copied."""
        ledger, notes = restored_label_ledger(arrays), {"notes": (self.notes.shape, self.notes.dtype)}
        check_arrays(arrays, notes | {"n_features": ((1,), np.int64)})
        if arrays["n_features"][0] < 0:
            raise ValueError("its counts are damaged")
        self.ledger, self.notes = ledger, arrays["notes"].copy()
        self._fit_to(n_labels)
        self.widen(int(arrays["n_features"][0]))
        if self.scaler is not None:
            self.scaler.restore(arrays, self.n_features, int(ledger.counts[LEARNT]))
        if "own.indptr" in arrays and self.machine.can_be_sparse:
            self.machine.make_sparse()
        self.machine.fit_to(self.n_features, self._outputs(n_labels))
        for name, expansion in self._expansions().items():
            restore_rows(name, expansion, arrays, self.n_features)
        if self.machine.means is not None:
            restore_means(self.machine.means, arrays["means.sums"], arrays["means.counts"], self.n_features)

    def _outputs(self, n_labels: int) -> int:
        return n_labels

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: value for name, value in vars(self).items() if name != "lock"} | {
                "machine": self.machine.copy()
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock())


class KernelLabelModel(KernelModel):
    """A learner on labels with a kernel."""

    names: dict[Hashable, int]
    label_rows: np.ndarray = np.zeros(0, np.int64)  # rows of each label are not counted here
    mean_over = 0  # no mean weights are kept

    def __init__(self, machine: Machine, setting: Setting, own: OwnRule | None, reading: Reading) -> None:
        super().__init__(machine, setting, own, reading)
        self.names = {}

    def declare(self, n_labels: int) -> None:
        """Make labels known before any of their rows came."""
        with self.lock:
            self.machine.fit_to(self.n_features, n_labels)
            self._fit_to(n_labels)
            self.ledger.counts[LABELS] = n_labels

    def learn(
        self,
        rows: Rows | Dense,
        targets: Targets,
        labels: Sequence[Hashable],
        delay: int = 0,
        describe: Describe | None = None,
        advance: Advance | None = None,
    ) -> Told:
        """Learn rows in order; return what is told of each round."""
        n = len(rows.indptr) - 1
        told = new_told(n)
        with self.lock:
            self._fit_to(len(labels))
            self._choose_storage(rows)
            step = 1 if delay > 0 else self._portions(n, advance)
            for first in range(-delay, n, step):
                judged = first + delay
                if delay > 0 and judged < n:  # what counts is the prediction, by the model of its moment
                    one = slice(judged, judged + 1)
                    self._judge(*with_targets(rows, targets, one), told.part(one))
                if first < 0:
                    continue
                part = slice(first, min(n, first + step))
                rounds = self._run(*with_targets(rows, targets, part), len(labels))
                if delay == 0:
                    rounds.tell(told.part(part))
                else:
                    rounds.flags[:] = told.flags[part]
                self.enter(rounds)
                if advance is not None:
                    advance(part.stop - first)
        return told

    def _rounds(self, targets: Targets) -> LabelRounds:
        first = targets.indptr[0]
        ids = targets.labels[first : targets.indptr[-1]]
        return LabelRounds(self.rule, targets.indptr - first, ids, targets.weights, int(self.ledger.counts[LABELS]))

    def _run(self, rows: Rows | Dense, targets: Targets, n_labels: int) -> LabelRounds:
        X, _ = self.read(rows, self.machine, targets.weights)
        rounds = self._rounds(targets)
        self.machine.learn(X, rounds, n_labels, int(self.ledger.counts[ROUNDS]), tile=self.tile)
        counts = self.ledger.counts
        counts[LABELS] = max(counts[LABELS], rounds.n_known)
        noted = slice(rounds.noted)
        note_rounds(self.ledger, *(each[noted] for each in rounds.predicted))
        return rounds

    def _judge(self, rows: Rows | Dense, targets: Targets, told: Told) -> None:
        """Tell of one row, learning nothing."""
        rounds = self._rounds(targets._replace(weights=np.zeros(1)))
        k = rounds.n_known
        X, beyond = self.read(rows, self.machine)
        rounds.decide(0, self.machine.scores(X, k, beyond)[0], 0.0)
        rounds.tell(told)

    def score(
        self, rows: Rows | Dense, labels: Sequence[Hashable], describe: Describe | None = None, current: bool = False
    ) -> np.ndarray:
        """Scores (rows, labels) by what is learnt so far."""
        n, machine = len(rows.indptr) - 1, self.machine.copy()
        out, step = np.zeros((n, len(labels))), self._portions(n, None)
        if not len(labels):
            return out
        for first in range(0, n, step):
            X, beyond = self.read(part_of(rows, slice(first, first + step)), machine)
            out[first : first + step] = machine.scores(X, len(labels), beyond, self.tile or TILE)
        return out

    # ------------------------------------------------------------------ labels
    @property
    def sizes(self) -> tuple[int, int, int]:
        """Labels, features and no names of label features, as far as they are known."""
        return int(self.ledger.counts[LABELS]), self.n_features, 0

    def cut(self, n_labels: int, n_features: int, n_names: int) -> None:
        """Forget labels that came after; nothing may have been learnt of them."""
        self.ledger.counts[LABELS] = n_labels

    def with_labels(self, onto: np.ndarray, n_labels: int) -> Self:
        """A model in which the coefficients of label r are added to those of label onto[r], -1 to drop them."""
        with self.lock:
            twin = self.copy()
            twin.machine.merge(onto, n_labels)
            twin.ledger, twin.lock = moved_ledger(self.ledger, onto, n_labels), threading.RLock()
            return twin


class KernelVectorModel(KernelModel):
    """A learner of two labels or of numbers with a kernel; `epsilon` is None for labels."""

    def __init__(self, machine: Machine, setting: Setting, epsilon: float | None, reading: Reading) -> None:
        super().__init__(machine, setting, None, reading)
        self.epsilon = epsilon

    def learn(
        self, rows: Rows | Dense, targets: np.ndarray, weights: np.ndarray, judged: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Learn rows in order; return each round's flag and loss. Rows not `judged` are only counted."""
        with self.lock:
            if not judged:
                rounds = Constraints(self.rule, targets, weights, self.epsilon)
                rounds.learnt = int(np.count_nonzero(weights)) if len(weights) else len(targets)
                if self.scaler is not None:
                    self.scaler.learn(rows, weights)
            else:
                self._choose_storage(rows)
                X, _ = self.read(rows, self.machine, weights)
                rounds = Constraints(self.rule, targets, weights, self.epsilon)
                self.machine.learn(X, rounds, 1, int(self.ledger.counts[ROUNDS]), tile=self.tile)
            self.enter(rounds)
        return rounds.flags, rounds.losses

    def score(self, rows: Rows | Dense, current: bool = False) -> np.ndarray:
        """f(x) of each row."""
        machine = self.machine.copy()
        X, beyond = self.read(rows, machine)
        return machine.scores(X, 1, beyond, self.tile or TILE)[:, 0]

    @property
    def sizes(self) -> tuple[int]:
        """Features that are known."""
        return (self.n_features,)

    def cut(self, n_features: int) -> None:
        """Nothing is kept of features that no row had."""

    def _outputs(self, n_labels: int) -> int:
        return 1
