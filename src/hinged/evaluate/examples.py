"""Examples from files for models: which learner suits them, what it is given, and some of them at a time."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hinged.estimators import Classifier, Ranker
from hinged.estimators.base import LabelEstimator
from hinged.estimators.files import load
from hinged.estimators.sequence import SequenceTagger
from hinged.estimators.text import TextClassifier, TextRanker
from hinged.estimators.uniclass import Uniclass
from hinged.evaluate.vector_tasks import VECTOR_TASKS, is_vector, task_of, vector_answers, vector_rows
from hinged.io.examples.chunk import Chunk, Strings

__all__ = [
    "answers_for",
    "check_agrees",
    "check_setting",
    "is_ranker",
    "labelled",
    "load_learner",
    "needs_answers",
    "new_learner",
    "reads_text",
    "rows_for",
    "sizes_of",
    "taken",
]

KINDS = {
    ("classify", "text"): TextClassifier,
    ("rank", "text"): TextRanker,
    ("classify", "columns"): Classifier,
    ("rank", "columns"): Ranker,
}


def new_learner(chunk: Chunk, task: str | None, settings: Mapping[str, Any]) -> Any:
    """A learner for examples like these: of text or named features, or of numbered columns; of one label or several.

    Parameters
    ----------
    chunk : Chunk
        The first examples.
    task : "classify", "rank", "binary", "regress", "ordinal", "outliers" or None
        None ranks where answers are lists of labels.
    settings : mapping
        Settings of the learner, by name; label features go with shared weights unless they are given.

    Examples
    --------
    >>> chunk = Chunk([["a", "b"]], np.array([1]), "x.svm", columns=(np.array([0, 0]), np.zeros(0), np.zeros(0)))
    >>> new_learner(chunk, None, {"sharing": "hybrid"})
    Ranker(features='frequency', sharing='hybrid')
    """
    if task is None:
        task = "rank" if any(isinstance(answer, list) for answer in chunk.answers) else "classify"
    kind = "text" if chunk.columns is None else "columns"
    settings = dict(settings)
    if task in VECTOR_TASKS:
        for name in settings:
            check_setting(VECTOR_TASKS[task](), name, "")
        return VECTOR_TASKS[task](**settings)
    for name in settings:
        check_setting(KINDS[task, kind](), name, f"{chunk.source} has")
    if settings.get("sharing", "multi") != "multi" and kind == "columns":
        settings.setdefault("features", "frequency")
    model = KINDS[task, kind](**settings)
    if chunk.texts:
        model.notes = {"fields": list(chunk.texts)}
    return model


def load_learner(path: str | os.PathLike[str], sentences: bool = False) -> Any:
    """The model in a file, if it learns from examples with labels; or from tagged `sentences`, where they may be."""
    model = load(path)
    if not is_vector(model) and not isinstance(model, LabelEstimator | SequenceTagger if sentences else LabelEstimator):
        raise ValueError(
            f"{os.fspath(path)} holds a model of {type(model).__name__.lower()}, which no file of examples can feed; "
            "use it from Python, with hinged.load."
        )
    return model


def reads_text(model: Any) -> bool:
    """Whether a model reads text or named features, not numbered columns."""
    return isinstance(model, TextClassifier | TextRanker)


def is_ranker(model: Any) -> bool:
    """Whether a model takes several right labels."""
    return isinstance(model, Ranker)


def needs_answers(model: Any) -> bool:
    """Whether a model learns from answers, not from rows alone."""
    return not isinstance(model, Uniclass)


def check_agrees(model: Any, task: str | None, settings: Mapping[str, Any], name: str) -> None:
    """Refuse a task or settings that differ from those a model was learnt with."""
    is_task = (
        task_of(model)
        if is_vector(model)
        else "rank"
        if is_ranker(model)
        else "sequence"
        if isinstance(model, SequenceTagger)
        else "classify"
    )
    if task is not None and task != is_task:
        raise ValueError(f"{name} was learnt to {is_task}, so it cannot go on with task {task}; start a fresh model.")
    for setting, value in settings.items():
        check_setting(model, setting, f"{name} reads")
        before = getattr(model, setting)
        if (tuple(before) if isinstance(before, list) else before) != value:
            raise ValueError(
                f"{name} was learnt with {setting}={before!r}, so it cannot go on with {value!r}; "
                f"leave {setting} out, or start a fresh model."
            )


def check_setting(model: Any, name: str, what: str) -> None:
    """Refuse a setting of text for columns, and the other way round."""
    if name not in model.get_params(deep=False):
        if isinstance(model, SequenceTagger) or is_vector(model):
            task = task_of(model) if is_vector(model) else "sequence"
            raise ValueError(f"{name} is no setting for the task {task}; leave it out.")
        kind, other = ("text", "numbered columns") if reads_text(model) else ("numbered columns", "text")
        raise ValueError(f"{name} is a setting for {other}, and {what} {kind}; leave it out.")


# ------------------------------------------------------------------ what a model is given
def rows_for(model: Any, chunk: Chunk, grow: bool) -> Any:
    """What a model reads of a chunk: the chunk itself with the fields it was taught, or rows for one weight vector.

    Columns that the model has never met are welcome: they have no weights yet.
    """
    if is_vector(model):
        return vector_rows(model, chunk, grow)
    if reads_text(model):
        if chunk.columns is not None:
            raise ValueError(f"this model was taught text or named features; {chunk.source} has numbered columns.")
        return _known_fields(model, chunk, grow) if chunk.texts else chunk
    if chunk.columns is None:
        raise ValueError(f"this model was taught numbered columns; {chunk.source} has {_kind_of(chunk)}.")
    return chunk


def answers_for(model: Any, chunk: Chunk) -> Any:
    """The answers as a model takes them: one label each, or a list of labels each."""
    if is_vector(model):
        return vector_answers(model, chunk)
    if is_ranker(model):
        return [answer if isinstance(answer, list) else [answer] for answer in chunk.answers]
    return [_single(answer, chunk, i) for i, answer in enumerate(chunk.answers)]


def _single(answer: Any, chunk: Chunk, i: int) -> Hashable:
    if not isinstance(answer, list):
        return answer
    if len(answer) == 1:
        return answer[0]
    raise ValueError(
        f"{chunk.source}:{chunk.lines[i]}: there are {len(answer)} labels; expected one, for a model learnt to "
        "classify. Use the task rank for label sets."
    )


def _known_fields(model: Any, chunk: Chunk, grow: bool) -> Chunk:
    """The fields the model was taught, and new ones where it learns; a text alone is the only text it was taught."""
    notes = model.notes
    known, fields = notes.get("fields"), list(chunk.texts)
    if not isinstance(known, list) or known == fields:
        return chunk
    if len(known) == len(fields) == 1:
        return replace(chunk, texts={known[0]: chunk.texts[fields[0]]})
    if not set(fields) & set(known):
        raise ValueError(
            f"this model was taught {_listed(known)}; {chunk.source} has {_listed(fields)}. Name the fields by text."
        )
    if grow:
        model.notes = notes | {"fields": [*known, *(name for name in fields if name not in known)]}
        return chunk
    return replace(chunk, texts={name: chunk.texts[name] for name in fields if name in known})


def _listed(fields: Sequence[str]) -> str:
    return ("the field " if len(fields) == 1 else "the fields ") + ", ".join(map(repr, fields))


def _kind_of(chunk: Chunk) -> str:
    return "named features" if chunk.named is not None else "text"


# ------------------------------------------------------------------ some of the examples
def labelled(chunk: Chunk) -> Chunk:
    """The examples that have an answer."""
    if None not in chunk.answers:
        return chunk
    return taken(chunk, np.array([i for i, answer in enumerate(chunk.answers) if answer is not None], np.int64))


def taken(chunk: Chunk, rows: slice | np.ndarray) -> Chunk:
    """Some examples of a chunk: a slice shares its memory, an array of positions copies.

    Examples
    --------
    >>> chunk = Chunk(["a", "b", "c"], np.arange(1, 4), "x", columns=(np.arange(4), np.arange(3), np.ones(3)))
    >>> taken(chunk, slice(1, 3)).columns[0].tolist(), taken(chunk, np.array([2, 0])).columns[1].tolist()
    ([0, 1, 2], [2, 0])
    """
    if isinstance(rows, slice) and (rows.start or 0) <= 0 and rows.stop >= len(chunk):
        return chunk
    picked = range(len(chunk))[rows] if isinstance(rows, slice) else rows.tolist()
    columns, named = chunk.columns, chunk.named
    if columns is not None:
        indptr, places = _places(columns[0], rows)
        columns = indptr, columns[1][places], columns[2][places]
    if named is not None and isinstance(rows, slice):  # nothing is copied, and features stay in one piece for the loops
        named = named._replace(indptr=named.indptr[rows.start : rows.stop + 1])
    elif named is not None:
        indptr, places = _places(named.indptr, rows)
        spaces, names = (np.ascontiguousarray(spans[:, places]) for spans in (named.spaces, named.names))
        named = named._replace(indptr=indptr, spaces=spaces, names=names, values=named.values[places])
    return replace(
        chunk,
        answers=[chunk.answers[i] for i in picked],
        lines=chunk.lines[rows],
        weights=None if chunk.weights is None else chunk.weights[rows],
        tags=None if chunk.tags is None else [chunk.tags[i] for i in picked],
        texts={name: Strings(s.buffer, s.starts[rows], s.ends[rows]) for name, s in chunk.texts.items()},
        columns=columns,
        named=named,
        skipped=0,
    )


def sizes_of(chunk: Chunk) -> np.ndarray:
    """How much work each example is: the bytes of its text, or its features."""
    sizes = np.ones(len(chunk), np.int64)
    for text in chunk.texts.values():
        sizes += text.ends - text.starts
    rows = chunk.named.indptr if chunk.named is not None else chunk.columns[0] if chunk.columns is not None else None
    return sizes if rows is None else sizes + np.diff(rows)


def _places(indptr: np.ndarray, rows: slice | np.ndarray) -> tuple[np.ndarray, Any]:
    """Row pointers of some rows, and where their values lie."""
    if isinstance(rows, slice):
        bounds = indptr[rows.start : rows.stop + 1]
        return bounds - bounds[0], slice(int(bounds[0]), int(bounds[-1]))
    lengths = indptr[rows + 1] - indptr[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return ends, np.repeat(indptr[rows] - ends[:-1], lengths) + np.arange(ends[-1])
