"""Rows given as dicts of feature → value, with names that may appear at any time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import count
from numbers import Real
from threading import Lock
from typing import TypeGuard

import numpy as np

from hinged.compiling.arrays import Floats, Int32s, Ints
from hinged.estimators.inputs import WIDEST, check_finite
from hinged.loops.direct import Direct
from hinged.loops.rows import Rows, usual_square
from hinged.native.dicts import KEYS, READS_DICTS, UNUSUAL, VALUES, read_dict

__all__ = ["BEYOND", "FeatureNames", "as_batch", "as_dict_rows", "is_dicts", "one_dict_row"]

#: First column of unknown names in a row that is only predicted; no model has a weight there.
BEYOND = 1 << 30
#: Types of values that `one_dict_row` converts without a closer look.
NUMBERS = frozenset((float, int, bool, *(np.dtype(code).type for code in "?bBhHiIlLqQefd")))
PLAIN_NAMES = frozenset((str, int))
_read_quickly = Direct(read_dict)


def is_dicts(X: object) -> TypeGuard[Sequence[Mapping[Hashable, object]]]:
    """Whether X is a list of feature dicts."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def as_batch(X: object) -> object:
    """X, as a list where it can be read only once, or holds its dicts in an array or a column."""
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # some sparse matrices are dicts too
        raise TypeError("X must hold one row per answer; got a single dict. Put it in a list, or use learn_one.")
    if isinstance(X, Set):
        raise TypeError(f"the rows of X need an order; got a {type(X).__name__}, which has none. Use a list.")
    if isinstance(X, Iterator):
        return list(X)
    if isinstance(X, Iterable) and getattr(X, "ndim", 0) == 1:
        return list(X) if getattr(getattr(X, "dtype", None), "kind", "") == "O" else X
    return X


class FeatureNames:
    """The names met so far and their columns."""

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self.listed: list[Hashable] = list(names)
        self._lock = Lock()
        self._column: dict[Hashable, int] = {}
        self.are_plain = True  # whether names are strings and whole numbers alone

    def __reduce__(self) -> tuple[type[FeatureNames], tuple[list[Hashable]]]:
        return FeatureNames, (self.listed,)  # a lock cannot be copied

    @property
    def column(self) -> dict[Hashable, int]:
        """The column of each name."""
        if len(self._column) < len(self.listed):
            with self._lock:  # readers may come here together
                known, n = len(self._column), len(self.listed)
                new = self.listed[known:n]
                self.are_plain = self.are_plain and PLAIN_NAMES.issuperset(map(type, new))  # first: readers go by it
                self._column.update(zip(new, range(known, n), strict=True))
        return self._column

    def extend(self, names: Sequence[Hashable]) -> None:
        """Give new names their columns."""
        self.listed.extend(names)

    def __len__(self) -> int:
        return len(self.listed)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.listed)


def as_dict_rows(
    dicts: Sequence[Mapping[Hashable, object]],
    column: Mapping[Hashable, int] | None,
    dtype: np.dtype,
    grow: bool,
    first: int | None = None,
) -> tuple[Rows, list[Hashable]]:
    """Rows of dicts, and the names not met before in order of appearance.

    Parameters
    ----------
    dicts : sequence of dict
    column : column of each name, or None where names are column numbers
    dtype : of the values
    grow : whether unknown names get a column; without it they are left out
    first : the first such column; by default the next one
    """
    first = len(column or ()) if first is None else first
    indptr = np.zeros(len(dicts) + 1, np.int64)
    columns: list[int] = []
    values: list[float] = []
    new: dict[Hashable, int] = {}
    for i, x in enumerate(dicts):
        for name, value in _items(x):
            at = _number(name) if column is None else new.get(name, column.get(name, -1))
            if at < 0 and grow:
                at = new[name] = first + len(new)
            if at >= 0:
                columns.append(at)
                values.append(_float(value, name))
        indptr[i + 1] = len(columns)
    check_finite(np.array(values), dtype)
    data = np.array(values, dtype)
    return _sorted(Rows(indptr, np.array(columns, np.int32), data)), list(new)


