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

from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.regressor import Regressor
from hinged.files.examples import FileLearner
from hinged.scale.engine import arrow_schema, needs_spark
from hinged.scale.lessons import Lesson, Lessons, Unread, lesson_of, row_of
from hinged.scale.reading import Columns, columns_of, fresh, note_columns
from hinged.scale.streaming import Asked, learn_stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["learn_keyed", "predict_keyed"]

#: What is known of a key: its model, the rows it was ever taught, and what the last call left out.
STATES = "model binary, rows long, unlabelled long, skipped long, problem string"
BUCKETS = 64  # of a stream
KEY, ORDER, ROW, KNOWN = "__key", "__order", "__row", "__known"  # columns of the sorted rows


class Keyed(NamedTuple):
    """What each worker needs to learn or answer for keys."""

    model: FileLearner
    columns: Columns
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
        By which the rows of a key are sorted; rows that are equal in it come in any order. One for a stream.
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
    _check(df, key, orders, buckets, snapshot)
    columns = columns_of(arrow_schema(df), features, label, weight, aside=[key, *orders])
    if df.isStreaming:
        if len(orders) > 1 or snapshot != "due":
            raise ValueError("a stream is sorted by one column, and its snapshots are due when they are.")
        learner = fresh(model)
        note_columns(learner, columns)
        return learn_stream(df, known, Asked(learner, columns, key, orders[0], buckets or BUCKETS))
    rows = _as_rows(df, key, orders, columns)
    asked = Keyed(fresh(model), columns, arrow_schema(df).field(key).type, snapshot)
    note_columns(asked.model, columns)
    kind = df.schema[key].dataType.simpleString()
    return _sorted(rows, known, key, buckets).mapInArrow(partial(_learn_keys, asked), f"`{key}` {kind}, {STATES}")


def _check(df: DataFrame, key: str, orders: list[str], buckets: int | None, snapshot: str = "due") -> None:
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


def _as_rows(df: DataFrame, key: str, orders: list[str], columns: Columns) -> DataFrame:
    """Return the key of each row, its place in the order, what is read of it, and no model."""
    from pyspark.sql import functions as f

    return df.select(
        f.col(key).alias(KEY),
        f.struct(*orders).alias(ORDER),
        f.struct(*columns.read()).alias(ROW),
        f.lit(None).cast("binary").alias(KNOWN),
    )


def _sorted(rows: DataFrame, known: DataFrame | None, key: str, buckets: int | None) -> DataFrame:
    """Return rows in hash buckets, sorted by key and order, behind what is known of their keys."""
    from pyspark.sql import functions as f

    if known is not None:
        empty = [f.lit(None).cast(rows.schema[name].dataType).alias(name) for name in (ORDER, ROW)]
        rows = rows.union(known.select(f.col(key).alias(KEY), *empty, f.col("model").alias(KNOWN)))
    parts = rows.repartition(KEY) if buckets is None else rows.repartition(buckets, KEY)
    return parts.sortWithinPartitions(KEY, f.col(KNOWN).isNull(), ORDER)


# ------------------------------------------------------------------ on the engine
def _by_key(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Any, Iterator[dict[str, Any]]]]:
    """Yield each key with its rows, across batches."""
    rows = (row for batch in batches for row in batch.to_pylist())
    yield from groupby(rows, key=itemgetter(KEY))


def _learn_keys(asked: Keyed, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Learn the sorted rows of one bucket; yield what each key came to, some at a time."""
    done: list[tuple[Any, ...]] = []
    for key, rows in _by_key(batches):
        done.append((key, *_learnt(asked, rows)))
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
@needs_spark
def predict_keyed(
    df: DataFrame,
    known: DataFrame,
    model: FileLearner,
    *,
    key: str,
    id: str,
    features: str | Sequence[str] | None = None,
    buckets: int | None = None,
) -> DataFrame:
    """Return what each row's own model says of it: the columns `key` and `id`, `prediction`, `score` and `confidence`.

    They are null where nothing is known of the key yet, or the row cannot be read. `prediction` is written out as a
    string; for a `Ranker` it is the best label, for a `Regressor` the number. `score` is that of the prediction.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    known : pyspark.sql.DataFrame
        What `learn_keyed` returned.
    model : a learner of the same settings
    key : name of the column of keys, in both frames
    id : name of a column that identifies a row, to join the answers with what else is known of it
    features : as in `fit`
    buckets : as in `learn_keyed`
    """
    _check(df, key, [id], buckets)
    columns = columns_of(arrow_schema(df), features, needs_label=False, aside=[key, id])
    rows = _as_rows(df, key, [id], columns)
    asked = Keyed(fresh(model), columns, arrow_schema(df).field(key).type, "never")
    note_columns(asked.model, columns)
    kinds = [f"`{name}` {df.schema[name].dataType.simpleString()}" for name in (key, id)]
    schema = ", ".join([*kinds, "prediction string, score double, confidence double"])
    answer = partial(_answer_keys, asked, arrow_schema(df).field(id).type)
    return _sorted(rows, known, key, buckets).mapInArrow(answer, schema)


def _answer_keys(asked: Keyed, id_type: pa.DataType, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer the sorted rows of one bucket."""
    import pyarrow as pa

    kinds = (asked.key, id_type, pa.string(), pa.float64(), pa.float64())
    for key, rows in _by_key(batches):
        learner: Any = None
        done = []
        for row in rows:
            if row[KNOWN] is not None:
                learner = Lessons.from_bytes(row[KNOWN]).learner(asked.model)
            else:
                (at,) = row[ORDER].values()
                done.append((key, at, *_said(learner, row_of(row[ROW], asked.columns))))
        if done:
            arrays = [pa.array(column, kind) for column, kind in zip(zip(*done, strict=True), kinds, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, names=["key", "id", "prediction", "score", "confidence"])


def _said(learner: Any, x: Any) -> tuple[str | None, float | None, float | None]:
    """Return prediction, score and confidence for one row."""
    nothing = None, None, None
    if learner is None or not learner.__sklearn_is_fitted__() or isinstance(x, Unread):
        return nothing
    try:
        if isinstance(learner, LabelLearner):
            said = learner.scored_one(x)
            if not said.labels:
                return nothing
            best = said.order(0)[0]
            return str(said.labels[best]), float(said.scores[0, best]), float(said.confidence[0])
        X = [x]
        if isinstance(learner, Regressor):
            value = float(learner.predict(X)[0])
            return str(value), value, None
        return str(learner.predict(X)[0]), float(learner.decision_function(X)[0]), None
    except (TypeError, ValueError):
        return nothing
