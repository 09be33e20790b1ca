"""A stream as the theorems see it: in each round the vectors V_r of the labels known so far, and which are right.

None of it depends on what a learner's weights are, so a fixed comparator is judged on the very rounds that the learner
met: rows scaled as it scales them, label features from the same statistics, labels known when it knew them. A round
that brings a label has constraints where the learner learns it, novel="learn": what the comparator loses there belongs
to the bound, though the learner's own mistake there is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import clone

from hinged.bounds.label_features import label_features
from hinged.bounds.trials import are_trials, trial_rounds
from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.estimators import Classifier, Ranker
from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.stream import read_stream
from hinged.estimators.trials import Trials
from hinged.loops.columns import NO_ROW_VECTORS, PER_LABEL, Columns, sq_distance
from hinged.loops.labels import Targets
from hinged.rules.table import positive
from hinged.tasks.labels import check_novel

__all__ = ["RoundArrays", "Stream", "as_arrays", "as_stream", "mark"]

Watchable: TypeAlias = LabelLearner | Trials
Truth: TypeAlias = Iterable | None  # the right answers; None where X holds raw trials

#: Settings of a learner that the bounds do not speak of, and why.
REFUSED = {
    "class_weight": "the bounds speak of rounds of equal weight; got a learner with class_weight. Set it to None.",
    "cost": "here every pair of labels has the same margin; got a learner with cost=. Use hinged.bounds.pa_theorem_10.",
    "half_life": "no theorem of the papers covers weights that fade; got a learner with half_life=. Set it to None.",
    "kernel": "the bounds are computed on weights of features; got a learner with kernel=. Use its dual_.",
}

#: Rows as they are, and no mean of the weights: what the papers' theorems are written for.
PLAIN: dict[str, Any] = {"scaling": None, "normalize": False, "average": False, "bias": 0.0}


class RoundArrays(NamedTuple):
    """The rounds of a stream, as compiled loops read them; matrices are (indptr, indices, data)."""

    X: tuple[np.ndarray, np.ndarray, np.ndarray]
    phi: tuple[np.ndarray, np.ndarray, np.ndarray]
    shared: bool  # True if there is a φ
    sq_norms: np.ndarray
    right: tuple[np.ndarray, np.ndarray]  # indptr and labels
    known: np.ndarray
    starts: np.ndarray
    columns: Columns


@dataclass(frozen=True)
class Stream:
    """Rounds with their constraints: every right label should score above every other one by `margin`.

    Made by `as_stream`. A round whose labels are all right or all wrong has no constraints; nor has one whose label is
    new, for a learner with novel="skip".

    Attributes
    ----------
    X : csr_array (rounds, features)
        Rows as the learner sees them: scaled, normalised, with the constant feature last where there is one.
    labels : list
        Every label, in the order of the learner's `classes_`.
    margin : float
        By how much a right label should win.
    """

    X: sparse.csr_array
    labels: list[Hashable]
    margin: float
    columns: Columns
    phi: (
        sparse.csr_array | None
    )  # csr_array: φ of each (round, label), a row each, in the order of `starts`; None without shared vectors
    n_parts: int
    right: Targets
    known: np.ndarray  # labels that each round is about: those known before it, and those it brings where it is learnt
    starts: np.ndarray  # where a round's labels begin in a list of all (round, label); none without constraints

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        return (
            f"Stream({len(self)} rounds, {int(self.constrained.sum())} with constraints, {len(self.labels)} labels, "
            f"{self.X.shape[1]} features)"
        )

    @cached_property
    def constrained(self) -> np.ndarray:
        """Which rounds have constraints."""
        return np.diff(self.starts) > 0

    @cached_property
    def right_places(self) -> np.ndarray:
        """Where the right labels of these rounds stand among all (round, label) pairs."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.right.indptr))
        kept = self.constrained[rows]
        return self.starts[rows[kept]] + self.right.labels[kept]

    @cached_property
    def rounds_of_pairs(self) -> np.ndarray:
        """The round of each (round, label) pair."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @property
    def n_columns(self) -> int:
        """How many vectors multiply the row itself: one per label, one per set, or none."""
        if self.columns.kind == PER_LABEL:
            return len(self.labels)
        return 0 if self.columns.kind == NO_ROW_VECTORS else int(self.columns.n)

    @property
    def phi_width(self) -> int:
        """Places of all shared vectors together."""
        return 0 if self.phi is None else int(self.phi.shape[1])

    def head(self, rounds: int) -> Stream:
        """The first rounds alone; labels and features stay."""
        n = min(max(0, rounds), len(self))
        right = Targets(self.right.indptr[: n + 1], self.right.labels[: self.right.indptr[n]], self.right.weights)
        return replace(
            self,
            X=self.X[:n],
            phi=None if self.phi is None else self.phi[: self.starts[n]],
            right=right,
            known=self.known[:n],
            starts=self.starts[: n + 1],
        )

    @cached_property
    def sq_norms(self) -> np.ndarray:
        """‖x‖² of each round."""
        return np.asarray(self.X.multiply(self.X).sum(axis=1), np.float64).ravel()

    @property
    def constraints(self) -> RoundArrays:
        """The rounds as compiled loops read them."""
        right = (self.right.indptr, self.right.labels)
        phi = sparse.csr_array((0, 0)) if self.phi is None else self.phi
        shared = self.phi is not None
        return RoundArrays(
            as_arrays(self.X), as_arrays(phi), shared, self.sq_norms, right, self.known, self.starts, self.columns
        )

    @cached_property
    def sq_lengths(self) -> np.ndarray:
        """The longest ‖V_r - V_s‖² of each round over right r and wrong s; 0 without constraints."""
        return np.asarray(_longest_pairs(self.constraints, False))

    @cached_property
    def sq_shortest(self) -> np.ndarray:
        """The shortest ‖V_r - V_s‖² of each round; infinity without constraints."""
        return -np.asarray(_longest_pairs(self.constraints, True))

    @cached_property
    def sq_blocks(self) -> np.ndarray:
        """The longest single block of each round, max ‖φ^τ(x, r)‖²; x itself where labels have vectors of their own."""
        blocks = np.where(self.constrained & (self.n_columns > 0), self.sq_norms, 0.0)
        if self.phi is not None:
            width = self.phi.shape[1] // self.n_parts
            for p in range(self.n_parts):
                part = self.phi[:, p * width : (p + 1) * width]
                each = np.asarray(part.multiply(part).sum(axis=1), np.float64).ravel()
                longest = np.maximum.reduceat(np.append(each, 0.0), np.minimum(self.starts[:-1], len(each)))
                blocks = np.maximum(blocks, np.where(self.constrained, longest, 0.0))
        return blocks

    @cached_property
    def spans(self) -> np.ndarray:
        """The largest value of each round's row less its smallest, zeros counted where the row has some."""
        return self._ends(lambda X: X.max(axis=1)) - self._ends(lambda X: X.min(axis=1))

    @cached_property
    def signed_spans(self) -> np.ndarray:
        """The same for rows joined with their negatives: twice the largest absolute value."""
        return 2.0 * self._ends(lambda X: abs(X).max(axis=1))

    def _ends(self, of_rows: Callable[[Any], Any]) -> np.ndarray:
        """One end of each row's values; 0 where a round has no constraints."""
        if self.X.shape[1] == 0:
            return np.zeros(len(self))
        return np.where(self.constrained, np.asarray(of_rows(self.X).todense()).ravel(), 0.0)

    @cached_property
    def n_pairs(self) -> np.ndarray:
        """Constraints of each round, right labels times wrong ones."""
        right = np.diff(self.right.indptr)
        return np.where(self.constrained, right * (self.known - right), 0)

    @property
    def most_vectors(self) -> int:
        """ρ of hypothesis sharing: how many vectors a label reads at most."""
        own = 1 if self.columns.kind == PER_LABEL else int(np.diff(self.columns.indptr).max(initial=0))
        return own + self.n_parts


