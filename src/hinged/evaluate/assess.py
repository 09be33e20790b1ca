"""A model judged on examples from files: by a model that stays as it is, or by one that learns each example next."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from hinged.estimators.labels import in_order
from hinged.estimators.scored import Scored
from hinged.evaluate.answers import answer, pieces
from hinged.evaluate.assessment import Assessment
from hinged.evaluate.examples import answers_for, is_ranker, labelled, rows_for
from hinged.io.examples.chunk import Chunk

__all__ = ["assess", "assess_progressively"]


def assess(model: Any, chunks: Iterable[Chunk], keep: bool = False) -> Assessment:
    """Judge a model on examples it was not taught; it learns nothing.

    An example whose label the model does not know counts as a mistake.

    Parameters
    ----------
    model : Classifier, Ranker, TextClassifier or TextRanker
    chunks : iterable of Chunk
    keep : bool
        Keep flags, ranks and confidence of every example, for pictures.
    """
    result = Assessment(is_ranker(model), keep)
    began = time.perf_counter()
    for whole in _counted(result, chunks):
        for chunk in pieces(model, whole):
            said = answer(model, chunk)
            truth = answers_for(model, chunk)
            place = {label: r for r, label in enumerate(said.labels)}
            if result.ranks_sets:
                right, unseen = _right_sets(truth, place)
                flags, ranks = _judge_sets(said.scores, right)
                flags[unseen] = 1
                counted = (flags == 1) | (ranks != 0)
                result.add_rankings(said.scores[counted], right[counted])
            else:
                flags, ranks, unseen = _judge_single(said.scores, [place.get(label, -1) for label in truth])
            result.unseen += int(unseen.sum())
            predicted = [said.predicted(i) if result.ranks_sets else said.best(i) for i in range(len(chunk))]
            result.add(flags, ranks, truth, predicted, said.confidence)
            result.labels = said.labels
    result.seconds = time.perf_counter() - began
    return result


def assess_progressively(model: Any, chunks: Iterable[Chunk], keep: bool = False) -> Assessment:
    """Judge each example, then learn it; the flags are those of `progressive`, the model ends as after `partial_fit`.

    An example with a label that is new is not counted: nobody could have known its name.

    Parameters
    ----------
    model : Classifier, Ranker, TextClassifier or TextRanker
    chunks : iterable of Chunk
    keep : bool
        Keep flags, ranks and confidence of every example, for pictures.
    """
    result = Assessment(is_ranker(model), keep)
    began = time.perf_counter()
    for whole in _counted(result, chunks):
        for chunk in pieces(model, whole):
            _test_then_train(model, chunk, result)
    result.seconds = time.perf_counter() - began
    result.updates = model.n_updates_ if hasattr(model, "n_updates_") else 0
    result.labels = list(model.known_labels())
    return result


def _counted(result: Assessment, chunks: Iterable[Chunk]) -> Iterable[Chunk]:
    for chunk in chunks:
        answered = labelled(chunk)
        result.skipped += chunk.skipped
        result.unlabelled += len(chunk) - len(answered)
        if len(answered):
            yield answered


def _test_then_train(model: Any, chunk: Chunk, result: Assessment) -> None:
    n = len(chunk)
    truth = [in_order(answer) if result.ranks_sets else answer for answer in answers_for(model, chunk)]
    scores: list[np.ndarray] = []
    thresholds, sure = np.zeros(n), np.zeros(n)

    def judge(said: Scored) -> None:
        thresholds[len(scores)] = said.threshold
        if result.keep and len(said.labels):
            sure[len(scores)] = said.confidence[0]
        scores.append(said.scores[0])

    importance = None if chunk.weights is None else np.array(chunk.weights)
    flags, ranks, _ = model.learn_rounds(rows_for(model, chunk, True), truth, None, importance, before=judge)
    labels = list(model.known_labels())
    table = np.full((n, len(labels)), -np.inf)
    for i, row in enumerate(scores):
        table[i, : len(row)] = row
    place = {label: r for r, label in enumerate(labels)}
    known = np.array([len(row) for row in scores])
    result.unseen += int((flags < 0).sum())
    if result.ranks_sets:
        right, _ = _right_sets(truth, place)
        counted = (flags >= 0) & (ranks != 0)
        result.add_rankings(table[counted], right[counted], known[counted])
        predicted: list[Any] = [
            [labels[r] for r in np.flatnonzero(row > least)] for row, least in zip(table, thresholds, strict=True)
        ]
    else:
        positions = np.array([place.get(label, -1) for label in truth])
        predicted = _said(table, positions, flags, labels)
    result.add(flags, ranks, truth, predicted, sure)


def _said(table: np.ndarray, positions: np.ndarray, flags: np.ndarray, labels: list[Hashable]) -> list[Hashable]:
    """The label said in each round: the right one where it was strictly on top, else the best of the others."""
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
