"""Memory of a very wide model: 18 million possible features, 1,000 labels."""

import json
import subprocess
import sys
import time
from typing import Any

from benchmarks.memory_child import EXPONENT, N_FEATURES, N_LABELS, NONZEROS
from benchmarks.report import Bar, Cell, Report, Sheet

SEED = 5
GB = 1e9
BAR = 2.0
OVERSHOOT = 0.5  # a copy of the whole store beside the old one would be 1
LABELLINGS = {
    "learnable": "learnable labels, declared",
    "random": "random labels, declared",
    "growing": "random labels, appearing over time",
}


def run(quick: bool) -> Report:
    """Learn each stream in a separate process.

    Parameters
    ----------
    quick : bool
        A twentieth of the rows.
    """
    n_rows, chunk = (5_000, 500) if quick else (100_000, 1_000)
    figures = {labelling: _learn(labelling, n_rows, chunk) for labelling in LABELLINGS}
    columns = ["stream", "seconds", "mistakes %", "touched rows", "before GB", "peak GB", "bytes/touched row"]
    sizes = Sheet("Peak memory", columns, [_row(name, figures[name], n_rows) for name in LABELLINGS])
    growth = Sheet("Labels that appear over time", ["labels", "resident GB", "high-water GB", "overshoot of the store"])
    samples = figures["growing"]["samples"]
    for sample in samples[len(samples) // 10 - 1 :: len(samples) // 10]:
        sizes_now = [sample["resident"] / GB, sample["high_water"] / GB]
        growth.rows.append([sample["labels"], *sizes_now, _overshoot(sample, figures["growing"]["baseline"])])
    return Report(
        "memory",
        f"{n_rows:,} rows of {NONZEROS} distinct non-zeros out of {N_FEATURES:,} features, Zipf {EXPONENT}, "
        f"{N_LABELS:,} labels, float32, int64 indices; seed {SEED}",
        f"pa1 in a new process, partial_fit on chunks of {chunk:,} rows. Touched rows are the features seen; peak is "
        "the peak memory of the process, before its memory before the first chunk, with compiled code loaded. "
        "Overshoot: peak memory minus resident memory after a chunk, as a share of the store",
        [sizes, growth],
        _bars(figures),
    )


def _learn(labelling: str, n_rows: int, chunk: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.memory_child", "--rows", str(n_rows), "--chunk", str(chunk)]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, "--labelling", labelling, "--seed", str(SEED)], check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout) | {"seconds": time.perf_counter() - start}


def _peak(figures: dict[str, Any]) -> int:
    return figures["samples"][-1]["high_water"]


def _row(labelling: str, figures: dict[str, Any], n_rows: int) -> list[Cell]:
    per_row = (_peak(figures) - figures["baseline"]) / figures["touched"]
    before, peak = figures["baseline"] / GB, _peak(figures) / GB
    rate = 100 * figures["mistakes"] / n_rows
    return [LABELLINGS[labelling], figures["seconds"], rate, figures["touched"], before, peak, round(per_row)]


def _overshoot(sample: dict[str, int], baseline: int) -> float:
    return (sample["high_water"] - sample["resident"]) / max(1, sample["resident"] - baseline)


def _bars(figures: dict[str, Any]) -> list[Bar]:
    bars = []
    for labelling, words in LABELLINGS.items():
        peak = _peak(figures[labelling]) / GB
        bars.append(Bar(f"peak with {words} < {BAR:g} GB", f"{peak:.2f} GB", peak < BAR))
    grown = figures["growing"]
    worst = max(_overshoot(sample, grown["baseline"]) for sample in grown["samples"][len(grown["samples"]) // 10 :])
    promise = f"new labels never copy half the store at once, overshoot < {OVERSHOOT}"
    bars.append(Bar(promise, f"{worst:.2f}", worst < OVERSHOOT))
    return bars
