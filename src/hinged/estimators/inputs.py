"""Rows from matrices and data frames, and weights of rows: checked once, at the edge."""

from __future__ import annotations

import math
from typing import TypeGuard, cast

import numpy as np
from scipy import sparse

from hinged.estimators.options import SampleWeight
from hinged.loops.rows import LARGEST_VALUE, Dense, Rows, usual_square

__all__ = [
    "as_matrix",
    "check_caps",
    "check_finite",
    "check_weights",
    "dense_rows",
    "dense_values",
    "dtype_of",
    "from_matrix",
    "is_sparse",
    "kept_dense",
]

WIDEST = 2**31 - 2
#: Settings, targets, and weights of rows times C: beyond these they leave the range of the weights' type when they meet
#: a row. A positive C, alone or times a weight, below the least one cannot be divided by.
LARGEST, LEAST = {"float64": 1e50, "float32": 1e10}, 1e-300


def is_sparse(X: object) -> TypeGuard[sparse.sparray]:
    """Return True for SciPy's sparse matrices and arrays."""
    return bool(sparse.issparse(X))


def dtype_of(X: object) -> np.dtype:
    """float32 where the input is float32 throughout, else float64."""
    dtype = getattr(X, "dtype", None)
    if dtype is None and hasattr(X, "columns"):
        import narwhals

        frame = narwhals.from_native(X, eager_only=True, pass_through=True)
        kinds = set(frame.schema.values()) if isinstance(frame, narwhals.DataFrame) else set()
        return np.dtype(np.float32 if kinds == {narwhals.Float32} else np.float64)
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


def as_matrix(X: object, who: object) -> np.ndarray | sparse.sparray:
    """A 2-D matrix of numbers with at least one row; values are checked later, in one compiled pass."""
    if hasattr(X, "collect"):
        raise TypeError(f"X must hold its rows; got a {type(X).__name__}, which has yet to make them. Call .collect().")
    if hasattr(X, "columns") and hasattr(X, "sparse"):  # a pandas frame whose columns are all sparse
        X = X.sparse.to_coo()
    if is_sparse(X):
        if X.ndim != 2:
            raise ValueError(f"Expected 2D input; got {X.ndim}D. Reshape your data to one row: X.reshape(1, -1).")
        if X.dtype.kind not in "biuf":
            raise ValueError(f"values of X must be real numbers; got dtype {X.dtype}. Complex data not supported.")
        matrix = X
    else:
        from sklearn.utils.validation import check_array

        kinds = [np.float64, np.float32]
        try:
            matrix = check_array(X, dtype=kinds, ensure_all_finite=False, ensure_min_samples=0, estimator=who)
        except TypeError as problem:
            raise TypeError(
                f"X must be a matrix, a data frame or a list of dicts, and hold numbers; got a {type(X).__name__} "
                f"({problem})."
            ) from problem
        except ValueError as problem:
            if "could not convert" not in str(problem):
                raise
            raise ValueError(
                f"X must hold numbers; {problem}. Make a column of 0 and 1 of each word or category "
                "(pandas.get_dummies, OneHotEncoder), or give documents to a TextClassifier."
            ) from problem
    if matrix.shape[0] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={tuple(matrix.shape)}) while a minimum of 1 is required by "
            f"{type(who).__name__}: a batch must hold at least one row."
        )
    return matrix


