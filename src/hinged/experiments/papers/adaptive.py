"""Adaptive scaling: the passive-aggressive step in a geometry of its own, each feature by how much it moved before.

A trial of an idea that no paper here has, for the appendix of the report: steps τ D x with D_i = 1/√(1 + Σ x_i²) over
the rounds that moved feature i, and τ = min(C, loss / (2 Σ D_i x_i²)), a vector per label.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

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


@njit(cache=True, nogil=True)
def _learn(indptr: Any, indices: Any, data: Any, right: Any, k: int, width: int, C: float) -> Any:
    # W (features, labels) · moved: 1 + Σ x² of the rounds that moved a feature · df: rounds that had it
    W, moved, df = np.zeros((width, k)), np.ones(width), np.zeros(width)
    flags, ranks = np.zeros(len(right), np.int8), np.zeros(len(right), np.int32)
    scores, known = np.zeros(k), 0
    for t in range(len(right)):
        row, x = indices[indptr[t] : indptr[t + 1]], data[indptr[t] : indptr[t + 1]].copy()
        if t > 0:
            for j in range(len(row)):
                x[j] *= max(0.1, np.log((t + 1) / (df[row[j]] + 0.5)))
        length = np.sqrt((x**2).sum())
        if length > 0.0:
            x /= length
        scores[:] = 0.0
        for j in range(len(row)):
            df[row[j]] += 1
            scores += x[j] * W[row[j]]
        label = right[t]
        if label >= known:
            flags[t], known = -1, label + 1
            continue
        rival, rank = -1, 1
        for r in range(known):
            if r != label:
                rank += scores[r] >= scores[label]
                if rival < 0 or scores[r] > scores[rival]:
                    rival = r
        ranks[t], flags[t] = rank, rank > 1
        loss = 1.0 - (scores[label] - scores[rival]) if rival >= 0 else 0.0
        if loss <= 0.0 or length == 0.0:
            continue
        step = min(C, loss / (2.0 * (x**2 / np.sqrt(moved[row])).sum()))
        for j in range(len(row)):
            move = step * x[j] / np.sqrt(moved[row[j]])
            W[row[j], label] += move
            W[row[j], rival] -= move
            moved[row[j]] += x[j] ** 2
    return flags, ranks
