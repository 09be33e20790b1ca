"""ASCII text cut into words, 64 bytes at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hinged.native import BLOCK, borrowed, copy_block, count_bits, lowest_bit, segment, wide_bytes, word_bytes

__all__ = ["AHEAD", "cut", "write_places"]

AHEAD = 16  # places of words written at a time, more are rare in a block: there is room for so many more
ONE, TOP, AT_ONCE = np.uint64(1), np.uint64(63), np.uint64(AHEAD)


@njit(cache=True, inline="always")
def write_places(bits: Any, base: Any, places: Any, n: Any, at_once: Any) -> Any:
    """Write base + the place of each bit from n on; return where the next goes.

    So many are written at a time, whether there are so many or not: a loop that ends at another turn each time makes
    the processor guess wrong each time.
    """
    here, after = n, n + np.uint64(count_bits(bits))
    while True:
        for j in range(at_once):
            places[here + j] = base + lowest_bit(bits)
            bits &= bits - ONE
        here += at_once
        if here >= after:
            return after


@njit(cache=True)
def cut(address: int, n: int, keep_case: bool, out: Any, begins: Any, ends: Any) -> Any:
    """Copy a text to `out`, find where its words begin and end, and count them; -1 where it is not ASCII."""
    # `out` has room for a block behind the text, zeros here, so that whole blocks and words can be read
    here, tail = out.ctypes.data, n & (BLOCK - 1)
    rest = segment(address + n - tail, tail, out)
    for j in range(BLOCK):
        out[n - tail + j] = rest[j] if j < tail else 0
    out = borrowed(out)
    first, last, carry = np.uint64(0), np.uint64(0), np.uint64(0)
    for base in range(0, n, BLOCK):
        block = address + base if base + BLOCK <= n else here + base
        if wide_bytes(block) != 0:
            return -1
        copy_block(block, here + base, not keep_case)
        inside = word_bytes(block)
        before = inside << ONE | carry
        carry = inside >> TOP
        first = write_places(inside & ~before, base, begins, first, AT_ONCE)
        last = write_places(before & ~inside, base, ends, last, AT_ONCE)
    if carry != 0:
        ends[last] = n
    return np.int64(first)
