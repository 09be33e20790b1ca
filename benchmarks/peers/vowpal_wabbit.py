"""Vowpal Wabbit, `--oaa k --loss_function hinge`, fed from its cache.

The stream is written as text once and turned into a cache file, untimed. Timed is the pass over the
cache alone: a fresh workspace (options parsed, weights allocated) is made before the clock starts. The
progressive loss of `--oaa` is the share of rounds predicted wrong before they were learnt.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pylibvw
from vowpalwabbit import Workspace

from benchmarks.streams import Stream

# A cache refuses a reader that wants more bits than its writer had.
CACHE_BITS = 26


def write_cache(stream: Stream, n_labels: int, folder: Path) -> Path:
    """Write `stream` (values all 1) as text, then as a cache; return the cache's path."""
    X, y = stream
    assert (X.data == 1).all(), "features are written without values"
    text, cache = folder / "stream.txt", folder / "stream.cache"
    rows = np.split(X.indices, X.indptr[1:-1])
    with text.open("w") as out:
        out.writelines(f"{label + 1} | {' '.join(map(str, row))}\n" for row, label in zip(rows, y, strict=True))
    Workspace(f"--oaa {n_labels} -d {text} --cache_file {cache} -k -b {CACHE_BITS} --quiet").finish()
    text.unlink()
    return cache


def prepare(cache: Path, n_labels: int, options: str) -> Callable[[], int]:
    """Make a fresh workspace; the callable returned runs the pass and gives the number of mistakes."""
    workspace = Workspace(f"--oaa {n_labels} --loss_function hinge --noconstant --cache_file {cache} --quiet {options}")

    def one_pass() -> int:
        pylibvw.vw.run_parser(workspace)
        assert workspace.get_weighted_examples() > 0, f"Vowpal Wabbit read nothing from its cache with {options}"
        return round(workspace.get_sum_loss())

    return one_pass
