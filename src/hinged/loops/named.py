"""One dict of name → number, read by compiled code: in a stream of dicts, Python's own look-ups cost most of the time.

Names are looked up in a table beside the model's dict of names: their hashes, the addresses of the strings and whole
numbers themselves, their columns. Python's own functions say what is next in a dict and whether two names are equal;
the lock of the interpreter is held throughout, and no code of the user's can run, because a row with anything but plain
names and plain numbers is left to others.
"""

from __future__ import annotations

import ctypes
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numba import config, njit, types  # type: ignore[attr-defined]
from numba.core.types import ExternalFunction

from hinged.loops.direct import Direct
from hinged.loops.pages import segment
from hinged.loops.rows import USUAL_SQUARE, USUAL_SQUARE_SINGLE

__all__ = ["NameTable", "can_read"]

KIND, VALUE = 8, 16  # where an object's type stands, and what a float holds
OBJECT, REST = 0, 1  # of a slot: where the name lies; the upper half of its hash, and its column
NAMES, FLOATS, INTEGERS = (str, int), (float, np.float64), (int, bool)
EQUAL = 2  # Py_EQ
MIX, LOWER = np.uint64(0x9E3779B97F4A7C15), 0xFFFFFFFF
CELLS = 3  # of memory that Python writes to: where it stands in a dict, a name, its value

_word, _int = types.intp, types.int32
_next_of: Any = ExternalFunction("PyDict_Next", _int(_word, _word, _word, _word))
_hash_of: Any = ExternalFunction("PyObject_Hash", _word(_word))
_is_equal: Any = ExternalFunction("PyObject_RichCompareBool", _int(_word, _word, _int))
_as_double: Any = ExternalFunction("PyLong_AsDouble", types.float64(_word))
_error: Any = ExternalFunction("PyErr_Occurred", _word())
_forget_error: Any = ExternalFunction("PyErr_Clear", types.void())


