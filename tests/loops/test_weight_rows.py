"""Moves of rows at their addresses: the same numbers as NumPy, to the last bit."""

import numpy as np
import pytest
from numba import njit

from hinged.loops.weight_rows import move_pair
from hinged.native.instructions import WIDTHS


@njit
def pair_moved(at, v, n, columns, up, down, by, like):
    move_pair(at, v, n, columns, up, down, by, at, like)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", WIDTHS)
def test_pairs_of_labels_are_moved_row_by_row(columns, dtype):
    rng = np.random.default_rng(0)
    rows, order, v = rng.normal(size=(40, 64)).astype(dtype), rng.permutation(40), rng.normal(size=40).astype(dtype)
    at = rows.ctypes.data + order * rows.strides[0]
    after, by = rows.copy(), dtype(0.3)
    for j, value in zip(order, v, strict=True):
        after[j, 2] += value * by
        after[j, columns - 1] -= value * by
    pair_moved(at, v, 40, columns, 2, columns - 1, by, rows[0])
    assert rows.tobytes() == after.tobytes()
