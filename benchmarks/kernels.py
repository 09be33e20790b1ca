"""Mercer kernels on handwritten digits: rate of matrix products, a plain NumPy loop, and scikit-learn's SVC."""

import os
import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import hinged
from benchmarks.report import Bar, Report, Sheet, at_least
from hinged.mercer import Polynomial
from studies.digits import SETS, digits, prepared

PREFIX = 6000  # rows for the plain loop and for SVC
SVC_MOST = 20_000  # on all 60,000 rows SVC alone takes seven minutes
C = 100.0


class Took(NamedTuple):
    """Wall time, and CPU time of all threads, in seconds."""

    wall: float
    processor: float


def run(quick: bool) -> Report:
    """Call `_run` with threads on all cores; the other benchmarks limit everything to one core."""
    with threadpool_limits(os.cpu_count()):
        return _run(quick)


def _run(quick: bool) -> Report:
    """Learn both sets with PA-I and compare with matrix products, a NumPy loop and, on MNIST, scikit-learn's SVC.

    Parameters
    ----------
    quick : bool
        The first 6,000 rows of each set.
    """
    rates = Sheet(
        "PA-I compared with plain matrix products, billions of operations per second",
        [
            "set",
            "rows",
            "mistakes",
            "steps",
            "s",
            "products on all cores",
            "learning",
            "share of all cores",
            "products on a core",
            "learning in processor time",
            "share of a core",
        ],
    )
    loops = Sheet(
        "PA-I compared with a NumPy loop on one core, CPU seconds",
        ["set", f"loop, first {PREFIX:,} rows", "estimate, all rows", "loop, all rows", "hinged", "×"],
    )
    peers = Sheet(
        "PA-I in one pass compared with SVC, polynomial kernel, CPU seconds",
        ["rows", "hinged s", "online errors %", "test errors %", "SVC s", "SVC test errors %", "×"],
    )
    bars = []
    for name, kernel in SETS.items():
        X, y = digits(name)
        X, y = (X[:PREFIX], y[:PREFIX]) if quick else (X, y)
        model, took, (together, alone) = in_turns(X, y, kernel, 12 if name == "usps" else 3)
        operations = 2.0 * X.shape[1] * past_rows(model.support_, len(X)) / 1e9
        share, share_of_time = operations / took.wall / together, operations / took.processor / alone
        rates.rows.append(
            [
                *(name, len(X), model.n_mistakes_, model.n_updates_, took.wall),
                *(together, operations / took.wall, share),
                *(alone, operations / took.processor, share_of_time),
            ]
        )
        bars.append(at_least(f"{name}, share of the rate of bare products on all cores", share, 0.6))
        bars.append(at_least(f"{name}, share of a core's rate in processor time", share_of_time, 0.6))
        loops.rows.append(row := [name, *beside_loop(X, y, kernel, took)])
        if name == "mnist":
            bars.append(at_least(f"{name}, speed over a NumPy loop", row[-1], 10.0))
            peers.rows += [beside_svc(X, y, n, kernel) for n in sorted({PREFIX, min(SVC_MOST, len(X))})]
            faster = min(row[-1] for row in peers.rows)
            bars.append(Bar("faster than SVC on the same rows", f"{faster:.1f}×", faster > 1.0))
    return Report(
        "kernels",
        "USPS and MNIST training rows in their order, the mean subtracted, mean squared norm 1, float32",
        "best of 12 runs (USPS) and of 3 (MNIST), interleaved with plain matrix products. Wall time is measured on all "
        "cores (products: 2,048 rows by 4,096), CPU time on one core (512 by 4,096). Only 2 × features × support "
        "vectors operations are counted, summed over the rounds. The NumPy loop scores one row at a time: its time on "
        "a prefix (best of 3), extrapolated by the number of operations, and measured on all rows. "
        f"SVC: C = 100, 4,000 MB of cache; on at most {SVC_MOST:,} rows, because all rows take minutes. "
        "If other jobs were running, only CPU times are comparable",
        [rates, loops, peers],
        bars,
    )


def timed(function: Any) -> tuple[Any, Took]:
    """Return a function's result and the time it took."""
    wall, start = time.perf_counter(), time.process_time()
    value = function()
    return value, Took(time.perf_counter() - wall, time.process_time() - start)


