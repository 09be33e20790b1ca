"""Plain twins of `instructions`: the same bits by ordinary loops, compiled or not."""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints
from hinged.native.memory import segment

__all__ = [
    "add_rows",
    "best_of",
    "copy_block",
    "count_bits",
    "eight_bytes",
    "equal_bytes",
    "fetch",
    "lowest_bit",
    "sum_rows",
    "wide_bytes",
    "word_bytes",
]

BYTES = np.empty(0, np.uint8)
NOTHING, ONE = np.uint64(0), np.uint64(1)
IN_WORD = np.array([byte < 0x80 and (chr(byte).isalnum() or byte == ord("_")) for byte in range(256)])
LOWER = np.array([ord(chr(byte).lower()) if byte < 0x80 else byte for byte in range(256)], np.uint8)


@compiled(inline=True)
def sum_rows(at: Ints, v: Floats, n: int, columns: int, s: Floats) -> None:
    """Write s[c] = Σ_j v_j row_j[c], added up in the order of the rows; `at` holds the addresses of the rows."""
    for c in range(columns):
        s[c] = 0
    for j in range(n):
        row, value = segment(at[j], columns, s), v[j]
        for c in range(columns):
            s[c] += value * row[c]


@compiled(inline=True)
def add_rows(at: Ints, v: Floats, n: int, columns: int, g: Floats, ahead: Ints) -> None:
    """Add v_j g to each row; `at` holds their addresses, all different, and `ahead` as many that will be read next."""
    for j in range(n):
        row, value = segment(at[j], columns, g), v[j]
        for c in range(columns):
            row[c] += value * g[c]


@compiled(inline=True)
def best_of(s: Floats, columns: int, among: np.uint64) -> tuple[np.floating, int]:
    """Return the largest of the scores whose bit is set and where it stands first; -inf and 64 if there is none."""
    best, where = s.dtype.type(-np.inf), 64
    for r in range(columns):
        if (among >> np.uint64(r)) & ONE != NOTHING and (s[r] > best or (where == 64 and s[r] == best)):
            best, where = s[r], r
    return best, where


@compiled(inline=True)
def fetch(address: int, size: int) -> None:
    """Ask for up to 512 bytes of memory that will be read soon; any address will do."""


@compiled(inline=True)
def equal_bytes(address: int, byte: np.uint8) -> np.uint64:
    """Return a number whose bit j is set if byte j of the block is this one."""
    block, bits = segment(address, 64, BYTES), NOTHING
    for j in range(64):
        bits |= np.uint64(block[j] == byte) << np.uint64(j)
    return bits


@compiled(inline=True)
def wide_bytes(address: int) -> np.uint64:
    """Return a number whose bit j is set if byte j of the block is not ASCII."""
    block, bits = segment(address, 64, BYTES), NOTHING
    for j in range(64):
        bits |= np.uint64(block[j] >= 0x80) << np.uint64(j)
    return bits


@compiled(inline=True)
def word_bytes(address: int) -> np.uint64:
    """Return a number whose bit j is set if byte j of the block is an ASCII letter, a digit or the underscore."""
    block, bits = segment(address, 64, BYTES), NOTHING
    for j in range(64):
        bits |= np.uint64(IN_WORD[block[j]]) << np.uint64(j)
    return bits


@compiled(inline=True)
def copy_block(address: int, to: int, lower: bool) -> None:
    """Copy the block to another address, or the same; with `lower`, in ASCII lower case."""
    block, out = segment(address, 64, BYTES), segment(to, 64, BYTES)
    for j in range(64):
        out[j] = LOWER[block[j]] if lower else block[j]


@compiled(inline=True)
def count_bits(bits: np.uint64) -> int:
    """Return how many bits are set."""
    n = 0
    while bits != NOTHING:
        bits &= bits - ONE
        n += 1
    return n


@compiled(inline=True)
def lowest_bit(bits: np.uint64) -> int:
    """Return the place of the lowest bit that is set; 64 if none is."""
    return count_bits((bits ^ (bits - ONE)) >> ONE) if bits != NOTHING else 64


@compiled(inline=True)
def eight_bytes(address: int) -> np.uint64:
    """Return the 8 bytes at an address as one number, the first byte lowest."""
    piece, number = segment(address, 8, BYTES), NOTHING
    for j in range(8):
        number |= np.uint64(piece[j]) << np.uint64(8 * j)
    return number
