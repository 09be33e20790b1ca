"""From UTF-8 bytes to words and n-grams, compiled.

A text is first written out in lower case, its words separated by single spaces, with one in front and one behind:
" a cat sat ". Then every feature is a piece of that buffer: a word, a run of words ("cat sat"), or a run of characters
that may take in the space at either end of its word ("at ").
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.io.utf8 import decode, encode
from hinged.native import segment
from hinged.text.characters import FIRST_BEYOND

__all__ = ["Grams", "continue_hash", "finish_hash", "spans_of_words", "write_words"]

SPACE = np.uint8(32)
PRIME = np.uint64(0x100000001B3)
MIX_1, MIX_2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
HALF, ONE = np.uint64(33), np.uint64(1)


class Grams(NamedTuple):
    """Shortest and longest runs: of words, and of characters (0, 0 for none)."""

    shortest_words: int
    longest_words: int
    shortest_chars: int
    longest_chars: int


@njit(cache=True)
def continue_hash(state: Any, address: int, n: int, like: Any) -> Any:
    """FNV-1a over the bytes at an address, from a state on."""
    piece = segment(address, n, like)
    for j in range(n):
        state = (state ^ np.uint64(piece[j])) * PRIME
    return state


@njit(cache=True, inline="always")
def finish_hash(state: Any) -> Any:
    """Spread a state over all 64 bits (the finaliser of MurmurHash3), so that the low ones serve as a column."""
    state = (state ^ (state >> HALF)) * MIX_1
    state = (state ^ (state >> HALF)) * MIX_2
    return state ^ (state >> HALF)


@njit(cache=True)
def write_words(
    address: int,
    n: int,
    plain: Any,
    lower: Any,
    keep_case: bool,
    start: Any,
    out: Any,
    begins: Any,
    ends: Any,
    states: Any,
) -> Any:
    """Write the words of a text to `out` with single spaces around them; return how many there are.

    Word w is out[begins[w] : ends[w]], and states[w] its hash from `start` on, not yet finished. `out` must hold
    2 n + 4 bytes, the others (n + 1) // 2 words.
    """
    text = segment(address, n, out)
    out[0] = SPACE
    # unsigned: no index from the end, so no test for one
    size, j, at, begin, words, state = np.uint64(n), np.uint64(0), ONE, ONE, np.uint64(0), start
    while j < size:
        b = plain[text[j]]
        if b != 0:  # most text is this, most of the time
            out[at] = b
            at += ONE
            state = (state ^ np.uint64(b)) * PRIME
            j += ONE
            continue
        length = 1
        if text[j] >= 0x80:
            code, length = decode(text, np.int64(j), n)
            small = np.int32(-1 if code < 0 else lower[code] if code < FIRST_BEYOND else code)
            if small >= 0:
                after = np.uint64(encode(code if keep_case else np.int64(small), out, np.int64(at)))
                while at < after:
                    state = (state ^ np.uint64(out[at])) * PRIME
                    at += ONE
                j += np.uint64(length)
                continue
        j += np.uint64(length)
        if at > begin:
            begins[words], ends[words], states[words] = begin, at, state
            state = start
            words += ONE
            out[at] = SPACE
            at += ONE
            begin = at
    if at > begin:
        begins[words], ends[words], states[words] = begin, at, state
        words += ONE
        out[at] = SPACE
    return np.int64(words)


@njit(cache=True)
def spans_of_words(grams: Any, out: Any, begins: Any, ends: Any, words: int, spans: Any) -> tuple[int, int]:
    """Fill spans with (begin, end) of every run of two words and more, then of every run of characters.

    Returns how many spans there are after the words, and after the characters too.
    """
    n = 0
    for size in range(max(2, grams.shortest_words), grams.longest_words + 1):  # single words need no list
        for w in range(words - size + 1):
            spans[0, n], spans[1, n] = begins[w], ends[w + size - 1]
            n += 1
    after_words = n
    for size in range(grams.shortest_chars, grams.longest_chars + 1):
        if size > 0:
            for w in range(words):
                last = ends[w] + 1  # the space behind the word belongs to it
                begin, end, held = begins[w] - 1, begins[w] - 1, 0
                while True:
                    while held < size and end < last:
                        end += 1
                        while end < last and out[end] & 0xC0 == 0x80:
                            end += 1
                        held += 1
                    if held < size:
                        break
                    spans[0, n], spans[1, n] = begin, end
                    n += 1
                    begin += 1
                    while begin < end and out[begin] & 0xC0 == 0x80:
                        begin += 1
                    held -= 1
    return after_words, n
