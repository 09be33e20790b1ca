"""Reading rows for a model: what they hold, what would be new to it, and taking that in once all is well."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from hinged.estimators.dicts import BEYOND, FeatureNames, as_batch, as_dict_rows, is_dicts, one_dict_row
from hinged.estimators.holding import Holds
from hinged.estimators.inputs import as_matrix, dtype_of, from_matrix
from hinged.io.examples.chunk import Chunk
from hinged.loops.entropic import beyond
from hinged.loops.explain import Share
from hinged.loops.rows import Rows

__all__ = ["Batch", "ReadsRows", "one_row_of"]


class Batch(NamedTuple):
    """Rows as the loops read them, and what the model would have to take in to learn them."""

    rows: Any  # Rows, or Dense where a learner takes it
    dtype: np.dtype
    width: int  # columns of a matrix; 0 for dicts
    names: list[Hashable] | None  # names not met before, for dicts
    given: Any  # the matrix or frame itself

    @property
    def n(self) -> int:
        return len(self.rows.indptr) - 1


class ReadsRows(Holds):
    """How an estimator reads rows; parsing changes nothing, `_take_in` does."""

    n_features: int | None
    n_features_in_: int
    feature_names_in_: np.ndarray

    @staticmethod
    def _one_row(x: Any) -> Any:
        return _one_row(x)

    def _parse(self, X: Any, grow: bool) -> Batch:
        """A batch of any kind of input."""
        if type(X) is np.ndarray and self._is_usual(X):
            model = self._model
            return Batch(self._dense(X, model.dtype), model.dtype, X.shape[1], None, X)
        if isinstance(X, Chunk):
            return self._parse_columns(X, grow)
        X = as_batch(X)
        if is_dicts(X):
            return self._parse_dicts(X, grow)
        matrix = as_matrix(X, self)
        self._check_unnamed()
        framed = hasattr(X, "columns")
        self._check_width(X if framed else matrix, matrix.shape[1], grow)
        dtype = self._dtype(dtype_of(X if framed and not sparse.issparse(matrix) else matrix))
        rows = from_matrix(matrix, dtype) if sparse.issparse(matrix) else self._dense(matrix, dtype)
        return Batch(rows, dtype, matrix.shape[1], None, X if framed else matrix)

    def _parse_columns(self, chunk: Chunk, grow: bool) -> Batch:
        """Numbered columns of a file of examples; those that the model has never met have no weight."""
        if chunk.columns is None:
            raise ValueError(f"{type(self).__name__} reads numbered columns, and {chunk.source} has none.")
        self._check_unnamed()
        indptr, indices, values = chunk.columns
        width = max(getattr(self, "n_features_in_", 0), int(indices.max(initial=-1)) + 1, 1)
        model = self._model
        if not grow and model is not None and model.fixed_space and width > model.n_features:
            raise ValueError(beyond(model.n_features, width))
        matrix = sparse.csr_array((values, indices, indptr), shape=(len(chunk), width))
        self._check_width(matrix, width, grow=True)
        dtype = self._dtype(dtype_of(matrix))
        return Batch(from_matrix(matrix, dtype), dtype, width, None, matrix)

    def _check_unnamed(self) -> None:
        if self._names is not None:
            raise ValueError(
                "this model was taught with dicts, and a matrix has no feature names; got a matrix. "
                "Give dicts of feature → value."
            )

    @property
    def feature_names_(self) -> list[Hashable]:
        """Names of the features met so far, in order of appearance; exists where rows are dicts."""
        if self._names is None:
            raise AttributeError("feature_names_ exists once rows came as dicts; matrices have numbered columns.")
        return list(self._names)

    def _dense(self, X: np.ndarray, dtype: np.dtype) -> Any:
        """A dense matrix as this learner's loops read it."""
        return from_matrix(X, dtype)

    def _is_usual(self, X: np.ndarray) -> bool:
        """Whether an array needs no closer look: numbers, as wide as those before, from nobody who named columns."""
        return (
            self._model is not None
            and self._names is None
            and X.dtype.kind == "f"
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == getattr(self, "n_features_in_", -1)
            and not hasattr(self, "feature_names_in_")
        )

    def _check_rows(self, batch: Batch) -> None:
        """Refuse rows that this kind of learner cannot take."""

    def _check_width(self, X: Any, width: int, grow: bool) -> None:
        """Refuse rows that are too wide to be asked about, or narrower than any width that was declared or seen."""
        known = getattr(self, "n_features_in_", None)
        if known is None:
            return
        declared = 0 if self.n_features is None else self.n_features
        if declared < width < known or (width > known and not grow):
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting {known} features as input."
            )
        names = getattr(self, "feature_names_in_", None)
        if width == known and (names is None or len(names) == known):
            validate_data(self, X, reset=False, skip_check_array=True)
        elif names is not None and hasattr(X, "columns"):
            frame, both = [str(name) for name in X.columns], min(width, len(names))
            if frame[:both] != names[:both].tolist():
                raise ValueError(
                    "the feature names of a wider data frame must begin with those known so far, in their order; "
                    f"got {frame[:both]}, expected {names[:both].tolist()}."
                )

    def _parse_dicts(self, X: Any, grow: bool) -> Batch:
        names, model = self._names, self._model
        if names is not None and len(X) == 1 and type(X[0]) is dict and model is not None:
            quick = one_row_of(model, X[0], names, grow)
            if quick is not None:
                return Batch(quick[0], model.dtype, 0, quick[1], None)
        dtype = self._dtype(np.dtype(np.float64))
        if names is None and hasattr(self, "n_features_in_"):  # a model of matrices: keys are its columns
            frame = getattr(self, "feature_names_in_", None)
            column = None if frame is None else {name: i for i, name in enumerate(frame.tolist())}
            rows, _ = as_dict_rows(X, column, dtype, False)
            width = int(rows.indices.max(initial=-1)) + 1
            if width > self.n_features_in_ and not grow:
                raise ValueError(f"column {width - 1} is out of range; this model has {self.n_features_in_} columns.")
            return Batch(rows, dtype, max(width, self.n_features_in_), None, None)
        whole = grow or model is None or not model.functions
        rows, new = as_dict_rows(X, {} if names is None else names.column, dtype, whole, _first_column(model, grow))
        return Batch(rows, dtype, 0, new, None)

    def _take_in(self, batch: Batch) -> None:
        """Admit what is new in a batch: names, columns, and at first the meaning of columns."""
        if batch.names is not None:
            if batch.names:
                self._check_rows(batch)
            if self._names is None:
                self._names = FeatureNames()
            self._model.widen(len(self._names.listed) + len(batch.names))  # first: readers go by the names
            if batch.names:
                self._names.extend(batch.names)
            return
        width = max(getattr(self, "n_features_in_", 0), batch.width, self.n_features or 0)
        self._model.widen(width)  # first: readers go by n_features_in_
        if not hasattr(self, "n_features_in_"):
            validate_data(self, batch.given, reset=True, skip_check_array=True)
        elif hasattr(self, "feature_names_in_") and hasattr(batch.given, "columns"):
            if batch.width > len(self.feature_names_in_):
                self.feature_names_in_ = np.array([str(name) for name in batch.given.columns], object)
        self.n_features_in_ = width

    def _dtype(self, dtype: np.dtype) -> np.dtype:
        """The weights' type where there are weights, else the setting, else the input's."""
        if self._model is not None:
            return self._model.dtype
        return np.dtype(getattr(self, "dtype", None) or dtype)

    def _feature_name(self, feature: int) -> Hashable:
        """What to call a feature: its dict key, its data frame's column, else its number."""
        if feature == 0:
            return "bias"
        if self._names is not None:
            return self._names.listed[feature - 1]
        frame = getattr(self, "feature_names_in_", None)
        return feature - 1 if frame is None or feature > len(frame) else str(frame[feature - 1])

    def _largest(self, shares: Iterable[Share], top: int | None) -> list[tuple[Hashable, float]]:
        """Shares of a score by name, largest first, without those that are 0."""
        named = [
            (share.feature if share.named else self._feature_name(cast(int, share.feature)), share.value)
            for share in shares
            if share.value != 0.0
        ]
        return sorted(named, key=lambda item: -abs(item[1]))[:top]

    def _describe(self, f: np.ndarray, v: np.ndarray) -> dict[Hashable, float]:
        """A scaled row as a dict, for label features of the user's own."""
        return {self._feature_name(i): value for i, value in zip(f.tolist(), v.tolist(), strict=True)}


