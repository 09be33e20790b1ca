"""Small models by key from a stream: Spark keeps their lessons, exactly once, in hash buckets.

A bucket is one key to the engine, so that a million active keys do not cost a call of the engine each. It keeps a log
of events, to which a micro-batch adds one entry, and the models of its keys (`Lessons`). When the log is longer than
all these models, and than LEAST, its events go to their models and it begins anew: an event costs what it touches, not
what the bucket holds.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from hinged.files.examples import FileLearner
from hinged.scale.engine import arrow_schema, check_names, needs_spark, quoted
from hinged.scale.lessons import Lesson, Lessons, lesson_of
from hinged.scale.reading import Columns

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.group import GroupedData

__all__ = ["Asked", "keyed_models", "learn_stream"]

KEY = "__key"  # of a row, as a string
LEAST = 1 << 16  # bytes that the log of a bucket may have whatever its models
EVENTS = "bucket int, keys array<string>, lessons array<binary>, problems array<string>"
LEARNT = "key string, rows long, unlabelled long, skipped long, problem string"
STORE = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


class Asked(NamedTuple):
    """What each worker needs."""

    model: FileLearner
    columns: Columns
    key: str
    order: str
    buckets: int


def learn_stream(df: DataFrame, known: DataFrame | None, asked: Asked) -> DataFrame:
    """Return the stream of what each micro-batch teaches each key; `learn_keyed` has checked what it is given."""
    for name, value in STORE.items():
        df.sparkSession.conf.set(name, value)
    wanted = [f"cast({quoted([asked.key])[0]} as string) {KEY}"]  # as `_initial` does, and `keyed_models` has it
    check_names([asked.order, *asked.columns.read()])
    wanted += quoted(dict.fromkeys([asked.order, *asked.columns.read()]))
    schema = f"{EVENTS}, places array<{df.schema[asked.order].dataType.simpleString()}>"
    order = arrow_schema(df).field(asked.order).type
    events = df.selectExpr(*wanted).mapInArrow(partial(_read, asked, order), schema)
    return events.groupBy("bucket").transformWithStateInPandas(
        statefulProcessor=_processor(asked.model, LEAST),
        outputStructType=LEARNT,
        outputMode="Update",
        timeMode="None",
        initialState=None if known is None else _initial(known, asked),
    )


def _initial(known: DataFrame, asked: Asked) -> GroupedData:
    """Return models that keys begin with, by bucket: what `_bucket_of` says, by Spark's own function."""
    key = f"cast({quoted([asked.key])[0]} as string)"
    bucket = f"cast(crc32(cast({key} as binary)) % {asked.buckets} as int) bucket"
    return known.where(f"{key} is not null").selectExpr(bucket, f"{key} key", "model").groupBy("bucket")


def _bucket_of(key: str | None, buckets: int) -> int:
    return 0 if key is None else zlib.crc32(key.encode()) % buckets


