"""AROW with a diagonal covariance, one learner for each label: Crammer, Kulesza and Dredze (2009)."""

from typing import Any

import numpy as np
from numba import njit

RATES = (1.0, 0.1, 10.0)  # r; the first is the default
CHECKED = 60


def online_scores(X: Any, Y: np.ndarray, r: float) -> np.ndarray:
    """Scores (rows, labels) of each row before it is learnt; `X` is in CSR form, `Y` the right labels as booleans."""
    scores = np.zeros(Y.shape)
    _learn(X.indptr, X.indices, X.data, np.where(Y, 1.0, -1.0), X.shape[1], r, scores)
    _check(X[:CHECKED], Y[:CHECKED], r, scores[:CHECKED])
    return scores


@njit(cache=True)
def _learn(indptr: Any, indices: Any, data: Any, Y: Any, width: int, r: float, scores: Any) -> None:
    # W, sigma (features, labels): means and variances
    W, sigma = np.zeros((width, Y.shape[1])), np.ones((width, Y.shape[1]))
    for t in range(Y.shape[0]):
        row = range(indptr[t], indptr[t + 1])
        for j in row:
            for c in range(Y.shape[1]):
                scores[t, c] += data[j] * W[indices[j], c]
        for c in range(Y.shape[1]):
            loss = 1.0 - Y[t, c] * scores[t, c]
            if loss <= 0.0:
                continue
            variance = 0.0
            for j in row:
                variance += sigma[indices[j], c] * data[j] ** 2
            step = loss / (variance + r)
            for j in row:
                along = sigma[indices[j], c] * data[j]
                W[indices[j], c] += step * Y[t, c] * along
                sigma[indices[j], c] /= 1.0 + along * data[j] / r  # the inverse of the diagonal gains x² / r


def _check(X: Any, Y: np.ndarray, r: float, scores: np.ndarray) -> None:
    """Raise if the scores are not those of the paper's formulas, written plainly."""
    X, signs = X.toarray(), np.where(Y, 1.0, -1.0)
    for c in range(Y.shape[1]):
        w, precision = np.zeros(X.shape[1]), np.ones(X.shape[1])
        for t, x in enumerate(X):
            if abs(scores[t, c] - w @ x) > 1e-8:
                raise AssertionError(f"AROW's twin went astray in round {t} of label {c}.")
            loss = max(0.0, 1.0 - signs[t, c] * (w @ x))
            if loss > 0.0:
                w = w + loss / (x @ (x / precision) + r) * signs[t, c] * x / precision
                precision = precision + x * x / r
