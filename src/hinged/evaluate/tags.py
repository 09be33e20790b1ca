"""How well a tagger does: tokens, sentences, and spans of tags in the BIO scheme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hinged.files.sentences import Sentences, sentence_rows

__all__ = ["TagAssessment", "span_f1", "spans", "tag", "tag_then_learn"]


def spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """The spans of a sentence: first token, one past the last, kind.

    As the CoNLL shared tasks count them: B- begins a span, and so does an I- that follows another kind or none.

    Examples
    --------
    >>> sorted(spans(["B-NP", "I-NP", "B-NP", "O", "I-VP"]))
    [(0, 2, 'NP'), (2, 3, 'NP'), (4, 5, 'VP')]
    """
    found = set()
    first, kind = 0, ""
    for i, tag in enumerate([*tags, "O"]):
        mark, _, of = tag.partition("-")
        goes_on = mark == "I" and of == kind
        if kind and not goes_on:
            found.add((first, i, kind))
        if not goes_on:
            first, kind = i, of if mark in ("B", "I") else ""
    return found


def span_f1(right: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> float:
    """Harmonic mean of how many predicted spans are right and how many right ones are predicted, in [0, 1].

    Examples
    --------
    >>> span_f1([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "O"]])
    0.6666666666666666
    """
    hits = total = 0
    for one, other in zip(right, predicted, strict=True):
        there, said = spans(one), spans(other)
        hits += len(there & said)
        total += len(there) + len(said)
    return 2.0 * hits / total if total else 1.0


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

    def enter(self, right: list[str], predicted: list[Any]) -> None:
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

    def by_tag(self) -> list[tuple[str, float, float, int]]:
        """Tag, precision, recall and how often it was right, the most frequent first."""
        right, said = Counter[str](), Counter[Any]()
        for (a, b), n in self.pairs.items():
            right[a] += n
            said[b] += n
        hit = {tag: self.pairs[tag, tag] for tag in right}
        rows = [(tag, hit[tag] / max(1, said[tag]), hit[tag] / n, n) for tag, n in right.items()]
        return sorted(rows, key=lambda row: (-row[3], row[0]))


def tag(model: Any, chunk: Sentences, result: TagAssessment) -> None:
    """Count the tags of a model that does not learn."""
    for right, predicted in zip(chunk.answers, model.predict(sentence_rows(model, chunk)), strict=True):
        result.enter(right, predicted)


def tag_then_learn(model: Any, chunk: Sentences, result: TagAssessment) -> None:
    """Count the tags of each sentence, then learn it."""
    for right, features in zip(chunk.answers, sentence_rows(model, chunk), strict=True):
        known = set(model.known_labels())
        predicted = model.predict_one(features)
        model.learn_one(features, right)
        if known >= set(right):
            result.enter(right, predicted)
