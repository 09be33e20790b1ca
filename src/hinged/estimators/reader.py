"""Reading rows for a model: matrices, data frames, dicts, columns of files; what is new is admitted in the end."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from hinged.compiling.arrays import Ints
from hinged.estimators.dicts import BEYOND, FeatureNames, as_batch, as_dict_rows, is_dicts, one_dict_row
from hinged.estimators.inputs import as_matrix, check_finite, dtype_of, from_matrix, is_sparse
from hinged.estimators.labels import Numbers
from hinged.estimators.parts import Reader
from hinged.estimators.protocol import RowModel
from hinged.io.examples.chunk import Chunk
from hinged.loops.base import ScaledModel
from hinged.loops.entropic import beyond
from hinged.loops.rows import Dense, Rows, SomeRows, part_of
from hinged.text.tables import table_rows

__all__ = ["Answers", "Batch", "Checked", "Reads", "ReadsRows", "RowReader", "SettledLike", "one_row_of"]

#: What a learner's `_answers` returns, one item for each row: a label, a list of labels, a number, or None.
Answers: TypeAlias = Sequence[Any] | np.ndarray


class Batch(NamedTuple):
    """Rows as the loops read them, and what the model would have to take in to learn them."""

    rows: Rows  # or what `kept_dense` made, where a learner takes it
    dtype: np.dtype
    width: int  # columns of a matrix; 0 for dicts
    names: list[Hashable] | None  # names not met before, for dicts
    given: object  # the matrix or frame itself

    @property
    def n(self) -> int:
        return len(self.rows.indptr) - 1


class SettledLike(Protocol):
    """Settings that were found sound: they make and change models of their own kind."""

    @property
    def certified(self) -> bool:
        """Return True if the rule has a dual certificate."""
        ...

    def check_range(self, dtype: DTypeLike) -> None:
        """Refuse numbers that are too large for weights of that type."""
        ...

    def new_model(self, who: Any, dtype: DTypeLike, /) -> Any:
        """An empty model for a learner with these settings."""
        ...

    def change(self, model: Any, /) -> None:
        """Let a model go on by these settings."""
        ...

    def _replace(self, *, certified: bool = ...) -> Self: ...


S_co = TypeVar("S_co", bound=SettledLike, covariant=True)


class Checked(NamedTuple, Generic[S_co]):
    """What a call brings, all of it found sound."""

    batch: Batch
    answers: Answers
    weights: np.ndarray  # of the rows; empty for none
    settled: S_co

    def part(self, some: slice) -> Checked[S_co]:
        """Some of the rows."""
        batch = self.batch._replace(rows=part_of(self.batch.rows, some))
        return self._replace(batch=batch, answers=self.answers[some], weights=self.weights[some])

    def known(self) -> Checked[S_co]:
        """The same once its names are known, to be learnt again."""
        return self._replace(batch=self.batch._replace(names=self.batch.names and []))

    def in_order(self, order: Ints) -> Checked[S_co]:
        """The rows in another order."""
        rows, answers, weights = _in_order(self.batch.rows, order), self.answers, self.weights
        answers = answers[order] if isinstance(answers, np.ndarray | Numbers) else [answers[i] for i in order]
        weights = weights[order] if len(weights) else weights
        return self._replace(batch=self.batch._replace(rows=rows), answers=answers, weights=weights)


class Reads(Protocol):
    """What a reader asks of the learner it reads for."""

    n_features: int | None

    @property
    def _model(self) -> RowModel | None: ...

    def _dense(self, X: np.ndarray, dtype: np.dtype) -> Rows: ...

    def _dtype(self, dtype: np.dtype) -> np.dtype: ...

    def _check_rows(self, batch: Batch) -> None: ...


class ReadsRows(Reader, Protocol):
    """A reader of rows: of dicts, matrices and frames, or of text."""

    @property
    def names(self) -> FeatureNames | None:
        """Where rows are dicts."""
        ...

    @property
    def frame(self) -> np.ndarray | None:
        """Names of the columns, where rows are data frames."""
        ...

    def one(self, x: object) -> object:
        """One row as a batch of one."""
        ...

    def read(self, who: Reads, X: object, grow: bool) -> Batch:
        """A batch of any kind of input, for a learner; where it may not `grow`, what is new has no weight."""
        ...

    def admit(self, who: Reads, batch: Batch) -> Self:
        """Make room in the model for the features of a batch; the reader that knows them."""
        ...

    def name_of(self, feature: int) -> Hashable:
        """What to call a feature; feature 0 is the bias."""
        ...


class RowReader(NamedTuple):
    """How rows are read, by the features met so far: names of dicts, or the columns of matrices and frames.

    Reading changes nothing; `admit` returns the reader that knows a batch's features too.
    """

    names: FeatureNames | None = None  # where rows are dicts
    width: int | None = None  # columns, where rows are matrices
    frame: np.ndarray | None = None  # the columns' names, where rows are data frames

    @staticmethod
    def one(x: object) -> object:
        """One row as a batch of one."""
        return _one_row(x)

    # ------------------------------------------------------------------ reading
    def read(self, who: Reads, X: object, grow: bool) -> Batch:
        """A batch of any kind of input, for a learner; where it may not `grow`, what is new has no weight."""
        model = who._model
        if type(X) is np.ndarray and model is not None and self.is_usual(model, X):
            return Batch(who._dense(X, model.dtype), model.dtype, X.shape[1], None, X)
        if isinstance(X, Chunk):
            return self._read_columns(who, X, grow) if X.columns is not None else self._read_table(who, X, grow)
        X = as_batch(X)
        if is_dicts(X):
            return self.read_dicts(who, X, grow)
        matrix = as_matrix(X, who)
        self._check_unnamed()
        framed = hasattr(X, "columns")
        self._check_width(who, X if framed else matrix, matrix.shape[1], grow)
        dtype = who._dtype(dtype_of(X if framed and not sparse.issparse(matrix) else matrix))
        rows = (
            from_matrix(matrix, dtype, not _counts_zeros(who)) if sparse.issparse(matrix) else who._dense(matrix, dtype)
        )
        return Batch(rows, dtype, matrix.shape[1], None, X if framed else matrix)

    def is_usual(self, model: RowModel | None, X: np.ndarray) -> bool:
        """Return True if an array needs no closer look: numbers, as wide as those before, columns without names."""
        return (
            model is not None
            and self.names is None
            and self.frame is None
            and X.dtype.kind == "f"
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.width
        )

    def _read_columns(self, who: Reads, chunk: Chunk, grow: bool) -> Batch:
        """Numbered columns of a file of examples; those that the model has never met have no weight."""
        assert chunk.columns is not None
        self._check_unnamed()
        indptr, indices, values = chunk.columns
        width = max(self.width or 0, int(indices.max(initial=-1)) + 1, 1)
        model = who._model
        if not grow and model is not None and model.fixed_space and width > model.n_features:
            raise ValueError(beyond(model.n_features, width))
        matrix = sparse.csr_array((values, indices, indptr), shape=(len(chunk), width))
        self._check_width(who, matrix, width, grow=True)
        dtype = who._dtype(dtype_of(matrix))
        return Batch(from_matrix(matrix, dtype, not _counts_zeros(who)), dtype, width, None, matrix)

    def _read_table(self, who: Reads, chunk: Chunk, grow: bool) -> Batch:
        """Numbers, words and named features of a file, as dicts of them would be read; numbers come first."""
        if self.names is None and self.width is not None:
            raise ValueError(f"this model was taught numbered columns; {chunk.source} has named ones.")
        known = {} if self.names is None else self.names.column
        first = _first_column(who._model, grow)
        rows, new = table_rows(chunk, known, len(known) if first is None else first)
        dtype = who._dtype(np.dtype(np.float64))
        check_finite(rows.data, dtype)
        given = chunk if self.names is None else None
        return Batch(rows._replace(data=rows.data.astype(dtype)), dtype, 0, new if grow else [], given)

    def read_dicts(self, who: Reads, X: Sequence[Mapping[Hashable, object]], grow: bool) -> Batch:
        """A batch of dicts of feature → value; a model of matrices takes column numbers as names."""
        names, model = self.names, who._model
        if names is not None and len(X) == 1 and type(X[0]) is dict and model is not None:
            quick = one_row_of(model, X[0], names, grow)
            if quick is not None:
                return Batch(quick[0], model.dtype, 0, quick[1], None)
        dtype = who._dtype(np.dtype(np.float64))
        if names is None and self.width is not None:
            return self._read_numbered(X, self.width, dtype, grow)
        whole = grow or model is None or not model.functions
        rows, new = as_dict_rows(X, {} if names is None else names.column, dtype, whole, _first_column(model, grow))
        return Batch(rows, dtype, 0, new, None)

    def _read_numbered(self, X: Sequence[Mapping[Hashable, object]], known: int, dtype: np.dtype, grow: bool) -> Batch:
        """Dicts whose names are column numbers, or the names of a data frame's columns."""
        column = None if self.frame is None else {name: i for i, name in enumerate(self.frame.tolist())}
        rows, _ = as_dict_rows(X, column, dtype, False)
        width = int(rows.indices.max(initial=-1)) + 1
        if width > known and not grow:
            raise ValueError(f"column {width - 1} is out of range; this model has {known} columns.")
        return Batch(rows, dtype, max(width, known), None, None)

    def _check_unnamed(self) -> None:
        if self.names is not None:
            raise ValueError(
                "this model was taught with dicts, and a matrix has no feature names; got a matrix. "
                "Give dicts of feature → value."
            )

    def _check_width(self, who: Reads, X: object, width: int, grow: bool) -> None:
        """Refuse rows that are too wide to be asked about, or narrower than any width that was declared or seen."""
        known, names = self.width, self.frame
        if known is None:
            return
        declared = 0 if who.n_features is None else who.n_features
        if declared < width < known or (width > known and not grow):
            raise ValueError(
                f"X has {width} features, but {type(who).__name__} is expecting {known} features as input."
            )
        if width == known and (names is None or len(names) == known):
            from sklearn.utils.validation import validate_data

            validate_data(who, X, reset=False, skip_check_array=True)
        elif names is not None and hasattr(X, "columns"):
            _check_names([str(name) for name in X.columns], names.tolist())

    # ------------------------------------------------------------------ what is known
    def admit(self, who: Reads, batch: Batch) -> RowReader:
        """Make room in the model for the features of a batch; the reader that knows them."""
        model = who._model
        assert model is not None
        if batch.names is not None:
            if batch.names:
                who._check_rows(batch)
            names = FeatureNames() if self.names is None else self.names
            if isinstance(batch.given, Chunk) and isinstance(model, ScaledModel):
                model.take_numbers(len(batch.given.numbers))
            model.widen(len(names.listed) + len(batch.names))  # first: readers go by the names
            if batch.names:
                names.extend(batch.names)
            return self if names is self.names else self._replace(names=names)
        width = max(self.width or 0, batch.width, who.n_features or 0)
        model.widen(width)  # first: readers go by the width
        frame = self._frame_after(batch)
        return self if width == self.width and frame is self.frame else RowReader(None, width, frame)

    def _frame_after(self, batch: Batch) -> np.ndarray | None:
        """The columns' names once a batch is known: those of the first rows, or of a wider data frame."""
        if self.width is None:
            return _names_of_columns(batch.given)
        if self.frame is not None and hasattr(batch.given, "columns") and batch.width > len(self.frame):
            return np.array([str(name) for name in batch.given.columns], object)
        return self.frame

    @property
    def n_known(self) -> int:
        """How many features were met."""
        return self.width or 0 if self.names is None else len(self.names)

    def name_of(self, feature: int) -> Hashable:
        """What to call a feature: its dict key, its data frame's column, else its number; feature 0 is the bias."""
        if feature == 0:
            return "bias"
        if self.names is not None:
            return self.names.listed[feature - 1]
        return feature - 1 if self.frame is None or feature > len(self.frame) else str(self.frame[feature - 1])

    def mark(self) -> Callable[[], RowReader]:
        """Remember this moment; the function returns the reader without the names that came after it."""
        names = self.names
        n = 0 if names is None else len(names)

        def back() -> RowReader:
            if names is None or len(names) <= n:
                return self
            return self._replace(names=FeatureNames(islice(names, n)))  # others may be reading the longer list

        return back


