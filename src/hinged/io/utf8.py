"""UTF-8, one character at a time and compiled."""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bytes

__all__ = ["decode", "encode"]


@compiled(inline=True)
def decode(text: Bytes, j: int | np.int64, n: int) -> tuple[int | np.int64, int]:
    """Return the code point of the character that begins at j, and its length; -1 for a byte that is not UTF-8."""
    b = np.int64(text[j])
    if b < 0x80:
        return b, 1
    if 0xC2 <= b < 0xE0 and j + 1 < n and text[j + 1] & 0xC0 == 0x80:
        return (b & 0x1F) << 6 | np.int64(text[j + 1]) & 0x3F, 2
    if 0xE0 <= b < 0xF0 and j + 2 < n and text[j + 1] & 0xC0 == 0x80 and text[j + 2] & 0xC0 == 0x80:
        code = (b & 0x0F) << 12 | (np.int64(text[j + 1]) & 0x3F) << 6 | np.int64(text[j + 2]) & 0x3F
        if code >= 0x800 and not 0xD800 <= code < 0xE000:
            return code, 3
    if 0xF0 <= b < 0xF5 and j + 3 < n:
        if text[j + 1] & 0xC0 == 0x80 and text[j + 2] & 0xC0 == 0x80 and text[j + 3] & 0xC0 == 0x80:
            code = (b & 0x07) << 18 | (np.int64(text[j + 1]) & 0x3F) << 12
            code |= (np.int64(text[j + 2]) & 0x3F) << 6 | np.int64(text[j + 3]) & 0x3F
            if 0x10000 <= code < 0x110000:
                return code, 4
    return -1, 1


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
