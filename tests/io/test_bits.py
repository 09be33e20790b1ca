"""Blocks of bytes as bits, beside plain Python."""

import string

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from hinged.io.bits import BLOCK, copied, count_bits, eight_bytes, equal_bytes, lowest_bit, wide_bytes, word_bytes

WORD = set((string.ascii_letters + string.digits + "_").encode())
BLOCKS = st.one_of(st.binary(min_size=BLOCK, max_size=BLOCK), st.just(bytes(range(BLOCK))), st.just(b"aZ_@[`{/:" * 8))


@njit(cache=True)
def _masks(address, byte):
    return equal_bytes(address, byte), wide_bytes(address), word_bytes(address), eight_bytes(address)


@njit(cache=True)
def _copy(address, to, lower):
    copied(address, to, lower)


@njit(cache=True)
def _lowest(bits):
    return lowest_bit(bits)


@njit(cache=True)
def _count(bits):
    return count_bits(bits)


@given(block=BLOCKS, byte=st.integers(0, 255))
def test_bits_say_which_bytes_are_what(block, byte):
    block = block[:BLOCK]
    array = np.frombuffer(block, np.uint8)
    equal, wide, word, number = _masks(array.ctypes.data, np.uint8(byte))
    for bits, holds in ((equal, {byte}), (wide, range(0x80, 0x100)), (word, WORD)):
        assert [int(bits) >> j & 1 for j in range(BLOCK)] == [b in holds for b in block]
    assert int(number) == int.from_bytes(block[:8], "little")


@given(block=BLOCKS)
def test_a_block_is_copied_as_it_is_or_with_small_letters(block):
    block = block[:BLOCK]
    array, out = np.frombuffer(block, np.uint8), np.zeros(BLOCK + 1, np.uint8)
    for lower, expected in ((True, block.lower()), (False, block)):
        _copy(array.ctypes.data, out.ctypes.data, lower)
        assert out.tobytes() == expected + b"\0"


def test_the_lowest_bit_is_found_anywhere():
    for j in range(64):
        assert _lowest(np.uint64(1 << j | 1 << 63)) == j


@given(bits=st.integers(0, 2**64 - 1))
def test_bits_are_counted(bits):
    assert _count(np.uint64(bits)) == bits.bit_count()
