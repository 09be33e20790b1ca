"""Examples from files for learners: which learner suits them, what it is given, and how to select some of them."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias, TypeGuard, TypeVar, overload

import numpy as np
from scipy import sparse

from hinged.estimators import Classifier, Ranker
from hinged.estimators.binary import BinaryClassifier
from hinged.estimators.files import load
from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.ordinal import OrdinalClassifier
from hinged.estimators.regressor import Regressor
from hinged.estimators.sequence import SequenceTagger
from hinged.estimators.text import TextClassifier, TextRanker
from hinged.estimators.uniclass import Uniclass
from hinged.files.sentences import SentenceChunk, sentence_rows
from hinged.geometry.choice import on_simplex
from hinged.io.examples.chunk import Answer, Chunk, Named
from hinged.text.tables import table_rows

__all__ = [
    "VECTOR_TASKS",
    "answers_for",
    "as_dicts",
    "check_agrees",
    "chosen_settings",
    "has_text",
    "labelled",
    "load_learner",
    "new_learner",
    "reads_text",
    "rows_for",
    "task_of",
    "usable",
    "vector_answers",
    "vector_rows",
]

#: Learners with one score for all answers, and all learners that files of examples can feed.
OneVector: TypeAlias = BinaryClassifier | Regressor | OrdinalClassifier | Uniclass
FileLearner: TypeAlias = LabelLearner | OneVector | SequenceTagger
#: Tasks with one score for all answers, as `--task` names them → their learners.
VECTOR_TASKS: dict[str, type[OneVector]] = {
    "binary": BinaryClassifier,
    "regress": Regressor,
    "ordinal": OrdinalClassifier,
    "outliers": Uniclass,
}
#: Task → the class of its learners.
TASKS: dict[str, type[FileLearner]] = {
    "classify": Classifier,
    "rank": Ranker,
    **VECTOR_TASKS,
    "sequence": SequenceTagger,
}
#: The same for text and named features.
TEXT_LEARNERS = {"classify": TextClassifier, "rank": TextRanker}
#: Settings with which a text learner reads numbers as the other learners do by default.
AS_FOR_NUMBERS = {"sharing": "multi", "normalize": "auto", "C": "auto", "average": "auto", "bias": "auto"}

Examples: TypeAlias = Chunk | SentenceChunk
Column = TypeVar("Column")
SomeExamples = TypeVar("SomeExamples", Chunk, SentenceChunk, Chunk | SentenceChunk)
#: What learners read of examples: chunks themselves, matrices, or the features of tokens.
FileRows: TypeAlias = Chunk | sparse.csr_array | list[list[list[str]]]


def task_of(model: FileLearner) -> str:
    """The task of a learner, as `--task` names it."""
    return next(task for task, kind in TASKS.items() if isinstance(model, kind))


def new_learner(chunk: Examples, task: str | None, settings: Mapping[str, Any]) -> FileLearner:
    """A learner for examples like these: of text or named features, or of numbered columns; of one label or several.

    Parameters
    ----------
    chunk : Chunk or SentenceChunk
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
    kind = _kind_for(chunk, task)
    for name in settings:
        check_setting(kind(), name, f"{chunk.source} has")
    model = kind(**{**chosen_settings(kind, chunk, settings), **settings})
    model.notes = _notes(model, chunk) or model.notes
    return model


def _kind_for(chunk: Examples, task: str | None) -> type[FileLearner]:
    """The class of a learner for examples like these."""
    if task is None:
        task = "rank" if any(isinstance(answer, list) for answer in chunk.answers) else "classify"
    if isinstance(chunk, SentenceChunk) or chunk.columns is not None or (chunk.numbers and not chunk.texts):
        return TASKS[task]
    return TEXT_LEARNERS.get(task, TASKS[task])