def _read(asked: Asked, order: pa.DataType, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield rows as lessons with their place in the order, a bucket's as one row: rows are what costs the engine."""
    import pyarrow as pa

    for batch in batches:
        keys, lessons, problems, places, buckets = [], [], [], [], []
        for row in batch.to_pylist():
            key, lesson = row[KEY], lesson_of(row, asked.columns, asked.model)
            if key is None:
                lesson = f"the key in column {asked.key!r} is null"
            keys.append(key)
            lessons.append(orjson.dumps(list(lesson)) if isinstance(lesson, Lesson) else None)
            problems.append(lesson if isinstance(lesson, str) else None)
            places.append(row[asked.order])
            buckets.append(_bucket_of(key, asked.buckets))
        found, each = np.unique(np.array(buckets, np.int32), return_counts=True)
        ends = pa.array([0, *np.cumsum(each).tolist()], pa.int32())
        by_bucket = pa.array(np.argsort(buckets, kind="stable"))
        columns = [(keys, pa.string()), (lessons, pa.binary()), (problems, pa.string()), (places, order)]
        lists = [pa.ListArray.from_arrays(ends, pa.array(some, kind).take(by_bucket)) for some, kind in columns]
        yield pa.RecordBatch.from_arrays(
            [pa.array(found), *lists], names=["bucket", "keys", "lessons", "problems", "places"]
        )


# ------------------------------------------------------------------ a bucket
def _packed(events: Iterable[tuple[str, bytes]]) -> bytes:
    """Return keys and lessons as one entry of a log."""
    import zstandard

    lines = b"\n".join(orjson.dumps([key]) + lesson for key, lesson in events)
    return zstandard.ZstdCompressor(write_checksum=True).compress(lines)


def _unpacked(entries: Iterable[bytes]) -> dict[str, list[Lesson]]:
    """Return the lessons of each key in the entries of a log, in order."""
    import zstandard

    found: dict[str, list[Lesson]] = {}
    for entry in entries:
        for line in zstandard.ZstdDecompressor().decompress(entry).split(b"\n"):
            key, lesson = orjson.loads(b"[" + line.replace(b"][", b"],[", 1) + b"]")
            found.setdefault(key[0], []).append(Lesson(*lesson))
    return found


def _in_order(rows: Iterator[pd.DataFrame]) -> list[tuple[str | None, Any, bytes | None, str | None]]:
    """Return the rows of a bucket, sorted by key and place; those without a place are the last of their key."""
    found: list[tuple[str | None, Any, bytes | None, str | None]] = []
    for frame in rows:
        for lists in zip(*(frame[name] for name in ("keys", "places", "lessons", "problems")), strict=True):
            found += zip(*lists, strict=True)
    return sorted(found, key=lambda row: (row[0] is not None, row[0], row[1] is None or row[1] != row[1], row[1]))


def _processor(model: FileLearner, least: int) -> Any:
    """Return what Spark runs for each bucket, whose log may have so many bytes whatever its models."""
    import pandas as pd
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Buckets(StatefulProcessor):
        """Learn the rows of a bucket's keys."""

        def init(self, handle: Any) -> None:
            self.events = handle.getListState("events", "event binary")
            self.size = handle.getValueState("size", "log long, models long")
            self.models = handle.getListState("models", "key string, model binary")

        def handleInputRows(  # noqa: N802 (Spark's name)
            self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
        ) -> Iterator[pd.DataFrame]:
            events, told = [], []
            for name, each in groupby(_in_order(rows), key=itemgetter(0)):
                mine = list(each)
                lessons = [(name, lesson) for _, _, lesson, _ in mine if lesson is not None]
                problems = [problem for *_, problem in mine if problem is not None]
                events += lessons
                lacking = len(mine) - len(lessons) - len(problems)
                told.append((name, len(lessons), lacking, len(problems), problems[0] if problems else None))
            if events:
                self.keep(_packed(events))
            yield pd.DataFrame(told, columns=["key", "rows", "unlabelled", "skipped", "problem"])

        def handleInitialState(self, key: Any, initialState: pd.DataFrame, timerValues: Any) -> None:  # noqa: N802
            known = list(zip(initialState["key"], map(bytes, initialState["model"]), strict=True))
            self.models.appendList(known)
            self.size.update((0, self.sizes()[1] + sum(len(model) for _, model in known)))

        def sizes(self) -> tuple[int, int]:
            """Return how many bytes the log and the models have."""
            return self.size.get() if self.size.exists() else (0, 0)

        def keep(self, entry: bytes) -> None:
            """Put an entry behind the log; where that is long, empty it and write all models anew, in one call."""
            log, size = self.sizes()
            if log + len(entry) <= max(least, size):
                self.events.appendValue((entry,))
                self.size.update((log + len(entry), size))
                return
            models = {name: bytes(known) for name, known in self.models.get()}
            for name, lessons in _unpacked([*(bytes(event) for (event,) in self.events.get()), entry]).items():
                kept = (Lessons.from_bytes(models[name]) if name in models else Lessons()).after(lessons)
                models[name] = (kept.compacted(model) if kept.is_due else kept).to_bytes()
            self.models.put(list(models.items()))
            self.events.clear()
            self.size.update((0, sum(map(len, models.values()))))

        def close(self) -> None:
            """Nothing is open."""

    return Buckets()


# ------------------------------------------------------------------ reading out
@needs_spark
def keyed_models(spark: SparkSession, checkpoint: str) -> DataFrame:
    """Return the models that a stream keeps in its checkpoint: a row for each key, as `learn_keyed` has them.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    checkpoint : the stream's checkpointLocation
    """
    for name, value in STORE.items():
        spark.conf.set(name, value)
    reader = spark.read.format("statestore").option("path", checkpoint).option("flattenCollectionTypes", False)
    events = reader.option("stateVarName", "events").load().selectExpr("key.bucket bucket", "list_value events")
    models = reader.option("stateVarName", "models").load().selectExpr("key.bucket bucket", "list_value models")
    both = events.join(models, "bucket", "full").selectExpr(
        "transform(events, e -> e.event) events",
        "transform(models, m -> m.key) keys",
        "transform(models, m -> m.model) models",
    )
    return both.mapInArrow(_models_of, "key string, model binary, rows long")


def _models_of(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the models of the keys of some buckets, with the lessons that are still in the log."""
    import pyarrow as pa

    for batch in batches:
        for row in batch.to_pylist():
            kept = {key: Lessons.from_bytes(m) for key, m in zip(row["keys"] or (), row["models"] or (), strict=True)}
            for key, lessons in _unpacked(row["events"] or ()).items():
                kept[key] = kept.get(key, Lessons()).after(lessons)
            models = kept.values()
            columns = [list(kept), [one.to_bytes() for one in models], [one.n_rows for one in models]]
            arrays = [
                pa.array(c, kind) for c, kind in zip(columns, (pa.string(), pa.binary(), pa.int64()), strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=["key", "model", "rows"])
