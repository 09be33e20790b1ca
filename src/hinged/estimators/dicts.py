"""Rows given as dicts of feature → value, with names that may appear at any time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from hinged.estimators.inputs import WIDEST, check_finite
from hinged.loops.rows import Rows

__all__ = ["FeatureNames", "as_dict_rows", "is_dicts"]

LARGEST_SQUARE = 1e30  # anything larger is looked at closely


def is_dicts(X: Any) -> bool:
    """Whether X is a list of feature dicts."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


class FeatureNames:
    """The names met so far and their columns."""

    def __init__(self, names: Sequence[Hashable] = ()) -> None:
        self.listed: list[Hashable] = list(names)
        self.column: dict[Hashable, int] = {name: i for i, name in enumerate(self.listed)}

    def extend(self, names: Sequence[Hashable]) -> None:
        """Give new names their columns."""
        for name in names:
            self.column[name] = len(self.listed)
            self.listed.append(name)


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
    if len(dicts) == 1 and column is not None and isinstance(dicts[0], dict):
        found = _all_known(dicts[0], column, dtype)
        if found is not None:
            return found, []
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
                values.append(float(value))
        indptr[i + 1] = len(columns)
    data = np.array(values, dtype)
    check_finite(data)
    return _sorted(Rows(indptr, np.array(columns, np.int32), data)), list(new)


def _all_known(x: dict, column: Mapping[Hashable, int], dtype: np.dtype) -> Rows | None:
    """One row whose names are all known and whose values are plain numbers, quickly; None for any other."""
    n = len(x)
    try:
        columns = np.fromiter(map(column.__getitem__, x), np.int32, n)
        sum(x.values())  # numbers add up; strings, which fromiter would parse, do not
        data = np.fromiter(x.values(), dtype, n)
    except (KeyError, TypeError, ValueError):
        return None
    if not float(data @ data) < LARGEST_SQUARE:
        return None
    order = columns.argsort()
    return Rows(np.array([0, n]), columns[order], data[order])


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
