"""Dicts of feature → number read by CPython's public C API, inside compiled code."""

from __future__ import annotations

import sysconfig
from typing import Any

import numpy as np
from numba import types as untyped

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints
from hinged.native import PLAIN

__all__ = ["READS_DICTS", "UNUSUAL", "read_dict"]

#: Whether `read_dict` can be used: compiled, by Pythons whose lock keeps others from changing a dict meanwhile.
READS_DICTS = not (PLAIN or sysconfig.get_config_var("Py_GIL_DISABLED"))
UNUSUAL = -1

types: Any = untyped
ADDRESS = types.intp
PLACE = types.CPointer(ADDRESS)
#: Public functions of CPython. Objects are passed by their addresses, which `id` returns; the references are borrowed.
next_item = types.ExternalFunction("PyDict_Next", types.intc(ADDRESS, PLACE, PLACE, PLACE))
size = types.ExternalFunction("PyDict_Size", types.intp(ADDRESS))
find = types.ExternalFunction("PyDict_GetItemWithError", ADDRESS(ADDRESS, ADDRESS))
as_float = types.ExternalFunction("PyFloat_AsDouble", types.float64(ADDRESS))
as_int = types.ExternalFunction("PyLong_AsLongLong", types.int64(ADDRESS))
type_of = types.ExternalFunction("PyObject_Type", ADDRESS(ADDRESS))
release = types.ExternalFunction("Py_DecRef", types.void(ADDRESS))
failed = types.ExternalFunction("PyErr_Occurred", ADDRESS())
forgive = types.ExternalFunction("PyErr_Clear", types.void())

#: Addresses of types: of keys, then of values; their hashes, comparisons and conversions run no code of a user's.
KEYS, VALUES = np.array([id(str), id(int)]), np.array([id(float), id(int), id(bool)])


@compiled(helper=True)
def _is_one_of(address: int, kinds: Ints) -> bool:
    """Return True if the object at an address is exactly of one of these types."""
    kind = type_of(address)
    release(kind)
    found = False
    for known in kinds:
        found = found or kind == known
    return found


@compiled(nogil=False)
def read_dict(
    x: int, column: int, first: int, keys: Ints, values: Ints, columns: Int32s, data: Floats
) -> tuple[int, float]:
    """Fill `columns` and `data` with the items of dict `x`, in their order.

    Parameters
    ----------
    x, column : addresses of two dicts
        Feature → number, and feature → column; all keys of `column` must be of `keys`, whose comparisons run no code of
        a user's.
    first
        The column of the first unknown feature, -1 for the one that comes next; the others follow in their order.
    keys, values
        `KEYS` and `VALUES`: types of keys and values.
    columns, data
        Arrays as long as `x`.

    Returns
    -------
    tuple of int and float
        How many keys are unknown, and the sum of the squares of the numbers. The first is `UNUSUAL` where a key or a
        value is of another type, a number is too large for a float, or `x` is not as long as the arrays.
    """
    at, n, new, squares = np.zeros(3, np.int64), 0, 0, 0.0  # at: search state, key, value
    if size(x) != data.shape[0]:  # another thread changed it before Python's lock was ours
        return UNUSUAL, squares
    if first < 0:
        first = size(column)
    while next_item(x, at.ctypes, at[1:].ctypes, at[2:].ctypes) != 0:
        if not (_is_one_of(at[1], keys) and _is_one_of(at[2], values)):
            return UNUSUAL, squares
        data[n] = as_float(at[2])
        if data[n] == -1.0 and failed() != 0:
            forgive()
            return UNUSUAL, squares
        squares += data[n] * data[n]
        place = find(column, at[1])
        if place == 0:
            columns[n] = first + new
            new += 1
        else:
            columns[n] = as_int(place)
        n += 1
    return new, squares
