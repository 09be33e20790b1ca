"""What each feature of a row contributes to a label's score."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.loops.columns import PER_LABEL, PER_SET
from hinged.loops.ledger import LEARNT
from hinged.loops.pages import gather
from hinged.loops.rows import read_row
from hinged.loops.shared import fill_features, support

__all__ = ["Share", "row_contributions", "shared_contributions"]


class Share(NamedTuple):
    """What one feature, or one past round, adds to a score."""

    feature: Hashable  # its number, 0 for the bias and c + 1 for column c; where `named`, its name or the round
    value: float
    named: bool = False


@njit(cache=True)
def row_contributions(
    rows: Any, columns: Any, scaling: Any, weights: Any, counts: Any, mean_over: int, n_labels: int, label: int
) -> Any:
    """Features of the first row, and what each adds to the label's score through the vectors of the row itself."""
    longest = rows.indptr[1] - rows.indptr[0]
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    n, _q = read_row(rows, 0, scaling, counts[LEARNT], f, v)
    n_columns = n_labels if columns.kind == PER_LABEL else columns.n
    values, sums, out = np.zeros(n_columns), np.zeros(n_columns), np.zeros(n)
    for j in range(n):
        if gather(weights, f[j], n_columns, 0, values):
            if mean_over > 0:
                gather(weights, f[j], n_columns, 1, sums)
                values -= sums / mean_over
            if columns.kind == PER_LABEL:
                out[j] = v[j] * values[label]
            elif columns.kind == PER_SET:
                for c in range(columns.indptr[label], columns.indptr[label + 1]):
                    out[j] += v[j] * values[columns.indices[c]]
    return f[:n], out


@njit(cache=True)
def shared_contributions(
    rows: Any, scaling: Any, parts: Any, counts: Any, mean_over: int, n_labels: int, label: int
) -> Any:
    """Features of the first row's φ, and what each adds to the label's score through the shared vectors."""
    longest = rows.indptr[1] - rows.indptr[0]
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    n, _q = read_row(rows, 0, scaling, counts[LEARNT], f, v)
    room = parts.ids.shape[0] + longest + 1 + parts.sums.used[0]
    fs, vs = np.empty(room, np.int64), np.empty(room)
    m = support(parts, f, v, n, fs, vs)
    phi = np.zeros((parts.kinds.shape[0], m, n_labels))[:, :, :n_labels]
    fill_features(parts, fs, vs, 0, m, counts[LEARNT], scaling.df, phi, np.zeros(n_labels))
    values, sums, out = np.zeros(phi.shape[0]), np.zeros(phi.shape[0]), np.zeros(m)
    for j in range(m):
        if gather(parts.vectors, fs[j], phi.shape[0], 0, values):
            if mean_over > 0:
                gather(parts.vectors, fs[j], phi.shape[0], 1, sums)
                values -= sums / mean_over
            for p in range(phi.shape[0]):
                out[j] += values[p] * phi[p, j, label]
    return fs[:m], out
