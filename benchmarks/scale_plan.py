"""The plan of docs/scale.md on a small scale: many small buckets of mailboxes that grow, message by message.

`hinged.scale`'s own code for a bucket runs without Spark, on a state in memory: what Spark adds is measured by
`benchmarks.scale_stream`. Each mailbox is a stretch of a real one, and gets a Poisson number of messages a day, whose
mean grows, until mailboxes have 100 messages on average.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import hinged
from hinged.datasets import folder
from hinged.scale import Lessons, streaming
from hinged.scale.reading import Columns, note_columns

BUCKETS, EACH = 20, 25
PER_DAY, GROWTH, ENOUGH = 1.0, 1.02, 100
FIELDS = ("from", "to", "cc", "subject", "body")
SHOWN = (10, 25, 50, 75, 100)  # messages a mailbox
#: Mailboxes and messages of the plan.
MAILBOXES, MESSAGES = 1e8, 1e10


class Kept:
    """A list or a value of a bucket in memory, as Spark's states have them."""

    def __init__(self) -> None:
        self.held: Any = []

    def getListState(self, *_: str) -> Kept:  # noqa: N802 (names of Spark)
        """Return a state of its own."""
        return Kept()

    getValueState = getListState  # noqa: N815

    def exists(self) -> bool:
        """Return True if anything is held."""
        return bool(self.held)

    def get(self) -> Any:
        """Return the value, or the rows of the list."""
        return self.held

    def put(self, held: Any) -> None:
        """Replace the value, or the rows of the list."""
        self.held = held

    update = put

    def appendValue(self, row: tuple[bytes]) -> None:  # noqa: N802
        """Put a row behind the list."""
        self.held.append(row)

    def clear(self) -> None:
        """Empty the list."""
        self.held = []


class Day(NamedTuple):
    """What the mailboxes came to, and what it took to get there."""

    messages: float  # a mailbox
    size: float  # bytes a mailbox
    seconds: float  # of processor time a message


def mailboxes(n: int, rng: np.random.Generator) -> list[Iterator[dict[str, str]]]:
    """Return `n` stretches of real mailboxes, message by message."""
    users = []
    for path in sorted(folder("enron_folders").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            users.append([json.loads(line) for line in lines])
    chosen = [users[i] for i in rng.integers(len(users), size=n)]
    return [iter(user[rng.integers(len(user) - 3 * ENOUGH) :]) for user in chosen]


def grown(model: Any, seed: int = 0) -> tuple[list[Day], list[bytes]]:
    """Let the mailboxes grow; return how they did, and the models at the end."""
    rng = np.random.default_rng(seed)
    columns = Columns(texts=FIELDS, label="folder")
    note_columns(model, columns)
    asked = streaming.Asked(model, columns, "key", "date", BUCKETS)
    boxes = mailboxes(BUCKETS * EACH, rng)
    buckets = {number: streaming._processor(model, streaming.LEAST) for number in range(BUCKETS)}
    for bucket in buckets.values():
        bucket.init(Kept())
    days: list[Day] = []
    n, seconds, mean = 0, 0.0, PER_DAY
    while len(days) < len(SHOWN):
        counts = rng.poisson(mean, len(boxes))
        rows = [next(box) | {"key": f"u{i}"} for i, box in enumerate(boxes) for _ in range(counts[i])]
        batch = pa.RecordBatch.from_pylist(
            [{streaming.KEY: row["key"]} | {name: row[name] for name in ("date", "folder", *FIELDS)} for row in rows]
        )
        began = time.process_time()
        for read in streaming._read(asked, pa.string(), iter([batch])):
            frame = read.to_pandas()
            for i, number in enumerate(frame["bucket"]):
                list(buckets[number].handleInputRows((number,), iter([frame[i : i + 1]]), None))
        seconds, n, mean = seconds + time.process_time() - began, n + len(rows), mean * GROWTH
        if n >= SHOWN[len(days)] * len(boxes):
            size = sum(sum(bucket.sizes()) for bucket in buckets.values())
            days.append(Day(n / len(boxes), size / len(boxes), seconds / n))
    return days, [model for bucket in buckets.values() for _, model in bucket.models.get()]


def restoring(model: Any, kept: list[bytes]) -> float:
    """Seconds of processor time to have a learner of what is kept, on average."""
    began = time.process_time()
    for data in kept[:100]:
        Lessons.from_bytes(data).learner(model)
    return (time.process_time() - began) / len(kept[:100])


def main() -> None:
    """Print how mailboxes grow, and what that comes to for all of the plan."""
    model = hinged.TextClassifier()
    grown_now, kept = grown(model)
    rate = f"{PER_DAY:g} message a day at first and {100 * (GROWTH - 1):.0f} % more each day"
    print(f"{BUCKETS} buckets of {EACH} mailboxes, {rate}\n")
    print("| messages a mailbox | KB a mailbox | ms of processor time a message, so far |\n| --- | --- | --- |")
    for day in grown_now:
        print(f"| {day.messages:.0f} | {day.size / 1e3:.0f} | {1e3 * day.seconds:.2f} |")
    last = grown_now[-1]
    print(
        f"\nfor {MAILBOXES:.0e} mailboxes and {MESSAGES:.0e} messages: {last.size * MAILBOXES / 1e12:.1f} TB, ", end=""
    )
    print(f"{last.seconds * MESSAGES / 1e6:.1f} million core-seconds; restoring {1e3 * restoring(model, kept):.1f} ms")


if __name__ == "__main__":
    main()
