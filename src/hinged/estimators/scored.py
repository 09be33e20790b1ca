"""Scores of rows, with what turns them into answers: the labels, the threshold and the confidence of one moment."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from hinged.estimators.protocol import LabelModelLike
from hinged.loops.confidence import chances, new_odds
from hinged.loops.ledger import THRESHOLD

__all__ = ["Scored"]


class Scored(NamedTuple):
    """Scores of rows by the labels and weights of one moment.

    Attributes
    ----------
    labels : tuple
        The known labels.
    scores : array (rows, labels)
    threshold : float
        A label that scores above it is predicted by a `Ranker`.
    odds, records : arrays
        Of the best label to be right, by its lead and by which it is (`hinged.loops.confidence`).
    """

    labels: tuple[Hashable, ...]
    scores: np.ndarray
    threshold: float
    odds: np.ndarray
    records: np.ndarray

    @classmethod
    def by(cls, labels: tuple[Hashable, ...], model: LabelModelLike, scores: np.ndarray) -> Scored:
        """Scores with what the model knows of thresholds and confidence."""
        ledger = model.ledger
        records = ledger.records[: len(labels)].copy()
        return cls(labels, scores, float(ledger.sums[THRESHOLD]), ledger.odds.copy(), records)

    @classmethod
    def of_nothing(cls) -> Scored:
        """What is said of a row before anything is known."""
        return cls((), np.zeros((1, 0)), 0.0, new_odds(), np.zeros(0))

    @property
    def gap(self) -> np.ndarray:
        """Lead of each row's best label over the runner-up; 0 where there is no runner-up."""
        n_labels = self.scores.shape[1]
        if n_labels < 2:
            return np.zeros(len(self.scores))
        best = np.partition(self.scores, n_labels - 2, axis=1)
        return best[:, -1] - best[:, -2]

    @property
    def confidence(self) -> np.ndarray:
        """Chance in [0, 1] that each row's best label is right, estimated from earlier leads and hits."""
        if not self.labels:
            return np.full(len(self.scores), 0.5)
        return chances(self.odds, self.records, self.gap, self.scores.argmax(axis=1))

    def order(self, row: int = 0, top: int | None = None) -> list[int]:
        """Positions of the labels of one row from best to worst; ties go to the earlier label."""
        return np.argsort(-self.scores[row], kind="stable")[:top].tolist()

    def among(self, positions: Sequence[int]) -> Scored:
        """The scores of some of the labels alone, by their positions."""
        labels = tuple(self.labels[r] for r in positions)
        at = list(positions)
        return self._replace(labels=labels, scores=self.scores[:, at], records=self.records[at])
