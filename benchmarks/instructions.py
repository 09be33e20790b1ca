"""How many instructions a round takes, counted by Callgrind: unlike seconds, they do not depend on what else runs.

Loops are compiled for x86-64-v3, because Valgrind knows no wider vectors.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.instructions_child import LOOPS, ROWS
from benchmarks.report import Bar, Report, Sheet, at_most

CHILD = [sys.executable, "-m", "benchmarks.instructions_child"]
PLAIN_CODE = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "", "PYTHONHASHSEED": "0", "HINGED_QUIET": "1"}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
#: Thousands of instructions a row: a twentieth above the first count, to notice what gets slower.
MOST = dict(zip(LOOPS, (13.7, 33.5, 16.6, 267.0, 274.0), strict=True))


def run(quick: bool) -> Report:
    """Count the instructions of each loop.

    Parameters
    ----------
    quick : bool
        Only one loop.
    """
    if shutil.which("valgrind") is None:
        raise SystemExit("counting instructions needs Valgrind (Debian package valgrind).")
    counts = _count(list(LOOPS)[: 1 if quick else None])
    sheet = Sheet("Instructions a row", ["loop", "thousands a row"])
    bars: list[Bar] = []
    for name, count in counts.items():
        sheet.rows.append([name, count / ROWS / 1e3])
        bars.append(at_most(f"{name}, instructions a row", count / ROWS / 1e3, MOST[name], "thousand"))
    return Report(
        "instructions",
        f"{ROWS:,} rows of each kind; seed 0",
        "Callgrind counts what a process executes from the call that learns the rows to its return, after as many rows "
        "have been learnt and everything is compiled. Targets are a twentieth above the first count: they notice what "
        "gets slower, and say nothing beside others",
        [sheet],
        bars,
    )


def _count(names: list[str]) -> dict[str, int]:
    """Instructions of each loop, executed by a child that Callgrind watches while it runs one."""
    environment = {**os.environ, **PLAIN_CODE, **ONE_THREAD}
    once = "".join(f"{name}\ngo\n" for name in names)
    subprocess.run(CHILD, input=once, env=environment, text=True, check=True, stdout=subprocess.DEVNULL)  # compiles
    with tempfile.TemporaryDirectory() as folder:
        options = ["--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/count"]
        with subprocess.Popen(
            ["valgrind", *options, *CHILD],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as child:
            return {name: _count_one(child, name, Path(f"{folder}/count.{i}")) for i, name in enumerate(names, 1)}


def _count_one(child: "subprocess.Popen[str]", name: str, dump: Path) -> int:
    """Instructions of one loop, from the file that Callgrind dumps."""

    def tell(words: str) -> None:
        subprocess.run(["callgrind_control", words, str(child.pid)], check=True, capture_output=True)

    _ask(child, name, "ready")
    tell("--instr=on")
    tell("--zero")
    _ask(child, "go", "done")
    tell("--dump")
    tell("--instr=off")
    found = re.search(r"^totals: (\d+)$", dump.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"Callgrind wrote no count of {name!r}.")
    return int(found[1])


def _ask(child: "subprocess.Popen[str]", words: str, answer: str) -> None:
    """Send the child a line, and wait for the answer."""
    if child.stdin is None or child.stdout is None:
        raise ValueError("the child must have pipes.")
    child.stdin.write(f"{words}\n")
    child.stdin.flush()
    if child.stdout.readline() != f"{answer}\n":
        raise RuntimeError(f"the process that counts ended at {words!r}.")
