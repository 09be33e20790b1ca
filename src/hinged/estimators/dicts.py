"""Rows given as dicts of feature → value, with names that may appear at any time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import repeat
from numbers import Real
from threading import Lock
from typing import Any

import numpy as np

from hinged.estimators.inputs import WIDEST, check_finite
from hinged.loops.named import NameTable, can_read
from hinged.loops.rows import Rows, usual_square

__all__ = ["BEYOND", "FeatureNames", "as_batch", "as_dict_rows", "is_dicts", "one_dict_row"]

COMPILED = can_read()
#: First column of names that a reader asks about and nobody has learnt: no store ever has it.
BEYOND = 1 << 30


def is_dicts(X: Any) -> bool:
    """Whether X is a list of feature dicts."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def as_batch(X: Any) -> Any:
    """X, as a list where it can be read only once, or holds its dicts in an array or a column."""
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # some sparse matrices are dicts too
        raise TypeError("X must hold one row per answer; got a single dict. Put it in a list, or use learn_one.")
    if isinstance(X, Set):
        raise TypeError(f"the rows of X need an order; got a {type(X).__name__}, which has none. Use a list.")
    if isinstance(X, Iterator):
        return list(X)
    return list(X) if getattr(X, "ndim", 0) == 1 and getattr(X.dtype, "kind", "") == "O" else X


class FeatureNames:
    """The names met so far and their columns."""

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self.listed: list[Hashable] = list(names)
        self._lock = Lock()
        self._column: dict[Hashable, int] = {}
        self._table, self._is_plain = NameTable(), COMPILED

    def __reduce__(self) -> tuple[Any, ...]:
        return FeatureNames, (self.listed,)  # the table knows names by where they lie

    @property
    def column(self) -> dict[Hashable, int]:
        """The column of each name."""
        if len(self._column) < len(self.listed):
            with self._lock:  # readers may come here together
                known, n = len(self._column), len(self.listed)
                self._column.update(zip(self.listed[known:n], range(known, n), strict=True))
        return self._column

    def table(self) -> NameTable | None:
        """The same for compiled code; None where it cannot read such names."""
        table = self._table
        if table.n < len(self.listed) and self._is_plain:
            with self._lock:  # readers may come here together
                self._is_plain = table.enter(self.listed[table.n :])
        return table if self._is_plain else None

    def extend(self, names: Sequence[Hashable]) -> None:
        """Give new names their columns."""
        self.listed.extend(names)

    def __len__(self) -> int:
        return len(self.listed)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.listed)


def as_dict_rows(
    dicts: Sequence[Any], column: Mapping[Hashable, int] | None, dtype: np.dtype, grow: bool, first: int | None = None
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
        if not isinstance(x, Mapping):
            raise TypeError(f"each row must be a dict of feature → value here; got a {type(x).__name__}.")
        for name, value in x.items():
            if not isinstance(value, Real | np.number | np.bool_):
                raise TypeError(
                    f"feature values must be numbers; got {name!r}: {value!r}. For a category use a name such as "
                    f"'{name}={value}' with the value 1."
                )
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


def one_dict_row(
    x: dict, names: FeatureNames, dtype: np.dtype, whole: bool, first: int | None = None
) -> tuple[Rows, list[Hashable]] | None:
    """One row of plain numbers, quickly, and the names not met before; None where it needs a closer look.

    Such names are left out unless the row shall be `whole`; they get the next columns, or those from `first` on, and
    need not be listed then.
    """
    table = names.table()
    found = None if table is None else table.read(x, dtype, whole, first)
    if found is None:
        found = _read(x, names.column, dtype, whole, first)
        if found is None:
            return None
    columns, data, new = found
    return Rows(np.array([0, len(columns)]), columns, data), new


def _read(
    x: dict, column: dict[Hashable, int], dtype: np.dtype, whole: bool, first: int | None = None
) -> tuple[np.ndarray, np.ndarray, list[Hashable]] | None:
    """The same as a table's `read`, for whatever names and numbers."""
    keys, values = list(x), list(x.values())
    try:
        data = np.array(values) if values else np.zeros(0)
    except ValueError:
        return None
    if data.dtype.kind not in "fiub" or data.ndim != 1:  # strings, large numbers, arrays
        return None
    data = data.astype(np.float64, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        if not float(data.dot(data)) < usual_square(dtype):
            return None
    columns = np.fromiter(map(column.get, keys, repeat(-1)), np.int32, len(keys))
    new = np.flatnonzero(columns < 0)
    columns[new] = np.arange(len(new)) + (len(column) if first is None else first)
    order = columns.argsort()[: len(keys) if whole else len(keys) - len(new)]
    return columns[order], data[order].astype(dtype, copy=False), [keys[i] for i in new.tolist()] if whole else []


def _float(value: Any, name: Hashable) -> float:
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
