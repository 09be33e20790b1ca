"""Several right labels out of many: rank them above the others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hinged.compiling.arrays import Ints
from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.label_sets import as_label_sets
from hinged.estimators.labels import LabelIndex, as_array
from hinged.estimators.learner import Learner, State
from hinged.estimators.options import SampleWeight
from hinged.estimators.parts import at_one_moment
from hinged.estimators.reader import Answers
from hinged.estimators.settings import Settled
from hinged.loops.ledger import THRESHOLD

__all__ = ["Ranker"]


class Ranker(LabelLearner):
    """Online multilabel ranker: every right label of a row should score above every other one.

    Takes the parameters of `Classifier`; `y` holds a collection of labels per row, or is an indicator matrix, whose
    columns stand for the labels 0, 1, ... or, in a data frame, for their names. Columns keep to their labels when those
    are renamed or merged; one that was removed is 0 until it is told again. A row without right labels, or with all of
    them, asks for nothing and counts as correct.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.Ranker(rule="simproj")
    >>> rows = [{"goal": 1, "vote": 1}, {"goal": 1}, {"vote": 1}]
    >>> for x, y in zip(rows * 2, [{"sport", "politics"}, {"sport"}, {"politics"}] * 2):
    ...     model.learn_one(x, y)
    >>> model.rank_one({"goal": 1}), model.predict_one({"goal": 1})
    (['sport', 'politics'], {'sport'})
    """

    task = "rank"

    _forgotten = (*Learner._forgotten, "_columns", "_column")
    _columns: dict[Hashable, Hashable] | None = None  # where y is an indicator matrix: its columns and their labels
    _column: bool = False  # whether y is one column of labels

    @at_one_moment
    def predict(self, X: object) -> np.ndarray | list[set[Hashable]]:
        """The labels above the threshold learnt so far: an indicator matrix where y was one, else sets.

        Where y was a single column of labels, so is the answer: the best label of each row.
        """
        labels, model, scores = self._scored(X)
        if self._column:
            return as_array(labels)[np.argmax(scores, axis=1)].reshape(-1, 1)
        above = scores > model.ledger.sums[THRESHOLD]
        if self._columns is None:
            return [{labels[r] for r in np.flatnonzero(row)} for row in above]
        place = {label: r for r, label in enumerate(labels)}
        absent = np.zeros(len(above), np.bool_)  # a label that was removed
        shown = [above[:, place[label]] if label in place else absent for label in self._columns.values()]
        return np.stack(shown, axis=1).astype(np.int64)

    def predict_one(self, x: object) -> set[Hashable]:
        """The labels of one row above the threshold; empty before any is known."""
        if self._model is None:
            return set()
        labels, model, scores = self._scored_one(x)
        return {labels[r] for r in np.flatnonzero(scores > model.ledger.sums[THRESHOLD]).tolist()}

    @at_one_moment
    def score(self, X: object, y: object, sample_weight: SampleWeight = None) -> float:
        """Mean average precision of the ranking (label ranking average precision)."""
        from sklearn.metrics import label_ranking_average_precision_score

        labels, _, scores = self._scored(X)
        sets = map(set, as_label_sets(y, len(scores), self._columns, self._column).sets)
        truth = np.array([[label in right for label in labels] for right in sets], np.int64)
        return float(label_ranking_average_precision_score(truth, scores, sample_weight=sample_weight))

    def check_settings(self) -> Settled:
        """Check every setting, by name; return what they stand for. A ValueError says what was wrong."""
        if self.cost is not None:
            raise ValueError(
                "cost is for one right label per row, so for a Classifier; a Ranker has none. Leave it out."
            )
        return super().check_settings()

    def _answers(self, y: object, n: int) -> list[list[Hashable]]:
        told = as_label_sets(y, n, self._columns, self._column)
        if self._model is not None and (told.columns is None) != (self._columns is None):
            raise ValueError(f"y must stay of one kind; got {_kind(told.columns)} after {_kind(self._columns)}.")
        self._columns, self._column = told.columns, self._column or told.single
        return told.sets

    def _one_answer(self, y: object) -> object:
        """A row of an indicator matrix where that is how this model was taught, else a collection of labels."""
        if self._columns is not None and getattr(y, "ndim", 0) == 1 and hasattr(y, "reshape"):
            return y.reshape(1, -1)
        return [y]

    def _known_answer(self, y: object, labels: LabelIndex) -> None:
        """Label sets have no quick path."""

    def _flat(self, answers: Answers) -> tuple[Ints, Sequence[Hashable]]:
        indptr = np.concatenate([[0], np.cumsum([len(s) for s in answers], dtype=np.int64)]).astype(np.int64)
        return indptr, [label for s in answers for label in s]

    def _labels_of(self, answers: Answers) -> list[Hashable]:
        return self._up_front(None) or list(dict.fromkeys(label for s in answers for label in s))

    def _up_front(self, classes: list[Hashable] | None) -> list[Hashable] | None:
        """Labels to declare before a batch: those given, or those that the columns of an indicator stand for."""
        if self._columns is None or self._model is not None:
            return classes
        own = list(self._columns.values())
        others = [label for label in (*self.known_labels(), *(classes or ())) if label not in own]
        if others:
            raise ValueError(
                f"the columns of y stand for the labels {own[:10]!r}, but {others[:10]!r} were declared. "
                "Give y as label sets, or as a data frame whose columns are named by the labels."
            )
        return own

    def _renamed(self, old: Hashable, new: Hashable) -> dict[str, object]:
        """The column of a label that got another name, or was joined to another, stands for that one."""
        if self._columns is None:
            return {}
        return {"_columns": {name: new if label == old else label for name, label in self._columns.items()}}

    def _state(self) -> State:
        about, arrays, names = super()._state()
        if self._columns is not None:
            names |= {"columns": list(self._columns), "column_labels": list(self._columns.values())}
        return about | {"column": self._column}, arrays, names

    def _restore(self, about: dict[str, Any], arrays: dict[str, np.ndarray], names: dict[str, list[Hashable]]) -> None:
        super()._restore(about, arrays, names)
        self._column = about["column"]
        if about.get("indicator") is not None:  # files of version 1 knew how many there are, no more
            self._columns = {c: c for c in range(about["indicator"])}
        if "columns" in names:
            self._columns = dict(zip(names["columns"], names["column_labels"], strict=True))

    @staticmethod
    def _balanced(answers: Answers) -> dict[Hashable, float]:
        raise ValueError("class_weight='balanced' is for one label per row; give a dict of label → weight.")

    @staticmethod
    def _factor(answer: list[Hashable], by_label: dict[Hashable, float]) -> float:
        return max((by_label.get(label, 1.0) for label in answer), default=1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


def _kind(columns: dict[Hashable, Hashable] | None) -> str:
    return "label sets" if columns is None else f"an indicator matrix of {len(columns)} columns"
