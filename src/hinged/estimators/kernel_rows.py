"""Rows as a kernel's memory keeps them: in full, or only what is not zero."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hinged.estimators.dicts import BEYOND
from hinged.loops.labels import Targets
from hinged.loops.rows import LEAST_SQUARES, Dense, Rows, part_of
from hinged.mercer.expansion import Expansion, Means
from hinged.mercer.sparse import Sparse
from hinged.mercer.sparse_expansion import SparseExpansion

__all__ = [
    "Reading",
    "as_dense",
    "as_sparse",
    "mostly_zeros",
    "restore_means",
    "restore_rows",
    "room_for",
    "rows_to_arrays",
    "with_targets",
]

#: Columns from which on, and share of values below which, rows are kept sparse.
WIDE, FULL = 512, 0.1


class Reading(NamedTuple):
    """What happens to rows before a kernel compares and keeps them."""

    unit: bool  # whether they are divided by their norm, once they are scaled
    scaling: str | None  # "standard" or "mixed": by what is known of their columns when they come


def room_for(dtype: np.dtype) -> int:
    """Values that fit into scikit-learn's `working_memory`, a setting in MiB."""
    from sklearn import get_config

    return max(1, int(get_config()["working_memory"] * 2**20 / dtype.itemsize))


def mostly_zeros(rows: Rows | Dense, n_features: int) -> bool:
    """Return True if rows are better kept sparse; dense ones never are."""
    if not isinstance(rows, Rows) or n_features < WIDE:
        return False
    return bool(rows.indptr[-1] - rows.indptr[0] < FULL * (len(rows.indptr) - 1) * n_features)


def _raised(rows: Rows | Dense) -> Rows | Dense:
    """Rows whose squares would lose digits, or vanish, divided by their largest value; their unit rows are the same."""
    n, bounds = len(rows.indptr) - 1, np.asarray(rows.indptr)
    largest, filled = np.zeros(n), np.flatnonzero(np.diff(bounds))
    values = rows.values if isinstance(rows, Dense) else rows.data
    if isinstance(rows, Dense):
        largest = np.abs(values).max(axis=1, initial=0.0)
    elif len(filled):
        largest[filled] = np.maximum.reduceat(np.abs(values[: bounds[-1]]), bounds[:-1][filled])
    small = (largest > 0.0) & (largest < math.sqrt(LEAST_SQUARES))
    if not small.any():
        return rows
    by = np.where(small, largest, 1.0)
    if isinstance(rows, Dense):
        return Dense(values / by[:, None])
    data = values.copy()
    data[bounds[0] : bounds[-1]] /= np.repeat(by, np.diff(bounds))
    return rows._replace(data=data)


