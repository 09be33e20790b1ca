"""Files of tagged sentences for a tagger: learnt as they come, answered, judged."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import numpy as np

from hinged.estimators.sequence import SequenceTagger
from hinged.evaluate.examples import check_setting
from hinged.evaluate.spans import spans
from hinged.evaluate.stream import FASTER, SECONDS, Tally
from hinged.io.examples.conll import Sentence
from hinged.loops.hearing import Stopped, unless_stopped
from hinged.text.window import window

__all__ = [
    "Judged",
    "is_tagger",
    "judge",
    "judge_progressively",
    "learn_sentences",
    "spread_sentences",
    "tagger_for",
    "words_of",
]

AT_ONCE = 256  # sentences learnt or answered in one call
NOTHING = Tally()


def tagger_for(sentences: Iterable[Sentence], settings: Mapping[str, Any]) -> tuple[Any, Iterator[Sentence]]:
    """A new tagger for sentences like these, averaged unless the settings say otherwise; None without any.

    Examples
    --------
    >>> tagger_for([Sentence([("He", "PRP")], ["B-NP"], 1)], {"C": 0.5})[0]
    SequenceTagger(C=0.5, average=True)
    """
    rest = iter(sentences)
    first = next(rest, None)
    if first is None:
        return None, iter(())
    for name in settings:
        check_setting(SequenceTagger(), name, "it")
    model = SequenceTagger(**{"average": True, **settings})
    model.notes = {"columns": len(first.tokens[0])}
    return model, chain([first], rest)


def is_tagger(model: Any) -> bool:
    """Whether a model tags sentences."""
    return isinstance(model, SequenceTagger)


def words_of(model: Any, sentence: Sentence, source: str) -> list[tuple[str, ...]]:
    """The columns of a sentence that a model was taught; one more, a tag, is left out."""
    known, given = model.notes.get("columns"), len(sentence.tokens[0])
    if not isinstance(known, int):
        raise ValueError("this tagger was not taught from a file, so nothing says how to read one; use it from Python.")
    if given < known or (sentence.tags and given != known):
        found = f"{given} columns" + (" and a tag" if sentence.tags else "")
        raise ValueError(f"this model was taught {known} columns a token; {source}:{sentence.line} has {found}.")
    return [token[:known] for token in sentence.tokens]


def learn_sentences(
    model: Any,
    sentences: Iterable[Sentence],
    so_far: Tally = NOTHING,
    going: Callable[[], bool] = lambda: True,
    source: str = "the file",
) -> Iterator[Tally]:
    """Learn sentences in order; give the counts after every round that is a power of two, and at the end.

    A sentence is a mistake unless all its tags were right.

    Examples
    --------
    >>> model, some = tagger_for([Sentence([("a",)], ["x"], 1), Sentence([("b",)], ["y"], 3)] * 2, {})
    >>> [(tally.rounds, tally.counted, tally.mistakes) for tally in learn_sentences(model, some)]
    [(1, 0, 0), (2, 0, 0), (4, 2, 1), (4, 2, 1)]
    """
    tally, rest, size = so_far, iter(sentences), 1
    while going():
        power = 1 << tally.rounds.bit_length()
        some = list(islice(rest, min(size, power - tally.rounds)))
        if not some:
            break
        began, before = time.perf_counter(), getattr(model, "n_updates_", 0)
        X = [window(words_of(model, sentence, source)) for sentence in some]
        try:
            tags = [sentence.tags for sentence in some]
            flags = model.learn_rounds(X, tags, advance=unless_stopped(len(some), going)).flags
        except Stopped:
            break
        took = time.perf_counter() - began
        size = max(1, min(AT_ONCE, int(len(some) * min(FASTER, SECONDS / max(took, 1e-9)))))
        tally = tally._replace(
            rounds=tally.rounds + len(flags),
            counted=tally.counted + int((flags >= 0).sum()),
            novel=tally.novel + int((flags < 0).sum()),
            mistakes=tally.mistakes + int((flags == 1).sum()),
            updates=tally.updates + model.n_updates_ - before,
            labels=len(model.classes_),
            features=model.n_known_features,
            seconds=tally.seconds + time.perf_counter() - began,
        )
        if tally.rounds == power:
            yield tally
    yield tally


@dataclass
class Judged:
    """How many tokens, sentences and spans were right.

    Attributes
    ----------
    sentences, whole : int
        Sentences, and those with every tag right.
    pairs : Counter of (right tag, predicted tag)
    spans : [right and predicted, right, predicted]
    seconds : float
    """

    sentences: int = 0
    whole: int = 0
    pairs: Counter = field(default_factory=Counter)
    spans: list[int] = field(default_factory=lambda: [0, 0, 0])
    seconds: float = 0.0

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
        """F1 of the spans; None where no tag looks like B-X or I-X."""
        return 2.0 * self.spans[0] / (self.spans[1] + self.spans[2]) if self.spans[1] else None

    def by_tag(self) -> list[tuple[str, float, float, int]]:
        """Tag, precision, recall and how often it was right, the commonest first."""
        right, said = Counter[str](), Counter[Any]()
        for (a, b), n in self.pairs.items():
            right[a] += n
            said[b] += n
        hit = {tag: self.pairs[tag, tag] for tag in right}
        rows = [(tag, hit[tag] / max(1, said[tag]), hit[tag] / n, n) for tag, n in right.items()]
        return sorted(rows, key=lambda row: (-row[3], row[0]))


def judge(model: Any, sentences: Iterable[Sentence], source: str = "the file") -> Judged:
    """Tag sentences by a model that learns nothing from them."""
    result, rest = Judged(), iter(sentences)
    while some := list(islice(rest, AT_ONCE)):
        began = time.perf_counter()
        answers = model.predict([window(words_of(model, sentence, source)) for sentence in some])
        for sentence, predicted in zip(some, answers, strict=True):
            result.enter(sentence.tags, predicted)
        result.seconds += time.perf_counter() - began
    return result


def judge_progressively(model: Any, sentences: Iterable[Sentence], source: str = "the file") -> Judged:
    """Tag each sentence by what was learnt before it, then learn it; one with a tag that is new is not judged."""
    result = Judged()
    for sentence in sentences:
        began = time.perf_counter()
        features = window(words_of(model, sentence, source))
        known = set(model.known_labels())
        predicted = model.predict_one(features)
        model.learn_one(features, sentence.tags)
        if known >= set(sentence.tags):
            result.enter(sentence.tags, predicted)
        result.seconds += time.perf_counter() - began
    return result


def spread_sentences(sentences: Iterable[Sentence], share: float, kept: bool) -> Iterator[Sentence]:
    """The sentences kept from learning, that share of them, evenly spread; or all the others."""
    for i, sentence in enumerate(sentences):
        if (np.floor((i + 1) * share + 1e-9) > np.floor(i * share + 1e-9)) == kept:
            yield sentence
