"""Millions of small models, one for each key: a mailbox, a shop, a device.

Batch: rows and what is known of their keys come together in hash buckets, sorted by key and order, and one pass of
`mapInArrow` learns them. What a key's model comes to is bytes (`hinged.scale.lessons`). Streams are in `streaming.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from hinged.files.examples import FileLearner
from hinged.scale.engine import arrow_schema, needs_spark, quoted
from hinged.scale.lessons import Lesson, Lessons, lesson_of
from hinged.scale.reading import Columns, columns_of, fresh, note_columns
from hinged.scale.streaming import Asked, learn_stream
from hinged.scale.teaching import check_learner

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = [
    "KNOWN",
    "ORDER",
    "ROW",
    "Keyed",
    "as_rows",
    "by_key",
    "check_keyed",
    "check_known",
    "learn_keyed",
    "sorted_rows",
]

#: What is known of a key: its model, the rows it was ever taught, and what the last call left out.
STATES = "model binary, rows long, unlabelled long, skipped long, problem string"
BUCKETS = 64  # of a stream
KEY, ORDER, ROW, KNOWN = "__key", "__order", "__row", "__known"  # columns of the sorted rows


class Keyed(NamedTuple):
    """What each worker needs to learn or answer for keys."""

    model: FileLearner
    columns: Columns
    name: str
    key: pa.DataType
    snapshot: str


@needs_spark
def learn_keyed(
    df: DataFrame,
    model: FileLearner,
    *,
    key: str,
    order: str | Sequence[str],
    known: DataFrame | None = None,
    features: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
    buckets: int | None = None,
    snapshot: str = "due",
) -> DataFrame:
    """Teach each key's own model its rows in order; return what each key's model came to.

    Of a batch, the result has a row for each key: `key` by its own name, `model` (bytes, see `Lessons`), `rows` ever
    taught, `unlabelled` and `skipped` rows of this call, and the first `problem`. Write it to Parquet and give it as
    `known` when more rows come. The model of a key is that of a local learner taught the same rows in the same order.
    Rows without a key are skipped, under a key that is null.

    Of a stream, the result is a stream of what each micro-batch taught each key. Start it with a checkpoint and
    ``outputMode("update")``: there the models are kept, and each row is learnt exactly once, whatever is killed and
    started again. `keyed_models` reads them out. Within a micro-batch the rows of a key are learnt in order; a row that
    comes with a later one is learnt then.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    model : a learner
        Its settings are those of every key; it need not have learnt anything.
    key : name of a column
    order : name of a column or of several
        By which the rows of a key are sorted, those without it last; rows that are equal in it come in any order. One
        for a stream.
    known : pyspark.sql.DataFrame, optional
        What an earlier call returned; keys without new rows stay in the result. A stream begins with it.
    features, label, weight : as in `fit`
    buckets : int, optional
        Partitions by hash of the key; Spark's own number by default. Of a stream, what its keys share, 64 by default:
        it cannot change for a checkpoint.
    snapshot : "due", "always" or "never", default "due"
        When lessons are learnt and packed as a state: when they outgrow it, at each call, or never.
    """
    orders = [order] if isinstance(order, str) else list(order)
    check_learner(model)
    check_keyed(df, key, orders, buckets, snapshot)
    check_known(df, known, key)
    columns = columns_of(arrow_schema(df), features, label, weight, aside=[key, *orders])
    if df.isStreaming:
        if len(orders) > 1 or snapshot != "due":
            raise ValueError("a stream is sorted by one column, and its snapshots are due when they are.")
        learner = fresh(model)
        note_columns(learner, columns)
        return learn_stream(df, known, Asked(learner, columns, key, orders[0], buckets or BUCKETS))
    rows = as_rows(df, key, orders, columns)
    asked = Keyed(fresh(model), columns, key, arrow_schema(df).field(key).type, snapshot)
    note_columns(asked.model, columns)
    kind = df.schema[key].dataType.simpleString()
    return sorted_rows(rows, known, key, buckets).mapInArrow(
        partial(_learn_keys, asked), f"{quoted([key])[0]} {kind}, {STATES}"
    )


def check_keyed(df: DataFrame, key: str, orders: list[str], buckets: int | None, snapshot: str = "due") -> None:
    """Say what is wrong with a call before anything runs."""
    if snapshot not in ("due", "always", "never"):
        raise ValueError(f"snapshot must be 'due', 'always' or 'never'; got snapshot={snapshot!r}.")
    for name in (key, *orders):
        if name not in df.columns:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(df.columns)}.")
    if buckets is not None and (isinstance(buckets, bool) or not isinstance(buckets, int) or buckets < 1):
        raise ValueError(f"buckets must be a whole number of at least 1; got buckets={buckets!r}.")
    if not orders:
        raise ValueError("order must name a column; without it the rows of a key come in any order.")
    if key in ("model", "rows", "unlabelled", "skipped", "problem"):
        raise ValueError(f"the key cannot be called {key!r}, which is a column of the result; rename it.")


def check_known(df: DataFrame, known: DataFrame | None, key: str) -> None:
    """Say what is wrong with the models that a call goes on from."""
    if known is None:
        return
    if lacking := [name for name in (key, "model") if name not in known.columns]:
        raise ValueError(f"known has no column {lacking[0]!r}; give what learn_keyed or keyed_models returned.")
    own, theirs = (frame.schema[key].dataType.simpleString() for frame in (df, known))
    if own != theirs and not (df.isStreaming and theirs == "string"):
        raise ValueError(f"the key {key!r} holds {own}, in known {theirs}; cast one of them.")
    if known.schema["model"].dataType.simpleString() != "binary":
        raise ValueError("known holds no models: its column 'model' is not of bytes.")


def as_rows(df: DataFrame, key: str, orders: list[str], columns: Columns) -> DataFrame:
    """Return the key of each row, its place in the order, what is read of it, and no model."""
    from pyspark.sql import functions as f

    return df.select(
        f.col(*quoted([key])).alias(KEY),
        f.struct(*quoted(orders)).alias(ORDER),
        f.struct(*quoted(columns.read())).alias(ROW),
        f.lit(None).cast("binary").alias(KNOWN),
    )


def sorted_rows(rows: DataFrame, known: DataFrame | None, key: str, buckets: int | None) -> DataFrame:
    """Return rows in hash buckets, sorted by key and order, behind what is known of their keys."""
    from pyspark.sql import functions as f

    if known is not None:
        empty = [f.lit(None).cast(rows.schema[name].dataType).alias(name) for name in (ORDER, ROW)]
        own = f.col(*quoted([key]))
        rows = rows.union(known.where(own.isNotNull()).select(own.alias(KEY), *empty, f.col("model").alias(KNOWN)))
    parts = rows.repartition(KEY) if buckets is None else rows.repartition(buckets, KEY)
    parts_of_order: Any = rows.schema[ORDER].dataType
    places = [f.col(ORDER).getField(name).asc_nulls_last() for name in parts_of_order.names]
    return parts.sortWithinPartitions(KEY, f.col(KNOWN).isNull(), *places)


# ------------------------------------------------------------------ on the engine
def by_key(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Any, Iterator[dict[str, Any]]]]:
    """Yield each key with its rows, across batches."""
    rows = (row for batch in batches for row in batch.to_pylist())
    yield from groupby(rows, key=itemgetter(KEY))


def _learn_keys(asked: Keyed, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Learn the sorted rows of one bucket; yield what each key came to, some at a time."""
    done: list[tuple[Any, ...]] = []
    for key, rows in by_key(batches):
        if key is None:
            n = sum(1 for _ in rows)
            done.append((None, Lessons().to_bytes(), 0, 0, n, f"the key in column {asked.name!r} is null"))
            continue
        try:
            done.append((key, *_learnt(asked, rows)))
        except ValueError as problem:
            raise ValueError(f"the model of the key {key!r} cannot go on: {problem}") from problem
        if len(done) == 1000:
            yield _table(asked.key, done)
            done = []
    if done:
        yield _table(asked.key, done)


