"""The mail assistant with a large mailbox: first learning, start, corrections, memory and state."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.many_letters import write_many
from benchmarks.report import Report, Sheet, at_most

SEED, GB = 5, 1e9
STARTS = 5


def run(quick: bool) -> Report:
    """Learn a generated Maildir in one process, and use what was learnt in others.

    Parameters
    ----------
    quick : bool
        2,000 messages in 50 folders in place of 200,000 in 500.
    """
    n, folders = (2000, 50) if quick else (200_000, 500)
    # on the disk of the checkout: /tmp may be memory
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".mail-scale-") as root:
        mail, state = Path(root) / "mail", Path(root) / "state"
        write_many(mail, n, folders, SEED)
        learnt = _part("learn", mail, state)
        size = sum(path.stat().st_size for path in state.iterdir())
        starts = [_part("start", mail, state) for _ in range(STARTS + 1)][1:]
        start = min(starts, key=lambda one: one["wall"])
        corrected = _part("correct", mail, state)
    parts = {"first learning": learnt, "start to the first suggestion": start, "300 corrections": corrected}
    data = f"{n:,} generated messages of 40 to 160 words in a Maildir of {folders} folders"
    return report(data, parts, size)


def report(data: str, parts: dict[str, dict[str, Any]], size: int) -> Report:
    """Return the report of what was measured: the figures of each process, and the bytes of the state."""
    learnt, start, corrected = parts.values()
    columns = ["process", "wall s", "processor s", "peak GB"]
    sheet = Sheet("Processes", columns, [[name, *_cells(part)] for name, part in parts.items()])
    one = Sheet("A correction, with fsync", ["what", "median ms", "99 % ms"])
    for what in ("wall", "processor"):
        one.rows.append([what, corrected[what], corrected[f"{what}_99"]])
    return Report(
        "mail_scale",
        f"{data}; {learnt['learnt']:,} were filed, and {learnt['features']:,} features learnt; seed {SEED}",
        f"each row is a process of its own, from its start to its end; the start is the quickest of {STARTS}. Peak "
        "memory is that of the whole process, compiled code and libraries included. State is the folder of the "
        "assistant after the first learning. What waits for the processor alone is judged by CPU time, which does not "
        "depend on other jobs",
        [sheet, one],
        [
            at_most("first learning, processor", learnt["process"] / 60, 10.0, "min"),
            at_most("first learning, peak memory", learnt["peak"] / GB, 1.0, "GB"),
            at_most("start to the first suggestion, processor", start["process"], 2.0, "s"),
            at_most("a correction with fsync, wall, median", corrected["wall"], 5.0, "ms"),
            at_most("a correction, processor, 99 %", corrected["processor_99"], 5.0, "ms"),
            at_most("state", size / GB, 1.0, "GB"),
        ],
    )


def _part(name: str, mail: Path, state: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.mail_scale_child", name, str(mail), str(state)]
    began = time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout) | {"wall" if name != "correct" else "whole": time.perf_counter() - began}


def _cells(part: dict[str, Any]) -> list[float]:
    return [part.get("whole", part["wall"]), part["process"], part["peak"] / GB]