def from_matrix(X: np.ndarray | sparse.sparray, dtype: np.dtype, stored_zeros: bool = True) -> Rows:
    """Rows of a sparse or dense 2-D matrix, columns rising and unique; the input is never changed.

    The loops pass over zeros that a sparse matrix stores; where they would not, `stored_zeros` must be False.
    """
    if X.shape[1] > WIDEST:
        raise ValueError(f"at most {WIDEST} columns are possible; got {X.shape[1]}. Hash the features into fewer.")
    if not is_sparse(X):
        return dense_rows(X, dtype)
    if X.dtype.kind != "f":  # small integers would overflow where duplicates are summed
        X = X.astype(dtype)
    X = X.tocsr()
    _check_places(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if not stored_zeros and not X.data.all():
        X = X.copy()
        X.eliminate_zeros()
    check_finite(X.data, dtype)
    data = np.ascontiguousarray(X.data, dtype)
    return Rows(X.indptr.astype(np.int64, copy=False), np.ascontiguousarray(X.indices, np.int32), data)


def dense_rows(X: np.ndarray, dtype: np.dtype) -> Rows:
    """Rows of a dense matrix, zeros and all."""
    return Dense(dense_values(X, dtype)).rows()


def kept_dense(X: np.ndarray, dtype: np.dtype) -> Rows:
    """A dense matrix as it is, for models that read one: those of one vector, and those with a kernel.

    It is passed on as `Rows`, which all models read; only those that read `Dense` too are ever given one.
    """
    return cast(Rows, Dense(dense_values(X, dtype)))


def dense_values(X: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The values of a dense matrix, checked, in C order."""
    check_finite(X.reshape(-1), dtype)
    values = np.ascontiguousarray(X, dtype)
    return values if values.flags.writeable else values.copy()  # for a read-only one the loops would be compiled anew


def _check_places(X: sparse.csr_array) -> None:
    """Refuse a matrix whose own bookkeeping points outside of it."""
    indptr, indices = X.indptr, X.indices
    if indptr[0] != 0 or indptr[-1] > min(len(indices), len(X.data)) or (np.diff(indptr) < 0).any():
        raise ValueError("the row pointers of X do not fit its values; got a damaged matrix. Rebuild it.")
    unsigned = indices.view(f"u{indices.itemsize}")  # a negative index is a very large one
    if len(indices) and int(unsigned.max()) >= X.shape[1]:
        wrong = int(indices.min()) if int(indices.min()) < 0 else int(indices.max())
        raise ValueError(f"column indices must lie in 0 ... {X.shape[1] - 1}; got {wrong}. Rebuild the matrix.")


def check_finite(data: np.ndarray, dtype: np.dtype) -> None:
    """Refuse NaN, infinity, and values too large to be squared and summed in that type."""
    if not len(data):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if data.flags.c_contiguous and data.dtype.kind == "f" and float(data.dot(data)) < usual_square(dtype):
            return
    largest = max(float(data.max()), -float(data.min()))  # NaN comes through both
    if not largest < math.inf:
        where = int(np.flatnonzero(~np.isfinite(data))[0])
        what = "NaN" if np.isnan(data[where]) else "infinity"
        raise ValueError(f"Input X contains {what}. Values must be finite; drop those rows or fill the values in.")
    if largest > LARGEST_VALUE[dtype.name]:
        other = ", or use dtype='float64'" if dtype.name == "float32" else ""
        raise ValueError(
            f"values of X must not exceed {LARGEST_VALUE[dtype.name]:g} where weights are {dtype.name}; got "
            f"{largest:g}. Scale the features down{other}."
        )


def check_weights(sample_weight: SampleWeight, n_rows: int, dtype: np.dtype) -> np.ndarray:
    """Weights of rows: finite, not negative, one each; empty for none."""
    if sample_weight is None:
        return np.zeros(0)
    try:
        weights = np.array(sample_weight, np.float64)  # a copy: for a read-only array the loops would be compiled anew
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must hold numbers; got {sample_weight!r}.") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must hold one number per row; got shape {weights.shape} for {n_rows} rows.")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight must be finite; got NaN or infinity.")
    if (weights > LARGEST[dtype.name]).any():
        raise ValueError(
            f"sample_weight must not exceed {LARGEST[dtype.name]:g} where weights of features are {dtype.name}; "
            f"got {weights.max():g}. Scale the weights down, and C up."
        )
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative; got {weights.min():g}. A weight of 0 leaves the model as it is."
        )
    return weights


def check_caps(C: float, weights: np.ndarray, dtype: np.dtype) -> None:
    """Refuse weights of rows whose product with C, the longest step, leaves the range of steps."""
    most = LARGEST[dtype.name]
    given = weights[weights > 0.0]
    if len(given) and math.isfinite(C) and not (C * given.min() >= LEAST and C * given.max() <= most):
        wrong = given.max() if C * given.max() > most else given.min()
        raise ValueError(
            f"C times sample_weight must lie between {LEAST:g} and {most:g} where weights of features are "
            f"{dtype.name}; got C={C:g} and a weight of {wrong:g}. Scale the weights, or C; 0 leaves a row out."
        )