def _learnt(asked: Keyed, rows: Iterator[dict[str, Any]]) -> tuple[bytes, int, int, int, str | None]:
    """Return the model of one key, and the counts of its rows."""
    kept, lessons, unlabelled, skipped = Lessons(), [], 0, 0
    problem: str | None = None
    for row in rows:
        if row[KNOWN] is not None:
            kept = Lessons.from_bytes(row[KNOWN])
            continue
        lesson = lesson_of(row[ROW], asked.columns, asked.model)
        if isinstance(lesson, Lesson):
            lessons.append(lesson)
        elif lesson is None:
            unlabelled += 1
        else:
            skipped, problem = skipped + 1, problem or lesson
    kept = kept.after(lessons)
    if kept.n_log and (asked.snapshot == "always" or (asked.snapshot == "due" and kept.is_due)):
        kept = kept.compacted(asked.model)
    return kept.to_bytes(), kept.n_rows, unlabelled, skipped, problem


def _table(key: pa.DataType, done: list[tuple[Any, ...]]) -> pa.RecordBatch:
    import pyarrow as pa

    kinds = (key, pa.binary(), pa.int64(), pa.int64(), pa.int64(), pa.string())
    arrays = [pa.array(column, kind) for column, kind in zip(zip(*done, strict=True), kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=["key", *(field.split()[0] for field in STATES.split(", "))])


# ------------------------------------------------------------------ answers
