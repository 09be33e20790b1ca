"""What a key and an event cost in a stream of models by key, in processor time of all that Spark runs.

A micro-batch has a fixed price; what it costs beyond that is divided by its keys. Linux only.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import hinged
from benchmarks.processes import processor_time

BUCKETS = 16
#: Keys of a micro-batch and events of each key; the first ones start workers and are not shown.
SIZES = {(200, 1): 6, (20_000, 1): 6, (2_000, 10): 6, (20_000, 10): 6}
WARM = 2
SCHEMA = "key long, at long, text string, label string"


def texts(n_keys: int, each: int, rng: np.random.Generator) -> pa.Table:
    """Return the events of one micro-batch, texts of 13 words."""
    ids = rng.permutation(np.repeat(np.arange(n_keys), each))
    labels, words = rng.integers(0, 5, len(ids)), rng.integers(0, 3000, (len(ids), 12))
    told = [" ".join([f"label{c}", *map("word{}".format, row)]) for c, row in zip(labels, words.tolist(), strict=True)]
    return pa.table({"key": ids, "at": np.arange(len(ids)), "text": told, "label": [f"folder{c}" for c in labels]})


def costs(spark: Any) -> None:
    """Print seconds of a micro-batch by its keys and events."""
    rng = np.random.default_rng(0)
    print("| keys | events of each | s | processor s | ms of it a key beyond the first line |\n| " + "--- | " * 5)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "in").mkdir()
        stream = spark.readStream.schema(SCHEMA).parquet(str(place / "in"))
        learnt = hinged.scale.learn_keyed(stream, hinged.TextClassifier(), key="key", order="at", buckets=BUCKETS)
        writer = learnt.writeStream.format("noop").outputMode("update")
        query = writer.option("checkpointLocation", str(place / "state")).start()
        fixed = None
        try:
            for (n_keys, each), times in SIZES.items():
                took = []
                for i in range(times + WARM * (fixed is None)):
                    pq.write_table(texts(n_keys, each, rng), path := place / f"{n_keys}-{each}-{i}.parquet")
                    used, began = processor_time(), time.perf_counter()
                    path.rename(place / "in" / path.name)
                    query.processAllAvailable()
                    took.append((time.perf_counter() - began, processor_time() - used))
                wall, used = np.mean(took[-times:], axis=0)
                fixed = used if fixed is None else fixed
                beyond = f"{1e3 * (used - fixed) / n_keys:.3f}" if used > fixed else "–"
                print(f"| {n_keys:,} | {each} | {wall:.1f} | {used:.1f} | {beyond} |", flush=True)
        finally:
            query.stop()
