"""Several right labels out of many: rank them above the others."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse

from hinged.estimators.base import LabelEstimator
from hinged.estimators.labels import as_label_sets, is_column
from hinged.loops.ledger import THRESHOLD

__all__ = ["Ranker"]


class Ranker(LabelEstimator):
    """Online multilabel ranker: every right label of a row should score above every other one.

    Takes the parameters of `Classifier`; `y` holds a collection of labels per row, or is an indicator matrix.
    A row without right labels, or with all of them, asks for nothing and counts as correct.

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

    _indicator: int | None = None  # columns of y where it is an indicator matrix
    _column: bool = False  # whether y is one column of labels

    def predict(self, X: Any) -> Any:
        """The labels above the threshold learnt so far: an indicator matrix where y was one, else sets.

        Where y was a single column of labels, so is the answer: the best label of each row.
        """
        labels = self._known()
        scores = self._scores(X, labels)
        if self._column:
            return self.classes_[np.argmax(scores, axis=1)].reshape(-1, 1)
        above = scores > self._fitted().ledger.sums[THRESHOLD]
        if self._indicator is not None:
            return above.astype(np.int64)
        return [{labels[r] for r in np.flatnonzero(row)} for row in above]

    def predict_one(self, x: Any) -> set[Hashable]:
        """The labels of one row above the threshold; empty before any is known."""
        if self._model is None:
            return set()
        labels = self._known()
        above = self._row_scores(x, labels) > self._model.ledger.sums[THRESHOLD]
        return {labels[r] for r in np.flatnonzero(above)}

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean average precision of the ranking (label ranking average precision)."""
        from sklearn.metrics import label_ranking_average_precision_score

        scores = self._scores(X)
        sets, _ = as_label_sets(y, len(scores))
        truth = np.array([[label in s for label in self._known()] for s in map(set, sets)], np.int64)
        return float(label_ranking_average_precision_score(truth, scores, sample_weight=sample_weight))

    def _answers(self, y: Any, n: int) -> list:
        sets, width = as_label_sets(y, n)
        if self._model is not None and width != self._indicator:
            kinds = [
                "label sets" if n is None else f"an indicator matrix of {n} columns" for n in (width, self._indicator)
            ]
            if width is not None and self._indicator is not None:
                raise ValueError(f"y has {width} columns, but earlier ones had {self._indicator}.")
            raise ValueError(f"y must stay of one kind; got {kinds[0]} after {kinds[1]}.")
        return sets

    def _check(self, X: Any, y: Any, sample_weight: Any, fitting: bool = False) -> Any:
        checked = super()._check(X, y, sample_weight, fitting)
        table = y if sparse.issparse(y) else np.asarray(y) if hasattr(y, "__array__") else None
        if table is not None and table.ndim == 2:
            self._column = is_column(table)
            self._indicator = None if self._column else table.shape[1]
        return checked

    def _known_answer(self, y: Any) -> None:
        """Label sets go the usual way."""

    def _flat(self, answers: list) -> tuple[np.ndarray, list]:
        indptr = np.concatenate([[0], np.cumsum([len(s) for s in answers], dtype=np.int64)]).astype(np.int64)
        return indptr, [label for s in answers for label in s]

    def _labels_of(self, answers: list) -> list:
        return self._labels_up_front(None) or list(dict.fromkeys(label for s in answers for label in s))

    def _labels_up_front(self, y: Any) -> list | None:
        """An indicator matrix names its labels by its columns."""
        return None if self._indicator is None else list(range(self._indicator))

    def _state(self) -> Any:
        about, arrays, names = super()._state()
        return about | {"indicator": self._indicator, "column": self._column}, arrays, names

    def _restore(self, about: Any, arrays: Any, names: Any) -> None:
        super()._restore(about, arrays, names)
        self._indicator, self._column = about["indicator"], about["column"]

    @staticmethod
    def _balanced(answers: list) -> dict:
        raise ValueError("class_weight='balanced' is for one label per row; give a dict of label → weight.")

    @staticmethod
    def _factor(answer: list, by_label: dict) -> float:
        return max((by_label.get(label, 1.0) for label in answer), default=1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags
