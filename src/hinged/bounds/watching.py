"""The bound for examples from files: the first ones are kept while all are judged, then passed to `trace`."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from hinged.bounds.running import Trace, trace
from hinged.estimators import Classifier, Ranker
from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.stream import settled_like
from hinged.files.examples import answers_for, labelled, reads_text, rows_for, task_of
from hinged.geometry.choice import on_simplex
from hinged.io.examples.chunk import Chunk
from hinged.sharing.plan import chosen_features

__all__ = ["Beginning", "Watched"]

MOST_VALUES = 4_000_000  # of rows held
MOST_WORK, MOST_SHARED_WORK = 4e8, 2e7  # values of rows times labels that comparators are found on; with label features
MOST_WEIGHTS = 5e7  # features times labels, where every one of them has a weight


@dataclass(frozen=True)
class Watched:
    """A trace of examples from files, or why there is none.

    Attributes
    ----------
    trace : Trace or None
    examples, of : int
        How many it speaks of, from the first, and how many there were.
    why : str
        What to know about it, in sentences: no trace, no bound, not all examples, a condition that does not hold.
    """

    trace: Trace | None
    examples: int
    of: int
    why: str

    def moments(self, most: int | None = None) -> list[dict[str, Any]]:
        """Rounds, mistakes, certificate, what it allows, and the bound, at up to `most` moments; None for none."""
        seen = self.trace
        if seen is None:
            return []
        n = len(seen.rounds)
        at = range(n) if most is None else np.unique(np.linspace(0, n, min(n, most) + 1).astype(int)[1:] - 1).tolist()
        columns = {name: getattr(seen, name) for name in ("rounds", "mistakes", "certificate", "certified", "bound")}
        return [{name: _plain(values[i]) for name, values in columns.items()} for i in at]

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers."""
        summary = {} if self.trace is None else self.trace.summary()
        kept = {name: summary.get(name) for name in ("mistakes", "bound", "theorem", "certificate", "objective")}
        return {**kept, "examples": self.examples, "of": self.of, "note": self.why, "moments": self.moments()}


class Beginning:
    """The first examples of a stream, as the learner reads them that is judged on them.

    Examples
    --------
    >>> import hinged
    >>> chunk = Chunk([*"abab"], np.arange(1, 5), "x.svm", columns=(np.arange(5), np.array([0, 1, 0, 1]), np.ones(4)))
    >>> learner, kept = hinged.Classifier("pa1", 1.0, scaling=None), Beginning()
    >>> for one in kept.of(learner, [chunk]):
    ...     _ = learner.partial_fit(rows_for(learner, one, True), one.answers)
    >>> kept.trace(learner).trace
    Trace(pa1: 1 mistakes in 4 rounds, at most 2 by PA theorem 4)
    """

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.answers: list[Any] = []
        self.examples = self.values = 0
        self.full = self.weighted = False

    def of(self, model: LabelLearner, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Yield the chunks; after the caller has learnt one, keep it if there is room."""
        for chunk in chunks:
            yield chunk
            answered = labelled(chunk)
            self.examples += len(answered)
            if self.full or not len(answered):
                continue
            self.weighted |= answered.weights is not None and bool((np.asarray(answered.weights) != 1.0).any())
            rows = model.read(rows_for(model, answered, True))  # every word is known by now
            self.values += len(rows.data)
            self.full = self.values >= MOST_VALUES
            self.rows.append(rows)
            self.answers += answers_for(model, answered)

    def trace(self, model: LabelLearner) -> Watched:
        """Let a fresh learner like `model` run over what was kept, and watch its bound."""
        if why := self._why_none(model):
            return self._none(why)
        k, width = _size(model)
        X = self._matrix(width)
        work = MOST_WORK if chosen_features(model.sharing, model.features) is None else MOST_SHARED_WORK
        n = max(1, int(np.searchsorted(X.indptr, work / k, side="right")) - 1)
        X, y = X[:n], self.answers[:n]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they say is told below, or was told while the examples were learnt
            try:
                seen = trace(_like(model), X, y)
            except ValueError as reason:
                return self._none(str(reason))
        notes = [] if seen.final is not None else [f"No bound: {seen.note}"]
        if len(y) < self.examples:
            notes.append(
                f"All this is of the first {len(y):,} of {self.examples:,} examples: more would take too long."
            )
        notes += [seen.condition] if seen.condition else []
        return Watched(seen, len(y), self.examples, " ".join(notes))

    def _why_none(self, model: LabelLearner) -> str:
        """A sentence where no bound can be computed of what was kept; else nothing."""
        if self.weighted or getattr(model, "class_weight", None) is not None:
            return "the bounds speak of examples of equal weight, and these have weights."
        if not self.answers:
            return "there are no examples."
        if model.notes.get("numbers") and model.settled_["scaling"] is not None:
            return "numbers of a table are scaled as they come, which a bound cannot follow; unscale them."
        k, width = _size(model)
        if on_simplex(model.geometry) is not None and k * width > MOST_WEIGHTS:
            return f"on the simplex all of {k:,} labels × {width:,} features have a weight, too many to hold."
        return ""

    def _none(self, why: str) -> Watched:
        return Watched(None, 0, self.examples, f"No bound: {why}")

    def _matrix(self, width: int) -> sparse.csr_array:
        """What was kept as one matrix, its indices those of the learner."""
        lengths = np.concatenate([np.diff(rows.indptr) for rows in self.rows])
        kept = [(rows, slice(int(rows.indptr[0]), int(rows.indptr[-1]))) for rows in self.rows]
        indices = np.concatenate([rows.indices[span] for rows, span in kept])
        data = np.concatenate([rows.data[span] for rows, span in kept])
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        return sparse.csr_array((data, indices, indptr), shape=(len(lengths), width))


def _size(model: LabelLearner) -> tuple[int, int]:
    """How many labels and features a model has, at least one each."""
    return max(1, len(model.known_labels())), max(1, int(model.model_.n_features))


def _like(model: LabelLearner) -> LabelLearner:
    """A fresh learner of the settings that a model goes by, which reads matrices."""
    if not reads_text(model):
        return settled_like(model)
    kind = Ranker if task_of(model) == "rank" else Classifier
    known = inspect.signature(kind).parameters
    return kind(**{name: value for name, value in model.get_params(deep=False).items() if name in known})


def _plain(value: np.integer | np.floating) -> float | int | None:
    return int(value) if isinstance(value, np.integer) else float(value) if math.isfinite(value) else None
