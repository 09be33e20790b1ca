"""Asking a learner: scores, rankings, confidence, reasons; each answer by labels and weights of one moment."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import itemgetter
from typing import Any, cast

import numpy as np
from sklearn.exceptions import NotFittedError

from hinged.estimators.calibration import confidence_by_bin
from hinged.estimators.holding import at_one_moment
from hinged.estimators.kernel_model import KernelModel
from hinged.estimators.labels import LabelIndex
from hinged.estimators.reading import ReadsRows, one_row_of
from hinged.estimators.settings import whole
from hinged.loops.entropic import EntropicModel
from hinged.loops.explain import row_contributions, shared_contributions
from hinged.loops.labels import WEIGHTS
from hinged.loops.ledger import lead_bin
from hinged.loops.model import LabelModel
from hinged.loops.rows import Rows

__all__ = ["Answers"]

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
        return [[labels.labels[r] for r in order] for order in orders.tolist()]

    def rank_one(self, x: Any, top: int | None = None) -> list[Hashable]:
        """The labels from best to worst for one row; empty before any is known."""
        return [] if self._model is None else self.rank(self._one_row(x), top)[0]

    def score_gap(self, X: Any) -> np.ndarray:
        """Lead of each row's best label over the runner-up; 0 where there is no runner-up."""
        scores = self._scores(X)
        if scores.shape[1] < 2:
            return np.zeros(len(scores))
        best = np.partition(scores, scores.shape[1] - 2, axis=1)
        return best[:, -1] - best[:, -2]

    @at_one_moment
    def confidence(self, X: Any) -> np.ndarray:
        """Chance in [0, 1] that each row's best label is right, learnt online from earlier leads and hits."""
        by_bin = confidence_by_bin(*self._fitted()[1].ledger.leads)
        return by_bin[[lead_bin(gap) for gap in self.score_gap(X)]]

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
        rows = self._parse(self._one_row(x), grow=False).rows
        if isinstance(model, KernelModel):
            return list(model.influences(rows, at)[:top])
        if isinstance(model, EntropicModel):
            ids, values = model.contributions(rows, at)
            carrying = [(self._feature_name(f), value) for f, value in zip(ids.tolist(), values.tolist(), strict=True)]
            return sorted((c for c in carrying if c[1] != 0.0), key=lambda item: -abs(item[1]))[:top]
        parts: list[tuple[bool, Hashable]] = []  # whether it is a label feature of the user's own, and which

        def carried_by(mean_over: int) -> np.ndarray:
            found = self._contributions(model, rows, labels, at, mean_over)
            parts.extend(found if not parts else ())
            return np.array([found.get(part, 0.0) for part in parts])

        values = model.mean_of(carried_by).tolist()
        named = [
            (feature if own else self._feature_name(cast(int, feature)), value)
            for (own, feature), value in zip(parts, values, strict=True)
            if value != 0.0
        ]
        return sorted(named, key=lambda item: -abs(item[1]))[:top]

    def _contributions(
        self, model: LabelModel, rows: Rows, labels: Sequence[Hashable], at: int, mean_over: int
    ) -> dict[tuple[bool, Hashable], float]:
        """What the features of a row, and label features of the user's own, add to the score of one label."""
        held = [paged.view for paged in model.stores]
        columns, scaling, counts, k = model._columns_of(labels), model._scaling(), model.ledger.counts, len(labels)
        ids, values = row_contributions(rows, columns, scaling, held[WEIGHTS][0], counts, mean_over, k, at)
        found: dict[tuple[bool, Hashable], float] = {}
        for f, value in zip(ids.tolist(), values.tolist(), strict=True):
            found[False, f] = value
        if not model.plan.parts:
            return found
        explicit = model._explicit(rows, labels, self._describe, False) if model.functions else None
        parts = model._parts(labels, explicit, held)
        ids, values = shared_contributions(rows, scaling, parts, counts, mean_over, k, at)
        own_names = list(model.names)
        for f, value in zip(ids.tolist(), values.tolist(), strict=True):
            part: tuple[bool, Hashable] = (True, own_names[f - 1]) if model.functions else (False, f)
            found[part] = found.get(part, 0.0) + value
        return found

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of the known labels."""
        return self._scored(X)[2]

    @at_one_moment
    def _scored(self, X: Any) -> tuple[LabelIndex, LabelModel, np.ndarray]:
        """The labels, the model and its scores (rows, labels): an edit meanwhile replaces the first two, not these."""
        labels, model = self._fitted()
        return labels, model, model.score(self._parse(X, grow=False).rows, labels.labels, self._describe)

    def _scored_one(self, x: Any) -> tuple[Sequence[Hashable], LabelModel, np.ndarray]:
        """The labels of one moment, the model and its scores (labels,) for one row."""
        if type(x) is dict and self._names is not None and (quick := self._scored_dict(x)) is not None:
            return quick
        labels, model, scores = self._scored(self._one_row(x))
        return labels.labels, model, scores[0]

    def _scored_dict(self, x: dict) -> tuple[Sequence[Hashable], LabelModel, np.ndarray] | None:
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
