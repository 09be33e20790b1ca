"""Judge a model on examples from files: a finished model, or one that learns each example after it was judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.labels import in_order
from hinged.estimators.regressor import Regressor
from hinged.estimators.scored import Scored
from hinged.estimators.sequence import SequenceTagger
from hinged.estimators.uniclass import Uniclass
from hinged.evaluate.assessment import Assessment, TagAssessment, VectorAssessment
from hinged.evaluate.progressive import counted_rounds
from hinged.files.answers import answer, answer_vectors, pieces
from hinged.files.examples import (
    Examples,
    FileLearner,
    OneVector,
    answers_for,
    as_dicts,
    rows_for,
    task_of,
    usable,
    vector_answers,
    vector_rows,
)
from hinged.files.sentences import SentenceChunk, sentence_rows
from hinged.io.examples.chunk import Chunk

__all__ = ["Judged", "judge"]

Judged = Assessment | VectorAssessment | TagAssessment
L = TypeVar("L", bound=FileLearner)
J = TypeVar("J", bound=Judged)


def judge(model: FileLearner, chunks: Iterable[Examples], learns: bool = False, keep: bool = False) -> Judged:
    """Judge a model on examples from files.

    Parameters
    ----------
    model : a learner of `hinged.files.examples.TASKS`
    chunks : iterable of Chunk or SentenceChunk
        Examples without an answer are left out, and counted.
    learns : bool
        Learn each example after it was judged; the model ends as after `partial_fit`. An example with a new label is
        then not counted, because it could not be predicted; for a model that does not learn it is a mistake.
    keep : bool
        Keep flags, ranks and confidence of every example, for plots; of labels and label sets only.

    Returns
    -------
    Assessment, VectorAssessment or TagAssessment
        By the model's task.
    """
    if isinstance(model, SequenceTagger):
        return _judge(model, chunks, TagAssessment(), _tag_then_learn if learns else _tag)
    task = task_of(model)
    if isinstance(model, LabelLearner):
        return _judge(model, chunks, Assessment(task == "rank", keep), _test_then_learn if learns else _test)
    return _judge(model, chunks, VectorAssessment(task), _predict_then_learn if learns else _predict)


def _judge(model: L, chunks: Iterable[Examples], result: J, step: Callable[[L, Any, J], None]) -> J:
    """Call a step, which adds the examples of a chunk to the result, for each chunk."""
    began = time.perf_counter()
    for chunk in chunks:
        answered = usable(model, chunk)
        result.skipped += chunk.skipped
        result.unlabelled += len(chunk) - len(answered)
        if len(answered):
            step(model, answered, result)
    result.seconds = time.perf_counter() - began
    return result


# ------------------------------------------------------------------ labels and label sets
def _test(model: LabelLearner, whole: Chunk, result: Assessment) -> None:
    """Count the predictions of a model that does not learn."""
    for chunk in pieces(model, whole):
        said = answer(model, chunk)
        truth = answers_for(model, chunk)
        place = {label: r for r, label in enumerate(said.labels)}
        if result.ranks_sets:
            right, unseen = _right_sets(truth, place)
            flags, ranks = _judge_sets(said.scores, right)
            flags[unseen] = 1
            counted = counted_rounds(flags, ranks)
            result.add_rankings(said.scores[counted], right[counted])
        else:
            flags, ranks, unseen = _judge_single(said.scores, [place.get(label, -1) for label in truth])
        result.unseen += int(unseen.sum())
        predicted = [said.predicted(i) if result.ranks_sets else said.best(i) for i in range(len(chunk))]
        result.add(flags, ranks, truth, predicted, said.confidence)
        result.labels = said.labels


def _test_then_learn(model: LabelLearner, whole: Chunk, result: Assessment) -> None:
    """Count each prediction, then learn the example; flags are those of `progressive`."""
    for chunk in pieces(model, whole):
        truth, flags, ranks, scores, thresholds, sure = _learn_rows(model, chunk, result)
        labels = list(model.known_labels())
        table = _as_table(scores, len(labels))
        place = {label: r for r, label in enumerate(labels)}
        result.unseen += int((flags < 0).sum())
        if result.ranks_sets:
            right, _ = _right_sets(truth, place)
            counted = counted_rounds(flags, ranks)
            known = np.array([len(row) for row in scores])
            result.add_rankings(table[counted], right[counted], known[counted])
            predicted: list[Any] = [
                [labels[r] for r in np.flatnonzero(row > least)] for row, least in zip(table, thresholds, strict=True)
            ]
        else:
            positions = np.array([place.get(label, -1) for label in truth])
            predicted = _said(table, positions, flags, labels)
        result.add(flags, ranks, truth, predicted, sure)
        result.labels, result.updates = labels, model.n_updates_


def _as_table(scores: list[np.ndarray], n_labels: int) -> np.ndarray:
    """Scores as one row per round, -inf for labels that were not known yet."""
    table = np.full((len(scores), n_labels), -np.inf)
    for i, row in enumerate(scores):
        table[i, : len(row)] = row
    return table


class _LearntRounds(NamedTuple):
    """What happened in each round: scores before learning, and what progressive validation counts."""

    truth: list[Any]
    flags: np.ndarray
    ranks: np.ndarray
    scores: list[np.ndarray]
    thresholds: np.ndarray
    confidence: np.ndarray


def _learn_rows(model: LabelLearner, chunk: Chunk, result: Assessment) -> _LearntRounds:
    """Score each row, then learn it."""
    n = len(chunk)
    truth = [in_order(answer) if result.ranks_sets else answer for answer in answers_for(model, chunk)]
    scores: list[np.ndarray] = []
    thresholds, sure = np.zeros(n), np.zeros(n)

    def keep(said: Scored) -> None:
        thresholds[len(scores)] = said.threshold
        if result.keep and len(said.labels):
            sure[len(scores)] = said.confidence[0]
        scores.append(said.scores[0])

    importance = None if chunk.weights is None else np.array(chunk.weights)
    flags, ranks, _ = model.learn_rounds(rows_for(model, chunk, True), truth, None, importance, before=keep)
    return _LearntRounds(truth, flags, ranks, scores, thresholds, sure)


def _said(table: np.ndarray, positions: np.ndarray, flags: np.ndarray, labels: list[Hashable]) -> list[Hashable]:
    """The label predicted in each round: the right one if it was strictly on top, else the best of the others."""
    rivals = table.copy()
    told = np.flatnonzero(positions >= 0)
    rivals[told, positions[told]] = -np.inf
    best = rivals.argmax(axis=1)
    return [labels[p if flag == 0 else b] for p, b, flag in zip(positions, best, flags, strict=True)]


def _judge_single(scores: np.ndarray, positions: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Flags and ranks as `predict` and `rank` see them, ties to the earlier label; rank 0 for a label not known."""
    p = np.array(positions, np.int64)
    unseen = p < 0
    own = scores[np.arange(len(p)), np.maximum(p, 0)][:, None]
    earlier = np.arange(scores.shape[1]) < p[:, None]
    ranks = 1 + (scores > own).sum(axis=1) + ((scores == own) & earlier).sum(axis=1)
    ranks[unseen] = 0
    return (ranks != 1).astype(np.int8), ranks.astype(np.int32), unseen


