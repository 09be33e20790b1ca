"""Binary classification, regression and outlier detection, by row and by matrix, compared with scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier, SGDOneClassSVM, SGDRegressor

import hinged
from benchmarks.report import Report, Sheet, at_least
from benchmarks.timing import Contender, race

SEED, WIDTH, C = 5, 20, 0.1
SINGLE, WHOLE = "a row at a time", "a matrix at once"


def run(quick: bool) -> Report:
    """Time both on the same rows.

    Parameters
    ----------
    quick : bool
        A tenth of the rows and 1 repeat in place of 5.
    """
    n_single, n_whole, repeats = (100, 20_000, 1) if quick else (1_000, 200_000, 5)
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n_whole, WIDTH))
    score = X @ rng.normal(size=WIDTH) + rng.normal(size=n_whole)
    y = (score > 0).astype(np.int64)
    common = {"penalty": None, "learning_rate": "pa1", "eta0": C, "fit_intercept": False, "shuffle": False}
    classifier = lambda: SGDClassifier(loss="hinge", **common)  # noqa: E731
    regressor = lambda: SGDRegressor(loss="epsilon_insensitive", epsilon=0.1, **common)  # noqa: E731
    pairs: dict[tuple[str, str], tuple[Contender, Contender, float]] = {
        ("two labels", SINGLE): (
            lambda: _singly(classifier(), X, y, n_single, classes=[0, 1]),
            lambda: _by_one(hinged.BinaryClassifier("pa1", C, scaling=None).declare([0, 1]), X, y, n_single),
            5.0,
        ),
        ("two labels", WHOLE): (
            lambda: _at_once(classifier(), X, y, classes=[0, 1]),
            lambda: _at_once(hinged.BinaryClassifier("pa1", C, scaling=None), X, y, classes=[0, 1]),
            1.5,
        ),
        ("numbers", SINGLE): (
            lambda: _singly(regressor(), X, score, n_single),
            lambda: _by_one(hinged.Regressor("pa1", C, 0.1, scaling=None), X, score, n_single),
            5.0,
        ),
        ("numbers", WHOLE): (
            lambda: _at_once(regressor(), X, score),
            lambda: _at_once(hinged.Regressor("pa1", C, 0.1, scaling=None), X, score),
            1.5,
        ),
        ("outliers", SINGLE): (
            lambda: _singly(SGDOneClassSVM(), X, None, n_single),
            lambda: _by_one(hinged.Uniclass("pa1", C, radius=4.0), X, None, n_single),
            50.0,
        ),
    }
    sheet = Sheet("One weight vector", ["task", "how", "rows", "scikit-learn µs/row", "hinged µs/row", "×", "apart"])
    bars = []
    for (task, how), (theirs, ours, floor) in pairs.items():
        n = n_single if how == SINGLE else n_whole
        times = race({"scikit-learn": theirs, "hinged": ours}, repeats)
        a, b = times["scikit-learn"], times["hinged"]
        apart = None if task == "outliers" else float(np.abs(a.value - b.value).max())
        sheet.rows.append([task, how, n, 1e6 * a.seconds / n, 1e6 * b.seconds / n, a.seconds / b.seconds, apart])
        bars.append(at_least(f"{task}, {how}, speed over scikit-learn", a.seconds / b.seconds, floor))
    return Report(
        "one_vector",
        f"{n_whole:,} dense rows of {WIDTH} normal values, noisy linear targets, float64; seed {SEED}",
        f"best of {repeats} interleaved repeats after one warm-up, CPU time, one thread. Both learn the "
        f"same rows in the same order with PA-I, C={C:g}, no intercept; 'apart' is the largest difference of their "
        "weights (not given for outlier detectors, which are different models). A row at a time: partial_fit of one "
        "row, learn_one",
        [sheet],
        bars,
    )


def _singly(model: Any, X: np.ndarray, y: Any, n: int, **more: Any) -> Callable[[], Any]:
    def learn() -> Any:
        for i in range(n):
            model.partial_fit(X[i : i + 1], *([] if y is None else [y[i : i + 1]]), **more)
        return model.coef_.ravel()

    return learn


def _by_one(model: Any, X: np.ndarray, y: Any, n: int) -> Callable[[], Any]:
    def learn() -> Any:
        if y is None:
            for i in range(n):
                model.learn_one(X[i])
            return model.center_
        for i in range(n):
            model.learn_one(X[i], y[i])
        return model.coef_

    return learn


def _at_once(model: Any, X: np.ndarray, y: Any, **more: Any) -> Callable[[], Any]:
    def learn() -> Any:
        model.partial_fit(X, y, **more)
        return model.coef_.ravel()

    return learn