def _counts_zeros(who: Reads) -> bool:
    """Return True if a zero would be a value like any other; those that a sparse matrix stores are none."""
    return getattr(who, "scaling", None) not in (None, "idf")  # "auto" may come to that


def _check_names(frame: list[str], known: list[str]) -> None:
    """Refuse a data frame whose columns do not begin with the known ones."""
    both = min(len(frame), len(known))
    if frame[:both] != known[:both]:
        raise ValueError(
            "the feature names of a wider data frame must begin with those known so far, in their order; "
            f"got {frame[:both]}, expected {known[:both]}."
        )


def one_row_of(model: RowModel, x: dict, names: FeatureNames, grow: bool) -> tuple[Rows, list[Hashable]] | None:
    """A dict as a row of a model, and its new names; None where it needs a closer look."""
    return one_dict_row(x, names, model.dtype, grow or not model.functions, _first_column(model, grow))


def _in_order(rows: SomeRows, order: Ints) -> SomeRows:
    """The rows in another order."""
    if isinstance(rows, Dense):
        return Dense(rows.values[order])
    shape = (len(order), int(rows.indices.max(initial=0)) + 1)
    X = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=shape)[order]
    return Rows(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data)


def _first_column(model: RowModel | None, grow: bool) -> int | None:
    """The first column of names that are new; None for the next one.

    An unknown name has no weight, but it is part of the row's length; a writer may give out the next columns.
    """
    return None if grow or model is None or model.fixed_space else BEYOND


def _names_of_columns(X: object) -> np.ndarray | None:
    """The names of a data frame's columns by scikit-learn's rules; None where they have none."""
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import validate_data

    scratch = BaseEstimator()
    validate_data(scratch, X, reset=True, skip_check_array=True)
    return getattr(scratch, "feature_names_in_", None)


def _one_row(x: object) -> object:
    if isinstance(x, Chunk):
        return x
    if isinstance(x, Mapping) and not sparse.issparse(x):
        return (x,)
    if hasattr(x, "to_frame") and hasattr(x, "index"):  # a row of a pandas frame knows the names of its columns
        return x.to_frame().T
    if hasattr(x, "columns"):
        return _only_row(x, "a data frame")
    return _only_row(x, "a matrix") if is_sparse(x) else _only_row(np.asarray(x), "an array")


def _only_row(x: Any, kind: str) -> object:
    """A matrix of one row, or a row made into one."""
    row = x.reshape(1, -1) if len(x.shape) == 1 else x
    if len(row.shape) != 2 or row.shape[0] != 1:
        raise ValueError(f"one row is a dict, a 1-D array or a sparse row; got {kind} of shape {row.shape}.")
    return row