def in_turns(X: np.ndarray, y: np.ndarray, kernel: Polynomial, repeats: int) -> tuple[Any, Took, tuple[float, float]]:
    """Return a trained learner, its best times, and the rates of plain products measured between its runs.

    Wall time is measured on all cores, CPU time on one core, because threads that wait for each other spin, which
    would count as CPU time.
    """
    learnt(X[:600], y[:600], kernel)  # compiles and loads
    walls, processor, rates = [], [], []
    for _ in range(repeats):
        rates.append(product_rates(X, max(2, 12 // repeats)))
        walls.append(learnt(X, y, kernel)[1].wall)
        with threadpool_limits(1):
            model, took = learnt(X, y, kernel)
        processor.append(took.processor)
    return model, Took(min(walls), min(processor)), (max(rate for rate, _ in rates), max(rate for _, rate in rates))


def learnt(X: np.ndarray, y: np.ndarray, kernel: Polynomial) -> tuple[Any, Took]:
    """Return a trained learner and the time it took."""
    model = hinged.Classifier("pa1", C=C, kernel=kernel)
    return timed(lambda: model.partial_fit(X, y, classes=range(10)))


def past_rows(support: np.ndarray, n: int) -> float:
    """Return the number of support vectors before each round, summed over the rounds."""
    return float(np.searchsorted(np.sort(support), np.arange(n)).sum())


def product_rates(X: np.ndarray, repeats: int) -> tuple[float, float]:
    """Return billions of operations per second of plain products on all cores, and per CPU second on one core."""
    A, B = np.ascontiguousarray(X[:2048]), np.ascontiguousarray(X[:4096])
    with threadpool_limits(1):
        time.sleep(0.1)  # threads of BLAS that are still spinning would be counted
        alone = min(timed(lambda: A[:512] @ B.T)[1].processor for _ in range(repeats))
    wall = min(timed(lambda: A @ B.T)[1].wall for _ in range(repeats))
    operations = 2.0 * len(B) * X.shape[1] / 1e9
    return len(A) * operations / wall, 512 * operations / alone


def beside_loop(X: np.ndarray, y: np.ndarray, kernel: Polynomial, ours: Took) -> list[float]:
    """Return times of the loop on a prefix, extrapolated, and on all rows, then hinged's time and the speed-up."""
    with threadpool_limits(1):
        prefix = [timed(lambda: plain_loop(X[:PREFIX], y[:PREFIX], kernel)) for _ in range(3)]
        work, first = prefix[0][0], min(took.processor for _, took in prefix)
        in_all, seconds = work, first
        if len(X) > PREFIX:
            in_all, took = timed(lambda: plain_loop(X, y, kernel))
            seconds = took.processor
    return [first, first * in_all / work, seconds, ours.processor, seconds / ours.processor]


def plain_loop(X: np.ndarray, y: np.ndarray, kernel: Polynomial) -> float:
    """Run PA-I with one vectorised score per round; return the number of support vectors, summed over the rounds."""
    rows, coef = np.zeros((64, X.shape[1]), X.dtype), np.zeros((64, 10), X.dtype)
    n, work = 0, 0.0
    for x, right in zip(X, y, strict=True):
        scores = ((kernel.a + rows[:n] @ x) ** kernel.d) @ coef[:n]
        work += n
        rival = int(np.argmax(np.where(np.arange(10) == right, -np.inf, scores)))
        loss = 1.0 - (scores[right] - scores[rival])
        if loss > 0.0:
            if n == len(rows):
                rows, coef = np.concatenate([rows, np.zeros_like(rows)]), np.concatenate([coef, np.zeros_like(coef)])
            step = min(C, loss / (2.0 * (kernel.a + x @ x) ** kernel.d))
            rows[n], coef[n, right], coef[n, rival] = x, step, -step
            n += 1
    return work


def beside_svc(X: np.ndarray, y: np.ndarray, n: int, kernel: Polynomial) -> list[Any]:
    """Train PA-I for one pass and SVC until convergence on the first rows; compare their test errors."""
    with np.load(hinged.datasets.folder("mnist") / "mnist.npz") as arrays:
        test, answers = prepared(arrays["x_train"], arrays["x_test"]), arrays["y_test"]
    X, y = X[:n], y[:n]
    with threadpool_limits(1):
        model, took = learnt(X, y, kernel)
    svc = SVC(C=C, kernel="poly", degree=kernel.d, coef0=kernel.a, gamma=1.0, cache_size=4000)
    _, needed = timed(lambda: svc.fit(X, y))
    wrong, svc_wrong = (100.0 * float((m.predict(test) != answers).mean()) for m in (model, svc))
    online = 100.0 * model.n_mistakes_ / n
    return [n, took.processor, online, wrong, needed.processor, svc_wrong, needed.processor / took.processor]
