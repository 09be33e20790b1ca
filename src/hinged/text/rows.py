"""From documents, or from named features, to sparse rows: compiled, one document at a time, nothing allocated in it.

A document's features are listed first (hash, and where the text of each lies), then looked up, counted in a small table
and sorted. Where the list of words must grow, the loop stops before the document and says what it needs in `cursor`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.loops.hearing import pieces
from hinged.loops.rows import Rows
from hinged.native import borrowed
from hinged.text.characters import plain_table
from hinged.text.tokens import Grams, continue_hash, finish_hash, spans_of_words, write_words
from hinged.text.words import COLON, WordList, add_in, find_in, has_room_in

__all__ = ["BINARY", "COUNTS", "LOG", "Documents", "Space", "rows_of_documents", "rows_of_named", "tags_of_fields"]

BINARY, COUNTS, LOG = 0, 1, 2
HIGHEST, ONE, LOW, COLON_64 = np.uint64(1 << 63), np.uint64(1), np.uint64(0xFFFFFFFF), np.uint64(COLON)
TWO, THREE, FOUR = np.uint64(2), np.uint64(3), np.uint64(4)
SPREAD = np.uint64(0x9E3779B97F4A7C15)
PRIME = np.uint64(0x100000001B3)
START = 0xCBF29CE484222325
PER_BYTE = 16  # operations, roughly


class Documents(NamedTuple):
    """Texts where they lie: `fields` of them a document, the first alone where there is one without a name."""

    fields: tuple[str, ...]
    addresses: np.ndarray  # int64 (documents, fields)
    lengths: np.ndarray  # int64 (documents, fields)
    held: tuple[Any, ...]  # what keeps the bytes alive


class Space(NamedTuple):
    """How features become columns."""

    grams: Grams
    values: int
    keep_case: bool
    field_limit: int  # a field of more distinct features weighs as much as one of so many; 0 for no limit
    hashed: bool  # columns are hashes & mask; else places in the list of words
    signed: bool
    mask: int
    seed: int


class Listed(NamedTuple):
    """A document's distinct features: hashes, where their texts "a:b" lie, sums of values, columns to sort by."""

    hashes: np.ndarray  # uint64
    where: np.ndarray  # int64 (4 features,): address and length of a, then of b
    sums: np.ndarray  # float64
    factors: np.ndarray  # float64: what a value is multiplied by, as its field is long; with a limit only
    columns: np.ndarray  # int64 (2, features): column << 32 | place; twice, for sorting from one to the other
    keys: np.ndarray  # uint64 (a power of two,): the hash in a slot
    marks: np.ndarray  # int64: document << 32 | place; of another document: the slot is free
    counts: np.ndarray  # int64 (256,)


def _listed(most: int) -> Listed:
    slots = 1 << max(3, (2 * most).bit_length())
    return Listed(
        np.empty(most, np.uint64),
        np.empty(4 * most, np.int64),
        np.empty(most),
        np.empty(most),
        np.empty((2, most), np.int64),
        np.empty(slots, np.uint64),
        np.full(slots, -1, np.int64),
        np.empty(256, np.int64),
    )


