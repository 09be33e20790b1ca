"""UTF-8, one character at a time and compiled."""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bytes

__all__ = ["decode", "encode"]

LEAST = (0, 0, 0x80, 0x800, 0x10000)  # the first code point that needs so many bytes


@compiled(inline=True)
def decode(text: Bytes, j: int | np.int64, n: int) -> tuple[int | np.int64, int]:
    """Return the code point of the character that begins at j, and its length; -1 for a byte that is not UTF-8."""
    lead = np.int64(text[j])
    if lead < 0x80:
        return lead, 1
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if lead < 0xC0 or lead >= 0xF8 or j + length > n:
        return -1, 1
    code = lead & (0x7F >> length)
    for i in range(j + 1, j + length):
        if text[i] & 0xC0 != 0x80:
            return -1, 1
        code = code << 6 | np.int64(text[i]) & 0x3F
    if code < LEAST[length] or 0xD800 <= code < 0xE000 or code >= 0x110000:
        return -1, 1
    return code, length


@compiled(inline=True)
def encode(code: int | np.int64, out: Bytes, at: int | np.int64) -> int | np.int64:
    """Write a code point as UTF-8; return where the next one goes."""
    if code < 0x80:
        out[at] = code
        return at + 1
    if code < 0x800:
        out[at], out[at + 1] = 0xC0 | code >> 6, 0x80 | code & 0x3F
        return at + 2
    if code < 0x10000:
        out[at], out[at + 1], out[at + 2] = 0xE0 | code >> 12, 0x80 | code >> 6 & 0x3F, 0x80 | code & 0x3F
        return at + 3
    out[at], out[at + 1] = 0xF0 | code >> 18, 0x80 | code >> 12 & 0x3F
    out[at + 2], out[at + 3] = 0x80 | code >> 6 & 0x3F, 0x80 | code & 0x3F
    return at + 4
