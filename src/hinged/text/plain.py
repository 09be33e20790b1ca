"""The quick way for the usual case: a vocabulary of single words, each counted once, of documents with one text.

Words of ASCII text are cut out 64 bytes at a time. A word of up to 11 bytes is itself the key of a small table that
remembers its column; only a word that is not there is hashed and looked up in the list. A document's columns are bits:
setting one twice is setting it once, and bits are read in rising order, so nothing is counted and nothing is sorted.

Rows of named features go the same way as long as every value is 1 and no name comes twice in a row.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.loops.rows import Rows
from hinged.native import BLOCK, borrowed, eight_bytes, equal_bytes, fetch, lowest_bit, segment
from hinged.text.characters import plain_table
from hinged.text.cutting import AHEAD, cut, write_places
from hinged.text.rows import BINARY, Documents, Space, hash_start, rows_of_named, tags_of_fields
from hinged.text.tokens import continue_hash, finish_hash, write_words
from hinged.text.words import WordList, WordStore, add_in, find_in, has_room_in

__all__ = ["is_plain", "rows_of_names", "rows_of_plain_words"]

LONGEST_KEY = 11  # bytes: 8 in the first half of an entry; 3 and the length in the second, beside the column
NOTHING, ONE, SIX = np.uint64(0), np.uint64(1), np.uint64(6)
HALF, TOP, THIRD_BYTE = np.uint64(32), np.uint64(63), np.uint64(24)
ANYWHERE = np.int64((1 << 63) - 1)
MIX_1, MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
LOW, AWAITED = np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFFFFFFFFFFFF)  # awaited: in the place of a column
FIRST = np.array([(1 << 8 * min(size, 8)) - 1 for size in range(LONGEST_KEY + 1)], np.uint64)
SECOND = np.array([(1 << 8 * max(size - 8, 0)) - 1 for size in range(LONGEST_KEY + 1)], np.uint64)
FEWEST, MOST = 1 << 10, 1 << 16  # entries of the small table
FEW = np.uint64(3)  # columns of a document among 64, mostly
LARGE = 1 << 20  # bytes of a text whose working memory is not kept
A_NEW_WORD = 1 << 8  # bytes of text in which one may be expected
MANY_NEW = 1 << 14  # more are not expected at once, unless as many are known
SMALL = 1 << 12  # words whose rows are not worth using memory again
UNKNOWN, NO_ROOM = -1, -2
ZERO: Any = np.uint8(0)


class Scratch(NamedTuple):
    """What a call works with, and leaves as it was: nothing but `seen` means anything to the next."""

    seen: np.ndarray  # uint64 (2 · a power of two,): a word's first 8 bytes; then its column + 1 above 4 more bytes
    bits: np.ndarray  # uint64: a bit for each column, all 0 between documents
    over: np.ndarray  # uint8 (whole blocks,): 1 for each number in `bits` that is not 0
    written: np.ndarray  # uint8: a text in lower case
    begins: np.ndarray  # int64: of its words
    ends: np.ndarray  # int64
    missed: np.ndarray  # int64: those that `seen` lacks
    hashes: np.ndarray  # uint64: of its unknown words, then as many of them as are distinct
    table: np.ndarray  # uint64 (a power of two,)


def is_plain(documents: Documents, space: Space) -> bool:
    """Whether this way can be gone."""
    return (
        len(documents.fields) == 1
        and tuple(space.grams) == (1, 1, 0, 0)
        and space.values == BINARY
        and not space.hashed
    )


@njit(cache=True, inline="always")
def _key(b: int, size: int) -> Any:
    """A short word as two numbers."""
    n = np.uint64(size)  # no index from the end, so no test for one
    return eight_bytes(b) & FIRST[n], eight_bytes(b + 8) & SECOND[n] | n << THIRD_BYTE


@njit(cache=True, inline="always")
def _slot(x: Any, y: Any, seen: Any) -> Any:
    """Where the small table would have it."""
    shift = np.uint64(65 - lowest_bit(np.uint64(seen.shape[0])))
    return ((x ^ (y * MIX_2)) * MIX_1 >> shift) << ONE


@njit(cache=True)
def _hash_missed(words: Any, state: Any, here: int, begins: Any, ends: Any, missed: Any, n: Any, hashes: Any) -> None:
    """Hash the words that the small table lacks, and ask for all memory that looking for them will read.

    Asked for together, it arrives together; else each word would wait three times, one word after the other.
    """
    table, places, arena = borrowed(words.table), borrowed(words.ends), borrowed(words.arena)
    mask = np.uint64(table.shape[0] - 1)
    for j in range(n):
        w = missed[j]
        hashes[j] = finish_hash(continue_hash(state, here + begins[w], ends[w] - begins[w], arena))
        fetch(table.ctypes.data + 8 * np.int64(hashes[j] & mask), 8)
    for j in range(n):
        fetch(places.ctypes.data + 8 * np.int64(table[hashes[j] & mask] & LOW), 8)
    for j in range(n):
        p = table[hashes[j] & mask] & LOW
        if p > 0:
            fetch(arena.ctypes.data + places[p - ONE], 8)


@njit(cache=True)
def _distinct(hashes: Any, n: int, table: Any) -> int:
    """How many different ones there are."""
    slots, found = 8, 0
    while slots < 2 * n:
        slots *= 2
    mask = np.uint64(slots - 1)
    table[:slots] = 0
    for j in range(n):
        h = max(hashes[j], ONE)  # 0 is an empty slot
        slot = h & mask
        while table[slot] != 0 and table[slot] != h:
            slot = (slot + ONE) & mask
        found += table[slot] == 0
        table[slot] = h
    return found


@njit(cache=True)
def _take_columns(bits: Any, over: Any, indices: Any, at: int) -> Any:
    """Write the columns whose bits are set, in rising order, and clear them; return where the row ends."""
    end, marks = np.uint64(at), over.ctypes.data
    for o in range(0, over.shape[0], BLOCK):
        rest = ~equal_bytes(marks + o, ZERO)
        if rest == 0:
            continue
        for j in range(BLOCK):
            over[np.uint64(o + j)] = 0
        while rest != 0:
            w = np.uint64(o + lowest_bit(rest))
            rest &= rest - ONE
            end = write_places(bits[w], np.int64(w << SIX), indices, end, FEW)
            bits[w] = 0
    return np.int64(end)


@njit(cache=True)
def _enter_words(
    words: Any, state: Any, a: Any, a_n: Any, here: int, begins: Any, ends: Any, n_words: Any, limit: Any, grow: bool,
    seen: Any, bits: Any, over: Any, missed: Any, hashes: Any,
) -> Any:  # fmt: skip
    """Set the bits of a document's columns, the hashes of its unknown words aside.

    Returns how many words are known by now, how many of these were not, and bytes that one had no room for, or 0.
    """
    # nothing may be read from `limit` on, so the words just before it have no keys; `hashes` holds slots for a while
    known, unknown, n_missed, lacking = words.used[0], 0, NOTHING, 0
    column: Any = np.int64(0)
    for w in range(np.uint64(n_words)):
        size = ends[w] - begins[w]
        if size <= LONGEST_KEY and here + begins[w] < limit:
            x, y = _key(here + begins[w], size)
            hashes[w] = _slot(x, y, seen)
            fetch(seen.ctypes.data + 8 * np.int64(hashes[w]), 8)
    for w in range(np.uint64(n_words)):
        size = ends[w] - begins[w]
        if size <= LONGEST_KEY and here + begins[w] < limit:
            x, y = _key(here + begins[w], size)
            slot = hashes[w]
            entry = seen[slot | ONE]
            if seen[slot] == x and entry & LOW == y:
                p = (entry >> HALF) - ONE
                if p < np.uint64(known):
                    bits[p >> SIX] |= ONE << (p & TOP)
                    over[p >> SIX] = 1
                    continue
                if entry | LOW == AWAITED:
                    continue
            seen[slot], seen[slot | ONE] = x, AWAITED ^ LOW | y
        missed[n_missed] = w
        n_missed += ONE
    _hash_missed(words, state, here, begins, ends, missed, n_missed, hashes)
    table, places, arena = borrowed(words.table), borrowed(words.ends), borrowed(words.arena)
    known_hashes, used = borrowed(words.hashes), borrowed(words.used)
    for j in range(n_missed):
        w = missed[j]
        b, size = here + begins[w], ends[w] - begins[w]
        if column != NO_ROOM:
            column = np.int64(find_in(table, known_hashes, places, arena, known, hashes[j], a, a_n, b, size, True))
            if column < 0 and grow and not has_room_in(known_hashes, arena, used, 1, a_n + 1 + size):
                column, lacking = NO_ROOM, a_n + 1 + size
            elif column < 0 and grow:
                column = np.int64(add_in(table, known_hashes, places, arena, used, hashes[j], a, a_n, b, size))
        if size <= LONGEST_KEY and b < limit:  # nothing is awaited when the next document comes
            x, y = _key(b, size)
            slot = _slot(x, y, seen)
            seen[slot], seen[slot | ONE] = x, np.uint64(max(column, UNKNOWN) + 1) << HALF | y
        if column == UNKNOWN:
            hashes[unknown] = hashes[j]
            unknown += 1
        elif column >= 0:
            known = max(known, column + 1)
            p = np.uint64(column)
            bits[p >> SIX] |= ONE << (p & TOP)
            over[p >> SIX] = 1
    return known, unknown, lacking


@njit(cache=True, inline="always")
def _borrowed_words(store: Any) -> Any:
    return WordStore(
        borrowed(store.table), borrowed(store.hashes), borrowed(store.ends), borrowed(store.arena), borrowed(store.used)
    )


@njit(cache=True, nogil=True)
def _read_plain(
    addresses: Any, lengths: Any, tag: Any, plain: Any, lower: Any, keep_case: bool, field_limit: int, store: Any,
    grow: bool, scratch: Any, indptr: Any, indices: Any, data: Any, cursor: Any,
) -> None:  # fmt: skip
    seen, bits, over = borrowed(scratch.seen), borrowed(scratch.bits), borrowed(scratch.over)
    written, begins, ends = borrowed(scratch.written), borrowed(scratch.begins), borrowed(scratch.ends)
    missed, hashes, table = borrowed(scratch.missed), borrowed(scratch.hashes), borrowed(scratch.table)
    state, a, a_n = tag[0], np.int64(tag[1]), np.int64(tag[2])
    words, here, limit = _borrowed_words(store), scratch.written.ctypes.data, np.int64(ANYWHERE)
    indices, data = borrowed(indices), borrowed(data)
    for i in range(cursor[0], addresses.shape[0]):
        address, length = addresses[i, 0], lengths[i, 0]
        n_words = cut(address, length, keep_case, written, begins, ends)
        if n_words < 0:
            n_words = write_words(address, length, plain, lower, keep_case, state, written, begins, ends, hashes)
        known, unknown, lacking = _enter_words(
            words, state, a, a_n, here, begins, ends, n_words, limit, grow, seen, bits, over, missed, hashes
        )
        end = _take_columns(bits, over, indices, indptr[i])
        if lacking > 0:  # what was added stays, and is found when the document comes again
            cursor[0], cursor[1] = i, lacking
            return
        distinct = _distinct(hashes, unknown, table) if unknown > 0 else 0
        for j in range(distinct):  # no weights, but part of the row's length: as the next new words would be
            indices[end + j] = known + j
        end += distinct
        value = 1.0
        if field_limit > 0:
            value = math.sqrt(field_limit / max(field_limit, end - indptr[i]))
        for j in range(indptr[i], end):
            data[j] = value
        indptr[i + 1] = end
    cursor[0] = addresses.shape[0]


@njit(cache=True, nogil=True)
def _read_names(
    base: int, limit: int, starts: Any, names: Any, state: Any, store: Any, grow: bool, scratch: Any, indptr: Any,
    indices: Any, data: Any, cursor: Any,
) -> None:  # fmt: skip
    seen, bits, over = borrowed(scratch.seen), borrowed(scratch.bits), borrowed(scratch.over)
    missed, hashes, table = borrowed(scratch.missed), borrowed(scratch.hashes), borrowed(scratch.table)
    words, indices, data = _borrowed_words(store), borrowed(indices), borrowed(data)
    no_tag, here, half = np.int64(0), names.ctypes.data, names.shape[1] * names.itemsize
    for i in range(cursor[0], starts.shape[0] - 1):
        first, n = here + starts[i] * names.itemsize, starts[i + 1] - starts[i]
        begins, ends = segment(first, n, starts), segment(first + half, n, starts)
        known, unknown, lacking = _enter_words(
            words, state, no_tag, no_tag, base, begins, ends, n, limit, grow, seen, bits, over, missed, hashes
        )
        end = _take_columns(bits, over, indices, indptr[i])
        distinct = _distinct(hashes, unknown, table) if unknown > 0 else 0
        if lacking > 0 or end - indptr[i] + distinct < n:  # a name came twice
            cursor[0], cursor[1] = i, lacking
            return
        for j in range(unknown):
            indices[end + j] = known + j
        indptr[i + 1] = end + unknown
        for j in range(indptr[i], end + unknown):
            data[j] = 1.0
    cursor[0] = starts.shape[0] - 1


def _scratch(had: Scratch | None, longest: int, words: int) -> Scratch:
    """Working memory for texts of so many bytes and a list with room for so many words; what is large enough stays."""
    entries = min(max(FEWEST, 1 << words.bit_length()), MOST)
    numbers, most = (words >> 6) + 1, (longest + 1) // 2 + 1
    if had and len(had.begins) >= most + AHEAD and len(had.bits) >= numbers and len(had.seen) >= 2 * entries:
        return had
    sizes = {
        "seen": (2 * entries, np.uint64),
        "bits": (numbers, np.uint64),
        "over": (-(-numbers // BLOCK) * BLOCK, np.uint8),
        "written": (4 * most + 2 * BLOCK, np.uint8),
        "begins": (most + AHEAD, np.int64),
        "ends": (most + AHEAD, np.int64),
        "missed": (most, np.int64),
        "hashes": (most, np.uint64),
        "table": (1 << max(3, (2 * most).bit_length()), np.uint64),
    }
    short = sizes if had is None else {name: size for name, size in sizes.items() if len(getattr(had, name)) < size[0]}
    new = {name: np.zeros(*size) for name, size in short.items()}
    return Scratch(**new) if had is None else had._replace(**new)


def rows_of_plain_words(documents: Documents, lower: np.ndarray, space: Space, words: WordList, grow: bool) -> Rows:
    """What `rows_of_documents` would return, sooner."""
    n, lengths = len(documents.addresses), documents.lengths
    tags, _held = tags_of_fields(documents.fields, space.seed)
    plain, longest = plain_table(space.keep_case), int(lengths.max(initial=0))
    most = int(((lengths + 1) // 2).sum())
    indptr, cursor = np.zeros(n + 1, np.int64), np.zeros(2, np.int64)
    array = words.memory.array if most > SMALL else np.empty
    indices, data = array(most + AHEAD, np.int32), array(most, np.float32)
    about, spare = (documents.fields[0], space.keep_case), words.spare
    scratch = spare.pop(about, None)  # nobody else has it now
    while cursor[0] < n:
        store = words.store
        scratch = _scratch(scratch, longest, len(store.hashes))
        _read_plain(
            documents.addresses, lengths, tags[0, 0], plain, lower, space.keep_case, space.field_limit, store, grow,
            scratch, indptr, indices, data, cursor,
        )  # fmt: skip
        if cursor[0] < n:
            new = min(int(lengths[cursor[0] :].sum()) // A_NEW_WORD, max(MANY_NEW, len(words)))
            words.make_room(1 + new, int(cursor[1]) + new * LONGEST_KEY)
    if scratch is not None:
        if longest > LARGE:
            scratch = scratch._replace(**dict.fromkeys(Scratch._fields[3:], indptr[:0]))
        spare[about] = scratch
        words.was_used()
    return Rows(indptr, indices[: indptr[-1]], data[: indptr[-1]])


def rows_of_names(named: Any, space: Space, words: WordList, grow: bool) -> Rows:
    """What `rows_of_named` would return; sooner where all features are words, so to speak: of value 1, without a space.

    The first row in which a name comes twice, and all after it, go the general way.
    """
    if space.hashed or (named.values != 1).any() or (named.spaces[0] != named.spaces[1]).any():
        return rows_of_named(named, space, words, grow)
    n, most, cursor = len(named.indptr) - 1, len(named.values), np.zeros(2, np.int64)
    array = words.memory.array if most > SMALL else np.empty
    indptr, indices, data = np.zeros(n + 1, np.int64), array(most + AHEAD, np.int32), array(most, np.float32)
    base, names, spare = named.buffer.ctypes.data, np.ascontiguousarray(named.names, np.int64), words.spare
    limit = base + len(named.buffer) - 2 * 8  # a key is read as two numbers of 8 bytes
    longest = 2 * int(np.diff(named.indptr).max(initial=0))
    scratch = spare.pop(None, None)  # nobody else has it now
    while cursor[0] < n:
        store = words.store
        scratch = _scratch(scratch, longest, len(store.hashes))
        _read_names(
            base, limit, named.indptr, names, hash_start(space.seed), store, grow, scratch, indptr, indices,
            data, cursor,
        )  # fmt: skip
        if cursor[0] < n and cursor[1] == 0:
            break
        if cursor[0] < n:
            words.make_room(1, int(cursor[1]))
    if scratch is not None:
        spare[None] = scratch
        words.was_used()
    done = int(cursor[0])
    rows = Rows(indptr[: done + 1], indices[: indptr[done]], data[: indptr[done]])
    if done == n:
        return rows
    rest = rows_of_named(named._replace(indptr=named.indptr[done:]), space, words, grow)
    return Rows(
        np.concatenate([rows.indptr, rest.indptr[1:] + rows.indptr[-1]]),
        np.concatenate([rows.indices, rest.indices]),
        np.concatenate([rows.data, rest.data]),
    )