def as_stream(
    X: Iterable, y: Truth = None, classes: object = None, *, like: Watchable | None = None, margin: float | None = None
) -> Stream:
    """Read rows and right answers as the rounds of a learner that starts from zero.

    Parameters
    ----------
    X, y : rows and right answers, in order
        Whatever the learner takes: dense or sparse matrices, data frames, dicts, texts; one label per row, or several.
        Raw trials are a list of pairs (X_t, y_t) with no y; u is then one vector (features,).
    classes : labels known from the start, optional
        Without them a label's first round has those that a learner with novel="learn" learns, or none with "skip".
    like : Classifier, Ranker, TextClassifier, TextRanker or Trials, optional
        Whose settings say how rows are read and weights shared; it is not changed. Without it, a `Classifier` that
        takes rows as they are, or such a `Ranker` where answers are sets, lists, tuples or a matrix.
    margin : float, optional
        By how much a right label should win; that of `like`, else 1.

    Examples
    --------
    >>> import numpy as np
    >>> as_stream(np.eye(3)[[0, 1, 0, 1]], ["a", "b", "a", "b"])
    Stream(4 rounds, 3 with constraints, 2 labels, 3 features)
    >>> trials = as_stream([(np.eye(2), [1, -1]), (np.eye(2)[:1], [1])])
    >>> trials.n_pairs.tolist(), trials.sq_lengths.tolist()
    ([2, 1], [1.0, 1.0])
    """
    if isinstance(like, Trials):
        return _as_trials(X, y, classes, _margin(margin, like.check_settings().step.margin))
    if like is None and are_trials(X):
        return _as_trials(X, y, classes, _margin(margin, 1.0))
    if y is None:
        raise ValueError("a stream needs the right answers: give X and y, or a list of trials (X_t, y_t).")
    if like is None:
        like = (Ranker if _are_sets(y) else Classifier)("pa1", 1.0, **PLAIN)
    for name, why in REFUSED.items():
        if getattr(like, name, None) is not None:
            raise ValueError(why)
    return _as_rounds(X, y, classes, like, margin)


