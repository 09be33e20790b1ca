"""What mixing costs in mistakes on a generated stream of ten million rows, which are made where they are learnt."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

import hinged

N_ROWS, BLOCK, HELD_OUT = 10_000_000, 10_000, 100_000
N_COLUMNS, N_LABELS = 20, 10
NOISE = 0.25  # in the score of each label, whose standard deviation is 1 without it
PARTS = (1, 2, 4, 8)
SCHEMA = "x array<double>, label long"


def rows(block: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a block of rows and their labels: the largest of some linear scores with noise."""
    teacher = np.random.default_rng(0).normal(size=(N_COLUMNS, N_LABELS)) / np.sqrt(N_COLUMNS)
    rng = np.random.default_rng([1, block])
    X = rng.normal(size=(BLOCK, N_COLUMNS))
    return X, (X @ teacher + NOISE * rng.normal(size=(BLOCK, N_LABELS))).argmax(axis=1)


def batches(blocks: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of numbered blocks."""
    for block in (int(number) for some in blocks for number in some.column(0).to_pylist()):
        X, y = rows(block)
        values = pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), N_COLUMNS).cast(pa.list_(pa.float64()))
        yield pa.RecordBatch.from_arrays([values, pa.array(y)], names=["x", "label"])


def error(model: Any, n_rows: int) -> float:
    """Share of rows behind the stream that a model gets wrong."""
    wrong = 0.0
    for block in range(n_rows // BLOCK, (n_rows + HELD_OUT) // BLOCK):
        X, y = rows(block)
        wrong += BLOCK * float(np.mean(model.predict(X) != y))
    return wrong / HELD_OUT


def errors(spark: Any, n_rows: int = N_ROWS) -> None:
    """Print errors online and held out, of the local learner and with partitions; all know the labels beforehand."""
    print(f"| {n_rows:,} rows | online | held out | s |\n| --- | --- | --- | --- |", flush=True)
    labels = list(range(N_LABELS))

    def line(name: str, mistakes: int, model: Any, began: float) -> None:
        online, took = 100 * mistakes / n_rows, time.perf_counter() - began
        print(f"| {name} | {online:.2f} % | {100 * error(model, n_rows):.2f} % | {took:.0f} |", flush=True)

    began, local = time.perf_counter(), hinged.Classifier().declare(labels)
    for block in range(n_rows // BLOCK):
        local.partial_fit(*rows(block))
    line("local", local.n_mistakes_, local, began)
    for parts in PARTS:
        began, model = time.perf_counter(), hinged.Classifier()
        df = spark.range(0, n_rows // BLOCK, 1, parts).mapInArrow(batches, SCHEMA)
        done = hinged.scale.fit(df, model, features="x", classes=labels)
        line(f"{parts} partition{'s' * (parts > 1)}", done.rounds[0].mistakes, model, began)