def _items(x: object) -> Iterator[tuple[Hashable, Real | np.number | np.bool_]]:
    """Names and numbers of a row, in order."""
    if not isinstance(x, Mapping):
        raise TypeError(f"each row must be a dict of feature → value here; got a {type(x).__name__}.")
    for name, value in x.items():
        if not isinstance(value, Real | np.number | np.bool_):
            raise TypeError(
                f"feature values must be numbers; got {name!r}: {value!r}. For a category use a name such as "
                f"'{name}={value}' with the value 1."
            )
        yield name, value


def one_dict_row(
    x: dict[Hashable, object], names: FeatureNames, dtype: np.dtype, whole: bool, first: int | None = None
) -> tuple[Rows, list[Hashable]] | None:
    """Convert one dict of numbers quickly; return the row and its new names, or None if it needs a closer look.

    Unknown names are left out unless the row shall be `whole`. Then they come last, in their order; they get the next
    columns and are returned, or they get the columns from `first` on and are not returned.

    Examples
    --------
    >>> rows, new = one_dict_row({"a": 1, "new": 2.5, "b": 0.5}, FeatureNames("ba"), np.dtype(np.float64), whole=True)
    >>> rows.indices.tolist(), rows.data.tolist(), new
    ([0, 1, 2], [0.5, 1.0, 2.5], ['new'])
    """
    column, n = names.column, len(x)
    columns, values, new = np.empty(n, np.int32), np.empty(n), UNUSUAL
    if READS_DICTS and names.are_plain:
        begin = -1 if first is None else first
        new, squares = _read_quickly(None, id(x), id(column), begin, KEYS, VALUES, columns, values)
    if new == UNUSUAL:
        new, squares = _read(x, column, first, columns, values)
    if new == UNUSUAL or not squares < usual_square(dtype):  # NaN, infinity or a value that is too large
        return None
    order, known = columns.argsort(), n - new
    columns, data = columns[order], values[order].astype(dtype, copy=False)
    if new and not whole:
        return Rows(_ends(known), columns[:known], data[:known]), []
    if not new or first is not None:
        return Rows(_ends(n), columns, data), []
    listed = list(x)
    return Rows(_ends(n), columns, data), [listed[i] for i in order[known:].tolist()]


@lru_cache
def _ends(n: int) -> Ints:
    """Where the values of a row begin and end that has `n` of them and stands alone."""
    return np.array([0, n])


def _read(
    x: dict[Hashable, object], column: dict[Hashable, int], first: int | None, columns: Int32s, values: Floats
) -> tuple[int, float]:
    """What `hinged.native.dicts.read_dict` does, by NumPy, for keys of any type and NumPy's numbers too."""
    n_names = len(column)
    if not set(map(type, x.values())) <= NUMBERS:
        return UNUSUAL, 0.0
    try:
        values[:] = np.fromiter(x.values(), np.float64, len(x))
    except OverflowError:  # a whole number that is too large for a float
        return UNUSUAL, 0.0
    columns[:] = np.fromiter(map(column.get, x, count(n_names)), np.int32, len(x))
    unknown = columns >= n_names
    new = int(np.count_nonzero(unknown))
    begin = n_names if first is None else first
    columns[unknown] = np.arange(begin, begin + new)
    with np.errstate(over="ignore", invalid="ignore"):
        return new, float(values.dot(values))


def _float(value: Real | np.number | np.bool_, name: Hashable) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(
            f"values must not exceed 1e30; got a larger whole number for {name!r}. Scale it down."
        ) from None


def _number(name: Hashable) -> int:
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < WIDEST:
        return int(name)
    raise TypeError(
        f"this model was taught with matrices, so a dict's keys must be column numbers; got {name!r}. "
        "Teach it with dicts from the start to use names."
    )


def _sorted(rows: Rows) -> Rows:
    """Columns rising within each row."""
    row = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, row))
    return Rows(rows.indptr, rows.indices[order], rows.data[order])
