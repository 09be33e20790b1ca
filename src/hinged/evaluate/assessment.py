"""How well a model predicts labels and label sets: accuracy, confusion, precision and recall, ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinged.evaluate.metrics import RankingMetrics, ranking_metrics

__all__ = ["Assessment", "LabelScore"]


@dataclass(frozen=True)
class LabelScore:
    """How a model does on one label."""

    label: Hashable
    precision: float  # of the times it was predicted, how often it was right
    recall: float  # of the times it was right, how often it was predicted
    f1: float  # their harmonic mean
    support: int  # how often it was right
    predicted: int  # how often it was predicted


@dataclass
class Assessment:
    """Counts of predicted and right labels.

    Attributes
    ----------
    ranks_sets : bool
        Examples have sets of labels.
    examples, counted, mistakes : int
        A mistake is a wrong label, or a set of labels not ranked above all others.
    unseen : int
        Examples with a label the model did not know: not counted if the model learns it next, else a mistake.
    unopposed : int
        Examples that cannot be predicted wrongly, because no label is right or none is wrong: not counted.
    unlabelled, skipped : int
        Examples without an answer, and malformed ones; both left out.
    pairs : Counter of (right, predicted)
        Of single labels.
    seconds : float
    flags, ranks, confidence : list of arrays
        By example, if kept: 1 mistake, 0 correct, -1 not counted; rank of the best right label, from 1;
        confidence in the best label.
    """

    ranks_sets: bool
    keep: bool = False
    examples: int = 0
    counted: int = 0
    mistakes: int = 0
    unseen: int = 0
    unopposed: int = 0
    unlabelled: int = 0
    skipped: int = 0
    updates: int = 0
    seconds: float = 0.0
    labels: list[Hashable] = field(default_factory=list)
    pairs: Counter[tuple[Hashable, Hashable]] = field(default_factory=Counter)
    by_rank: Counter[int] = field(default_factory=Counter)
    given: Counter[Hashable] = field(default_factory=Counter)
    said: Counter[Hashable] = field(default_factory=Counter)
    hit: Counter[Hashable] = field(default_factory=Counter)
    sums: np.ndarray = field(default_factory=lambda: np.zeros(4))
    ranked: int = 0
    flags: list[np.ndarray] = field(default_factory=list)
    ranks: list[np.ndarray] = field(default_factory=list)
    confidence: list[np.ndarray] = field(default_factory=list)

    # ------------------------------------------------------------------ counting
    def add(
        self, flags: np.ndarray, ranks: np.ndarray, truth: list[Any], predicted: list[Any], confidence: np.ndarray
    ) -> None:
        """Count examples: their flags and ranks, the right answers, and those predicted."""
        counted = (flags == 1) | ((flags == 0) & (ranks != 0))
        self.examples += len(flags)
        self.unopposed += int(((flags == 0) & (ranks == 0)).sum())
        self.counted += int(counted.sum())
        self.mistakes += int((flags == 1).sum())
        values, times = np.unique(ranks[counted], return_counts=True)
        for rank, n in zip(values.tolist(), times.tolist(), strict=True):
            self.by_rank[rank] += n
        for right, says, counts in zip(truth, predicted, counted.tolist(), strict=True):
            if not counts:
                continue
            if self.ranks_sets:
                right, says = set(right), set(says)
                self.given.update(right)
                self.said.update(says)
                self.hit.update(right & says)
            else:
                self.pairs[right, says] += 1
        if self.keep:
            self.flags.append(flags.astype(np.int8))
            self.ranks.append(ranks.astype(np.int32))
            self.confidence.append(confidence)

    def add_rankings(self, scores: np.ndarray, right: np.ndarray, known: np.ndarray | None = None) -> None:
        """Sum up ranking metrics of label sets."""
        self.sums += [values.sum() for values in ranking_metrics(scores, right, known)]
        self.ranked += len(scores)

    # ------------------------------------------------------------------ figures
    @property
    def accuracy(self) -> float | None:
        """Share of counted examples without a mistake; None if none was counted."""
        return 1.0 - self.mistakes / self.counted if self.counted else None

    def top(self, k: int) -> float | None:
        """Share of counted examples whose (best) right label was among the first `k`."""
        if not self.counted:
            return None
        return sum(n for rank, n in self.by_rank.items() if 0 < rank <= k) / self.counted

    @property
    def ranking(self) -> RankingMetrics | None:
        """Means of the ranking metrics; None for single labels."""
        return RankingMetrics(*(self.sums / self.ranked).tolist()) if self.ranks_sets and self.ranked else None

    def by_label(self) -> list[LabelScore]:
        """Precision, recall and F1 of every label, the most frequent first."""
        given, said, hit = self.given, self.said, self.hit
        if not self.ranks_sets:
            given, said, hit = Counter(), Counter(), Counter()
            for (right, says), n in self.pairs.items():
                given[right] += n
                said[says] += n
                if right == says:
                    hit[right] += n
        scores = []
        for label in sorted({*given, *said}, key=lambda label: (-given[label], str(label))):
            precision = hit[label] / said[label] if said[label] else 0.0
            recall = hit[label] / given[label] if given[label] else 0.0
            f1 = 2 * hit[label] / (given[label] + said[label])
            scores.append(LabelScore(label, precision, recall, f1, given[label], said[label]))
        return scores

    def averages(self) -> dict[str, LabelScore]:
        """Means over labels: each alike ("macro"), or by how often it occurs ("weighted"), as scikit-learn has them."""
        scores = self.by_label()
        out = {}
        for name, weights in {"macro": [1.0] * len(scores), "weighted": [float(s.support) for s in scores]}.items():
            total = sum(weights) or 1.0
            precision, recall, f1 = (
                (
                    sum(w * value for w, value in zip(weights, values, strict=True)) / total
                    for values in zip(*((s.precision, s.recall, s.f1) for s in scores), strict=True)
                )
                if scores
                else (0.0, 0.0, 0.0)
            )
            support, predicted = sum(s.support for s in scores), sum(s.predicted for s in scores)
            out[name] = LabelScore(f"{name} average", precision, recall, f1, support, predicted)
        return out

    def confusions(self, most: int | None = None) -> list[tuple[Hashable, Hashable, int]]:
        """Wrong answers as (right, predicted, times), the most frequent first."""
        wrong = [(right, says, n) for (right, says), n in self.pairs.items() if right != says]
        return sorted(wrong, key=lambda c: (-c[2], str(c[0]), str(c[1])))[:most]
