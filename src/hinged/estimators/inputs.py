"""Rows from whatever users have: sparse and dense matrices, data frames, dicts of feature → value."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from hinged.loops.rows import Rows, largest_magnitude

__all__ = ["FeatureSpace", "check_weights", "dtype_of", "is_dicts"]

WIDEST = 2**31 - 2


def is_dicts(X: Any) -> bool:
    """Whether X is a list of feature dicts."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def dtype_of(X: Any) -> np.dtype:
    """float32 where the input is float32 throughout, else float64."""
    dtype = getattr(X, "dtype", None)
    if dtype is None and hasattr(X, "dtypes"):
        kinds = {str(kind).lower() for kind in X.dtypes}
        return np.dtype(np.float32 if kinds == {"float32"} else np.float64)
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


class FeatureSpace:
    """What the columns of a model mean: positions in a matrix, or names met in dicts.

    Attributes
    ----------
    names : dict of name → column, or None before the first dict
    """

    def __init__(self) -> None:
        self.names: dict[Hashable, int] | None = None
        self.listed: list[Hashable] = []

    def name(self, column: int, columns: Any = None) -> Hashable:
        """What to call a column: its dict key, its data frame's name, else its number."""
        if self.names is not None:
            return self.listed[column]
        return column if columns is None or column >= len(columns) else str(columns[column])

    def from_dicts(self, dicts: Any, dtype: np.dtype, width: int, grow: bool, columns: Any = None) -> tuple[Rows, list]:
        """Rows of dicts, and names not met before; without `grow`, unknown names are left out."""
        known: Mapping[Hashable, int]
        if self.names is None and width > 0:  # a model of matrices: keys are its columns
            known = _ColumnKeys(columns, width if not grow or columns is not None else WIDEST)
        else:
            known = self.names or {}
        if len(dicts) == 1:
            return self._from_dict(dicts[0], known, dtype, grow)
        new: dict[Hashable, int] = {}
        indptr, indices, data = np.zeros(len(dicts) + 1, np.int64), [], []
        for i, x in enumerate(dicts):
            rows, names = self._from_dict(x, {**known, **new} if new else known, dtype, grow)
            for name in names:
                new[name] = len(known) + len(new)
            indices.append(rows.indices)
            data.append(rows.data)
            indptr[i + 1] = indptr[i] + len(rows.indices)
        return Rows(indptr, np.concatenate(indices), np.concatenate(data)), list(new)

    @staticmethod
    def _from_dict(x: Any, known: Any, dtype: np.dtype, grow: bool) -> tuple[Rows, list]:
        if not isinstance(x, Mapping):
            raise TypeError(f"each row must be a dict of feature → value here; got {type(x).__name__}.")
        new: list[Hashable] = []
        try:
            columns = [known[name] for name in x]
            values = np.array(list(x.values()), dtype)
        except KeyError:
            columns, kept = [], []
            for name, value in x.items():
                at = known.get(name, -1)
                if at < 0 and grow:
                    at = len(known) + len(new)
                    new.append(name)
                if at >= 0:
                    columns.append(at)
                    kept.append(value)
            values = _numbers(x, kept, dtype)
        except (TypeError, ValueError):
            values = _numbers(x, list(x.values()), dtype)
        if values.ndim != 1 or (values.dtype.kind != "f"):
            values = _numbers(x, list(x.values()), dtype)
        total = float(np.dot(values, values))
        if not total < math.inf:
            check_finite(values)
        indices = np.array(columns, np.int32)
        order = indices.argsort(kind="stable")
        return Rows(np.array([0, len(indices)], np.int64), indices[order], values[order]), new

    def admit(self, names: list[Hashable]) -> None:
        """Give new names their columns."""
        if self.names is None:
            self.names = {}
        for name in names:
            self.names[name] = len(self.listed)
            self.listed.append(name)


class _ColumnKeys(dict):
    """Dict keys of a model that was taught with matrices: column numbers, or a data frame's column names."""

    def __init__(self, columns: Any, width: int) -> None:
        super().__init__({str(name): i for i, name in enumerate(columns)} if columns is not None else {})
        self.width = width

    def __missing__(self, key: Any) -> int:
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if 0 <= key < self.width:
                return int(key)
            raise ValueError(f"column {key} is out of range; this model has {self.width} columns.")
        raise TypeError(
            f"this model was taught with matrices, so a dict's keys must be column numbers; got {key!r}. "
            "Teach it with dicts from the start to use names."
        )


def _numbers(x: Mapping, values: list, dtype: np.dtype) -> np.ndarray:
    for name, value in x.items():
        if not isinstance(value, Real | np.generic | bool):
            raise TypeError(
                f"feature values must be numbers; got {name!r}: {value!r}. For a category use a name such as "
                f"'{name}={value}' with the value 1."
            )
    return np.array(values, dtype)


def from_matrix(X: Any, dtype: np.dtype) -> Rows:
    """Rows of a sparse or dense 2-D matrix, columns rising and unique; the input is never changed."""
    if X.shape[1] > WIDEST:
        raise ValueError(f"at most {WIDEST} columns are possible; got {X.shape[1]}. Hash the features into fewer.")
    if not sparse.issparse(X):
        X = sparse.csr_array(X)
    elif X.format != "csr":
        X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    indices = X.indices
    if len(indices) and indices.dtype != np.int32:
        if int(indices.max()) >= X.shape[1] or int(indices.min()) < 0:
            raise ValueError(f"column indices must lie in 0 ... {X.shape[1] - 1}; got {int(indices.max())}.")
        indices = indices.astype(np.int32)
    data = X.data
    if data.dtype.kind == "c":
        raise ValueError("Complex data not supported: values must be real numbers.")
    data = np.ascontiguousarray(data, dtype)
    check_finite(data)
    return Rows(X.indptr.astype(np.int64, copy=False), np.ascontiguousarray(indices, np.int32), data)


def check_finite(data: np.ndarray) -> None:
    """Refuse NaN, infinity, and values too large to be squared and summed."""
    if not len(data):
        return
    largest = largest_magnitude(data)
    if math.isnan(largest):
        where = int(np.flatnonzero(~np.isfinite(data))[0])
        what = "NaN" if np.isnan(data[where]) else "infinity"
        raise ValueError(f"Input X contains {what}. Values must be finite; drop those rows or fill the values in.")
    if largest > np.sqrt(np.finfo(data.dtype).max) / 1e4:
        raise ValueError(f"values of X must not exceed 1e15 (float32) or 1e150; got {largest:g}. Scale the features down.")


def check_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Weights of rows: finite, not negative, one each; empty for none."""
    if sample_weight is None:
        return np.zeros(0)
    weights = np.asarray(sample_weight, np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must hold one number per row; got shape {weights.shape} for {n_rows} rows."
        )
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight must be finite; got NaN or infinity.")
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative; got {weights.min():g}. A weight of 0 leaves the model as it is."
        )
    return weights
