"""Columns kept in registers: the same numbers as plain loops, to the last bit."""

import numpy as np
import pytest
from numba import njit

from hinged.loops.registers import WIDTHS, four_squares, move_pair, move_rows, rival_of, sum_rows


@njit
def summed(at, v, n, columns, s):
    sum_rows(at, v, n, columns, s)


@njit
def moved(at, v, n, columns, g):
    move_rows(at, v, n, columns, g, at)


@njit
def pair_moved(at, v, n, columns, up, down, by, like):
    move_pair(at, v, n, columns, up, down, by, at, like)


@njit
def squares(v, n):
    return four_squares(v, n)


@njit
def rival(s, columns, k, y):
    return rival_of(s, columns, k, y)


def some_rows(dtype, seed=0):
    """Forty rows of 64 in one piece of memory, their addresses in some order, and a value for each."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, 64)).astype(dtype)
    order = rng.permutation(40)
    at = rows.ctypes.data + order * rows.strides[0]
    return rows, order, at, rng.normal(size=40).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", WIDTHS)
def test_rows_are_summed_in_their_order_and_moved_one_by_one(columns, dtype):
    rows, order, at, v = some_rows(dtype)
    s, expected = np.full(64, 7, dtype), np.zeros(columns, dtype)
    for j, value in zip(order, v, strict=True):
        expected += value * rows[j, :columns]
    summed(at, v, 40, columns, s)
    assert s[:columns].tobytes() == expected.tobytes()
    assert (s[columns:] == 7).all()

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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squares_are_summed_in_four_sums(dtype):
    v = np.random.default_rng(5).normal(size=30).astype(dtype)
    for n in range(len(v) + 1):
        sums = [0.0] * 4
        for j in range(n & ~3):
            sums[j % 4] += float(v[j]) * float(v[j])
        assert squares(v, n) == tuple(sums)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", WIDTHS)
def test_a_rival_is_the_first_of_the_best_that_are_not_right(columns, dtype):
    rng = np.random.default_rng(columns)
    for k in range(2, columns + 1):
        s = rng.integers(-3, 4, size=64).astype(dtype)  # many ties
        s[k:] = 9  # what lies beyond the labels does not count
        y = int(rng.integers(k))
        if k % 3 == 0:
            s[rng.integers(k)] = np.nan
        if k % 5 == 0:
            s[rng.integers(k)] = np.inf
        others = [r for r in range(k) if r != y and s[r] == s[r]]
        best = max((s[r] for r in others), default=-np.inf)
        value, where = rival(s, columns, k, y)
        assert value == best
        assert where == next((r for r in others if s[r] == best), 64)


def test_without_a_rival_there_is_none():
    s = np.full(64, np.nan)
    assert rival(s, 8, 5, 2) == (-np.inf, 64)
