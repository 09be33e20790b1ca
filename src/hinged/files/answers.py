"""Predictions for examples from files: scores, labels, rankings and confidence, a bounded number at a time."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

import numpy as np

from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.regressor import Regressor
from hinged.files.examples import FileLearner, OneVector, SomeExamples, rows_for, task_of, vector_rows
from hinged.io.examples.chunk import Chunk

__all__ = ["Answers", "answer", "answer_vectors", "pieces"]

LARGEST = 4_000_000  # scores held at a time
WORK = 200_000_000  # bytes of text, or features, times labels


class Answers(NamedTuple):
    """Predictions of a label learner for some examples."""

    labels: list[Hashable]
    scores: np.ndarray  # (examples, labels)
    above: np.ndarray | None  # which labels are predicted, for a ranker
    confidence: np.ndarray  # chance that the best label is right

    def best(self, i: int) -> Hashable:
        """The best label of example i; ties go to the earlier one."""
        return self.labels[int(self.scores[i].argmax())]

    def predicted(self, i: int) -> list[Hashable]:
        """The labels predicted for example i, best first: one, or those above a ranker's threshold."""
        if self.above is None:
            return [self.best(i)]
        return [self.labels[r] for r in self._order(i) if self.above[i, r]]

    def ranking(self, i: int, top: int | None = None) -> list[tuple[Hashable, float]]:
        """Labels and scores of example i from best to worst."""
        return [(self.labels[r], float(self.scores[i, r])) for r in self._order(i)[:top]]

    def _order(self, i: int) -> list[int]:
        return np.argsort(-self.scores[i], kind="stable").tolist()


def answer(model: LabelLearner, chunk: Chunk) -> Answers:
    """Predict the examples of a chunk; nothing is learnt."""
    said = model.scored(rows_for(model, chunk, False))
    if not said.labels:
        raise ValueError("this model knows no label yet, so it can predict none; let it learn some examples.")
    above = said.scores > said.threshold if task_of(model) == "rank" else None
    return Answers(list(said.labels), said.scores, above, said.confidence)


def answer_vectors(model: OneVector, chunk: Chunk) -> tuple[list[Hashable], np.ndarray]:
    """Answers of a learner of `VECTOR_TASKS` to the examples of a chunk, and the scores behind them."""
    rows = vector_rows(model, chunk, False)
    if isinstance(model, Regressor):
        numbers = model.predict(rows)
        return numbers.tolist(), numbers
    return model.predict(rows).tolist(), model.decision_function(rows)


def pieces(model: FileLearner, chunk: SomeExamples) -> Iterator[SomeExamples]:
    """Cut a chunk so that the scores of a piece fit in memory, and a piece is done soon after Ctrl-C."""
    n_labels, start = len(model.known_labels()) + 1, 0
    ends = np.cumsum(chunk.sizes)
    while start < len(chunk):
        fits = np.searchsorted(ends, (ends[start - 1] if start else 0) + WORK // n_labels, side="right")
        stop = max(start + 1, min(int(fits), start + LARGEST // n_labels))
        yield chunk.taken(slice(start, stop))
        start = stop