def _judge_sets(scores: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A mistake where a right label is not above every wrong one; rank of the best right label, 0 without a rival."""
    best = np.where(right, scores, -np.inf).max(axis=1, initial=-np.inf)
    worst = np.where(right, scores, np.inf).min(axis=1, initial=np.inf)
    rival = np.where(right, -np.inf, scores).max(axis=1, initial=-np.inf)
    asks = right.any(axis=1) & ~right.all(axis=1)
    ranks = 1 + (~right & (scores >= best[:, None])).sum(axis=1)
    return (asks & (worst <= rival)).astype(np.int8), np.where(asks, ranks, 0).astype(np.int32)


def _right_sets(truth: list[list[Hashable]], place: dict[Hashable, int]) -> tuple[np.ndarray, np.ndarray]:
    """Which labels are right, (examples, labels), and which examples have one that is not known."""
    right = np.zeros((len(truth), len(place)), bool)
    unseen = np.zeros(len(truth), bool)
    for i, labels in enumerate(truth):
        for label in labels:
            if label in place:
                right[i, place[label]] = True
            else:
                unseen[i] = True
    return right, unseen


# ------------------------------------------------------------------ two labels, numbers, ranks, outliers
def _predict(model: OneVector, chunk: Chunk, result: VectorAssessment) -> None:
    """Count the answers of a model that does not learn."""
    result.predicted += answer_vectors(model, chunk)[0]
    result.truth += vector_answers(model, chunk) or [None] * len(chunk)
    result.ranks = _ranks(model)


def _predict_then_learn(model: OneVector, chunk: Chunk, result: VectorAssessment) -> None:
    """Count the answer to each example, then learn it; the first of all, and of each label, is not counted."""
    truth = vector_answers(model, chunk) or [None] * len(chunk)
    for row, right in zip(_one_by_one(model, chunk), truth, strict=True):
        if hasattr(model, "model_") and (not _has_labels(model) or right in model.known_labels()):
            result.predicted.append(_plain(model.predict_one(row)))
            result.truth.append(right)
        model.learn_one(row, right)
    result.ranks = _ranks(model)


def _one_by_one(model: OneVector, chunk: Chunk) -> Iterator[object]:
    """The rows of a chunk as `learn_one` takes them."""
    rows = vector_rows(model, chunk, True)
    if not isinstance(rows, Chunk):
        yield from (rows[[i]] for i in range(len(chunk)))
        return
    first, *others = as_dicts(rows)
    yield first if hasattr(model, "model_") else rows.taken(slice(0, 1))  # a chunk says which columns hold numbers
    yield from others


def _has_labels(model: OneVector) -> bool:
    return not isinstance(model, Regressor | Uniclass)


def _ranks(model: OneVector) -> list[Hashable]:
    return list(model.known_labels()) if _has_labels(model) else []


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


# ------------------------------------------------------------------ tags
def _tag(model: SequenceTagger, chunk: SentenceChunk, result: TagAssessment) -> None:
    """Count the tags of a model that does not learn."""
    for right, predicted in zip(chunk.answers, model.predict(sentence_rows(model, chunk)), strict=True):
        result.enter(right, predicted)


def _tag_then_learn(model: SequenceTagger, chunk: SentenceChunk, result: TagAssessment) -> None:
    """Count the tags of each sentence, then learn it."""
    for right, features in zip(chunk.answers, sentence_rows(model, chunk), strict=True):
        known = set(model.known_labels())
        predicted = model.predict_one(features)
        model.learn_one(features, right)
        if known >= set(right):
            result.enter(right, predicted)
