"""Time per row as a function of the number of non-zeros, labels and features."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import hinged
from benchmarks.report import Bar, Report, Sheet
from benchmarks.streams import topics
from benchmarks.timing import Contender, Thunk, race

SEED = 4
LABELS = (10, 100, 1_000)
FEATURES = (1_000, 10_000, 100_000, 1_000_000)
NONZEROS = (16, 64, 256)
LINEAR = 1.15  # an exponent of 1 is linear; the rest is caches that no longer hold the rows


class Cell(NamedTuple):
    """Seconds per row, for a new model and for one that has already learnt the stream."""

    first_pass: float
    second_pass: float


def run(quick: bool) -> Report:
    """Measure a grid of labels and features, then a range of non-zeros, and fit exponents.

    Parameters
    ----------
    quick : bool
        A twentieth of the rows and 1 repeat in place of 3.
    """
    n_rows, repeats = (500, 1) if quick else (10_000, 3)
    grid = Sheet(
        "Time a row at 64 non-zeros",
        ["labels", "features", "µs, first pass", "µs, second pass", "ns per non-zero × label"],
    )
    by_labels = {}
    for n_labels in LABELS:
        for n_features in FEATURES:
            cell = _measure(n_rows, n_features, n_labels, 64, repeats)
            grid.rows.append([n_labels, n_features, *_figures(cell, 64 * n_labels)])
            if n_features == 10_000:
                by_labels[n_labels] = cell.second_pass
    lengths = Sheet(
        "Time a row at 100 labels, 10,000 features",
        ["non-zeros", "µs, first pass", "µs, second pass", "ns per non-zero × label"],
    )
    by_nonzeros = {}
    for nonzeros in NONZEROS:
        cell = _measure(n_rows, 10_000, 100, nonzeros, repeats)
        lengths.rows.append([nonzeros, *_figures(cell, 100 * nonzeros)])
        by_nonzeros[nonzeros] = cell.second_pass
    return Report(
        "scaling",
        f"{n_rows:,} rows of distinct non-zeros, Zipf 1.1 features, 5 % of the labels redrawn, float32; seed {SEED}",
        f"progressive() with pa1, C=0.01, one thread, CPU time, best of {repeats}. The first pass also "
        "allocates memory for new features; ns per non-zero × label refer to the second pass",
        [grid, lengths],
        [_linear("labels, at 10,000 features", by_labels), _linear("non-zeros, at 100 labels", by_nonzeros)],
    )


def _measure(n_rows: int, n_features: int, n_labels: int, nonzeros: int, repeats: int) -> Cell:
    X, y = topics(n_rows, n_features, n_labels, nonzeros, own_words=200, seed=SEED)
    labels = np.arange(n_labels)

    def fresh() -> hinged.Classifier:
        return hinged.Classifier("pa1", 0.01, scaling=None)

    def learnt() -> hinged.Classifier:
        return fresh().partial_fit(X, y, classes=labels)

    def contender(make: Callable[[], hinged.Classifier]) -> Contender:
        def prepare() -> Thunk:
            model = make()
            return lambda: hinged.evaluate.progressive(model, X, y, classes=labels)

        return prepare

    times = race({"first": contender(fresh), "second": contender(learnt)}, repeats)
    return Cell(times["first"].seconds / n_rows, times["second"].seconds / n_rows)


def _figures(cell: Cell, work: int) -> list[float]:
    return [1e6 * cell.first_pass, 1e6 * cell.second_pass, 1e9 * cell.second_pass / work]


def _linear(what: str, seconds: dict[int, float]) -> Bar:
    """Compute the exponent between the two largest sizes, where fixed costs matter least."""
    small, large = sorted(seconds)[-2:]
    exponent = math.log(seconds[large] / seconds[small]) / math.log(large / small)
    promise = f"time grows no faster than linearly in the {what}, exponent ≤ {LINEAR}"
    return Bar(promise, f"{exponent:.2f}", exponent <= LINEAR)