def can_read() -> bool:
    """Whether objects lie in memory as expected, and code is compiled."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return False
    samples = (*(number(1.5) for number in FLOATS), "name", 7)
    kinds = all(ctypes.c_int64.from_address(id(x) + KIND).value == id(type(x)) for x in samples)
    return kinds and all(ctypes.c_double.from_address(id(x) + VALUE).value == 1.5 for x in samples[: len(FLOATS)])


class NameTable:
    """The columns of names that are plain strings and whole numbers.

    Examples
    --------
    >>> names = ["b", 7, "a"]
    >>> table = NameTable()
    >>> table.enter(names)
    True
    >>> columns, values, unknown = table.read({"a": 1, "new": 2.5, "b": 0.5}, np.dtype(np.float32), whole=True)
    >>> columns.tolist(), values.tolist(), unknown
    ([0, 2, 3], [0.5, 1.0, 2.5], ['new'])
    """

    def __init__(self) -> None:
        self._kept: list[Hashable] = []  # the names whose addresses the slots hold
        self._slots = np.zeros((64, 2), np.int64)
        self._fixed = np.array([0] * CELLS + [id(kind) for kind in (*NAMES, *FLOATS, *INTEGERS)], np.int64)

    @property
    def n(self) -> int:
        """How many names there are."""
        return len(self._kept)

    def enter(self, names: Iterable[Hashable]) -> bool:
        """Give names the next columns; False, and nothing is entered, where one is of another kind."""
        size = len(self._slots)
        names = list(names)
        while 2 * (self.n + len(names)) > size:
            size *= 2
        if size > len(self._slots):
            wider = np.zeros((size, 2), np.int64)
            _move(self._slots, wider)
            self._slots = wider
        objects = np.fromiter(map(id, names), np.int64, len(names))
        if not _enter_direct(None, objects, self._fixed, self.n, self._slots):
            return False
        self._kept.extend(names)
        return True

    def read(
        self, x: dict, dtype: np.dtype, whole: bool, first: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, list[Hashable]] | None:
        """A row: columns, rising, and values, and new names. None: take a closer look.

        New names come last, in their order, if the row shall be `whole`. They get the next columns and are listed, or
        those from `first` on and are not.
        """
        n = len(x)
        columns, data, places = np.empty(n, np.int32), np.empty(n, dtype), np.empty(n, np.int64)
        new = self.n if first is None else first
        known = _read_direct(dtype.char, id(x), self._fixed, self._slots, new, columns, data, places)
        if known == n:
            return columns, data, []
        if known < 0:
            return None
        if not whole:
            return columns[:known], data[:known], []
        if first is not None:
            return columns, data, []
        listed = list(x)
        return columns, data, [listed[i] for i in places[known:].tolist()]


@njit(cache=True)
def _word_at(address: int, fixed: Any) -> Any:
    return segment(address, 1, fixed)[0]


@njit(cache=True, inline="always")
def _place(a_hash: int, slots: Any) -> Any:
    """Where to begin to look: whole numbers are their own hashes, so they are mixed."""
    mixed = np.uint64(a_hash) * MIX
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(slots.shape[0] - 1))


@njit(cache=True)
def _put(name: int, column: int, slots: Any) -> None:
    a_hash = _hash_of(name)
    at = _place(a_hash, slots)
    while slots[at, OBJECT] != 0:
        at = (at + 1) & (slots.shape[0] - 1)
    slots[at, OBJECT], slots[at, REST] = name, (a_hash & ~LOWER) | column


@njit(cache=True)
def _move(old: Any, new: Any) -> None:
    for i in range(old.shape[0]):
        if old[i, OBJECT] != 0:
            _put(old[i, OBJECT], old[i, REST] & LOWER, new)


@njit(cache=True)
def _enter(objects: Any, fixed: Any, first: int, slots: Any) -> bool:
    for i in range(objects.shape[0]):
        kind = _word_at(objects[i] + KIND, fixed)
        if kind != fixed[CELLS] and kind != fixed[CELLS + 1]:
            return False
    for i in range(objects.shape[0]):
        _put(objects[i], first + i, slots)
    return True


@njit(cache=True)
def _read(x: int, fixed: Any, slots: Any, first_new: int, columns: Any, data: Any, places: Any) -> int:
    """Read the dict at `x` into a row; how many names are known, or -1 where something is not plain.

    `places` says where in the dict each value stood.
    """
    n, known, unknown, square = places.shape[0], 0, 0, 0.0
    values, number = np.empty(n), np.empty(0)
    fixed[0] = 0
    cells = fixed.ctypes.data
    while known + unknown < n and _next_of(x, cells, cells + 8, cells + 16) != 0:
        i, name, value = known + unknown, fixed[1], fixed[2]
        kind = _word_at(name + KIND, fixed)
        if kind != fixed[CELLS] and kind != fixed[CELLS + 1]:
            return -1
        kind = _word_at(value + KIND, fixed)
        if kind == fixed[CELLS + 2] or kind == fixed[CELLS + 3]:
            v = segment(value + VALUE, 1, number)[0]
        elif kind == fixed[CELLS + 4] or kind == fixed[CELLS + 5]:
            v = _as_double(value)
            if v == -1.0 and _error() != 0:  # too large for a float
                _forget_error()
                return -1
        else:
            return -1
        values[i] = v
        square += v * v
        a_hash = _hash_of(name)
        at = _place(a_hash, slots)
        while slots[at, OBJECT] != 0 and not (
            slots[at, OBJECT] == name
            or ((slots[at, REST] ^ a_hash) & ~LOWER == 0 and _is_equal(slots[at, OBJECT], name, EQUAL) == 1)
        ):
            at = (at + 1) & (slots.shape[0] - 1)
        if slots[at, OBJECT] != 0:
            places[known] = ((slots[at, REST] & LOWER) << 32) + i
            known += 1
        else:
            unknown += 1
            places[n - unknown] = i
    if not square < (USUAL_SQUARE if data.itemsize == 8 else USUAL_SQUARE_SINGLE) or known + unknown < n:
        return -1
    places[:known].sort()
    for j in range(known):
        columns[j], places[j] = places[j] >> 32, places[j] & LOWER
    for j in range(unknown // 2):  # they were put down from the end
        places[known + j], places[n - 1 - j] = places[n - 1 - j], places[known + j]
    for j in range(unknown):
        columns[known + j] = first_new + j
    for j in range(n):
        data[j] = values[places[j]]
    return known


_enter_direct, _read_direct = Direct(_enter), Direct(_read)
