"""Vowpal Wabbit, `--oaa k --loss_function hinge`, fed from its cache.

The stream is written as text once and turned into a cache file, untimed. Timed is the pass over the
cache alone: a fresh workspace (options parsed, weights allocated) is made before the clock starts. The
progressive loss of `--oaa` is the share of rounds predicted wrong before they were learnt.
"""

import math
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pylibvw
from numpy.typing import NDArray
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


def predicted_sets(X: Any, Y: NDArray[np.bool_], options: str, repeats: int) -> tuple[NDArray[np.bool_], float]:
    """What `--multilabel_oaa` predicts of each row before it learns it, and the processor seconds of its own pass.

    Its text has no way to say that no label is right: such a row is predicted and not learnt.
    """
    lines = []
    for i in range(X.shape[0]):
        row = range(X.indptr[i], X.indptr[i + 1])
        words = " ".join(f"{X.indices[k]}:{X.data[k]:.7g}" for k in row)
        lines.append(f"{','.join(map(str, np.flatnonzero(Y[i])))} | {words}\n")
    said = np.zeros(Y.shape, bool)
    workspace = Workspace(f"--multilabel_oaa {Y.shape[1]} --quiet -b 24 {options}")
    for i, line in enumerate(lines):
        example = workspace.parse(line)
        workspace.learn(example)
        said[i, example.get_multilabel_predictions()] = True
        workspace.finish_example(example)
    workspace.finish()
    with TemporaryDirectory() as folder:
        text, cache = Path(folder) / "rows.txt", Path(folder) / "rows.cache"
        text.write_text("".join(lines))
        how = f"--multilabel_oaa {Y.shape[1]} --cache_file {cache} --quiet -b 24 {options}"
        seconds = math.inf
        for turn in range(repeats):
            if turn == 0:
                Workspace(f"{how} -d {text} -k").finish()
            workspace = Workspace(how)
            start = time.process_time()
            pylibvw.vw.run_parser(workspace)
            seconds = min(seconds, time.process_time() - start)
            workspace.finish()
    return said, seconds


def prepare(cache: Path, n_labels: int, options: str) -> Callable[[], int]:
    """Make a fresh workspace; the callable returned runs the pass and gives the number of mistakes."""
    workspace = Workspace(f"--oaa {n_labels} --loss_function hinge --noconstant --cache_file {cache} --quiet {options}")

    def one_pass() -> int:
        pylibvw.vw.run_parser(workspace)
        assert workspace.get_weighted_examples() > 0, f"Vowpal Wabbit read nothing from its cache with {options}"
        return round(workspace.get_sum_loss())

    return one_pass
