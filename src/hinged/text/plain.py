"""The fast path for the common case: a vocabulary of single words, each counted once, of documents with one text.

Words of ASCII text are cut out 64 bytes at a time. A word of up to 11 bytes is itself the key of a small table that
remembers its column; only a word that is not there is hashed and looked up in the list. A document's columns are bits:
setting one twice is setting it once, and bits are read in rising order, so nothing is counted and nothing is sorted.

Rows of named features take the same path as long as every value is 1 and no name comes twice in a row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

import hinged.text.tokens as tokens
from hinged.compiling import compiled
from hinged.compiling.arrays import Bytes, Int32s, Ints, Uint64s
from hinged.io.examples.chunk import Named
from hinged.loops.rows import Rows
from hinged.native import BLOCK, borrowed, eight_bytes, equal_bytes, fetch, lowest_bit, segment
from hinged.text.rows import BINARY, Documents, Fields, Space, fields_of, hash_start, rows_of_named
from hinged.text.tokens import AHEAD, Words, alphabet, continue_hash, cut_ascii, finish_hash, write_places, write_words
from hinged.text.words import Text, WordList, WordStore, add_word, find_word, has_room

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
    """Working memory of a call; only `seen` holds anything for the next one."""

    seen: Uint64s  # (2 · a power of two,): a word's first 8 bytes; its column + 1 above 4 more bytes
    bits: Uint64s  # a bit for each column, all 0 between documents
    over: Bytes  # (whole blocks,): 1 for each number in `bits` that is not 0
    written: Bytes  # a text in lower case
    begins: Ints  # of its words
    ends: Ints
    missed: Ints  # those that `seen` lacks
    hashes: Uint64s  # of its unknown words, then as many of them as are distinct
    table: Uint64s  # (a power of two,)


class Tag(NamedTuple):
    """What is in front of every word of a field: the state of the hash after it, and where its text is."""

    state: np.uint64
    address: int | np.int64
    length: int | np.int64


class Cut(NamedTuple):
    """The words of a document: word w is at base + begins[w], up to base + ends[w]."""

    base: int  # address
    begins: Ints
    ends: Ints
    size: int | np.int64
    limit: int | np.int64  # address from which on nothing may be read: words just before it have no keys


Read = Callable[[Scratch, WordStore, Rows, Ints], int]


def is_plain(documents: Documents, space: Space) -> bool:
    """Return True if the fast path applies."""
    single = len(documents.fields) == 1 and tuple(space.grams) == (1, 1, 0, 0)
    return single and space.values == BINARY and not space.hashed


@compiled(inline=True)
def _key(b: int, size: int) -> tuple[np.uint64, np.uint64]:
    """Return a short word as two numbers."""
    n = np.uint64(size)  # unsigned, as in tokens.py
    return eight_bytes(b) & FIRST[n], eight_bytes(b + 8) & SECOND[n] | n << THIRD_BYTE


@compiled(inline=True)
def _slot(x: np.uint64, y: np.uint64, seen: Uint64s) -> np.uint64:
    """Return its place in the small table."""
    shift = np.uint64(65 - lowest_bit(np.uint64(seen.shape[0])))
    return ((x ^ (y * MIX_2)) * MIX_1 >> shift) << ONE


@compiled(helper=True)
def _hash_missed(words: WordStore, state: np.uint64, cut: Cut, missed: Ints, n: np.uint64, hashes: Uint64s) -> None:
    """Hash the words that the small table lacks, and prefetch all memory that looking for them will read.

    Requested together, it arrives together; else each word would wait three times, one word after the other.
    """
    table, places, arena = borrowed(words.table), borrowed(words.ends), borrowed(words.arena)
    begins, ends, base = borrowed(cut.begins), borrowed(cut.ends), cut.base
    mask = np.uint64(table.shape[0] - 1)
    for j in range(n):
        w = missed[j]
        hashes[j] = finish_hash(continue_hash(state, base + begins[w], ends[w] - begins[w], arena))
        fetch(table.ctypes.data + 8 * np.int64(hashes[j] & mask), 8)
    for j in range(n):
        fetch(places.ctypes.data + 8 * np.int64(table[hashes[j] & mask] & LOW), 8)
    for j in range(n):
        p = table[hashes[j] & mask] & LOW
        if p > 0:
            fetch(arena.ctypes.data + places[p - ONE], 8)


@compiled(helper=True)
def _distinct(hashes: Uint64s, n: int, table: Uint64s) -> int:
    """Return how many different ones there are."""
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


@compiled(helper=True)
def _take_columns(bits: Uint64s, over: Bytes, indices: Int32s, at: int) -> np.int64:
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


@compiled(helper=True)
def _look_up_short_words(cut: Cut, known: int, scratch: Scratch) -> np.uint64:
    """Set the bits of words that the small table has, reserve places for the others in it; return how many it lacks."""
    seen, bits, over = borrowed(scratch.seen), borrowed(scratch.bits), borrowed(scratch.over)
    missed, slots = borrowed(scratch.missed), borrowed(scratch.hashes)  # hashes come later
    begins, ends, base, limit, n_missed = borrowed(cut.begins), borrowed(cut.ends), cut.base, cut.limit, NOTHING
    for w in range(np.uint64(cut.size)):
        size = ends[w] - begins[w]
        if size <= LONGEST_KEY and base + begins[w] < limit:
            x, y = _key(base + begins[w], size)
            slots[w] = _slot(x, y, seen)
            fetch(seen.ctypes.data + 8 * np.int64(slots[w]), 8)
    for w in range(np.uint64(cut.size)):
        size = ends[w] - begins[w]
        if size <= LONGEST_KEY and base + begins[w] < limit:
            x, y = _key(base + begins[w], size)
            slot = slots[w]
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
    return n_missed


@compiled(helper=True)
def _enter_words(store: WordStore, tag: Tag, cut: Cut, grow: bool, scratch: Scratch) -> tuple[int, int, int]:
    """Set the bits of a document's columns, and put the hashes of its unknown words aside.

    Returns how many words are known by now, how many of these were not, and bytes that one had no room for, or 0.
    """
    seen, bits, over = borrowed(scratch.seen), borrowed(scratch.bits), borrowed(scratch.over)
    missed, hashes = borrowed(scratch.missed), borrowed(scratch.hashes)
    begins, ends, words = borrowed(cut.begins), borrowed(cut.ends), borrowed(store)
    known, unknown, lacking = words.used[0], 0, 0
    column: Any = np.int64(0)
    n_missed = _look_up_short_words(cut, known, scratch)
    _hash_missed(words, tag.state, cut, missed, n_missed, hashes)
    for j in range(n_missed):
        w = missed[j]
        b, size = cut.base + begins[w], ends[w] - begins[w]
        text, n_bytes = Text(tag.address, tag.length, b, size), tag.length + 1 + size
        if column != NO_ROOM:
            column = np.int64(find_word(words, known, hashes[j], text, True))
            if column < 0 and grow and not has_room(words, 1, n_bytes):
                column, lacking = NO_ROOM, n_bytes
            elif column < 0 and grow:
                column = np.int64(add_word(words, hashes[j], text))
        if size <= LONGEST_KEY and b < cut.limit:  # nothing is awaited when the next document comes
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


@compiled(helper=True)
def _write_columns(
    store: WordStore, tag: Tag, cut: Cut, grow: bool, scratch: Scratch, indices: Int32s, at: int
) -> tuple[int | np.int64, int]:
    """Write the columns of a document, in rising order; return where its row ends, and what `_enter_words` lacked."""
    known, unknown, lacking = _enter_words(store, tag, cut, grow, scratch)
    end = _take_columns(scratch.bits, scratch.over, indices, at)
    distinct = _distinct(scratch.hashes, unknown, scratch.table) if unknown > 0 else 0
    for j in range(distinct):  # no weights, but part of the row's length: as the next new words would be
        indices[end + j] = known + j
    return end + distinct, lacking


@compiled
def _read_plain(
    fields: Fields,
    alphabet: tokens.Alphabet,
    field_limit: int,
    store: WordStore,
    grow: bool,
    scratch: Scratch,
    rows: Rows,
    cursor: Ints,
) -> None:
    """Write rows from document cursor[0] on, until all are written or a word of cursor[1] bytes needs room."""
    own, known_words, indptr = borrowed(scratch), borrowed(store), borrowed(rows.indptr)
    indices, data = borrowed(rows.indices), borrowed(rows.data)
    words = Words(own.written, own.begins, own.ends)
    state, base = fields.tags[0, 0, 0], own.written.ctypes.data
    tag = Tag(state, np.int64(fields.tags[0, 0, 1]), np.int64(fields.tags[0, 0, 2]))
    for i in range(cursor[0], fields.addresses.shape[0]):
        address, length = fields.addresses[i, 0], fields.lengths[i, 0]
        count = cut_ascii(address, length, alphabet.keep_case, words)
        if count < 0:
            count = write_words(address, length, alphabet, state, words, own.hashes)
        cut = Cut(base, own.begins, own.ends, count, ANYWHERE)
        end, lacking = _write_columns(known_words, tag, cut, grow, own, indices, indptr[i])
        if lacking > 0:  # what was added stays, and is found when the document comes again
            cursor[0], cursor[1] = i, lacking
            return
        value = 1.0
        if field_limit > 0:
            value = math.sqrt(field_limit / max(field_limit, end - indptr[i]))
        for j in range(indptr[i], end):
            data[j] = value
        indptr[i + 1] = end
    cursor[0] = fields.addresses.shape[0]


@compiled
def _read_names(
    named: Named, state: np.uint64, store: WordStore, grow: bool, scratch: Scratch, rows: Rows, cursor: Ints
) -> None:
    """Do the same for rows of names; stop also, with 0 bytes, where a name comes twice in a row."""
    own, known_words, indptr = borrowed(scratch), borrowed(store), borrowed(rows.indptr)
    indices, data = borrowed(rows.indices), borrowed(rows.data)
    starts, names, base = named.indptr, named.names, named.buffer.ctypes.data
    tag, here, half = Tag(state, np.int64(0), np.int64(0)), names.ctypes.data, names.shape[1] * names.itemsize
    limit = base + named.buffer.shape[0] - 2 * 8  # a key is read as two numbers of 8 bytes
    for i in range(cursor[0], starts.shape[0] - 1):
        first, n = here + starts[i] * names.itemsize, starts[i + 1] - starts[i]
        cut = Cut(base, segment(first, n, starts), segment(first + half, n, starts), n, limit)
        end, lacking = _write_columns(known_words, tag, cut, grow, own, indices, indptr[i])
        if lacking > 0 or end - indptr[i] < n:
            cursor[0], cursor[1] = i, lacking
            return
        for j in range(indptr[i], end):
            data[j] = 1.0
        indptr[i + 1] = end
    cursor[0] = starts.shape[0] - 1


def _scratch(had: Scratch | None, longest: int, words: int) -> Scratch:
    """Return memory for texts of so many bytes and a list with room for so many words; reuse what is large enough."""
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


def _run(
    read: Read,
    n: int,
    sizes: tuple[int, int],
    words: WordList,
    key: Hashable,
) -> tuple[Rows, int]:
    """Call `read` until all `n` rows are written or it gives up; return the rows, and how many there are.

    `read` returns how many new words to make room for, 0 to give up. `sizes` are the most features in all, and the
    bytes of the longest row; working memory is kept under `key`.

    A writer beside it may replace `words.store` and `words.spare`, so each is looked up once.
    """
    most, longest = sizes
    array = words.memory.array if most > SMALL else np.empty
    rows = Rows(np.zeros(n + 1, np.int64), array(most + AHEAD, np.int32), array(most, np.float32))
    cursor = np.zeros(2, np.int64)
    spare = words.spare
    scratch = spare.pop(key, None)  # no other thread has it now
    while cursor[0] < n:
        store = words.store
        scratch = _scratch(scratch, longest, len(store.hashes))
        new = read(scratch, store, rows, cursor)
        if new == 0:
            break
        if cursor[0] < n:
            words.make_room(new, int(cursor[1]) + (new - 1) * LONGEST_KEY)
    if scratch is not None:
        if longest > LARGE:
            scratch = scratch._replace(**dict.fromkeys(Scratch._fields[3:], rows.indptr[:0]))
        spare[key] = scratch
        words.was_used()
    done = int(cursor[0])
    end = rows.indptr[done]
    return Rows(rows.indptr[: done + 1], rows.indices[:end], rows.data[:end]), done


def rows_of_plain_words(documents: Documents, space: Space, words: WordList, grow: bool) -> Rows:
    """Return what `rows_of_documents` would, sooner."""
    fields, _held = fields_of(documents, space.seed)
    lengths, table, n = documents.lengths, alphabet(space.keep_case), len(documents.lengths)

    def read(scratch: Scratch, store: WordStore, rows: Rows, cursor: Ints) -> int:
        _read_plain(fields, table, space.field_limit, store, grow, scratch, rows, cursor)
        if cursor[0] == n:
            return 1
        return 1 + min(int(lengths[cursor[0] :].sum()) // A_NEW_WORD, max(MANY_NEW, len(words)))

    sizes = int(((lengths + 1) // 2).sum()), int(lengths.max(initial=0))
    return _run(read, n, sizes, words, (documents.fields[0], space.keep_case))[0]


def rows_of_names(named: Named, space: Space, words: WordList, grow: bool) -> Rows:
    """Return what `rows_of_named` would; sooner if all features have the value 1 and no namespace.

    The first row in which a name comes twice, and all after it, take the general path.
    """
    if space.hashed or (named.values != 1).any() or (named.spaces[0] != named.spaces[1]).any():
        return rows_of_named(named, space, words, grow)
    own, state = named._replace(names=np.ascontiguousarray(named.names, np.int64)), hash_start(space.seed)

    def read(scratch: Scratch, store: WordStore, rows: Rows, cursor: Ints) -> int:
        _read_names(own, state, store, grow, scratch, rows, cursor)
        return int(cursor[0] == n or cursor[1] > 0)

    n = len(named.indptr) - 1
    sizes = len(named.values), 2 * int(np.diff(named.indptr).max(initial=0))
    rows, done = _run(read, n, sizes, words, None)
    if done == n:
        return rows
    rest = rows_of_named(named._replace(indptr=named.indptr[done:]), space, words, grow)
    return Rows(
        np.concatenate([rows.indptr, rest.indptr[1:] + rows.indptr[-1]]),
        np.concatenate([rows.indices, rest.indices]),
        np.concatenate([rows.data, rest.data]),
    )
