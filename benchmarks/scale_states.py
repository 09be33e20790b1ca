"""What it takes to keep a model and to have it back: of a real mailbox, and a small one of many by key.

Prints Markdown, in milliseconds of processor time: the shortest of many times, and the median. A model is given up
before the next one is restored, except in the last line, where all are kept, as a cache of models would.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import hinged
from benchmarks.machine import cpu_model, load
from benchmarks.scale_plan import FIELDS
from hinged.datasets import folder
from hinged.scale import Lessons, ModelState

N_MESSAGES, N_EVENTS, CACHED = 500, 50, 20
MODEL = hinged.TextClassifier()


def mailbox() -> Any:
    """Return the default text learner of a real mailbox."""
    with gzip.open(folder("enron_folders") / "sanders-r.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(N_MESSAGES), strict=False)]
    texts = [{field: row[field] for field in FIELDS} for row in rows]
    return hinged.TextClassifier().partial_fit(texts, [row["folder"] for row in rows])


def small() -> Any:
    """Return the learner of one key of `benchmarks.scale`: texts of 13 words, five labels."""
    rng = np.random.default_rng(0)
    words, labels = rng.integers(0, 3000, (N_EVENTS, 12)), rng.integers(0, 5, N_EVENTS)
    texts = [" ".join([f"label{c}", *map("word{}".format, row)]) for c, row in zip(labels, words.tolist(), strict=True)]
    return hinged.TextClassifier().partial_fit(texts, [f"folder{c}" for c in labels])


def milliseconds(job: Callable[[], object], times: int) -> np.ndarray:
    """Return what each of many calls takes, after one that is not counted."""
    job()
    took = []
    for _ in range(times):
        began = time.process_time()
        job()
        took.append(time.process_time() - began)
    return 1e3 * np.array(took)


def main() -> None:
    """Print the table."""
    print(f"{cpu_model()}, load {load():.1f}\n\n| | best, ms | median, ms |\n| --- | --- | --- |", flush=True)
    for name, learner, times in (("mailbox", mailbox(), 200), ("small model", small(), 2000)):
        data, kept, cached = learner.get_state().to_bytes(), Lessons.of(learner).to_bytes(), []

        def restored(data: bytes = data) -> Any:
            return hinged.TextClassifier().set_state(ModelState.from_bytes(data))

        jobs: dict[str, Callable[[], object]] = {
            "unpack": lambda data=data: ModelState.from_bytes(data),
            "unpack and restore": restored,
            "restore from what is kept of a key": lambda kept=kept: Lessons.from_bytes(kept).learner(MODEL),
            "get and pack its state": lambda learner=learner: learner.get_state().to_bytes(),
            "unpack and restore, all kept": lambda cached=cached, restored=restored: cached.append(restored()),
        }
        for job, call in jobs.items():
            took = milliseconds(call, CACHED if "all kept" in job else times)
            print(f"| {name}, {len(data):,} bytes: {job} | {took.min():.2f} | {np.median(took):.2f} |", flush=True)


if __name__ == "__main__":
    main()
