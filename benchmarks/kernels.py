"""Mercer kernels on handwritten digits: figure 6 of the passive-aggressive paper, and the rate of matrix products."""

import time
from typing import Any

import numpy as np

import hinged
from benchmarks.report import Bar, Report, Sheet, at_least
from hinged.mercer import Polynomial
from hinged.rules import Mira

SETS = {"usps": Polynomial(0.0, 3), "mnist": Polynomial(0.5, 5)}
RULES: dict[str, dict[str, Any]] = {
    "PA-I, C = 100": {"rule": "pa1", "C": 100.0},
    "MIRA, β = 0.01": {"rule": Mira(beta=0.01)},
    "uniform Perceptron": {"rule": "uniform"},
}
PREFIX = 6000  # rows for the plain loop


def run(quick: bool) -> Report:
    """Learn every set by every rule; time the first rule beside bare products and beside a plain loop.

    Parameters
    ----------
    quick : bool
        The first 6,000 rows of each set.
    """
    mistakes = Sheet("Online mistakes", ["set", "rule", "rows", "mistakes", "steps", "seconds", "processor seconds"])
    speed = Sheet(
        "PA-I beside bare matrix products, and beside a NumPy loop",
        [
            "set",
            "products GF/s",
            "learning GF/s",
            "share",
            f"loop s, first {PREFIX:,}",
            "loop s, all rows (estimate)",
            "×",
        ],
    )
    bars = []
    for name, kernel in SETS.items():
        X, y = digits(name)
        X, y = (X[:PREFIX], y[:PREFIX]) if quick else (X, y)
        told = {}
        for title, settings in RULES.items():
            model = hinged.Classifier(kernel=kernel, **settings)
            wall, start = time.perf_counter(), time.process_time()
            model.partial_fit(X, y, classes=range(10))
            seconds = time.process_time() - start
            told[title] = model, seconds
            took = time.perf_counter() - wall
            mistakes.rows.append([name, title, len(X), model.n_mistakes_, model.n_updates_, took, seconds])
        model, seconds = told["PA-I, C = 100"]
        work = past_rows(model.support_, len(X))
        of_products, of_learning = product_rate(X), 2.0 * X.shape[1] * work / seconds / 1e9
        loop, loop_work = min(plain_loop(X[:PREFIX], y[:PREFIX], kernel) for _ in range(3))
        estimate = loop * work / loop_work
        speed.rows.append(
            [name, of_products, of_learning, of_learning / of_products, loop, estimate, estimate / seconds]
        )
        share = of_learning / of_products
        bars.append(at_least(f"{name}, share of the rate of bare products", share, 0.6))
        bars.append(at_least(f"{name}, speed over a NumPy loop", estimate / seconds, 10.0))
        counts = {title: model.n_mistakes_ for title, (model, _) in told.items()}
        least = counts["uniform Perceptron"] - max(counts["PA-I, C = 100"], counts["MIRA, β = 0.01"])
        bars.append(Bar(f"{name}, PA-I and MIRA make fewer mistakes than the Perceptron", f"{least} fewer", least > 0))
    return Report(
        "kernels",
        "USPS and MNIST training rows in their order, the mean subtracted, mean squared norm 1, float32",
        "one run each, processor seconds of all threads for learning, products and loop alike. The work counted is 2 × "
        "features × remembered rows, summed over the rounds; products are 512 rows by 4,096. The loop scores a row at "
        "a time with NumPy, on a prefix; its time on all rows is estimated in proportion to the same count",
        [mistakes, speed],
        bars,
    )


def digits(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The training rows of a set, as PA section 10.3 prepares them, and their labels."""
    with np.load(hinged.datasets.folder(name) / f"{name}.npz") as arrays:
        X, y = arrays["x_train"], arrays["y_train"]
    X = X.reshape(len(X), -1).astype(np.float64)
    X -= X.mean(axis=0)
    X /= np.sqrt(np.mean((X**2).sum(axis=1)))
    return X.astype(np.float32), y.astype(np.int64)


def past_rows(support: np.ndarray, n: int) -> float:
    """Rows remembered before each round, summed over the rounds."""
    return float(np.searchsorted(np.sort(support), np.arange(n)).sum())


def product_rate(X: np.ndarray, repeats: int = 7) -> float:
    """Billions of operations in a processor second of bare matrix products."""
    A, B = np.ascontiguousarray(X[:512]), np.ascontiguousarray(X[:4096])
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(8):
            A @ B.T
        best = min(best, time.process_time() - start)
    return 8 * 2.0 * len(A) * len(B) * X.shape[1] / best / 1e9


def plain_loop(X: np.ndarray, y: np.ndarray, kernel: Polynomial) -> tuple[float, float]:
    """Processor seconds of PA-I with one vectorised score a round, and the rows remembered, summed over the rounds."""
    rows, coef = np.zeros_like(X), np.zeros((len(X), 10), X.dtype)
    n, work, start = 0, 0.0, time.process_time()
    for x, right in zip(X, y, strict=True):
        scores = ((kernel.a + rows[:n] @ x) ** kernel.d) @ coef[:n]
        work += n
        rival = int(np.argmax(np.where(np.arange(10) == right, -np.inf, scores)))
        loss = 1.0 - (scores[right] - scores[rival])
        if loss > 0.0:
            step = min(100.0, loss / (2.0 * (kernel.a + x @ x) ** kernel.d))
            rows[n], coef[n, right], coef[n, rival] = x, step, -step
            n += 1
    return time.process_time() - start, work
