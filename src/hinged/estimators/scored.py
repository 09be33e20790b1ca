"""Scores of rows, with what turns them into answers: the labels, the threshold and the confidence of one moment."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from hinged.estimators.protocol import LabelModelLike
from hinged.loops.ledger import THRESHOLD, lead_bins

__all__ = ["Scored", "confidence_by_bin"]

PRIOR_ROUNDS = 2.0


class Scored(NamedTuple):
    """Scores of rows by the labels and weights of one moment.

    Attributes
    ----------
    labels : tuple
        The known labels.
    scores : array (rows, labels)
    threshold : float
        A label that scores above it is predicted by a `Ranker`.
    leads : array (2, bins)
        Earlier rounds, and those predicted right, by the lead of the best label.
    """

    labels: tuple[Hashable, ...]
    scores: np.ndarray
    threshold: float
    leads: np.ndarray

    @classmethod
    def by(cls, labels: tuple[Hashable, ...], model: LabelModelLike, scores: np.ndarray) -> Scored:
        """Scores with what the model knows of thresholds and confidence."""
        return cls(labels, scores, float(model.ledger.sums[THRESHOLD]), model.ledger.leads.copy())

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
        return confidence_by_bin(*self.leads)[lead_bins(self.gap)]

    def order(self, row: int = 0, top: int | None = None) -> list[int]:
        """Positions of the labels of one row from best to worst; ties go to the earlier label."""
        return np.argsort(-self.scores[row], kind="stable")[:top].tolist()

    def among(self, positions: Sequence[int]) -> Scored:
        """The scores of some of the labels alone, by their positions."""
        labels = tuple(self.labels[r] for r in positions)
        return self._replace(labels=labels, scores=self.scores[:, list(positions)])


def confidence_by_bin(rounds: np.ndarray, hits: np.ndarray) -> np.ndarray:
    """Share of hits by bin of the lead, made to rise with it (pool adjacent violators).

    Each bin starts from two rounds at the overall share of hits, so an empty bin has the overall share.

    Examples
    --------
    >>> confidence_by_bin(np.array([10.0, 10.0, 10.0]), np.array([6.0, 4.0, 10.0])).round(2).tolist()
    [0.53, 0.53, 0.94]
    """
    hits, rounds = hits.copy(), rounds.copy()
    hits = np.minimum(hits, rounds)  # a concurrent writer may have counted a hit and not yet its round
    overall = (hits.sum() + 1.0) / (rounds.sum() + 2.0)
    weights = rounds + PRIOR_ROUNDS
    pooled: list[list[float]] = []  # [share, weight, bins]
    for share, weight in zip((hits + PRIOR_ROUNDS * overall) / weights, weights, strict=True):
        pooled.append([share, weight, 1])
        while len(pooled) > 1 and pooled[-2][0] > pooled[-1][0]:
            share_b, weight_b, bins_b = pooled.pop()
            share_a, weight_a, bins_a = pooled.pop()
            weight = weight_a + weight_b
            pooled.append([(share_a * weight_a + share_b * weight_b) / weight, weight, bins_a + bins_b])
    return np.repeat([share for share, _, _ in pooled], [int(bins) for _, _, bins in pooled])
