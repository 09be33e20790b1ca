"""Learn rows when told to on standard input; started by `benchmarks.instructions`, below Callgrind.

A line names a loop: it is made ready, ROWS rows are learnt, and "ready" is printed. After the next line, whatever it
is, as many other rows are learnt, and "done" is printed.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import hinged
from benchmarks.streams import topics

ROWS = 1_000
LABELS = np.arange(50)

Learn = Callable[[slice], Any]


def _sparse(learner: Any) -> Learn:
    X, y = topics(2 * ROWS, 5_000, len(LABELS), 64, seed=0)
    return lambda part: learner.partial_fit(X[part], y[part], classes=LABELS)


def _dense(learner: Any) -> Learn:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2 * ROWS, 64)).astype(np.float32), rng.integers(0, 10, 2 * ROWS)
    return lambda part: learner.partial_fit(X[part], y[part], classes=np.arange(10))


def _dicts(learner: Any) -> Learn:
    X, y = topics(2 * ROWS, 5_000, 20, 64, seed=0)
    rows = [{f"w{c}": 1.0 for c in X.indices[X.indptr[i] : X.indptr[i + 1]]} for i in range(2 * ROWS)]
    labels = [f"label {one}" for one in y]

    def learn(part: slice) -> None:
        for row, label in zip(rows[part], labels[part], strict=True):
            learner.learn_one(row, label)

    return learn


def _texts(learner: Any) -> Learn:
    X, y = topics(2 * ROWS, 5_000, 20, 64, seed=0)
    texts = [" ".join(f"w{c}" for c in X.indices[X.indptr[i] : X.indptr[i + 1]]) for i in range(2 * ROWS)]
    return lambda part: learner.partial_fit(texts[part], y[part], classes=np.arange(20))


LOOPS: dict[str, Callable[[], Learn]] = {
    "pa1, sparse rows": lambda: _sparse(hinged.Classifier("pa1", C=0.003, scaling=None)),
    "no setting, sparse rows": lambda: _sparse(hinged.Classifier()),
    "no setting, dense rows": lambda: _dense(hinged.Classifier()),
    "no setting, dicts, one by one": lambda: _dicts(hinged.Classifier()),
    "no setting, texts": lambda: _texts(hinged.TextClassifier()),
}


def main() -> None:
    """Serve until standard input ends."""
    for line in sys.stdin:
        learn = LOOPS[line.rstrip("\n")]()
        learn(slice(ROWS))
        print("ready", flush=True)
        sys.stdin.readline()
        learn(slice(ROWS, 2 * ROWS))
        print("done", flush=True)


if __name__ == "__main__":
    main()
