"""From UTF-8 bytes to words and n-grams, compiled.

A text is first written out in lower case, its words separated by single spaces, with one in front and one behind:
" a cat sat ". Then every feature is a piece of that buffer: a word, a run of words ("cat sat"), or a run of characters
that may take in the space at either end of its word ("at "). Words of ASCII text are cut out 64 bytes at a time.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hinged.compiling import compiled
from hinged.compiling.arrays import Bytes, Int32s, Ints, Uint64s
from hinged.io.utf8 import decode, encode
from hinged.native import BLOCK, borrowed, copy_block, count_bits, lowest_bit, segment, wide_bytes, word_bytes

__all__ = [
    "AHEAD",
    "Alphabet",
    "Grams",
    "Words",
    "alphabet",
    "character_table",
    "continue_hash",
    "cut_ascii",
    "finish_hash",
    "hash_words",
    "spans_of_words",
    "write_places",
    "write_words",
]

SPACE = np.uint8(32)
FIRST_BEYOND = 0x20000  # ideographs follow: word characters without case, and not in the table
BREAK = -1
PRIME = np.uint64(0x100000001B3)
MIX_1, MIX_2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
HALF, ONE, TOP = np.uint64(33), np.uint64(1), np.uint64(63)
AHEAD = 16  # places of words written at a time, more are rare in a block: arrays have room for so many more
AT_ONCE = np.uint64(AHEAD)


class Grams(NamedTuple):
    """Shortest and longest runs: of words, and of characters (0, 0 for none)."""

    shortest_words: int
    longest_words: int
    shortest_chars: int
    longest_chars: int


class Alphabet(NamedTuple):
    """Which characters make words, and what is written for them."""

    plain: npt.NDArray[np.uint8]  # (256,): what to write for a byte that is a word character by itself; else 0
    lower: npt.NDArray[np.int32]  # the lower case of every code point below FIRST_BEYOND; BREAK where a word ends
    keep_case: bool


class Words(NamedTuple):
    """The words of a text: word w is out[begins[w] : ends[w]]."""

    out: npt.NDArray[np.uint8]  # the text in lower case
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


# ------------------------------------------------------------------ characters
@cache
def character_table() -> npt.NDArray[np.int32]:
    """Return the lower case of every code point below `FIRST_BEYOND`; `BREAK` for one that ends a word.

    Letters, digits, marks on letters and the underscore make words. A lower case of several characters (there is one,
    of "İ") is represented by its first.

    Examples
    --------
    >>> table = character_table()
    >>> chr(table[ord("Ä")]), int(table[ord("-")])
    ('ä', -1)
    """
    table = np.full(FIRST_BEYOND, BREAK, np.int32)
    for code in range(FIRST_BEYOND):
        character = chr(code)
        if character.isalnum() or character == "_" or (code > 0x2FF and unicodedata.category(character)[0] == "M"):
            table[code] = ord(character.lower()[0])
    return table


@cache
def alphabet(keep_case: bool) -> Alphabet:
    """Return the tables of characters.

    Examples
    --------
    >>> alphabet(False).plain[[*b"aA-"]].tolist(), alphabet(True).plain[[*b"aA-"]].tolist()
    ([97, 97, 0], [97, 65, 0])
    """
    small = character_table()[:128]
    plain = np.zeros(256, np.uint8)
    plain[:128] = np.where(small == BREAK, 0, np.arange(128) if keep_case else small)
    return Alphabet(plain, character_table(), keep_case)


# ------------------------------------------------------------------ hashes
@compiled(helper=True)
def continue_hash(state: np.uint64, address: int | np.int64, n: int | np.int64, like: Bytes) -> np.uint64:
    """Continue FNV-1a from a state over the bytes at an address."""
    piece = segment(address, n, like)
    for j in range(n):
        state = (state ^ np.uint64(piece[j])) * PRIME
    return state


@compiled(inline=True)
def finish_hash(state: np.uint64) -> np.uint64:
    """Spread a state over all 64 bits (the finaliser of MurmurHash3), so that the low ones can serve as a column."""
    state = (state ^ (state >> HALF)) * MIX_1
    state = (state ^ (state >> HALF)) * MIX_2
    return state ^ (state >> HALF)


@compiled
def hash_words(arena: Bytes, ends: Ints, starts: Uint64s, ways: Bytes, hashes: Uint64s) -> None:
    """Fill in the hash of each word p, arena[ends[p] : ends[p + 1]], from the state starts[ways[p]] on.

    Where there is no such start, the hash stays as it is.
    """
    for p in range(hashes.shape[0]):
        if ways[p] < starts.shape[0]:
            state = starts[ways[p]]
            for j in range(ends[p], ends[p + 1]):
                state = (state ^ np.uint64(arena[np.uint64(j)])) * PRIME
            hashes[p] = finish_hash(state)


# ------------------------------------------------------------------ words
@compiled(helper=True)
def write_words(address: int, n: int, alphabet: Alphabet, start: np.uint64, words: Words, states: Uint64s) -> np.int64:
    """Write the words of a text to `words` with single spaces around them; return how many there are.

    states[w] is the hash of word w from `start` on, not yet finished. `out` must hold 2 n + 4 bytes, the other arrays
    (n + 1) // 2 words.
    """
    plain, lower, keep_case = borrowed(alphabet.plain), borrowed(alphabet.lower), alphabet.keep_case
    out, begins, ends, states = borrowed(words.out), borrowed(words.begins), borrowed(words.ends), borrowed(states)
    text = segment(address, n, out)
    out[0] = SPACE
    # unsigned: for a signed index, Numba tests whether it counts from the end
    size, j, at, begin, count, state = np.uint64(n), np.uint64(0), ONE, ONE, np.uint64(0), start
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
            begins[count], ends[count], states[count] = begin, at, state
            state = start
            count += ONE
            out[at] = SPACE
            at += ONE
            begin = at
    if at > begin:
        begins[count], ends[count], states[count] = begin, at, state
        count += ONE
        out[at] = SPACE
    return np.int64(count)


@compiled(inline=True)
def write_places(
    bits: np.uint64, base: int | np.int64, places: Ints | Int32s, n: np.uint64, at_once: np.uint64
) -> np.uint64:
    """Write base + the place of each bit from n on; return where the next goes.

    `at_once` are written at a time, even if there are fewer: a loop of varying length would be mispredicted each time.
    """
    here, after = n, n + np.uint64(count_bits(bits))
    while True:
        for j in range(at_once):
            places[here + j] = base + lowest_bit(bits)
            bits &= bits - ONE
        here += at_once
        if here >= after:
            return after


@compiled(helper=True)
def cut_ascii(address: int, n: int, keep_case: bool, words: Words) -> int | np.int64:
    """Copy a text to `words`, find where its words begin and end, and count them; -1 if it is not ASCII."""
    # `out` has room for a block behind the text, zeros here, so that whole blocks and words can be read
    out, begins, ends = borrowed(words.out), borrowed(words.begins), borrowed(words.ends)
    here, tail = out.ctypes.data, n & (BLOCK - 1)
    rest = segment(address + n - tail, tail, out)
    for j in range(BLOCK):
        out[n - tail + j] = rest[j] if j < tail else 0
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


# ------------------------------------------------------------------ runs of words and characters
@compiled(helper=True)
def spans_of_words(grams: Grams, words: Words, count: int | np.int64, spans: Ints) -> tuple[int, int]:
    """Fill spans with (begin, end) of every run of two words and more, then of every run of characters.

    Returns how many spans there are after the words, and after the characters too.
    """
    begins, ends = borrowed(words.begins), borrowed(words.ends)
    n = 0
    for size in range(max(2, grams.shortest_words), grams.longest_words + 1):  # single words need no list
        for w in range(count - size + 1):
            spans[0, n], spans[1, n] = begins[w], ends[w + size - 1]
            n += 1
    after_words = n
    for size in range(max(1, grams.shortest_chars), grams.longest_chars + 1):
        for w in range(count):
            n = _runs_of_characters(words.out, begins[w] - 1, ends[w] + 1, size, spans, n)
    return after_words, n


@compiled(helper=True)
def _runs_of_characters(out: Bytes, begin: int, last: int, size: int, spans: Ints, n: int) -> int:
    """List the runs of `size` characters from `begin` to `last`, a word and the spaces around it; return how many."""
    end, held = begin, 0
    while True:
        while held < size and end < last:
            end += 1
            while end < last and out[end] & 0xC0 == 0x80:
                end += 1
            held += 1
        if held < size:
            return n
        spans[0, n], spans[1, n] = begin, end
        n += 1
        begin += 1
        while begin < end and out[begin] & 0xC0 == 0x80:
            begin += 1
        held -= 1