def _margin(given: float | None, own: float) -> float:
    return own if given is None else positive("margin", given, "1 is usual")


def _as_rounds(X: Iterable, y: Iterable, classes: object, like: LabelLearner, margin: float | None) -> Stream:
    """The rounds of a learner of labels."""
    model = clone(like)
    margin = _margin(margin, model.check_settings().rule.margin)
    if not hasattr(like, "model_"):  # labels declared in advance, in their order
        for label in like.known_labels():
            model.declare([label])
    read = read_stream(model, X, y, classes)
    memory, right, labels = read.new_model(), read.targets, read.labels
    known = _known_before(right, read.n_known)
    if check_novel(model.novel):
        known = np.append(known[1:], len(labels)) if len(known) else known  # each label from its own round on
    constrained = _constrained(right, known)
    starts = np.concatenate([[0], np.cumsum(np.where(constrained, known, 0))]).astype(np.int64)
    indptr, columns, values = memory.scaled(read.rows)
    rows = sparse.csr_array((values, columns, indptr), shape=(len(known), memory.n_features + (memory.bias != 0.0)))
    phi = label_features(read, known, starts) if memory.plan.parts else None
    n_parts = len(memory.plan.parts)
    return Stream(rows, labels, margin, memory.columns_of(labels), phi, n_parts, right, known, starts)


def _as_trials(X: Iterable, y: Truth, classes: object, margin: float) -> Stream:
    if classes is not None:
        raise ValueError("the instances of a trial are +1 or -1, which are always known; leave classes out.")
    labels, phi, right, known, starts = trial_rounds(X, y)
    nowhere = Columns(NO_ROW_VECTORS, np.zeros(1, np.int64), np.zeros(0, np.int64), 0, False)
    rows = sparse.csr_array((len(known), phi.shape[1]), dtype=np.float64)
    return Stream(rows, labels, margin, nowhere, phi, 1, right, known, starts)