@njit(cache=True)
def _most_features(grams: Any, length: Any) -> Any:
    """At most so many features come from a text of that many bytes."""
    runs = grams.longest_words - grams.shortest_words + 1 if grams.longest_words > 0 else 0
    pieces = grams.longest_chars - grams.shortest_chars + 1 if grams.longest_chars > 0 else 0
    return runs * ((length + 1) // 2) + pieces * (2 * length + 2)


@njit(cache=True, inline="always")
def _slots_for(n: int) -> Any:
    slots = 8
    while slots < 2 * n:
        slots *= 2
    return np.uint64(slots - 1)


@njit(cache=True, inline="always")
def _note(
    keys: Any, marks: Any, hashes: Any, sums: Any, where: Any, mask: Any, stamp: int, n: Any, h: Any, value: Any,
    a: Any, a_n: Any, b: Any, b_n: Any,
) -> Any:  # fmt: skip
    """Add one occurrence of a feature to those listed; return how many distinct ones there are."""
    slot = h & mask
    while marks[slot] >> 32 == stamp:
        if keys[slot] == h:
            sums[np.uint64(marks[slot]) & LOW] += value
            return n
        slot = (slot + ONE) & mask
    keys[slot], marks[slot] = h, stamp << 32 | np.int64(n)
    hashes[n], sums[n] = h, value
    at = n * FOUR
    where[at], where[at + ONE], where[at + TWO], where[at + THREE] = a, a_n, b, b_n
    return n + ONE


@njit(cache=True)
def _sort(listed: Any, n: int) -> Any:
    """The columns, rising: by one byte after the other, the lowest first."""
    counts, source, target = borrowed(listed.counts), borrowed(listed.columns[0]), borrowed(listed.columns[1])
    largest = 0
    for j in range(n):
        largest |= source[j] >> 32
    shift = 32
    while largest > 0:
        counts[:] = 0
        for j in range(n):
            counts[source[j] >> shift & 0xFF] += 1
        total = 0
        for digit in range(256):
            counts[digit], total = total, total + counts[digit]
        for j in range(n):
            digit = source[j] >> shift & 0xFF
            target[counts[digit]] = source[j]
            counts[digit] += 1
        source, target = target, source
        shift += 8
        largest >>= 8
    return source


@njit(cache=True)
def _write_row(
    listed: Any, n: Any, space: Any, store: Any, limit: int, grow: bool, indices: Any, data: Any, at: int
) -> int:
    """Give the features listed their columns, sort and write them; return where the row ends."""
    hashes, sums, factors = borrowed(listed.hashes), borrowed(listed.sums), borrowed(listed.factors)
    where, columns = borrowed(listed.where), borrowed(listed.columns[0])
    table, known_hashes = borrowed(store.table), borrowed(store.hashes)
    ends, arena, used = borrowed(store.ends), borrowed(store.arena), borrowed(store.used)
    hashed, signed, mask, limited = space.hashed, space.signed, np.uint64(space.mask), space.field_limit > 0
    unknown, known = 0, limit
    for j in range(np.uint64(n)):
        h, at_j = hashes[j], j * FOUR
        a, a_n, b, b_n = where[at_j], where[at_j + ONE], where[at_j + TWO], where[at_j + THREE]
        if signed and h >= HIGHEST:
            sums[j] = -sums[j]
        if hashed:
            column: Any = np.int64(h & mask)
            if grow:
                key = np.uint64(column) * SPREAD
                if find_in(table, known_hashes, ends, arena, known, key, 0, 0, 0, 0, False) < 0:
                    add_in(table, known_hashes, ends, arena, used, key, a, a_n, b, b_n)
                    known += 1
        else:
            column = find_in(table, known_hashes, ends, arena, known, h, a, a_n, b, b_n, True)
            if column < 0 and grow:
                column = add_in(table, known_hashes, ends, arena, used, h, a, a_n, b, b_n)
                known += 1
            elif column < 0:  # it has no weights, but counts in the row's length: as the next new words would
                column = limit + unknown
                unknown += 1
        columns[j] = column << 32 | np.int64(j)
    rising = _sort(listed, n)
    indices, data = borrowed(indices), borrowed(data)
    j = 0
    while j < n:
        column, value, factor = rising[j] >> 32, 0.0, 0.0
        while j < n and rising[j] >> 32 == column:  # hashes may share a column
            place = np.uint64(rising[j]) & LOW
            value += sums[place]
            factor = max(factor, factors[place]) if limited else 1.0
            j += 1
        if space.values == BINARY:
            value = 1.0 if value > 0.0 else -1.0 if value < 0.0 else 0.0
        elif space.values == LOG and value != 0.0:
            value = math.copysign(1.0 + math.log(abs(value)), value)
        if value != 0.0:
            indices[at], data[at] = column, value * factor
            at += 1
    return at


@njit(cache=True, inline="always")
def _lacks_room(store: Any, listed: Any, n: Any, i: int, cursor: Any) -> bool:
    where, n_bytes = borrowed(listed.where), n
    for j in range(1, 4 * n, 2):
        n_bytes += where[j]
    if has_room_in(store.hashes, store.arena, store.used, n, n_bytes):
        return False
    cursor[0], cursor[1], cursor[2] = i, n, n_bytes
    return True


@njit(cache=True, nogil=True)
def _read_documents(
    addresses: Any,
    lengths: Any,
    tags: Any,
    plain: Any,
    lower: Any,
    space: Any,
    store: Any,
    grow: bool,
    listed: Any,
    written: Any,
    words: Any,
    states: Any,
    spans: Any,
    indptr: Any,
    indices: Any,
    data: Any,
    cursor: Any,
) -> None:
    # tags (fields, 2, 3): hash state, address and length of each field's tag, for words and for runs of characters
    like, grams = written[:0], space.grams
    keys, marks, hashes = borrowed(listed.keys), borrowed(listed.marks), borrowed(listed.hashes)
    sums, where, factors, limit = (
        borrowed(listed.sums), borrowed(listed.where), borrowed(listed.factors), space.field_limit,
    )  # fmt: skip
    begins, ends = borrowed(words[0]), borrowed(words[1])
    single = grams.shortest_words == 1
    alone = single and grams.longest_words == 1 and grams.longest_chars == 0
    cursor[3] += 1  # documents begun so far: no two share a stamp
    for i in range(cursor[0], addresses.shape[0]):
        n, base, stamp, most = np.uint64(0), 0, cursor[3] + i, 0
        for field in range(addresses.shape[1]):
            most += _most_features(grams, lengths[i, field])
        mask = _slots_for(most)
        for field in range(addresses.shape[1]):
            length, before = lengths[i, field], n
            if length == 0:
                continue
            out, tag = written[base:], tags[field, 0]
            a, a_n = np.int64(tag[1]), np.int64(tag[2])
            n_words = write_words(
                addresses[i, field], length, plain, lower, space.keep_case, tag[0], out, begins, ends, states
            )
            here = written.ctypes.data + base
            if single:
                for w in range(np.uint64(n_words)):
                    h, b, b_n = finish_hash(states[w]), here + begins[w], ends[w] - begins[w]
                    n = _note(keys, marks, hashes, sums, where, mask, stamp, n, h, 1.0, a, a_n, b, b_n)
            if not alone:
                after_words, after = spans_of_words(grams, out, begins, ends, n_words, spans)
                for j in range(after):
                    tag = tags[field, 0 if j < after_words else 1]
                    a, a_n = np.int64(tag[1]), np.int64(tag[2])
                    b, b_n = here + spans[0, j], spans[1, j] - spans[0, j]
                    h = finish_hash(continue_hash(tag[0], b, b_n, like))
                    n = _note(keys, marks, hashes, sums, where, mask, stamp, n, h, 1.0, a, a_n, b, b_n)
            if limit > 0:
                factors[before:n] = math.sqrt(limit / max(limit, np.int64(n - before)))
            base += 2 * length + 4
        if grow and _lacks_room(store, listed, np.int64(n), i, cursor):
            return
        indptr[i + 1] = _write_row(listed, np.int64(n), space, store, store.used[0], grow, indices, data, indptr[i])
    cursor[0] = addresses.shape[0]


@njit(cache=True, nogil=True)
def _read_named(
    named: Any, base: int, start: Any, space: Any, store: Any, grow: bool, listed: Any, indptr: Any, indices: Any,
    data: Any, cursor: Any,
) -> None:  # fmt: skip
    like = named.buffer[:0]
    keys, marks, hashes = borrowed(listed.keys), borrowed(listed.marks), borrowed(listed.hashes)
    sums, where = borrowed(listed.sums), borrowed(listed.where)
    spaces, names, values = named.spaces, named.names, named.values
    cursor[3] += 1
    for i in range(cursor[0], named.indptr.shape[0] - 1):
        n, stamp = np.uint64(0), cursor[3] + i
        mask = _slots_for(named.indptr[i + 1] - named.indptr[i])
        for k in range(named.indptr[i], named.indptr[i + 1]):
            a, a_n = base + spaces[0, k], spaces[1, k] - spaces[0, k]
            b, b_n = base + names[0, k], names[1, k] - names[0, k]
            state = start
            if a_n > 0:
                state = (continue_hash(state, a, a_n, like) ^ COLON_64) * PRIME
            h = finish_hash(continue_hash(state, b, b_n, like))
            value = np.float64(values[k])
            n = _note(keys, marks, hashes, sums, where, mask, stamp, n, h, value, a, a_n, b, b_n)
        if grow and _lacks_room(store, listed, np.int64(n), i, cursor):
            return
        indptr[i + 1] = _write_row(listed, np.int64(n), space, store, store.used[0], grow, indices, data, indptr[i])
    cursor[0] = named.indptr.shape[0] - 1


def hash_start(seed: int, tag: bytes = b"") -> np.uint64:
    """State of the hash after the seed and a tag; a tag is followed by a colon."""
    state = START
    for byte in (*int(seed).to_bytes(8, "little"), *(tag + b":" if tag else b"")) if seed or tag else ():
        state = (state ^ byte) * 0x100000001B3 % (1 << 64)
    return np.uint64(state)


@lru_cache(maxsize=64)
def tags_of_fields(fields: tuple[str, ...], seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Hash state, address and length of each field's tag, (fields, 2, 3), and the tags themselves."""
    held, tags = [], np.zeros((len(fields), 2, 3), np.uint64)
    for place, name in enumerate(fields):
        for kind in (0, 1):
            tag = np.frombuffer(name.encode("utf-8", "surrogatepass") + b"~" * kind, np.uint8)
            held.append(tag)
            tags[place, kind] = hash_start(seed, tag.tobytes()), tag.ctypes.data if len(tag) else 0, len(tag)
    return tags, held


def rows_of_documents(documents: Documents, lower: np.ndarray, space: Space, words: WordList, grow: bool) -> Rows:
    """Sparse rows of texts; with `grow`, words not met before are added to the list."""
    n = len(documents.addresses)
    grams = space.grams
    tags, _held = tags_of_fields(documents.fields, space.seed)
    plain = plain_table(space.keep_case)
    most_of = _most_features(grams, documents.lengths)
    most = int(most_of.sum(axis=1).max(initial=0)) + 1
    longest = int((2 * documents.lengths + 4).sum(axis=1).max(initial=0)) + 1
    scratch = (
        _listed(most),
        np.empty(longest, np.uint8),
        np.empty((2, longest), np.int64),
        np.empty(longest, np.uint64),
        np.empty((2, most), np.int64),
    )
    indptr = np.zeros(n + 1, np.int64)
    indices, data = np.empty(int(most_of.sum()), np.int32), np.empty(int(most_of.sum()), np.float32)
    cursor = np.zeros(4, np.int64)
    for part in pieces(np.concatenate([[0], np.cumsum(documents.lengths.sum(axis=1))]), PER_BYTE):
        while cursor[0] < part.stop:
            _read_documents(
                documents.addresses[: part.stop], documents.lengths[: part.stop], tags, plain, lower, space,
                words.store, grow, *scratch, indptr, indices, data, cursor,
            )  # fmt: skip
            if cursor[0] < part.stop:
                words.make_room(int(cursor[1]), int(cursor[2]))
    return Rows(indptr, indices[: indptr[-1]], data[: indptr[-1]])


def rows_of_named(named: Any, space: Space, words: WordList, grow: bool) -> Rows:
    """Sparse rows of features that have names and values."""
    n = len(named.indptr) - 1
    listed = _listed(int(np.diff(named.indptr).max(initial=0)) + 1)
    indptr = np.zeros(n + 1, np.int64)
    indices, data = np.empty(len(named.values), np.int32), np.empty(len(named.values), np.float32)
    cursor = np.zeros(4, np.int64)
    start, as_given = hash_start(space.seed), space._replace(values=COUNTS, field_limit=0)
    base = named.buffer.ctypes.data
    for part in pieces(named.indptr, PER_BYTE):
        some = named._replace(indptr=named.indptr[: part.stop + 1])
        while cursor[0] < part.stop:
            _read_named(some, base, start, as_given, words.store, grow, listed, indptr, indices, data, cursor)
            if cursor[0] < part.stop:
                words.make_room(int(cursor[1]), int(cursor[2]))
    return Rows(indptr, indices[: indptr[-1]], data[: indptr[-1]])
