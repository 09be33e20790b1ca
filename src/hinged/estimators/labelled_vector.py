"""Labels on one weight vector: new ones may appear, and a round that brings one is not counted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from hinged.compiling.arrays import Ints
from hinged.estimators.labels import LabelIndex, as_labels, in_order, to_declare
from hinged.estimators.parts import at_one_moment
from hinged.estimators.protocol import VectorModelLike
from hinged.estimators.reader import Answers, Checked
from hinged.estimators.vectors import VectorLearner, VectorSettled
from hinged.interface import not_fitted
from hinged.loops.ledger import MISTAKES, NOVEL
from hinged.loops.rows import Rows, part_of

__all__ = ["LabelledVector"]

FEW = 32  # labels that are quicker compared than looked up


class LabelledVector(VectorLearner):
    """One weight vector whose answers are labels."""

    novel: str = "skip"  # of a model pickled before the setting existed
    _before: ClassVar[dict[str, Any]] = {"novel": "skip"}

    def declare(self, labels: Iterable[Hashable]) -> Self:
        """Make labels known before any of their rows came."""
        with self._writing():
            known = self._labels or LabelIndex()
            self._admit([label for label in to_declare(labels) if label not in known.position])
        return self

    @abstractmethod
    def _admit(self, new: list[Hashable]) -> None:
        """Make labels known that are not, or refuse them all."""

    @abstractmethod
    def _after(self, known: list[Hashable], new: Hashable) -> list[Hashable]:
        """The known labels after one that is new; a ValueError says why it cannot join them."""

    # ------------------------------------------------------------------ learning
    def _refuse(self, answers: Answers, weights: np.ndarray) -> None:
        if self._encoded(answers) is not None:
            return
        known = list(self.known_labels())
        if len(weights):
            answers = [label for label, weight in zip(_plain(answers), weights, strict=True) if weight > 0]
        i = _first_new(known, answers, 0)
        while i < len(answers):
            known = self._after(known, _label_at(answers, i))
            i = _first_new(known, answers, i + 1)

    def _unrank(
        self, before: Sequence[Hashable], answers: Answers, weights: np.ndarray, delay: int, ranks: np.ndarray
    ) -> None:
        if len(before) > 1:
            return
        known = set(before)
        for t in range(len(answers)):
            fed = t - delay - 1
            if fed >= 0 and (not len(weights) or weights[fed] > 0):
                known.add(_label_at(answers, fed))
            if len(known) > 1:
                return
            if _label_at(answers, t) in known:
                ranks[t] = 0

    def _encoded(self, answers: Answers) -> Ints | None:
        """Positions of labels that are all known; None where one is not."""
        labels = self._labels
        if labels is None or not len(labels):
            return None
        if isinstance(answers, np.ndarray):
            if len(labels) <= FEW and labels.array().dtype.kind in "iub":
                return _compared(answers, labels.labels)
            answers = answers.tolist()
        try:
            return np.fromiter(map(labels.position.__getitem__, answers), np.int64, len(answers))
        except KeyError:
            return None

    def _run(self, rows: Rows, answers: Answers, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ids = self._encoded(answers)
        if ids is not None:
            return self._learn_known(rows, ids, weights)
        n, first = len(answers), 0
        flags, losses = np.zeros(n, np.int8), np.zeros(n)
        while first < n:
            end = _first_new(self.known_labels(), answers, first)
            known = slice(first, end)
            if end > first and (ids := self._encoded(answers[known])) is not None:
                flags[known], losses[known] = self._learn_known(part_of(rows, known), ids, weights[known])
            if end < n:
                new = slice(end, end + 1)
                flags[end] = -1
                self._learn_new(part_of(rows, new), _label_at(answers, end), weights[new])
            first = end + 1
        return flags, losses

    def _learn_known(self, rows: Rows, ids: Ints, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Learn rows whose labels are known; while there is one label, none can be wrong."""
        judged = len(self.known_labels()) > 1
        return self._learnt("model").learn(rows, self._targets(ids), weights, judged=judged)

    def _learn_new(self, row: Rows, label: Hashable, weight: np.ndarray) -> None:
        """A round that brings a label: it becomes known, its row is learnt where `novel` says so, nothing is judged."""
        target, judged = 0, False
        if not len(weight) or weight[0] > 0:
            self._admit([label])
            position = {} if self._labels is None else self._labels.position
            target, judged = position[label], self.novel == "learn" and len(position) > 1
        model = self._learnt("model")  # now: a new rank may bring one with more thresholds
        mistakes = model.counts[MISTAKES]
        model.learn(row, self._targets(np.array([target])), weight, judged=judged)
        model.counts[MISTAKES] = mistakes
        model.counts[NOVEL] += 1

    def _usual_answer(self, y: Any) -> np.ndarray | None:
        labels = self._labels
        if labels is None or len(labels) < 2:
            return None
        try:
            return self._targets(np.array([labels.position[y]]))
        except (KeyError, TypeError):
            return None

    @staticmethod
    def _targets(ids: Ints) -> np.ndarray:
        """Positions as the loop reads them."""
        return ids

    def _begin(self) -> None:
        """Labels that were declared need no preparation here."""

    def _expect(self, checked: Checked[VectorSettled]) -> None:
        self.declare(self._labels_of(checked.answers))

    def _expect_classes(self, classes: object, checked: Checked[VectorSettled]) -> None:
        if classes is not None:
            self.declare(to_declare(classes))

    # ------------------------------------------------------------------ answers
    @at_one_moment
    def decision_function(self, X: object) -> np.ndarray:
        """⟨w, x⟩ of each row, (rows,)."""
        return self._fitted().score(self._rows(X))

    @at_one_moment
    def predict_one(self, x: object) -> Hashable | None:
        """The label of one row; None before any is known."""
        labels, model, _ = self._parts
        if labels is None or model is None or not len(labels):
            return None
        score = model.score(self._row(x))
        return labels.labels[int(self._decided(score, model, len(labels))[0])]

    @at_one_moment
    def predict(self, X: object) -> np.ndarray:
        """The label of each row."""
        model, labels = self._fitted(), self._labels
        if labels is None or not len(labels):
            raise not_fitted("no label is known, so none can be predicted; learn some rows, or declare labels.")
        scores = model.score(self._rows(X))
        return labels.array()[self._decided(scores, model, len(labels))]

    @abstractmethod
    def _decided(self, scores: np.ndarray, model: VectorModelLike, n_labels: int) -> Ints:
        """Positions of the labels that scores stand for."""

    # ------------------------------------------------------------------ labels
    def _answers(self, y: object, n: int) -> Answers:
        if type(y) is np.ndarray and y.dtype.kind in "iub" and y.shape == (n,) and self.class_weight is None:
            return y
        return as_labels(y, n)

    def _one_answer(self, y: Hashable) -> list[Hashable]:
        return [y]

    def _labels_of(self, answers: Answers) -> list[Hashable]:
        return np.unique(answers).tolist() if isinstance(answers, np.ndarray) else in_order(answers)