def _are_sets(y: object) -> bool:
    """Return True if answers are label sets: a matrix of several columns, or collections."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2:
        return bool(shape[1] > 1)
    first = next(iter(y), None) if hasattr(y, "__iter__") and not isinstance(y, str | bytes) else None
    return isinstance(first, set | frozenset | list | tuple | np.ndarray)


def _known_before(right: Targets, n_known: int) -> np.ndarray:
    """Labels known before each round: those declared, and all that came earlier, which appear in order."""
    n = len(right.indptr) - 1
    highest = np.full(n, n_known - 1)
    rows = np.repeat(np.arange(n), np.diff(right.indptr))
    np.maximum.at(highest, rows, right.labels)
    seen = np.maximum.accumulate(highest) + 1
    return np.concatenate([[n_known], seen[:-1]]).astype(np.int64) if n else np.zeros(0, np.int64)


def _constrained(right: Targets, known: np.ndarray) -> np.ndarray:
    """Rounds with a right label and a wrong one, all of them known."""
    n_right = np.diff(right.indptr)
    rows = np.repeat(np.arange(len(known)), n_right)
    novel = np.zeros(len(known), np.bool_)
    novel[rows[right.labels >= known[rows]]] = True
    return ~novel & (n_right > 0) & (n_right < known)


def as_arrays(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A sparse matrix as the loops read it."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64, copy=False)


@compiled(helper=True)
def mark(right: tuple[Ints, Ints], t: int, is_right: Bools, value: bool) -> None:
    """Mark the right labels of round `t`, or remove the marks; `right` is indptr and labels."""
    for j in range(right[0][t], right[0][t + 1]):
        is_right[right[1][j]] = value


@compiled
def _longest_pairs(rounds: RoundArrays, shortest: bool) -> Floats:
    """The longest ‖V_r - V_s‖² of each round; with `shortest` the shortest one, negated."""
    known, starts = rounds.known, rounds.starts
    out = np.full(known.shape[0], -np.inf if shortest else 0.0)
    is_right = np.zeros(max(1, np.max(known) if known.shape[0] else 1), np.bool_)
    sign = -1.0 if shortest else 1.0
    for t in range(known.shape[0]):
        if starts[t + 1] > starts[t]:
            mark(rounds.right, t, is_right, True)
            out[t] = _longest_pair(rounds, t, is_right[: known[t]], sign)
            mark(rounds.right, t, is_right, False)
    return out


@compiled(helper=True)
def _longest_pair(rounds: RoundArrays, t: int, is_right: Bools, sign: float) -> float:
    """The largest sign · ‖V_r - V_s‖² over right r and wrong s of one round."""
    columns, first, q = rounds.columns, rounds.starts[t], rounds.sq_norms[t]
    if columns.kind == PER_LABEL and not rounds.shared:
        return sign * 2.0 * q
    most = -np.inf
    for r in rounds.right[1][rounds.right[0][t] : rounds.right[0][t + 1]]:
        for s in range(is_right.shape[0]):
            if not is_right[s]:
                length = sq_distance(columns, q, r, s)
                if rounds.shared:
                    length += _sq_difference(rounds.phi, first + r, first + s)
                most = max(most, sign * length)
    return most


@compiled(helper=True)
def _sq_difference(matrix: tuple[Ints, Ints, Floats], a: int, b: int) -> float:
    """‖row a - row b‖² of a sparse matrix whose columns rise within a row."""
    indptr, indices, data = matrix
    total = 0.0
    i, j = indptr[a], indptr[b]
    while i < indptr[a + 1] or j < indptr[b + 1]:
        left = indices[i] if i < indptr[a + 1] else np.iinfo(np.int64).max
        right = indices[j] if j < indptr[b + 1] else np.iinfo(np.int64).max
        difference = 0.0
        if left <= right:
            difference += data[i]
            i += 1
        if right <= left:
            difference -= data[j]
            j += 1
        total += difference * difference
    return total
