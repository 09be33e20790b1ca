"""Rows given as dicts of feature → value, with names that may appear at any time."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from itertools import repeat
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from hinged.estimators.inputs import WIDEST, check_finite
from hinged.loops.rows import Rows

__all__ = ["FeatureNames", "as_batch", "as_dict_rows", "is_dicts", "one_dict_row"]

LARGEST_SQUARE = 1e30  # anything larger is looked at closely


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


class LastRow(NamedTuple):
    """A dict that was read, what it held then, and its row; names unknown then are kept apart."""

    x: dict
    keys: list
    values: list
    n_known: int
    rows: Rows
    unknown: list[Hashable]
    unknown_data: np.ndarray


class FeatureNames:
    """The names met so far and their columns."""

    def __init__(self, names: Sequence[Hashable] = ()) -> None:
        self.listed: list[Hashable] = list(names)
        self.column: dict[Hashable, int] = {name: i for i, name in enumerate(self.listed)}
        self.last: LastRow | None = None

    def extend(self, names: Sequence[Hashable]) -> None:
        """Give new names their columns."""
        self.column.update(zip(names, range(len(self.listed), len(self.listed) + len(names)), strict=True))
        self.listed.extend(names)

    def cut(self, n: int) -> None:
        """Forget all but the first `n` names."""
        for name in self.listed[n:]:
            del self.column[name]
        del self.listed[n:]
        self.last = None


def as_dict_rows(
    dicts: Sequence[Any], column: Mapping[Hashable, int] | None, dtype: np.dtype, grow: bool
) -> tuple[Rows, list[Hashable]]:
    """Rows of dicts, and the names not met before in order of appearance.

    Parameters
    ----------
    dicts : sequence of dict
    column : column of each name, or None where names are column numbers
    dtype : of the values
    grow : whether unknown names get a column; without it they are left out
    """
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
            at = _number(name) if column is None else column.get(name, new.get(name, -1))
            if at < 0 and grow:
                at = new[name] = len(column or ()) + len(new)
            if at >= 0:
                columns.append(at)
                values.append(_float(value, name))
        indptr[i + 1] = len(columns)
    check_finite(np.array(values), dtype)
    data = np.array(values, dtype)
    return _sorted(Rows(indptr, np.array(columns, np.int32), data)), list(new)


def one_dict_row(x: dict, names: FeatureNames, dtype: np.dtype, grow: bool) -> tuple[Rows, list[Hashable]] | None:
    """One row of plain numbers, quickly, and the names not met before; None where it needs a closer look.

    A stream asks about a row and then teaches it, so the last dict is remembered; its content is compared, not trusted.
    """
    keys, values = list(x), list(x.values())
    last, n_known = names.last, len(names.listed)
    if (
        last is None
        or last.x is not x
        or last.n_known != n_known
        or last.keys != keys
        or last.values != values
        or last.rows.data.dtype != dtype
    ):
        try:
            data = np.array(values) if values else np.zeros(0)
        except ValueError:
            return None
        if data.dtype.kind not in "fiub" or data.ndim != 1:  # strings, large numbers, arrays
            return None
        data = data.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            if not float(data.dot(data)) < LARGEST_SQUARE:
                return None
        columns = np.fromiter(map(names.column.get, keys, repeat(-1)), np.int32, len(keys))
        order = columns.argsort(kind="stable")  # new names in the order they came
        columns, data = columns[order], data[order].astype(dtype, copy=False)
        missing = int(columns.searchsorted(0)) if keys and columns[0] < 0 else 0  # names not known come first, as -1
        rows = Rows(np.array([0, len(columns) - missing]), columns[missing:], data[missing:])
        unknown = [keys[i] for i in order[:missing].tolist()]
        last = names.last = LastRow(x, keys, values, n_known, rows, unknown, data[:missing])
    if not grow or not last.unknown:
        return last.rows, []
    # new names get the next columns, so they stand at the end of the row
    new = np.arange(n_known, n_known + len(last.unknown), dtype=np.int32)
    columns, data = np.concatenate((last.rows.indices, new)), np.concatenate((last.rows.data, last.unknown_data))
    return Rows(np.array([0, len(columns)]), columns, data), last.unknown


def _float(value: Any, name: Hashable) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"values must not exceed 1e150; got a larger whole number for {name!r}.") from None


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