def _compared(answers: np.ndarray, labels: Sequence[Hashable]) -> Ints | None:
    """Positions of numbers among a few labels; None where one is not among them."""
    ids, met = np.zeros(len(answers), np.int64), 0
    for i, label in enumerate(labels):
        is_it = answers == label
        met += int(np.count_nonzero(is_it))
        ids[is_it] = i
    return ids if met == len(answers) else None


def _first_new(known: Collection[Hashable], answers: Answers, first: int) -> int:
    """Where the first label that is not known stands, from a place on; the end where there is none."""
    few = 0 < len(known) <= FEW and all(isinstance(label, int) for label in known)
    if not isinstance(answers, np.ndarray) or not few:
        names = set(known)
        return next((i for i in range(first, len(answers)) if _label_at(answers, i) not in names), len(answers))
    size = FEW
    while first < len(answers):
        some = answers[first : first + size]
        lacks = np.logical_and.reduce([some != label for label in known])
        if lacks.any():
            return first + int(lacks.argmax())
        first, size = first + size, 2 * size
    return len(answers)


def _label_at(answers: Answers, i: int) -> Hashable:
    """A label as a plain Python value."""
    return answers[i].item() if isinstance(answers, np.ndarray) else answers[i]


def _plain(answers: Answers) -> Sequence[Hashable]:
    """Labels as plain Python values."""
    return answers.tolist() if isinstance(answers, np.ndarray) else answers
