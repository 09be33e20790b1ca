"""`make bench-scale`: what mixing costs in mistakes and in time, what a key costs, and the plan. Needs Spark.

Prints Markdown. Errors are of held-out texts and rows; times are seconds, compared within one run. Names of parts on
the command line run these alone.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import hinged
from benchmarks import scale_plan, scale_rows, scale_stream
from benchmarks.machine import cpu_model, load
from benchmarks.processes import peaks
from hinged.datasets import folder, reuters

PARTS = (1, 2, 4, 8)
ROUNDS = (1, 3)
N_ROWS, N_COLUMNS, N_LABELS = 400_000, 50, 20
N_KEYS, N_EVENTS = 2_000, 50

Rows = list[tuple[str, Any]]


# ------------------------------------------------------------------ what mixing costs in mistakes
def news() -> tuple[Rows, Rows]:
    """20 Newsgroups, subject and body, in order of time: those to learn, and those held out."""
    with gzip.open(folder("twenty_newsgroups") / "twenty_newsgroups.jsonl.gz", "rt", encoding="utf-8") as lines:
        posts = [json.loads(line) for line in lines]
    each = [(f"{post['subject']}\n{post['body']}", post["group"], post["split"]) for post in posts]
    return [p[:2] for p in each if p[2] == "train"], [p[:2] for p in each if p[2] == "test"]


def stories() -> tuple[Rows, Rows]:
    """Reuters-21578, the stories with a topic: those to learn, and those held out."""
    found = reuters()
    rows: Rows = list(zip(found.texts, found.topics, strict=True))
    return rows[: found.n_train], rows[found.n_train :]


def held_out(model: Any, rows: Rows) -> float:
    """Share of texts whose best label is not right."""
    ranked = model.rank([text for text, _ in rows], top=1)
    wrong = [best not in (y if isinstance(y, list) else [y]) for (best,), (_, y) in zip(ranked, rows, strict=True)]
    return float(np.mean(wrong))


def mistakes(spark: Any) -> None:
    """Errors online, in the first round, and held out, by partitions and rounds, for both collections.

    Online, a story with several topics is wrong unless all of them score above all others.
    """
    print("| texts | partitions | mix | online | " + " | ".join(f"{n} round{'s' * (n > 1)}" for n in ROUNDS) + " |")
    print("| --- | --- | --- | --- | " + "--- | " * len(ROUNDS))
    for name, rows, kind, schema in (
        ("20 Newsgroups", news(), hinged.TextClassifier, "text string, label string"),
        ("Reuters-21578", stories(), hinged.TextRanker, "text string, label array<string>"),
    ):
        learnt, asked = rows
        local = kind().partial_fit([text for text, _ in learnt], [y for _, y in learnt])
        online = 100 * local.n_mistakes_ / len(learnt)
        print(f"| {name} | local | – | {online:.1f} % | {100 * held_out(local, asked):.1f} % | |", flush=True)
        for parts in PARTS:
            df = spark.createDataFrame(spark.sparkContext.parallelize(learnt, parts), schema).cache()
            df.count()
            for mix in ("uniform", "updates", "mistakes")[: 1 + 2 * (parts > 1)]:
                model, errors, online = kind(), [], 0.0
                for rounds in np.diff((0, *ROUNDS)).tolist():
                    first = hinged.scale.fit(df, model, rounds, label="label", mix=mix).rounds[0]
                    online = online or 100 * first.mistakes / first.rows
                    errors.append(f"{100 * held_out(model, asked):.1f} %")
                shown = " | ".join([name, str(parts), mix if parts > 1 else "–", f"{online:.1f} %", *errors])
                print(f"| {shown} |", flush=True)
            df.unpersist()


# ------------------------------------------------------------------ time
def seconds(job: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of some runs."""
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        job()
        took.append(time.perf_counter() - began)
    return min(took)


def rounds(spark: Any) -> None:
    """A mixing round beside the plain local pass over the same rows, which are in memory for both."""
    print("| rows | local pass, s | round, s | ratio |\n| --- | --- | --- | --- |")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    y = (X[:, :N_LABELS] + rng.normal(size=(N_ROWS, N_LABELS))).argmax(axis=1)
    local = hinged.Classifier().partial_fit(X[:100], y[:100])
    pass_takes = seconds(lambda: local.partial_fit(X, y))
    for n in (N_ROWS // 10, N_ROWS):
        import pyarrow as pa

        values = pa.FixedSizeListArray.from_arrays(pa.array(X[:n].reshape(-1)), N_COLUMNS).cast(pa.list_(pa.float64()))
        df = spark.createDataFrame(pa.table({"x": values, "label": y[:n]})).repartition(2).cache()
        df.count()
        model = hinged.Classifier()
        hinged.scale.fit(df, model, features="x")
        takes = seconds(lambda df=df, model=model: hinged.scale.fit(df, model, features="x"))
        own = pass_takes * n / N_ROWS
        print(f"| {n:,} rows of {N_COLUMNS} numbers | {own:.2f} | {takes:.2f} | {takes / own:.1f} |", flush=True)
        df.unpersist()


def keys(spark: Any) -> None:
    """Keyed batch beside a loop over models in one process, both with states to be stored at the end."""
    print("| kept | loop, s | Spark, s | times as fast | ms a key | µs an event |\n| " + "--- | " * 6)
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(3000)])
    ids = rng.permutation(np.repeat(np.arange(N_KEYS), N_EVENTS))
    labels = rng.integers(0, 5, len(ids))
    texts = [" ".join([f"label{label}", *rng.choice(words, 12)]) for label in labels]
    rows = [(int(k), i, text, f"folder{c}") for i, (k, text, c) in enumerate(zip(ids, texts, labels, strict=True))]

    def loop() -> None:
        models: dict[int, Any] = {}
        for key, _, text, label in rows:
            models.setdefault(key, hinged.TextClassifier()).learn_one(text, label)
        for model in models.values():
            model.get_state().to_bytes()

    looped = seconds(loop, 1)
    df = spark.createDataFrame(rows, "key long, at long, text string, label string").cache()
    df.count()
    for snapshot in ("due", "always"):
        found = hinged.scale.learn_keyed(df, hinged.TextClassifier(), key="key", order="at", snapshot=snapshot)
        takes = seconds(lambda found=found: found.write.format("noop").mode("overwrite").save())
        each = f"{1e3 * takes / N_KEYS:.2f} | {1e6 * takes / len(rows):.0f}"
        print(f'| `snapshot="{snapshot}"` | {looped:.1f} | {takes:.1f} | {looped / takes:.1f} | {each} |')


def memory() -> None:
    """The largest of the processes that Spark has started so far."""
    largest = ", ".join(f"{name} {size / 1e6:.0f} MB" for name, size in sorted(peaks().items()))
    print(f"\npeak memory so far: {largest}\n", flush=True)


#: From the name of a part to what it prints.
PARTS_OF_IT: dict[str, Callable[[Any], None]] = {
    "rounds": rounds,
    "keys": keys,
    "stream": scale_stream.costs,
    "plan": lambda _: scale_plan.main(),
    "mistakes": mistakes,
    "rows": scale_rows.errors,
}


def main() -> None:
    """Run what is named on the command line, or all of it."""
    warnings.simplefilter("ignore")
    wanted = sys.argv[1:] or list(PARTS_OF_IT)
    spark = hinged.scale.local_session("local[2]", spark__driver__memory="3g")
    print(f"{cpu_model()}, local[2], load {load():.1f}\n")
    try:
        for name in wanted:
            PARTS_OF_IT[name](spark)
            memory()
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
