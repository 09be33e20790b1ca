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

from hinged.loops.rows import Rows
from hinged.text.tokens import Grams, continue_hash, finish_hash, spans_of_words, write_words
from hinged.text.words import COLON, WordList, add_word, find_word, has_word_room

__all__ = ["BINARY", "COUNTS", "LOG", "Documents", "Space", "rows_of_documents", "rows_of_named"]

BINARY, COUNTS, LOG = 0, 1, 2
UNKNOWN = np.uint64(1 << 63)
COLON_64 = np.uint64(COLON)
PRIME = np.uint64(0x100000001B3)
START = 0xCBF29CE484222325


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
    hashed: bool  # columns are hashes & mask; else places in the list of words
    signed: bool
    mask: int
    seed: int


class Listed(NamedTuple):
    """A document's features: hashes, where their texts "a:b" lie, values; then distinct columns and their sums."""

    hashes: np.ndarray  # uint64
    a: np.ndarray  # int64 (2, features): address and length
    b: np.ndarray  # int64 (2, features)
    values: np.ndarray  # float64
    columns: np.ndarray  # int64: column << 32 | place, to sort by
    sums: np.ndarray  # float64
    keys: np.ndarray  # uint64 (a power of two,)
    places: np.ndarray  # int64
    stamps: np.ndarray  # int64: the document that filled a slot


def _listed(most: int) -> Listed:
    slots = 1 << max(3, (2 * most).bit_length())
    return Listed(
        np.empty(most, np.uint64),
        np.zeros((2, most), np.int64),
        np.empty((2, most), np.int64),
        np.ones(most),
        np.empty(most, np.int64),
        np.empty(most),
        np.empty(slots, np.uint64),
        np.empty(slots, np.int64),
        np.full(slots, -1, np.int64),
    )


@njit(cache=True)
def _collect(
    listed: Any, n: int, stamp: int, space: Any, store: Any, limit: int, grow: bool, indices: Any, data: Any, at: int
) -> int:
    """Look up, count, sort and write out the `n` features listed; return where the row ends."""
    hashes, a, b, keys, places, stamps = listed.hashes, listed.a, listed.b, listed.keys, listed.places, listed.stamps
    columns, sums = listed.columns, listed.sums
    slots = 8
    while slots < 2 * n:
        slots *= 2
    mask, one = np.uint64(slots - 1), np.uint64(1)
    distinct, unknown = 0, 0
    for j in range(n):
        h = hashes[j]
        key = h & np.uint64(space.mask) if space.hashed else h
        slot = h & mask
        while stamps[slot] == stamp and keys[slot] != key:
            slot = (slot + one) & mask
        value = listed.values[j]
        if space.signed and h >= UNKNOWN:
            value = -value
        if stamps[slot] == stamp:
            sums[places[slot]] += value
            continue
        stamps[slot], keys[slot], places[slot] = stamp, key, distinct
        if space.hashed:
            column: Any = np.int64(key)
            if grow:
                spread = finish_hash(key)
                if find_word(store, limit, spread, 0, 0, 0, 0, False) < 0:
                    add_word(store, spread, a[0, j], a[1, j], b[0, j], b[1, j])
                    limit += 1
        else:
            column = find_word(store, limit, h, a[0, j], a[1, j], b[0, j], b[1, j], True)
            if column < 0 and grow:
                column = add_word(store, h, a[0, j], a[1, j], b[0, j], b[1, j])
                limit += 1
            elif column < 0:  # it has no weights, but counts in the row's length: as the next new words would
                column = limit + unknown
                unknown += 1
        sums[distinct] = value
        columns[distinct] = column << 32 | distinct
        distinct += 1
    columns[:distinct].sort()
    for j in range(distinct):
        value = sums[columns[j] & 0xFFFFFFFF]
        if space.values == BINARY:
            value = 1.0 if value > 0.0 else -1.0 if value < 0.0 else 0.0
        elif space.values == LOG and value != 0.0:
            value = math.copysign(1.0 + math.log(abs(value)), value)
        if value != 0.0:
            indices[at], data[at] = columns[j] >> 32, value
            at += 1
    return at


@njit(cache=True, nogil=True)
def _read_documents(
    addresses: Any,
    lengths: Any,
    tags: Any,
    lower: Any,
    space: Any,
    store: Any,
    grow: bool,
    listed: Any,
    written: Any,
    words: Any,
    spans: Any,
    indptr: Any,
    indices: Any,
    data: Any,
    cursor: Any,
) -> None:
    # tags (fields, 2, 3): hash state, address and length of each field's tag, for words and for runs of characters
    like = written[:0]
    for i in range(cursor[0], addresses.shape[0]):
        n, base, n_bytes = 0, 0, 0
        for field in range(addresses.shape[1]):
            length = lengths[i, field]
            if length == 0:
                continue
            out = written[base:]
            n_words = write_words(addresses[i, field], length, lower, space.keep_case, out, words[0], words[1])
            after_words, after = spans_of_words(space.grams, out, words[0], words[1], n_words, n, spans)
            begin_of_out = written.ctypes.data + base
            for j in range(n, after):
                kind = 0 if j < after_words else 1
                tag = tags[field, kind]
                address, size = begin_of_out + spans[0, j], spans[1, j] - spans[0, j]
                state = continue_hash(np.uint64(tag[0]), address, size, like)
                listed.hashes[j] = finish_hash(state)
                listed.a[0, j], listed.a[1, j] = tag[1], tag[2]
                listed.b[0, j], listed.b[1, j] = address, size
                n_bytes += size + np.int64(tag[2]) + 1
            n = after
            base += 2 * length + 4
        if grow and not has_word_room(store, n, n_bytes):
            cursor[0], cursor[1], cursor[2] = i, n, n_bytes
            return
        limit = store.used[0]
        indptr[i + 1] = _collect(listed, n, i, space, store, limit, grow, indices, data, indptr[i])
    cursor[0] = addresses.shape[0]