def chosen_settings(kind: type[FileLearner], chunk: Examples, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that suit examples like these, where they are not the learner's own defaults.

    Numbers alone need none: the first row decides. With categories they are standardised, and several C learn side by
    side. Beside text, numbers are standardised too, but weigh no more than words do.

    Parameters
    ----------
    kind : class of the learner
    chunk : Chunk or SentenceChunk
    given : mapping
        What the user set; those settings are not chosen.
    """
    if isinstance(chunk, SentenceChunk):
        return {"average": True}
    chosen = _for_numbers(kind, chunk, given) if chunk.numbers else {}
    if (chunk.columns is not None or chunk.numbers) and _shares(given) and kind not in TEXT_LEARNERS.values():
        chosen["features"] = "frequency"
    known = inspect.signature(kind).parameters
    return {name: value for name, value in chosen.items() if name in known and name not in given}


def _for_numbers(kind: type[FileLearner], chunk: Chunk, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for numbers, alone or beside categories or text."""
    if on_simplex(given.get("geometry", "euclidean")) is not None:
        return {"n_features": len(chunk.numbers)}
    if _shares(given) or has_text(chunk):
        return {"scaling": "idf", "normalize": True}
    chosen = {"scaling": "standard"} if chunk.texts else {}
    return chosen | AS_FOR_NUMBERS if kind in TEXT_LEARNERS.values() else chosen


def _shares(given: Mapping[str, Any]) -> bool:
    """Return True if labels share weights, by the settings given."""
    return given.get("sharing", "multi") != "multi"


def has_text(chunk: Chunk) -> bool:
    """Return True if a column of a chunk is text, not numbers or a category."""
    return bool(chunk.texts) and (chunk.layout is None or bool(chunk.layout.texts))


def _notes(model: FileLearner, chunk: Examples) -> dict[str, Any]:
    """How a model's examples are laid out: columns of a token, or columns of numbers and fields of text."""
    if isinstance(chunk, SentenceChunk):
        return {"columns": len(chunk.sentences[0].tokens[0])}
    if chunk.numbers:
        return {"numbers": list(chunk.numbers), "fields": list(chunk.texts)}
    return {"fields": list(chunk.texts)} if chunk.texts and reads_text(model) else {}


def load_learner(path: str | os.PathLike[str]) -> FileLearner:
    """The model in a file, if it can learn from files of examples."""
    model = load(path)
    if not isinstance(model, FileLearner):
        raise ValueError(
            f"{os.fspath(path)} holds a model of {type(model).__name__.lower()}, which no file of examples can feed; "
            "use it from Python, with hinged.load."
        )
    return model


def reads_text(model: FileLearner) -> TypeGuard[TextClassifier | TextRanker]:
    """Return True if a label learner reads text or named features, False if it reads numbered columns."""
    return isinstance(model, TextClassifier | TextRanker)


def _needs_answers(model: FileLearner) -> bool:
    """Return True unless a model learns from rows alone."""
    return task_of(model) != "outliers"


def check_agrees(model: FileLearner, task: str | None, settings: Mapping[str, Any], name: str) -> None:
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


def check_setting(model: FileLearner, name: str, what: str) -> None:
    """Raise ValueError if a learner has no such setting; `what` says which input it reads."""
    if name not in model.get_params(deep=False):
        if task_of(model) not in TEXT_LEARNERS:
            raise ValueError(f"{name} is no setting for the task {task_of(model)}; leave it out.")
        kind, other = ("text", "numbered columns") if reads_text(model) else ("numbered columns", "text")
        raise ValueError(f"{name} is a setting for {other}, and {what} {kind}; leave it out.")


def usable(model: FileLearner, chunk: Examples) -> Examples:
    """The examples that a model can learn from and be judged by: those with an answer, unless it needs none."""
    return labelled(chunk) if _needs_answers(model) else chunk


def labelled(chunk: SomeExamples) -> SomeExamples:
    """The examples that have an answer."""
    if None not in chunk.answers:
        return chunk
    return chunk.taken(np.array([i for i, answer in enumerate(chunk.answers) if answer is not None], np.int64))


# ------------------------------------------------------------------ what a model is given
def rows_for(model: FileLearner, chunk: Examples, grow: bool) -> FileRows:
    """What a model reads of a chunk: the chunk with the fields the model knows, or rows or sentences made of it.

    Columns that the model has not seen are allowed: they have no weights yet.
    """
    if isinstance(chunk, SentenceChunk):
        return sentence_rows(model, chunk)
    if isinstance(model, OneVector):
        return vector_rows(model, chunk, grow)
    if reads_text(model):
        return _text_rows(model, chunk, grow)
    if chunk.columns is not None:
        return chunk
    if not chunk.numbers and "numbers" not in model.notes:
        raise ValueError(f"this model was taught numbered columns; {chunk.source} has {_kind_of(chunk)}.")
    return _known_numbers(model, chunk, grow)


def _text_rows(model: FileLearner, chunk: Chunk, grow: bool) -> Chunk:
    """The chunk as a model of text or named features takes it."""
    if chunk.columns is not None:
        raise ValueError(f"this model was taught text or named features; {chunk.source} has numbered columns.")
    chunk = _known_numbers(model, chunk, grow)
    return _known_fields(model, chunk, grow) if chunk.texts and not chunk.numbers else chunk


def _known_numbers(model: FileLearner, chunk: Chunk, grow: bool) -> Chunk:
    """The chunk with the columns that a model of a table knows, or without numbers for a model that knows none.

    A model of numbers alone learns new columns too; beside strings, the first rows decide which columns hold numbers.
    """
    notes = model.notes
    known, fields = notes.get("numbers", []), notes.get("fields", [])
    if not known:
        return _without_numbers(chunk, fields)
    if chunk.named is not None:  # rows of a table most of whose numbers are missing
        return chunk
    if grow and not fields and chunk.numbers.keys() - known:
        known = list(dict.fromkeys([*known, *chunk.numbers]))
        model.notes = notes | {"numbers": known}
    kept = replace(chunk, numbers=_of_names(chunk.numbers, known), texts=_of_names(chunk.texts, fields))
    if kept.numbers or kept.texts:
        return kept
    there = [*chunk.numbers, *chunk.texts]
    has = _listed(there, "column") if there else _kind_of(chunk)
    taught = _listed([*known, *fields], "column")
    raise ValueError(f"this model was taught {taught}; {chunk.source} has {has}. Give a file with those columns.")


def _of_names(columns: Mapping[str, Column], names: Sequence[str]) -> dict[str, Column]:
    return {name: columns[name] for name in names if name in columns}


def _without_numbers(chunk: Chunk, fields: Sequence[str]) -> Chunk:
    """The chunk without columns of numbers; as named features where there is nothing else."""
    if not chunk.numbers:
        return chunk
    if chunk.texts:
        return replace(chunk, numbers={})
    if fields:
        raise ValueError(f"this model was taught {_listed(fields)} of text; {chunk.source} has numbers alone.")
    return replace(chunk, numbers={}, named=Named.of_columns(chunk.numbers))


@overload
def answers_for(model: LabelLearner, chunk: Examples) -> list[Any]: ...
@overload
def answers_for(model: FileLearner, chunk: Examples) -> list[Any] | None: ...
def answers_for(model: FileLearner, chunk: Examples) -> list[Any] | None:
    """The answers as a model takes them: a label, a list of labels, a number, or tags for each example."""
    if isinstance(chunk, SentenceChunk):
        return chunk.answers
    if isinstance(model, OneVector):
        return vector_answers(model, chunk)
    if isinstance(model, Ranker):
        return [answer if isinstance(answer, list) else [answer] for answer in chunk.answers]
    hint = ", for a model learnt to classify. Use the task rank for label sets."
    return [single(answer, chunk, i, hint) for i, answer in enumerate(chunk.answers)]


def _known_fields(model: FileLearner, chunk: Chunk, grow: bool) -> Chunk:
    """The chunk with the fields the model knows, and new ones if it learns; single texts match whatever their names."""
    notes = model.notes
    known, fields = notes.get("fields"), list(chunk.texts)
    if not isinstance(known, list) or known == fields:
        return chunk
    if len(known) == len(fields) == 1:
        return replace(chunk, texts={known[0]: chunk.texts[fields[0]]})
    shared = [name for name in fields if name in known]
    if not shared:
        raise ValueError(
            f"this model was taught {_listed(known)}; {chunk.source} has {_listed(fields)}. Name the fields by text."
        )
    if grow:
        model.notes = notes | {"fields": list(dict.fromkeys([*known, *fields]))}
        return chunk
    return replace(chunk, texts={name: chunk.texts[name] for name in shared})


def _listed(names: Sequence[str], what: str = "field") -> str:
    return (f"the {what} " if len(names) == 1 else f"the {what}s ") + ", ".join(map(repr, names))


def _kind_of(chunk: Chunk) -> str:
    return "named features" if chunk.named is not None else "numbered columns" if chunk.columns is not None else "text"


# ------------------------------------------------------------------ two labels, numbers, ranks and outliers
def vector_rows(model: FileLearner, chunk: Chunk, grow: bool) -> Chunk | sparse.csr_array:
    """The rows of a chunk: a sparse matrix of numbered columns, or the chunk itself where columns have names."""
    if chunk.columns is None:
        if getattr(model, "n_features_in_", None) is not None:
            raise ValueError(f"this model was taught numbered columns; {chunk.source} has named features or text.")
        return _known_numbers(model, chunk, grow)
    if hasattr(model, "feature_names_"):
        raise ValueError(f"this model was taught named features or text; {chunk.source} has numbered columns.")
    indptr, indices, values = chunk.columns
    known = getattr(model, "n_features_in_", 0)
    width = max(known, int(indices.max(initial=-1)) + 1, 1)
    if width > known and not grow:  # columns not seen in learning have no weights
        kept = indices < known
        indptr = np.concatenate([[0], np.cumsum(kept)])[indptr]
        indices, values, width = indices[kept], values[kept], known
    return sparse.csr_array((values, indices, indptr), shape=(len(chunk), width))


def as_dicts(chunk: Chunk) -> list[dict[Hashable, float]]:
    """The rows of a chunk of named columns, one dict each: quicker to read one by one."""
    rows, names = table_rows(chunk, {}, 0)
    values, columns, bounds = rows.data.tolist(), rows.indices.tolist(), rows.indptr.tolist()
    return [{names[c]: v for c, v in zip(columns[a:b], values[a:b], strict=True)} for a, b in pairwise(bounds)]


def vector_answers(model: FileLearner, chunk: Chunk) -> list[Any] | None:
    """The answers as a model takes them: numbers for regression, numbers for ranks that are written so, else labels."""
    if isinstance(model, Uniclass):
        return None
    answers = [single(answer, chunk, i) for i, answer in enumerate(chunk.answers)]
    if isinstance(model, Regressor):
        return [_number(answer, chunk, i) for i, answer in enumerate(answers)]
    if isinstance(model, OrdinalClassifier) and model.order is None:
        return [_rank(answer) for answer in answers]
    return answers


def single(answer: Answer, chunk: Chunk, i: int, hint: str = ".") -> Hashable:
    """The one label of example i; more or fewer are an error."""
    if not isinstance(answer, list):
        return answer
    if len(answer) == 1:
        return answer[0]
    raise ValueError(f"{chunk.source}:{chunk.lines[i]}: there are {len(answer)} labels; expected one{hint}")


def _number(answer: Hashable, chunk: Chunk, i: int) -> float:
    try:
        value = float(str(answer))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{chunk.source}:{chunk.lines[i]}: {answer!r} is not a number; expected one to regress.")
    return value


def _rank(answer: Hashable) -> Hashable:
    try:
        value = float(str(answer))
    except ValueError:
        return answer
    return int(value) if value.is_integer() else value
