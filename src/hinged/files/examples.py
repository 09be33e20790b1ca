"""Examples from files for learners: which learner suits them, what it is given, and how to select some of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from hinged.estimators import Classifier, Ranker
from hinged.estimators.files import load
from hinged.estimators.sequence import SequenceTagger
from hinged.estimators.text import TextClassifier, TextRanker
from hinged.files.sentences import Sentences, sentence_rows
from hinged.files.vectors import VECTOR_TASKS, single, vector_answers, vector_rows
from hinged.io.examples.chunk import Chunk, Strings

__all__ = [
    "answers_for",
    "check_agrees",
    "labelled",
    "load_learner",
    "needs_answers",
    "new_learner",
    "reads_text",
    "rows_for",
    "sizes_of",
    "taken",
    "task_of",
]

#: Task, as `--task` names it → the class of its learners.
TASKS: dict[str, Any] = {"classify": Classifier, "rank": Ranker, **VECTOR_TASKS, "sequence": SequenceTagger}
#: The same for text and named features.
TEXT_LEARNERS = {"classify": TextClassifier, "rank": TextRanker}

Examples = Chunk | Sentences


def task_of(model: Any) -> str:
    """The task of a learner, as `--task` names it."""
    return next(task for task, kind in TASKS.items() if isinstance(model, kind))


def new_learner(chunk: Examples, task: str | None, settings: Mapping[str, Any]) -> Any:
    """A learner for examples like these: of text or named features, or of numbered columns; of one label or several.

    Parameters
    ----------
    chunk : Chunk or Sentences
        The first examples.
    task : a task of `TASKS`, or None
        None is "rank" if answers are lists of labels, else "classify".
    settings : mapping
        Settings of the learner, by name. Defaults beside the learner's own: label features for shared weights, averaged
        weights for a tagger.

    Examples
    --------
    >>> chunk = Chunk([["a", "b"]], np.array([1]), "x.svm", columns=(np.array([0, 0]), np.zeros(0), np.zeros(0)))
    >>> new_learner(chunk, None, {"sharing": "hybrid"})
    Ranker(features='frequency', sharing='hybrid')
    """
    if task is None:
        task = "rank" if any(isinstance(answer, list) for answer in chunk.answers) else "classify"
    columns = isinstance(chunk, Sentences) or chunk.columns is not None
    kind = TASKS[task] if columns else TEXT_LEARNERS.get(task, TASKS[task])
    settings = dict(settings)
    for name in settings:
        check_setting(kind(), name, f"{chunk.source} has")
    if settings.get("sharing", "multi") != "multi" and columns:
        settings.setdefault("features", "frequency")
    if isinstance(chunk, Sentences):
        model = kind(**{"average": True, **settings})
        model.notes = {"columns": len(chunk.sentences[0].tokens[0])}
        return model
    model = kind(**settings)
    if chunk.texts and reads_text(model):
        model.notes = {"fields": list(chunk.texts)}
    return model


def load_learner(path: str | os.PathLike[str]) -> Any:
    """The model in a file, if it can learn from files of examples."""
    model = load(path)
    if not isinstance(model, tuple(TASKS.values())):
        raise ValueError(
            f"{os.fspath(path)} holds a model of {type(model).__name__.lower()}, which no file of examples can feed; "
            "use it from Python, with hinged.load."
        )
    return model


def reads_text(model: Any) -> bool:
    """Return True if a label learner reads text or named features, False if it reads numbered columns."""
    return isinstance(model, TextClassifier | TextRanker)


def needs_answers(model: Any) -> bool:
    """Return True unless a model learns from rows alone."""
    return task_of(model) != "outliers"


def check_agrees(model: Any, task: str | None, settings: Mapping[str, Any], name: str) -> None:
    """Raise ValueError if a task or settings differ from those a model was learnt with."""
    if task is not None and task != task_of(model):
        raise ValueError(
            f"{name} was learnt to {task_of(model)}, so it cannot go on with task {task}; start a fresh model."
        )
    for setting, value in settings.items():
        check_setting(model, setting, f"{name} reads")
        before = getattr(model, setting)
        if (tuple(before) if isinstance(before, list) else before) != value:
            raise ValueError(
                f"{name} was learnt with {setting}={before!r}, so it cannot go on with {value!r}; "
                f"leave {setting} out, or start a fresh model."
            )


def check_setting(model: Any, name: str, what: str) -> None:
    """Raise ValueError if a learner has no such setting; `what` says which input it reads."""
    if name not in model.get_params(deep=False):
        if task_of(model) not in TEXT_LEARNERS:
            raise ValueError(f"{name} is no setting for the task {task_of(model)}; leave it out.")
        kind, other = ("text", "numbered columns") if reads_text(model) else ("numbered columns", "text")
        raise ValueError(f"{name} is a setting for {other}, and {what} {kind}; leave it out.")


# ------------------------------------------------------------------ what a model is given
def rows_for(model: Any, chunk: Any, grow: bool) -> Any:
    """What a model reads of a chunk: the chunk with the fields the model knows, or rows or sentences made of it.

    Columns that the model has not seen are allowed: they have no weights yet.
    """
    if isinstance(chunk, Sentences):
        return sentence_rows(model, chunk)
    if task_of(model) in VECTOR_TASKS:
        return vector_rows(model, chunk, grow)
    if reads_text(model):
        if chunk.columns is not None:
            raise ValueError(f"this model was taught text or named features; {chunk.source} has numbered columns.")
        return _known_fields(model, chunk, grow) if chunk.texts else chunk
    if chunk.columns is None:
        raise ValueError(f"this model was taught numbered columns; {chunk.source} has {_kind_of(chunk)}.")
    return chunk


def answers_for(model: Any, chunk: Any) -> Any:
    """The answers as a model takes them: a label, a list of labels, a number, or tags for each example."""
    task = task_of(model)
    if task in VECTOR_TASKS:
        return vector_answers(model, chunk)
    if task == "sequence":
        return chunk.answers
    if task == "rank":
        return [answer if isinstance(answer, list) else [answer] for answer in chunk.answers]
    hint = ", for a model learnt to classify. Use the task rank for label sets."
    return [single(answer, chunk, i, hint) for i, answer in enumerate(chunk.answers)]


def _known_fields(model: Any, chunk: Chunk, grow: bool) -> Chunk:
    """The chunk with the fields the model knows, and new ones if it learns; single texts match whatever their names."""
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
def labelled(chunk: Any) -> Any:
    """The examples that have an answer."""
    if None not in chunk.answers:
        return chunk
    return taken(chunk, np.array([i for i, answer in enumerate(chunk.answers) if answer is not None], np.int64))


@overload
def taken(chunk: Chunk, rows: slice | np.ndarray) -> Chunk: ...
@overload
def taken(chunk: Sentences, rows: slice | np.ndarray) -> Sentences: ...
def taken(chunk: Examples, rows: slice | np.ndarray) -> Examples:
    """Some examples of a chunk: a slice shares its memory, an array of positions copies.

    Examples
    --------
    >>> chunk = Chunk(["a", "b", "c"], np.arange(1, 4), "x", columns=(np.arange(4), np.arange(3), np.ones(3)))
    >>> taken(chunk, slice(1, 3)).columns[0].tolist(), taken(chunk, np.array([2, 0])).columns[1].tolist()
    ([0, 1, 2], [2, 0])
    """
    if isinstance(rows, slice) and (rows.start or 0) <= 0 and rows.stop >= len(chunk):
        return chunk
    if isinstance(chunk, Sentences):
        return chunk.taken(rows)
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


def sizes_of(chunk: Examples) -> np.ndarray:
    """How much work each example is: the bytes of its text, its features, or its tokens."""
    if isinstance(chunk, Sentences):
        return chunk.sizes
    sizes = np.ones(len(chunk), np.int64)
    for text in chunk.texts.values():
        sizes += text.ends - text.starts
    rows = chunk.named.indptr if chunk.named is not None else chunk.columns[0] if chunk.columns is not None else None
    return sizes if rows is None else sizes + np.diff(rows)


def _places(indptr: np.ndarray, rows: slice | np.ndarray) -> tuple[np.ndarray, Any]:
    """Row pointers of some rows, and the positions of their values."""
    if isinstance(rows, slice):
        bounds = indptr[rows.start : rows.stop + 1]
        return bounds - bounds[0], slice(int(bounds[0]), int(bounds[-1]))
    lengths = indptr[rows + 1] - indptr[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return ends, np.repeat(indptr[rows] - ends[:-1], lengths) + np.arange(ends[-1])
