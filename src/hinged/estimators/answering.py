"""Asking a learner: scores, rankings, confidence, reasons; each answer by labels and weights of one moment."""

from __future__ import annotations

from collections.abc import Hashable
from operator import itemgetter
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from hinged.estimators.holding import at_one_moment
from hinged.estimators.labels import LabelIndex
from hinged.estimators.reading import ReadsRows, one_row_of
from hinged.estimators.scored import Scored
from hinged.estimators.settings import whole
from hinged.loops.ledger import THRESHOLD
from hinged.loops.model import LabelModel
from hinged.loops.rows import Rows

__all__ = ["Answers", "as_scored"]

LABELS_MODEL_AND_NAMES = itemgetter("_held", "_names")  # one step to other threads


class Answers(ReadsRows):
    """What `Classifier` and `Ranker` can be asked alike."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of every known label, (rows, labels) in the order of `classes_`."""
        return self._scores(X)

    def rank(self, X: Any, top: int | None = None) -> list[list[Hashable]]:
        """The labels of each row from best to worst (the best `top` of them); ties go to the earlier label."""
        top = None if top is None else whole("top", top, 1)
        labels, _, scores = self._scored(X)
        orders = np.argsort(-scores, kind="stable", axis=1)[:, :top]
        return [[labels[r] for r in order] for order in orders.tolist()]

    def rank_one(self, x: Any, top: int | None = None) -> list[Hashable]:
        """The labels from best to worst for one row; empty before any is known."""
        return [] if self._model is None else self.rank(self._one_row(x), top)[0]

    def score_gap(self, X: Any) -> np.ndarray:
        """Lead of each row's best label over the runner-up; 0 where there is no runner-up."""
        return self.scored(X).gap

    def confidence(self, X: Any) -> np.ndarray:
        """Chance in [0, 1] that each row's best label is right, estimated online from earlier leads and hits."""
        return self.scored(X).confidence

    def scored(self, X: Any) -> Scored:
        """Scores of rows, with the labels, the threshold and the confidence of the same moment.

        Examples
        --------
        >>> import hinged
        >>> model = hinged.Classifier().fit([[1.0, 0.0], [0.0, 1.0]] * 4, ["a", "b"] * 4)
        >>> found = model.scored([[1.0, 0.0]])
        >>> found.labels, found.scores.tolist(), [found.labels[r] for r in found.order(0)]
        (('a', 'b'), [[0.5, -0.5]], ['a', 'b'])
        """
        return as_scored(*self._scored(X))

    def scored_one(self, x: Any) -> Scored:
        """`scored` for one row: its scores are an array (1, labels)."""
        labels, model, scores = self._scored_one(x)
        return as_scored(labels, model, scores[None, :])

    def read(self, X: Any) -> Rows:
        """Rows as the loops read them before scaling: compressed rows of column numbers and values.

        Nothing is learnt of them; a column that the model does not know is beyond its `n_features`.
        """
        return self._parse(X, grow=False).rows

    @at_one_moment
    def explain(self, x: Any, label: Hashable, top: int | None = 10) -> list[tuple[Hashable, float]]:
        """The features of a row that carry a label's score, signed, largest first; all of them sum to the score.

        With a kernel, the past rounds that carry it, by their number from 0: the most influential examples.

        Parameters
        ----------
        x : dict, 1-D array or sparse row
        label : a known label
        top : how many, None for all

        Examples
        --------
        >>> import hinged
        >>> model = hinged.Classifier(C=0.5)
        >>> for x, y in [({"tax": 1, "the": 1}, "work"), ({"cake": 1, "the": 1}, "home"), ({"tax": 1}, "work")]:
        ...     model.learn_one(x, y)
        >>> model.explain({"tax": 2}, "work")
        [('tax', 1.0)]
        """
        top = None if top is None else whole("top", top, 1)
        index, model = self._fitted()
        at, labels = index.find(label), index.labels
        shares = model.explain(self._parse(self._one_row(x), grow=False).rows, labels, at, self._describe)
        return self._largest(shares, top)

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of the known labels."""
        return self._scored(X)[2]

    @at_one_moment
    def _scored(self, X: Any) -> tuple[tuple[Hashable, ...], LabelModel, np.ndarray]:
        """The labels, the model and its scores (rows, labels): an edit meanwhile replaces the first two, not these."""
        labels, model = self._fitted()
        known = labels.labels
        return known, model, model.score(self._parse(X, grow=False).rows, known, self._describe)

    def _scored_one(self, x: Any) -> tuple[tuple[Hashable, ...], LabelModel, np.ndarray]:
        """The labels of one moment, the model and its scores (labels,) for one row."""
        if type(x) is dict and self._names is not None and (quick := self._scored_dict(x)) is not None:
            return quick
        labels, model, scores = self._scored(self._one_row(x))
        return labels, model, scores[0]

    def _scored_dict(self, x: dict) -> tuple[tuple[Hashable, ...], LabelModel, np.ndarray] | None:
        """The same for a dict of plain numbers, as streams have them; None where it needs a closer look.

        All that the answer depends on is taken in one step, as by `at_one_moment`, without a copy of the learner.
        """
        try:
            (labels, model), names = LABELS_MODEL_AND_NAMES(self.__dict__)
        except KeyError:  # forgotten meanwhile
            return None
        if labels is None or model is None or names is None or model.functions:
            return None
        row = one_row_of(model, x, names, grow=False)
        known = labels.labels
        return None if row is None else (known, model, model.score(row[0], known)[0])

    def _fitted(self) -> tuple[LabelIndex, LabelModel]:
        labels, model = self._held
        if labels is None or model is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has learnt nothing. "
                "Call fit, partial_fit or learn_one first."
            )
        return labels, model


def as_scored(labels: tuple[Hashable, ...], model: LabelModel, scores: np.ndarray) -> Scored:
    """Scores with what the model knows of thresholds and confidence."""
    ledger = model.ledger
    return Scored(labels, scores, float(ledger.sums[THRESHOLD]), ledger.leads.copy())