@njit(cache=True, nogil=True)
def _read_named(
    named: Any, base: int, start: Any, space: Any, store: Any, grow: bool, listed: Any, indptr: Any, indices: Any,
    data: Any, cursor: Any,
) -> None:  # fmt: skip
    like = named.buffer[:0]
    for i in range(cursor[0], named.indptr.shape[0] - 1):
        begin, n, n_bytes = named.indptr[i], named.indptr[i + 1] - named.indptr[i], 0
        for j in range(n):
            k = begin + j
            size = named.spaces[1, k] - named.spaces[0, k]
            state = start
            if size > 0:
                state = (continue_hash(state, base + named.spaces[0, k], size, like) ^ COLON_64) * PRIME
            length = named.names[1, k] - named.names[0, k]
            state = continue_hash(state, base + named.names[0, k], length, like)
            listed.hashes[j] = finish_hash(state)
            listed.a[0, j], listed.a[1, j] = base + named.spaces[0, k], size
            listed.b[0, j], listed.b[1, j] = base + named.names[0, k], length
            listed.values[j] = named.values[k]
            n_bytes += size + length + 1
        if grow and not has_word_room(store, n, n_bytes):
            cursor[0], cursor[1], cursor[2] = i, n, n_bytes
            return
        limit = store.used[0]
        indptr[i + 1] = _collect(listed, n, i, space, store, limit, grow, indices, data, indptr[i])
    cursor[0] = named.indptr.shape[0] - 1


def hash_start(seed: int, tag: bytes = b"") -> np.uint64:
    """State of the hash after the seed and a tag; a tag is followed by a colon."""
    state = START
    for byte in (*int(seed).to_bytes(8, "little"), *(tag + b":" if tag else b"")) if seed or tag else ():
        state = (state ^ byte) * 0x100000001B3 % (1 << 64)
    return np.uint64(state)


@lru_cache(maxsize=64)
def _tags(fields: tuple[str, ...], seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
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
    tags, _held = _tags(documents.fields, space.seed)
    runs = grams.longest_words - grams.shortest_words + 1 if grams.longest_words else 0
    pieces = grams.longest_chars - grams.shortest_chars + 1 if grams.longest_chars else 0
    most_of = runs * ((documents.lengths + 1) // 2) + pieces * (2 * documents.lengths + 2)
    most = int(most_of.sum(axis=1).max(initial=0)) + 1
    longest = int((2 * documents.lengths + 4).sum(axis=1).max(initial=0)) + 1
    scratch = (
        _listed(most),
        np.empty(longest, np.uint8),
        np.empty((2, longest), np.int64),
        np.empty((2, most), np.int64),
    )
    indptr = np.zeros(n + 1, np.int64)
    indices, data = np.empty(int(most_of.sum()), np.int32), np.empty(int(most_of.sum()), np.float32)
    cursor = np.zeros(3, np.int64)
    while cursor[0] < n:
        _read_documents(
            documents.addresses, documents.lengths, tags, lower, space, words.store, grow, *scratch, indptr, indices,
            data, cursor,
        )  # fmt: skip
        if cursor[0] < n:
            words.make_room(int(cursor[1]), int(cursor[2]))
    return Rows(indptr, indices[: indptr[-1]], data[: indptr[-1]])


def rows_of_named(named: Any, space: Space, words: WordList, grow: bool) -> Rows:
    """Sparse rows of features that have names and values."""
    n = len(named.indptr) - 1
    listed = _listed(int(np.diff(named.indptr).max(initial=0)) + 1)
    indptr = np.zeros(n + 1, np.int64)
    indices, data = np.empty(len(named.values), np.int32), np.empty(len(named.values), np.float32)
    cursor = np.zeros(3, np.int64)
    start, as_given = hash_start(space.seed), space._replace(values=COUNTS)
    base = named.buffer.ctypes.data
    while cursor[0] < n:
        _read_named(named, base, start, as_given, words.store, grow, listed, indptr, indices, data, cursor)
        if cursor[0] < n:
            words.make_room(int(cursor[1]), int(cursor[2]))
    return Rows(indptr, indices[: indptr[-1]], data[: indptr[-1]])
