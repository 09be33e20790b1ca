"""Which columns of a data frame hold what, and its records as a learner takes them: by the reader of Parquet files.

A row that cannot be read is a fault with its place; the others are read all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from hinged.estimators.ranker import Ranker
from hinged.files.examples import FileLearner, labelled, reads_text, rows_for
from hinged.io.examples.chunk import BadLine, Chunk
from hinged.io.examples.columns import LABELS, Options, is_unused

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Columns", "Fault", "Read", "columns_of", "examples_of", "faults_of", "fresh", "note_columns", "read_batch"]

L = TypeVar("L", bound=Any)

#: Name of the column of named features, for the reader.
NAMED = "features"
TEXT, NUMBER, NAMED_FEATURES, VECTOR, OTHER = "text", "number", "named features", "vector", "other"


@dataclass(frozen=True)
class Columns:
    """Columns by what they hold: texts and numbers, or one of named features, or one of vectors."""

    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    named: str | None = None
    vector: str | None = None
    label: str | None = None
    weight: str | None = None

    def of_features(self) -> list[str]:
        """Return the columns that rows are made of."""
        return [*self.texts, *self.numbers, *filter(None, (self.named, self.vector))]

    def read(self) -> list[str]:
        """Return all columns that are read, each once."""
        return list(dict.fromkeys([*self.of_features(), *filter(None, (self.label, self.weight))]))


class Fault(NamedTuple):
    """A row that cannot be learnt or predicted."""

    row: int  # of its partition, from 1
    problem: str


class Read(NamedTuple):
    """Rows as a learner takes them."""

    rows: Any
    answers: Any
    weights: np.ndarray | None
    kept: np.ndarray  # which rows of the batch these are
    faults: list[Fault]
    unlabelled: int


# ------------------------------------------------------------------ columns
def kind_of(kind: pa.DataType) -> str:
    """Return what a column of this type holds."""
    import pyarrow.types as t

    if t.is_string(kind) or t.is_large_string(kind):
        return TEXT
    if t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind) or t.is_decimal(kind):
        return NUMBER
    if t.is_map(kind) and kind_of(kind.key_type) == TEXT and kind_of(kind.item_type) == NUMBER:
        return NAMED_FEATURES
    if (t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind)) and kind_of(kind.value_type) == NUMBER:
        return VECTOR
    return OTHER


def columns_of(
    schema: pa.Schema,
    features: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
    needs_label: bool = True,
    aside: Iterable[str] = (),
) -> Columns:
    """Return which columns to read, or say by name which is missing or of the wrong type.

    Without `features`, all that hold texts or numbers but for labels, names, dates and those put `aside`; without
    `label`, the first of the common names.

    Examples
    --------
    >>> import pyarrow as pa
    >>> columns_of(pa.schema([("body", pa.string()), ("size", pa.int64()), ("folder", pa.string())]))
    Columns(texts=('body',), numbers=('size',), named=None, vector=None, label='folder', weight=None)
    """
    there = dict(zip(schema.names, schema.types, strict=True))
    if label is None and needs_label:
        label = next((name for name in LABELS if name in there), None)
        if label is None:
            raise ValueError(f"no column is called like a label; the columns are {', '.join(there)}. Name it: label=.")
    given = [features] if isinstance(features, str) else features
    for name in (*(given or ()), *filter(None, (label, weight))):
        if name not in there:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(there)}.")
    if given is None:
        unused = {label, weight, *aside}
        given = [name for name in there if name not in unused and not is_unused(name) and kind_of(there[name]) != OTHER]
    kinds = {name: kind_of(there[name]) for name in given}
    for name, kind in kinds.items():
        if kind == OTHER:
            raise ValueError(f"column {name!r} holds {there[name]}; features are strings, numbers, vectors or maps.")
        if kind in (NAMED_FEATURES, VECTOR) and len(kinds) > 1:
            raise ValueError(f"column {name!r} holds all features of a row ({kind}); name it alone: features={name!r}.")
    if not kinds:
        raise ValueError(f"no column holds features; the columns are {', '.join(there)}. Name them: features=.")
    if weight is not None and kind_of(there[weight]) != NUMBER:
        raise ValueError(f"column {weight!r} holds {there[weight]}; weights are numbers.")

    def alone(kind: str) -> str | None:
        return next((name for name, its in kinds.items() if its == kind), None)

    def several(kind: str) -> tuple[str, ...]:
        return tuple(name for name, its in kinds.items() if its == kind)

    return Columns(several(TEXT), several(NUMBER), alone(NAMED_FEATURES), alone(VECTOR), label, weight)


# ------------------------------------------------------------------ rows
def fresh(model: L) -> L:
    """Return a learner of the same settings that has learnt nothing."""
    return type(model)(**model.get_params(deep=False))


def note_columns(model: FileLearner, columns: Columns) -> None:
    """Tell a model that has learnt nothing which columns it will read, as `hinged learn` does."""
    if columns.vector is None and columns.named is None and not model.notes:
        if columns.numbers:
            model.notes = {"numbers": list(columns.numbers), "fields": list(columns.texts)}
        elif reads_text(model):
            model.notes = {"fields": list(columns.texts)}


def read_batch(model: FileLearner, batch: pa.RecordBatch, columns: Columns, first: int, grow: bool) -> Read:
    """Return the rows of a batch, the first of which is row `first` of its partition; with `grow`, to be learnt."""
    chunk, vectors, faults = _sound(batch, columns, first, getattr(model, "n_features_in_", None))
    asked = len(chunk)
    if grow:
        chunk = labelled(chunk)
    kept = chunk.lines - first
    weights = None if chunk.weights is None else np.array(chunk.weights)
    answers = _answers(model, batch.column(columns.label).take(kept).to_pylist()) if grow and columns.label else None
    rows = vectors[kept] if vectors is not None else rows_for(model, chunk, grow) if len(chunk) else None
    return Read(rows, answers, weights, kept, faults, asked - len(chunk))


def _answers(model: FileLearner, answers: list[Any]) -> list[Any]:
    """Return the answers of rows as they are in the frame, numbers too; one label alone is a set for a `Ranker`."""
    if not isinstance(model, Ranker):
        return answers
    return [answer if isinstance(answer, list) else [answer] for answer in answers]


def faults_of(batch: pa.RecordBatch, columns: Columns, first: int, width: int | None = None) -> list[Fault]:
    """Return the rows of a batch that cannot be read, vectors of another width among them."""
    return _sound(batch, columns, first, width)[2]


def examples_of(batch: pa.RecordBatch, columns: Columns) -> Chunk:
    """Return the rows of a batch that can be read, as a file of examples would give them; without vectors."""
    return _chunk(batch, columns, 1)[0]


def _sound(
    batch: pa.RecordBatch, columns: Columns, first: int, width: int | None
) -> tuple[Chunk, np.ndarray | None, list[Fault]]:
    """Return the rows that can be read, the vectors of all rows where there are vectors, and the rows that cannot."""
    chunk, faults = _chunk(batch, columns, first)
    if columns.vector is None:
        return chunk, None, faults
    vectors, more = _vectors(batch, columns.vector, first, width)
    chunk = chunk.taken(np.flatnonzero(~np.isin(chunk.lines, [fault.row for fault in more])))
    return chunk, vectors, faults + more


def _chunk(batch: pa.RecordBatch, columns: Columns, first: int) -> tuple[Chunk, list[Fault]]:
    """Return a batch as a chunk of examples, by the reader of Parquet files, and the rows that cannot be read."""
    from hinged.io.examples.arrow import BatchReader

    names = [NAMED if name == columns.named else name for name in batch.schema.names]
    if names != batch.schema.names:
        batch = batch.rename_columns(names)
    texts, numbers = (columns.texts, columns.numbers) if columns.named is None else (None, None)
    options = Options(text=texts, numbers=numbers, label=columns.label, weight=columns.weight)
    lines = np.arange(first, first + len(batch))
    chunk, bad = BatchReader("row", options).chunk(batch.select([n for n in names if n != columns.vector]), lines)
    return chunk, [Fault(fault.line, _said(fault)) for fault in bad]


def _said(fault: BadLine) -> str:
    return f"{fault.problem}; expected {fault.expected}"


def _vectors(batch: pa.RecordBatch, name: str, first: int, width: int | None) -> tuple[np.ndarray, list[Fault]]:
    """Return the vectors of a column as a matrix, zeros where one is not sound, and the rows where that is so.

    All must be as long as the model has columns, or else as the first of them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = batch.column(name)
    lengths = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    width = width or int(next(iter(lengths[lengths > 0]), 1))
    matrix, sound = np.zeros((len(column), width)), lengths == width
    values = column.filter(pa.array(sound)).flatten().cast(pa.float64(), safe=False)
    matrix[sound] = values.to_numpy(zero_copy_only=False).reshape(-1, width)  # a null is NaN
    sound &= np.isfinite(matrix).all(axis=1)
    matrix[~sound] = 0.0
    problem = f"column {name!r} holds no vector of {width} finite numbers"
    return matrix, [Fault(first + i, problem) for i in np.flatnonzero(~sound).tolist()]
