"""Moves of rows at their addresses: the same numbers as NumPy, to the last bit."""

import numpy as np
import pytest
from numba import njit

from hinged.loops.weight_rows import move_pair, move_rows
from hinged.native.instructions import WIDTHS


@njit
def moved(at, v, n, columns, g):
    move_rows(at, v, n, columns, g, at)


@njit
def pair_moved(at, v, n, columns, up, down, by, like):
    move_pair(at, v, n, columns, up, down, by, at, like)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", WIDTHS)
def test_rows_are_moved_one_by_one(columns, dtype):
    rng = np.random.default_rng(0)
    rows, order, v = rng.normal(size=(40, 64)).astype(dtype), rng.permutation(40), rng.normal(size=40).astype(dtype)
    at = rows.ctypes.data + order * rows.strides[0]
    g, after = np.arange(64).astype(dtype), rows.copy()
    for j, value in zip(order, v, strict=True):
        after[j, :columns] += value * g[:columns]
    moved(at, v, 40, columns, g)
    assert rows.tobytes() == after.tobytes()

    by = dtype(0.3)
    for j, value in zip(order, v, strict=True):
        after[j, 2] += value * by
        after[j, columns - 1] -= value * by
    pair_moved(at, v, 40, columns, 2, columns - 1, by, rows[0])
    assert rows.tobytes() == after.tobytes()
