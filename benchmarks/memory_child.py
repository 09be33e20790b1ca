"""Learn a very wide stream in this process and print its memory as JSON; started by `benchmarks.memory`.

This needs a separate process, because the peak memory of a process never decreases.
"""

import argparse
import json
import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

import hinged

N_FEATURES = 18_000_000
N_LABELS = 1_000
NONZEROS = 50
EXPONENT = 1.2
SCATTER = 7_368_787  # prime, so multiplying by it permutes the features: frequent ones are not neighbours
OWN_WORDS = 3  # of each label where labels can be learnt; they have ranks from 1,000 up


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def high_water() -> int:
    """Return the peak memory of this process in bytes.

    From the kernel's `VmHWM`; `ru_maxrss` of a new process starts at what its parent had.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(kilobytes) * 1024


def draw_ranks(rng: np.random.Generator, own: NDArray[np.int64]) -> NDArray[np.int64]:
    """Take `own` and fill up with Zipf ranks, 1 to `N_FEATURES`, all distinct."""
    ranks = rng.zipf(EXPONENT, size=8 * NONZEROS)
    ranks = np.concatenate([own, ranks[ranks <= N_FEATURES]])
    _, first = np.unique(ranks, return_index=True)
    return ranks[np.sort(first)[:NONZEROS]]


def chunks(n_rows: int, size: int, labelling: str, seed: int) -> Iterator[tuple[csr_array, NDArray[np.int64]]]:
    """Yield rows in chunks, so that the input itself stays small.

    Parameters
    ----------
    n_rows, size : int
        Rows in all and in a chunk.
    labelling : {"learnable", "random", "growing"}
        Labels are drawn uniformly. "learnable" gives each row `OWN_WORDS` features of its label; "random" does
        not, so that nearly every round has a loss, the worst case; "growing" is random, out of labels
        whose number grows linearly.
    seed : int
        Seed of everything random.
    """
    rng = np.random.default_rng(seed)
    for start in range(0, n_rows, size):
        y = rng.integers(N_LABELS, size=size)
        if labelling == "growing":
            y = y * (start + size) // n_rows
        own = np.arange(OWN_WORDS if labelling == "learnable" else 0)
        ranks = [draw_ranks(rng, 1_000 + OWN_WORDS * label + own) for label in y]
        features = [np.sort(row * SCATTER % N_FEATURES) for row in ranks]
        indptr = np.cumsum([0, *map(len, features)])
        indices = np.concatenate(features)
        data = np.full(indices.size, NONZEROS**-0.5, dtype=np.float32)
        yield csr_array((data, indices, indptr), shape=(size, N_FEATURES)), y


def warm_up() -> None:
    """Load and compile everything on a tiny model, so that the baseline holds all but the model."""
    X = csr_array(np.eye(4, dtype=np.float32)).astype(np.float32)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    hinged.Classifier("pa1", 1.0, scaling=None).partial_fit(X, np.arange(4))


def main() -> None:
    """Learn, sample after every chunk, print one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--chunk", type=int, required=True)
    parser.add_argument("--labelling", choices=("learnable", "random", "growing"), required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    warm_up()
    model = hinged.Classifier("pa1", 1.0, scaling=None)
    if options.labelling != "growing":
        model.declare(range(N_LABELS))
    stream = chunks(options.rows, options.chunk, options.labelling, options.seed)
    baseline = resident()
    samples, seen = [], np.empty(0, dtype=np.int64)
    for X, y in stream:
        model.partial_fit(X, y)
        seen = np.union1d(seen, X.indices)
        samples.append({"labels": len(model.classes_), "resident": resident(), "high_water": high_water()})
    figures = {
        "baseline": baseline,
        "samples": samples,
        "mistakes": int(model.n_mistakes_),
        "updates": int(model.n_updates_),
        "touched": int(seen.size),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