def as_dense(rows: Rows | Dense, n_features: int, dtype: np.dtype, unit: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows as a matrix, and the squared norm of what they hold beyond its columns; of unit length where asked."""
    n, d, rows = len(rows.indptr) - 1, n_features, _raised(rows) if unit else rows
    X = np.zeros((n, d), dtype)
    if isinstance(rows, Dense):
        values = rows.values[:, :d]
        X[:, : values.shape[1]] = values
        beyond = np.zeros(n)
    else:
        bounds = np.asarray(rows.indptr)
        at = np.repeat(np.arange(n), np.diff(bounds))
        columns, values = rows.indices[bounds[0] : bounds[-1]], rows.data[bounds[0] : bounds[-1]]
        known = columns < d
        X[at[known], columns[known]] = values[known]
        beyond = np.bincount(at[~known], values[~known].astype(np.float64) ** 2, n).astype(np.float64)
    if unit:
        norms = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64) + beyond)
        norms[norms == 0.0] = 1.0
        X, beyond = (X / norms[:, None]).astype(dtype), beyond / norms**2
    return X, beyond


def as_sparse(rows: Rows | Dense, n_features: int, dtype: np.dtype, unit: bool) -> Sparse:
    """Rows without their zeros; of unit length where asked. Unknown names get columns after the others."""
    rows = _raised(rows) if unit else rows
    if isinstance(rows, Dense):
        X = Sparse.of(rows.values.astype(dtype, copy=False))
    else:
        first, last = int(rows.indptr[0]), int(rows.indptr[-1])
        data = rows.data[first:last].astype(dtype, copy=False)
        columns = rows.indices[first:last]
        columns = np.where(columns < BEYOND, columns, columns - BEYOND + n_features).astype(np.int32)
        X = Sparse(np.asarray(rows.indptr, np.int64) - first, columns, data)
    if unit:
        norms = np.sqrt(np.bincount(X.rows(), X.data.astype(np.float64) ** 2, len(X)))
        X = X.divided(np.where(norms == 0.0, 1.0, norms))
    return X


def rows_to_arrays(name: str, rows: Any) -> dict[str, np.ndarray]:
    """Remembered rows as plain arrays."""
    if not isinstance(rows, Sparse):
        return {f"{name}.rows": rows}
    return {f"{name}.{part}": getattr(rows, part) for part in ("indptr", "indices", "data")}


def _rows_from_arrays(arrays: dict[str, np.ndarray], name: str) -> Any:
    """Remembered rows from plain arrays, if they make sense."""
    if f"{name}.indptr" not in arrays:
        rows = arrays[f"{name}.rows"]
        if rows.ndim != 2:
            raise ValueError(f"its {name} rows are damaged")
        return rows
    indptr, indices, data = (arrays[f"{name}.{part}"] for part in ("indptr", "indices", "data"))
    if not _are_compressed(indptr, indices, data):
        raise ValueError(f"its {name} rows are damaged")
    return Sparse(indptr, indices, data)


def _are_compressed(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray) -> bool:
    """Return True if arrays make sense as rows in compressed form."""
    shapes = indptr.ndim == indices.ndim == data.ndim == 1 and len(indptr) > 0
    if not shapes or indptr.dtype != np.int64 or indices.dtype != np.int32:
        return False
    bounds = indptr[0] == 0 and indptr[-1] == len(indices) == len(data)
    return bool(bounds and (np.diff(indptr) >= 0).all() and (indices >= 0).all())


def _fit_together(rows: Any, coef: np.ndarray, rounds: np.ndarray, dtype: np.dtype) -> bool:
    """Return True if there are a round and finite coefficients for each remembered row."""
    values = rows.data if isinstance(rows, Sparse) else rows
    sound = coef.ndim == 2 and rounds.shape == (len(rows),) == (len(coef),)
    sound = sound and rows.dtype == coef.dtype == dtype and rounds.dtype == np.int64
    return bool(sound and np.isfinite(values).all() and np.isfinite(coef).all())


def restore_rows(name: str, expansion: Expansion, arrays: dict[str, np.ndarray], n_features: int) -> None:
    """Remember the rows of one expansion, as wide as the model, if they make sense."""
    rows, coef, rounds = _rows_from_arrays(arrays, name), arrays[f"{name}.coef"], arrays[f"{name}.rounds"]
    if not _fit_together(rows, coef, rounds, expansion.dtype) or rows.shape[1] > n_features:
        raise ValueError(f"its {name} rows are damaged")
    if coef.shape[1] > expansion.n_outputs:
        raise ValueError(f"its {name} rows are damaged")
    if isinstance(rows, Sparse):
        rows = rows if isinstance(expansion, SparseExpansion) else rows.dense(n_features)
    else:
        rows = np.pad(rows, ((0, 0), (0, n_features - rows.shape[1])))
    by = np.zeros((len(rows), expansion.n_outputs), expansion.dtype)
    by[:, : coef.shape[1]] = coef
    expansion.append(rows, by, rounds)


def restore_means(means: Means, sums: np.ndarray, counts: np.ndarray, n_features: int) -> None:
    """Take over the means of the labels' rows, if they make sense."""
    k = len(means.counts)
    sound = sums.ndim == 2 and counts.shape == (len(sums),) and sums.shape[1] <= n_features
    sound = sound and sums.dtype == np.float64 and counts.dtype == np.int64 and bool((counts >= 0).all())
    if not sound or counts[k:].any() or not np.isfinite(sums).all():  # earlier versions kept one too many
        raise ValueError("its means are damaged")
    means.sums[: len(sums), : sums.shape[1]], means.counts[: len(sums)] = sums[:k], counts[:k]
    means.compare()


def with_targets(rows: Rows | Dense, targets: Targets, some: slice) -> tuple[Rows | Dense, Targets]:
    """Some of the rows, with their targets."""
    indptr = targets.indptr[some.start : some.stop + 1]
    return part_of(rows, some), Targets(indptr, targets.labels, targets.weights[some])
