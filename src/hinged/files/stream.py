"""Learn a stream of examples from files, with running counts: each example is predicted before it is learnt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from hinged.evaluate.progressive import progressive
from hinged.files.examples import Examples, FileLearner, answers_for, labelled, new_learner, rows_for, usable
from hinged.io.examples.chunk import Chunk  # noqa: F401 (for examples)
from hinged.loops.hearing import Stopped, unless_stopped

__all__ = ["Tally", "learn_stream", "learner_for", "spread"]

COUNTED = ("counted", "novel", "unopposed", "mistakes", "updates")  # in every piece
SECONDS = 0.15  # for one piece: short enough to stop soon, long enough to keep the overhead small
FASTER = 4  # the next piece is at most this many times as large as the last


class Tally(NamedTuple):
    """Counts so far.

    Attributes
    ----------
    rounds : examples learnt
    counted : of these, all that could be predicted rightly or wrongly: neither novel nor unopposed
    mistakes : counted rounds in which the right labels did not all come out on top
    updates : rounds that took a step
    labels, features : how many the model knows
    novel : rounds with a label that was new
    unopposed : rounds that cannot be predicted wrongly: without a right label, or without a wrong one
    unlabelled, skipped : examples without an answer, and malformed ones, both left out
    seconds : time spent learning, without reading
    """

    rounds: int = 0
    counted: int = 0
    mistakes: int = 0
    updates: int = 0
    labels: int = 0
    features: int = 0
    novel: int = 0
    unopposed: int = 0
    unlabelled: int = 0
    skipped: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float | None:
        """Mistakes per counted round; None if none was counted."""
        return self.mistakes / self.counted if self.counted else None

    def since(self, earlier: Tally) -> Tally:
        """The counts since an earlier tally; labels and features as they are now.

        Examples
        --------
        >>> Tally(rounds=8, counted=6, mistakes=3).since(Tally(rounds=4, counted=2, mistakes=2)).rate
        0.25
        """
        changed: list[Any] = [now - then for now, then in zip(self, earlier, strict=True)]
        return Tally(*changed)._replace(labels=self.labels, features=self.features)


NOTHING = Tally()


def learn_stream(
    model: FileLearner, chunks: Iterable[Examples], so_far: Tally = NOTHING, going: Callable[[], bool] = lambda: True
) -> Iterator[Tally]:
    """Learn chunks in order; yield the counts after every round that is a power of two, and at the end.

    Parameters
    ----------
    model : a learner of `TASKS`
        Fresh, or one to go on with. A tagger counts a sentence as a mistake unless all its tags were right.
    chunks : iterable of Chunk or SentenceChunk
        Examples without an answer are left out, and counted.
    so_far : Tally
        Counts of earlier chunks, to go on from.
    going : callable
        Called several times a second; learning stops when it returns False, even within a long example.

    Examples
    --------
    >>> import hinged
    >>> rows = np.arange(6), np.array([0, 1, 0, 1, 1]), np.ones(5)
    >>> chunk = Chunk(["a", "b", "a", "b", "b"], np.arange(1, 6), "x.svm", columns=rows)
    >>> [(tally.rounds, tally.mistakes) for tally in learn_stream(hinged.Classifier(), [chunk])]
    [(1, 0), (2, 0), (4, 1), (5, 1)]
    """
    tally, room = so_far, 1.0
    for chunk in chunks:
        skipped, asked = tally.skipped + chunk.skipped, len(chunk)
        chunk = usable(model, chunk)
        tally = tally._replace(skipped=skipped, unlabelled=tally.unlabelled + asked - len(chunk))
        start, ends = 0, np.cumsum(chunk.sizes)
        while start < len(chunk) and going():
            power = 1 << tally.rounds.bit_length()  # the next one
            before = ends[start - 1] if start else 0
            fits = int(np.searchsorted(ends, before + room, side="right"))
            stop = min(len(chunk), max(start + 1, fits), start + power - tally.rounds)
            try:
                tally = _learn(model, chunk.taken(slice(start, stop)), tally, began := time.perf_counter(), going)
            except Stopped:
                break
            size, took = ends[stop - 1] - before, time.perf_counter() - began
            room = size * min(FASTER, SECONDS / max(took, 1e-9))
            if tally.rounds == power:
                yield tally
            start = stop
        if not going():
            break
    yield tally


def _learn(model: FileLearner, chunk: Examples, tally: Tally, began: float, going: Callable[[], bool]) -> Tally:
    # Arrow's own memory is read-only, which would be another type to the compiled loop
    weights = None if chunk.weights is None else np.array(chunk.weights)
    rows, answers = rows_for(model, chunk, True), answers_for(model, chunk)
    hear = unless_stopped(len(chunk), going) or False
    progress = progressive(model, rows, answers, sample_weight=weights, show=hear)
    return tally._replace(
        **{name: getattr(tally, name) + getattr(progress, name) for name in COUNTED},
        rounds=tally.rounds + len(progress.flags),
        labels=len(model.known_labels()),
        features=model.n_known_features,
        seconds=tally.seconds + time.perf_counter() - began,
    )


def learner_for(
    chunks: Iterable[Examples], task: str | None, settings: Mapping[str, Any]
) -> tuple[FileLearner | None, Iterator[Examples]]:
    """A new learner that suits the first example with an answer, and all chunks; None if there is no such example."""
    held: list[Examples] = []
    rest = iter(chunks)
    for chunk in rest:
        held.append(chunk)
        answered = chunk if task == "outliers" else labelled(chunk)
        if len(answered):
            return new_learner(answered, task, settings), chain(held, rest)
    return None, iter(held)


def spread(chunks: Iterable[Examples], share: float, kept: bool) -> Iterator[Examples]:
    """The held-out share of the examples with an answer, evenly spread, if `kept`; else all others.

    Examples
    --------
    >>> rows = np.arange(6), np.zeros(5, np.int32), np.ones(5)
    >>> chunk = Chunk([*"abcde"], np.arange(1, 6), "x.svm", columns=rows)
    >>> [part.answers for part in spread([chunk], 0.4, kept=True)], [p.answers for p in spread([chunk], 0.4, False)]
    ([['c', 'e']], [['a', 'b', 'd']])
    """
    seen = 0
    for chunk in chunks:
        answered = labelled(chunk)
        places = np.floor(np.arange(seen, seen + len(answered) + 1) * share + 1e-9)
        seen += len(answered)
        part = answered.taken(np.flatnonzero((np.diff(places) > 0) == kept))
        if len(part) or chunk.skipped:
            part.skipped = chunk.skipped
            yield part
