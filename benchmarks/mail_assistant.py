"""The mail assistant on a generated Maildir: a replay, suggestions, and corrections with and without fsync."""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.report import Report, Sheet, at_most
from benchmarks.timing import race
from hinged.mail import Assistant, Filed, look, open_source, read_message, replay, write_demo
from hinged.mail.demo import letters

FOLDERS, SEED = 15, 0


def run(quick: bool) -> Report:
    """Time the assistant.

    Parameters
    ----------
    quick : bool
        300 messages in place of 4,000.
    """
    n = 300 if quick else 4000
    sheet = Sheet("The mail assistant", ["what", "times", "wall ms", "wall, 99 %", "processor ms", "processor, 99 %"])
    # on the disk of the checkout: /tmp may be memory
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".mail-bench-") as folder:
        root = Path(folder)
        write_demo(root / "mail", n + 30, FOLDERS, SEED)
        source = open_source(root / "mail")
        whole = race({"replay": lambda: lambda: replay(source)}, 1 if quick else 3)["replay"]
        result = whole.value
        fresh = [read_message(one.raw) for one in letters(500 if not quick else 60, FOLDERS, SEED + 1)]
        figures = {}
        for name, fsync in (("with", True), ("without", False)):
            with Assistant(root / f"state-{name}", fsync=fsync) as assistant:
                look(assistant, source)
                if fsync:
                    figures["a suggestion with reasons"] = _timed(fresh, assistant.suggest, repeats=3)
                    figures["a suggestion"] = _timed(fresh, lambda m, a=assistant: a.suggest(m, why=False), repeats=3)
                folders = assistant.folders()
                corrections = [Filed(one, folders[i % len(folders)]) for i, one in enumerate(fresh)]
                figures[f"a correction, {name} fsync"] = _timed(corrections, lambda f, a=assistant: a.learn([f]))
    for what, timed in figures.items():
        sheet.rows.append([what, len(fresh), *timed])
    said, learnt = figures["a suggestion with reasons"], figures["a correction, without fsync"]
    total = Sheet("Replay", ["messages", "folders", "top 1 %", "top 3 %", "s", "processor s"])
    hits = [100 * (result.top(k) or 0.0) for k in (1, 3)]
    total.rows.append([len(result.folders), len(set(result.folders)), *hits, whole.wall, whole.seconds])
    return Report(
        "mail_assistant",
        f"{n:,} generated messages in a Maildir of {FOLDERS} folders, seed {SEED}",
        "the replay is one pass including reading, parsing, suggesting and learning; suggestions and corrections are "
        "timed individually after parsing, suggestions as the best of three. CPU-bound operations are judged by CPU "
        "time, which does not depend on other jobs; those that wait for the disk by wall time",
        [total, sheet],
        [
            at_most(f"replay of {n:,} messages", whole.wall, 10.0, "s"),
            at_most("99 % of suggestions with reasons, processor", said.processor_99, 5.0, "ms"),
            at_most("a correction with fsync, wall, median", figures["a correction, with fsync"].wall, 5.0, "ms"),
            at_most("99 % of corrections without fsync, processor", learnt.processor_99, 5.0, "ms"),
        ],
    )


class Timed(NamedTuple):
    """Wall and CPU time in milliseconds: median and 99th percentile."""

    wall: float
    wall_99: float
    processor: float
    processor_99: float


def _timed(things: Sequence[Any], do: Callable[[Any], Any], repeats: int = 1) -> Timed:
    """Call `do` with each thing and return the median and 99th percentile of the best times."""
    took = np.empty((repeats, len(things), 2))
    for turn in range(repeats):
        for i, thing in enumerate(things):
            wall, processor = time.perf_counter(), time.process_time()
            do(thing)
            took[turn, i] = time.perf_counter() - wall, time.process_time() - processor
    walls, processors = 1000 * took.min(axis=0).T
    return Timed(*np.percentile(walls, [50, 99]).tolist(), *np.percentile(processors, [50, 99]).tolist())
