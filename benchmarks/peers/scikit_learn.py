"""scikit-learn's one-vs-rest PA-I, `SGDClassifier(learning_rate="pa1")`.

Its best case is learning alone, one `partial_fit` on the whole matrix. Predicting before every round would
take a Python call a row, so its online mistakes come from a twin: the same one-vs-rest steps written
as one loop that predicts first. `check_twin` holds the twin to the coefficients scikit-learn ends with.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier

from benchmarks.streams import Stream


def learner(C: float) -> SGDClassifier:
    """PA-I without a bias, in the order of the rows."""
    return SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=C, fit_intercept=False, shuffle=False, average=False
    )


def learn_all(stream: Stream, labels: NDArray[np.int64], C: float) -> SGDClassifier:
    """One whole-matrix `partial_fit`."""
    return learner(C).partial_fit(stream.X, stream.y, classes=labels)


@njit(cache=True)
def _one_vs_rest(W: Any, indptr: Any, indices: Any, data: Any, y: Any, C: float) -> int:
    """Predict, count, learn; change `W` (features, labels) in place and return the mistakes."""
    # s scores, then signed steps · q = ‖x‖²
    s = np.empty(W.shape[1])
    mistakes = 0
    for i in range(y.shape[0]):
        s[:] = 0.0
        q = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            q += data[k] * data[k]
            for r in range(s.shape[0]):
                s[r] += data[k] * W[indices[k], r]
        mistakes += np.argmax(s) != y[i]
        for r in range(s.shape[0]):
            side = 1.0 if r == y[i] else -1.0
            s[r] = side * min(C, max(0.0, 1.0 - side * s[r]) / q)
        for k in range(indptr[i], indptr[i + 1]):
            for r in range(s.shape[0]):
                W[indices[k], r] += s[r] * data[k]
    return mistakes


@njit(cache=True)
def _one_vs_rest_sets(W: Any, indptr: Any, indices: Any, data: Any, Y: Any, C: float, scores: Any) -> None:
    """Score each row into `scores` (rows, labels), then let each label's PA-I learn it; change `W` in place."""
    for i in range(Y.shape[0]):
        s = scores[i]
        q = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            q += data[k] * data[k]
            for r in range(s.shape[0]):
                s[r] += data[k] * W[indices[k], r]
        if q == 0.0:
            continue
        for r in range(s.shape[0]):
            side = 1.0 if Y[i, r] else -1.0
            step = side * min(C, max(0.0, 1.0 - side * s[r]) / q)
            if step != 0.0:
                for k in range(indptr[i], indptr[i + 1]):
                    W[indices[k], r] += step * data[k]


def online_scores(X: Any, Y: NDArray[np.bool_], C: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores (rows, labels) of one PA-I per label before it learns each row, and the weights (features, labels)."""
    W, scores = np.zeros((X.shape[1], Y.shape[1])), np.zeros(Y.shape)
    _one_vs_rest_sets(W, X.indptr, X.indices, X.data, Y, C, scores)
    return scores, W


def check_sets_twin(X: Any, Y: NDArray[np.bool_], C: float) -> float:
    """Largest difference between the weights of `online_scores` and those of one SGDClassifier per label, relatively.

    Raises
    ------
    AssertionError
        If rounding does not explain it.
    """
    _, W = online_scores(X, Y, C)
    asked = np.flatnonzero(Y.any(axis=0) & ~Y.all(axis=0))[:5]
    theirs = np.stack([learner(C).partial_fit(X, Y[:, r], classes=[False, True]).coef_[0] for r in asked], axis=1)
    difference = float(np.abs(W[:, asked] - theirs).max() / np.abs(theirs).max())
    assert difference < 1e-6, f"the twin of SGDClassifier per label is off by {difference:.1e}"
    return difference


def online_mistakes(stream: Stream, n_labels: int, C: float) -> tuple[int, NDArray[np.float32]]:
    """Mistakes of the twin, and its weights (features, labels)."""
    X, y = stream
    W = np.zeros((X.shape[1], n_labels), dtype=np.float32)
    return int(_one_vs_rest(W, X.indptr, X.indices, X.data, y, C)), W


def check_twin(stream: Stream, labels: NDArray[np.int64], C: float) -> float:
    """Largest difference between the twin's weights and scikit-learn's, relative to the largest weight.

    Raises
    ------
    AssertionError
        If they differ by more than float32 rounding explains; the mistakes would then be somebody else's.
    """
    _, W = online_mistakes(stream, len(labels), C)
    theirs = learn_all(stream, labels, C).coef_.T
    difference = float(np.abs(W - theirs).max() / np.abs(theirs).max())
    assert difference < 1e-3, f"the twin of SGDClassifier is off by {difference:.1e}"
    return difference