def one_row_of(model: Any, x: dict, names: FeatureNames, grow: bool) -> tuple[Rows, list[Hashable]] | None:
    """A dict as a row of a model, and its new names; None where it needs a closer look."""
    return one_dict_row(x, names, model.dtype, grow or not model.functions, _first_column(model, grow))


def _first_column(model: Any, grow: bool) -> int | None:
    """The first column of names that are new; None for the next one.

    A name nobody knows has no weight, but it is part of the row's length; a writer may give out the next columns.
    """
    return None if grow or model is None or model.fixed_space else BEYOND


def _one_row(x: Any) -> Any:
    """One row as a batch of one."""
    if isinstance(x, Chunk):
        return x
    if isinstance(x, Mapping) and not sparse.issparse(x):
        return (x,)
    if hasattr(x, "to_frame") and hasattr(x, "index"):  # a row of a pandas frame knows the names of its columns
        return x.to_frame().T
    if sparse.issparse(x):
        x = x.reshape(1, -1) if x.ndim == 1 else x
        if x.shape[0] != 1:
            raise ValueError(f"one row is a dict, a 1-D array or a sparse row; got a matrix of shape {x.shape}.")
        return x
    if hasattr(x, "columns"):
        if x.shape[0] != 1:
            raise ValueError(f"one row is a dict, a 1-D array or a sparse row; got a data frame of shape {x.shape}.")
        return x
    x = np.asarray(x)
    if x.ndim == 2 and x.shape[0] == 1:
        return x
    if x.ndim != 1:
        raise ValueError(f"one row is a dict, a 1-D array or a sparse row; got an array of shape {x.shape}.")
    return x.reshape(1, -1)
