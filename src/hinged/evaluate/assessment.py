"""How well a model does: labels and label sets, answers of one weight vector, tags of sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinged.evaluate.metrics import RankingMetrics, ranking_metrics
from hinged.evaluate.progressive import counted_rounds
from hinged.evaluate.spans import spans

__all__ = ["Assessment", "LabelScore", "TagAssessment", "VectorAssessment", "scores_of_pairs"]


@dataclass(frozen=True)
class LabelScore:
    """How a model does on one label."""

    label: Hashable
    precision: float  # of the times it was predicted, how often it was right
    recall: float  # of the times it was right, how often it was predicted
    f1: float  # their harmonic mean
    support: int  # how often it was right
    predicted: int  # how often it was predicted


def scores_of_pairs(pairs: Mapping[tuple[Hashable, Hashable], int]) -> list[LabelScore]:
    """Scores of every label, the most frequent first, from counts of (right, predicted)."""
    given, said, hit = Counter[Hashable](), Counter[Hashable](), Counter[Hashable]()
    for (right, predicted), n in pairs.items():
        given[right] += n
        said[predicted] += n
        if right == predicted:
            hit[right] += n
    return _scores(given, said, hit)


def _scores(given: Counter[Hashable], said: Counter[Hashable], hit: Counter[Hashable]) -> list[LabelScore]:
    scores = []
    for label in sorted({*given, *said}, key=lambda label: (-given[label], str(label))):
        precision = hit[label] / said[label] if said[label] else 0.0
        recall = hit[label] / given[label] if given[label] else 0.0
        f1 = 2 * hit[label] / (given[label] + said[label])
        scores.append(LabelScore(label, precision, recall, f1, given[label], said[label]))
    return scores


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
        counted = counted_rounds(flags, ranks)
        self.examples += len(flags)
        self.unopposed += int((~counted & (flags == 0)).sum())
        self.counted += int(counted.sum())
        self.mistakes += int((flags == 1).sum())
        self.by_rank.update(ranks[counted].tolist())
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
        return _scores(self.given, self.said, self.hit) if self.ranks_sets else scores_of_pairs(self.pairs)

    def averages(self) -> dict[str, LabelScore]:
        """Means over labels: each alike ("macro"), or by how often it occurs ("weighted"), as scikit-learn has them."""
        scores = self.by_label()
        support, predicted = sum(s.support for s in scores), sum(s.predicted for s in scores)
        out = {}
        for name, weights in {"macro": [1.0] * len(scores), "weighted": [float(s.support) for s in scores]}.items():
            total = sum(weights) or 1.0
            precision, recall, f1 = (
                sum(w * getattr(s, measure) for w, s in zip(weights, scores, strict=True)) / total
                for measure in ("precision", "recall", "f1")
            )
            out[name] = LabelScore(f"{name} average", precision, recall, f1, support, predicted)
        return out

    def confusions(self, most: int | None = None) -> list[tuple[Hashable, Hashable, int]]:
        """Wrong answers as (right, predicted, times), the most frequent first."""
        wrong = [(right, says, n) for (right, says), n in self.pairs.items() if right != says]
        return sorted(wrong, key=lambda c: (-c[2], str(c[0]), str(c[1])))[:most]

    def as_dict(self) -> dict[str, object]:
        """The figures by name, as plain data."""
        means = self.averages()
        return {
            **_named(self, "examples", "counted", "mistakes", "accuracy"),
            "top": {str(k): self.top(k) for k in (1, 3, 5)},
            "ranking": None if self.ranking is None else self.ranking._asdict(),
            **_named(self, "unseen", "unopposed", "unlabelled", "skipped", "seconds"),
            "labels": [vars(score) for score in self.by_label()],
            **{kind: _named(score, "precision", "recall", "f1") for kind, score in means.items()},
            "confusion": [
                {"label": right, "predicted": says, "times": n}
                for (right, says), n in sorted(self.pairs.items(), key=lambda pair: str(pair[0]))
            ],
        }


@dataclass
class VectorAssessment:
    """How well a model of one score does.

    Attributes
    ----------
    task : str
    examples, skipped, unlabelled : int
    truth, predicted : list
        Right answers and predictions, in order; None is the truth of outliers.
    ranks : list
        The known labels from low to high.
    seconds : float
    """

    task: str
    truth: list[Any] = field(default_factory=list)
    predicted: list[Any] = field(default_factory=list)
    skipped: int = 0
    unlabelled: int = 0
    ranks: list[Any] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def examples(self) -> int:
        """Examples judged."""
        return len(self.predicted)

    def figures(self) -> dict[str, float]:
        """The measures of the task, by name.

        Examples
        --------
        >>> VectorAssessment("regress", [1.0, 3.0], [2.0, 3.0]).figures()
        {'mean absolute error': 0.5, 'root mean squared error': 0.7071067811865476, 'R²': 0.5}
        """
        if self.task == "outliers":
            return {"share outside": float(np.mean(np.array(self.predicted) == -1))}
        if self.task == "regress":
            return _errors(np.array(self.truth, float), np.array(self.predicted, float))
        right = [a == b for a, b in zip(self.truth, self.predicted, strict=True)]
        apart = {"mean ranks apart": self._ranks_apart()} if self.task == "ordinal" else {}
        return {"accuracy": float(np.mean(right)), **apart}

    def _ranks_apart(self) -> float:
        """Mean distance between the right and the predicted rank, over examples whose right rank is known."""
        order = {label: i for i, label in enumerate(self.ranks)}
        apart = [abs(order[a] - order[b]) for a, b in zip(self.truth, self.predicted, strict=True) if a in order]
        return float(np.mean(apart)) if apart else 0.0

    def as_dict(self) -> dict[str, object]:
        """The figures by name, as plain data."""
        return {**_named(self, "task", "examples", "unlabelled", "skipped", "seconds"), **self.figures()}


def _errors(y: np.ndarray, said: np.ndarray) -> dict[str, float]:
    """The measures of predicted numbers."""
    squared, spread = (y - said) ** 2, float(((y - y.mean()) ** 2).sum())
    return {
        "mean absolute error": float(np.abs(y - said).mean()),
        "root mean squared error": float(np.sqrt(squared.mean())),
        "R²": 1.0 - float(squared.sum()) / spread if spread else 0.0,
    }


@dataclass
class TagAssessment:
    """How many tokens, sentences and spans were right.

    Attributes
    ----------
    sentences, whole : int
        Sentences, and those with every tag right. With a model that learns, a sentence with a new tag is not counted.
    unlabelled, skipped : int
        Sentences left out because they have no tags or are malformed.
    pairs : Counter of (right tag, predicted tag)
    spans : [right and predicted, right, predicted]
    seconds : float
    """

    sentences: int = 0
    whole: int = 0
    unlabelled: int = 0
    skipped: int = 0
    pairs: Counter = field(default_factory=Counter)
    spans: list[int] = field(default_factory=lambda: [0, 0, 0])
    seconds: float = 0.0

    @property
    def examples(self) -> int:
        """Sentences judged."""
        return self.sentences

    def enter(self, right: list[str], predicted: list[Hashable]) -> None:
        """Count one sentence."""
        self.sentences += 1
        self.whole += right == predicted
        self.pairs.update(zip(right, predicted, strict=True))
        there, said = spans(right), spans([str(tag) for tag in predicted])
        for i, n in enumerate((len(there & said), len(there), len(said))):
            self.spans[i] += n

    @property
    def tokens(self) -> int:
        """Tokens judged."""
        return sum(self.pairs.values())

    @property
    def accuracy(self) -> float:
        """Share of tokens tagged right."""
        return sum(n for (a, b), n in self.pairs.items() if a == b) / max(1, self.tokens)

    @property
    def span_f1(self) -> float | None:
        """F1 of the spans; None if no tag looks like B-X or I-X."""
        return 2.0 * self.spans[0] / (self.spans[1] + self.spans[2]) if self.spans[1] else None

    def by_tag(self) -> list[LabelScore]:
        """Precision, recall and F1 of every tag that was right at least once, the most frequent first."""
        return [score for score in scores_of_pairs(self.pairs) if score.support]

    def as_dict(self) -> dict[str, object]:
        """The figures by name, as plain data."""
        return {
            "sentences": self.sentences,
            "sentences_right": self.whole,
            **_named(self, "tokens", "accuracy", "span_f1", "seconds"),
            "labels": [_named(score, "label", "precision", "recall", "support") for score in self.by_tag()],
        }


def _named(thing: object, *names: str) -> dict[str, object]:
    """Some attributes by name."""
    return {name: getattr(thing, name) for name in names}
