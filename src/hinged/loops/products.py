"""Hashed products of a row's values: see `hinged.mercer.Products`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints, Uint32s
from hinged.mercer.products import Products

__all__ = ["UNHASHED", "Hashing", "cross", "hashing_of", "room_to_cross", "values_of"]

LOW, ONE = np.uint64(0xFFFFFFFF), np.uint64(1)
FIRST, SECOND, APART = np.uint64(0x7FEB352D), np.uint64(0x846CA68B), np.uint64(0x9E3779B9)
SHORT, LONG, TOP = np.uint64(15), np.uint64(16), np.uint64(31)


class Hashing(NamedTuple):
    """Where values and products of a row go."""

    bits: int  # of the number of columns; 0 where rows are read as they are
    most: int  # values of a row for which there are products
    weight: float
    seed: int  # below 2^32


UNHASHED = Hashing(0, 0, 0.0, 0)


@compiled(helper=True)
def mixed(h: np.uint64) -> np.uint64:
    """Hash 32 bits to 32, one to one; products stay below 2^64.

    Examples
    --------
    >>> int(mixed(np.uint64(0))), int(mixed(np.uint64(1))), int(mixed(np.uint64(2)))
    (0, 1753845952, 3507691905)
    """
    h = ((h ^ (h >> LONG)) * FIRST) & LOW
    h = ((h ^ (h >> SHORT)) * SECOND) & LOW
    return h ^ (h >> LONG)


def hashing_of(products: Products) -> Hashing:
    """Return the same in numbers, for loops."""
    seed = int(products.random_state)
    low, high = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)
    return Hashing(int(products.bits), int(products.most), float(products.weight), int(mixed(mixed(low) ^ high)))


@compiled(helper=True)
def values_of(hashing: Hashing, n: int) -> int:
    """Most features that a row of `n` values has once it is read; some of the values may be 0."""
    paired = min(n, hashing.most)
    return max(n, paired + paired * (paired - 1) // 2)


@compiled(helper=True)
def room_to_cross(hashing: Hashing, longest: int) -> int:
    """Values that a row of at most `longest` takes up while it is read: its own, what they become twice, and digits."""
    return longest + 2 * values_of(hashing, longest) + (1 << (hashing.bits + 1) // 2)


@compiled(helper=True)
def cross(hashing: Hashing, f: Ints | Uint32s, v: Floats, n: int) -> int:
    """Replace a row's `n` features and values by the hashed ones, columns rising from 1; return how many they are."""
    kept, square = 0, 0.0
    for j in range(n):
        if v[j] != 0.0:
            f[kept], v[kept] = f[j], v[j]
            square += np.float64(v[j]) * np.float64(v[j])
            kept += 1
    factor = hashing.weight * math.sqrt(2.0) / math.sqrt(square) if square > 0.0 and kept <= hashing.most else 0.0
    at, mask, seed = n, (ONE << np.uint64(hashing.bits)) - ONE, np.uint64(hashing.seed)
    for i in range(kept):
        key, x = mixed(np.uint64(f[i]) ^ seed), np.float64(v[i])
        code = mixed(key)
        f[at] = 1 + np.int64(code & mask)
        v[at] = x if code >> TOP else -x
        at += 1
        if factor == 0.0:
            continue
        for j in range(i + 1, kept):
            code = mixed((key + np.uint64(f[j]) * APART) & LOW)
            value = factor * x * np.float64(v[j])
            f[at] = 1 + np.int64(code & mask)
            v[at] = value if code >> TOP else -value
            at += 1
    return _joined(hashing.bits, f, v, n, at)


@compiled(helper=True)
def _joined(bits: int, f: Ints | Uint32s, v: Floats, begin: int, end: int) -> int:
    """Sort the features from `begin` to `end` and put them first, those of one column as their sum."""
    half = (bits + 1) // 2
    digits = end + (end - begin)
    _by_digit(f, v, begin, end, end - begin, 0, half, digits)
    _by_digit(f, v, end, digits, begin - end, half, half, digits)
    n, j = 0, begin
    while j < end:
        column, total = f[j], np.float64(v[j])
        j += 1
        while j < end and f[j] == column:
            total += np.float64(v[j])
            j += 1
        f[n], v[n] = column, total
        n += 1
    return n


@compiled(helper=True)
def _by_digit(f: Ints | Uint32s, v: Floats, begin: int, end: int, by: int, shift: int, half: int, digits: int) -> None:
    """Move features from `begin` to `end` on `by` places, in the order of one digit of their columns.

    Those of one digit stay in their order. Counts of digits are kept in `f` from `digits` on.
    """
    size = 1 << half
    f[digits : digits + size] = 0
    for j in range(begin, end):
        f[digits + ((np.int64(f[j]) - 1 >> shift) & (size - 1))] += 1
    before = begin + by
    for digit in range(size):
        count = int(f[digits + digit])
        f[digits + digit] = before
        before += count
    for j in range(begin, end):
        place = digits + ((np.int64(f[j]) - 1 >> shift) & (size - 1))
        to = np.int64(f[place])
        f[place] += 1
        f[to], v[to] = f[j], v[j]
