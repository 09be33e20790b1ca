"""Adaptive scaling: the passive-aggressive step in a geometry of its own, each feature by how much it moved before.

A trial of an idea that no paper here has, for the appendix of the report: steps τ D x with D_i = 1/√(1 + Σ x_i²) over
the rounds that moved feature i, and τ = min(C, loss / (2 Σ D_i x_i²)), a vector per label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinged.evaluate.progressive import Progress

__all__ = ["adaptive"]


def adaptive(X: Any, y: list[str], C: float = 1.0) -> Progress:
    """Predict, count, learn: binary words with online IDF and unit rows, labels revealed as they come.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> adaptive(csr_array(np.eye(2)[[0, 1, 0, 1, 0, 1]]), ["a", "b", "a", "b", "a", "b"]).flags.tolist()
    [-1, -1, 1, 1, 0, 0]
    """
    numbers = {label: i for i, label in enumerate(dict.fromkeys(y))}
    right = np.array([numbers[label] for label in y])
    flags, ranks = _learn(X.indptr, X.indices, X.data.astype(float), right, len(numbers), X.shape[1], C)
    return Progress(flags, ranks, 0, float((flags == 1).sum()), 0.0)


def _learn(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, right: np.ndarray, k: int, width: int, C: float
) -> tuple[np.ndarray, np.ndarray]:
    # W (features, labels) · moved: 1 + Σ x² of the rounds that moved a feature · df: rounds that had it
    W, moved, df = np.zeros((width, k)), np.ones(width), np.zeros(width)
    flags, ranks = np.zeros(len(right), np.int8), np.zeros(len(right), np.int32)
    known = 0
    for t, label in enumerate(right):
        row, x = indices[indptr[t] : indptr[t + 1]], data[indptr[t] : indptr[t + 1]]
        if t > 0:
            x = x * np.maximum(0.1, np.log((t + 1) / (df[row] + 0.5)))
        length = float(np.sqrt(x @ x))
        x = x / length if length > 0.0 else x
        df[row] += 1
        if label >= known:
            flags[t], known = -1, label + 1
            continue
        scores = x @ W[row, :known]
        rivals = np.where(np.arange(known) == label, -np.inf, scores)
        ranks[t] = 1 + int((rivals >= scores[label]).sum())
        flags[t] = ranks[t] > 1
        rival = int(rivals.argmax())
        loss = 1.0 - (scores[label] - rivals[rival])
        if loss <= 0.0 or length == 0.0:  # also where there is no rival yet
            continue
        scale = 1.0 / np.sqrt(moved[row])
        move = min(C, loss / (2.0 * float((x**2) @ scale))) * scale * x
        W[row, label] += move
        W[row, rival] -= move
        moved[row] += x**2
    return flags, ranks
