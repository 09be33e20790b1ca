"""From documents, or from named features, to sparse rows: compiled, one document at a time, without allocations.

A document's features are listed first (hash, and where the text of each is), then looked up, counted in a small table
and sorted. Where the list of words must grow, the loop stops before the document and reports in `cursor` what it needs.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from hinged.compiling import compiled
from hinged.compiling.arrays import Ints, Uint64s
from hinged.io.examples.chunk import Named
from hinged.loops.hearing import pieces
from hinged.loops.rows import Rows
from hinged.native import borrowed
from hinged.text.tokens import Alphabet, Grams, Words, alphabet, continue_hash, finish_hash, spans_of_words, write_words
from hinged.text.words import COLON, Text, WordList, WordStore, add_word, find_word, has_room

__all__ = ["BINARY", "COUNTS", "LOG", "Documents", "Fields", "Space", "fields_of", "rows_of_documents", "rows_of_named"]

BINARY, COUNTS, LOG = 0, 1, 2
HIGHEST, ONE, LOW, COLON_64 = np.uint64(1 << 63), np.uint64(1), np.uint64(0xFFFFFFFF), np.uint64(COLON)
TWO, THREE, FOUR = np.uint64(2), np.uint64(3), np.uint64(4)
SPREAD = np.uint64(0x9E3779B97F4A7C15)
PRIME = np.uint64(0x100000001B3)
START = 0xCBF29CE484222325
PER_BYTE = 16  # operations, roughly
Sizes = TypeVar("Sizes", int, Ints)


class Documents(NamedTuple):
    """Texts where they are in memory: one for each field of a document, or one without a name."""

    fields: tuple[str, ...]
    addresses: npt.NDArray[np.int64]  # (documents, fields)
    lengths: npt.NDArray[np.int64]  # (documents, fields)
    held: tuple[object, ...]  # what keeps the bytes alive


class Fields(NamedTuple):
    """The same for loops; `tags` are hash state, address and length of each field's tag, for words and characters."""

    addresses: npt.NDArray[np.int64]  # (documents, fields)
    lengths: npt.NDArray[np.int64]  # (documents, fields)
    tags: npt.NDArray[np.uint64]  # (fields, 2, 3)


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
    """A document's distinct features: hashes, where their texts "a:b" are, sums of values, columns to sort by."""

    hashes: npt.NDArray[np.uint64]
    where: npt.NDArray[np.int64]  # (4 features,): address and length of a, then of b
    sums: npt.NDArray[np.float64]
    factors: npt.NDArray[np.float64]  # what a value is multiplied by, as its field is long; with a limit only
    columns: npt.NDArray[np.int64]  # (2, features): column << 32 | place; twice, for sorting from one to the other
    keys: npt.NDArray[np.uint64]  # (a power of two,): the hash in a slot
    marks: npt.NDArray[np.int64]  # document << 32 | place; a slot marked by another document is free
    counts: npt.NDArray[np.int64]  # (256,)


class Slots(NamedTuple):
    """The part of the table of features that a document uses."""

    mask: np.uint64  # how many slots, less one
    stamp: int  # marks those of this document


class Cutter(NamedTuple):
    """How a text is cut into features, and memory to do so."""

    alphabet: Alphabet
    grams: Grams
    words: Words
    states: npt.NDArray[np.uint64]  # hashes of words, unfinished
    spans: npt.NDArray[np.int64]  # (2, features)


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


@compiled
def _most_features(grams: Grams, length: Sizes) -> Sizes:
    """Return an upper bound of the features of a text of that many bytes."""
    runs = grams.longest_words - grams.shortest_words + 1 if grams.longest_words > 0 else 0
    pieces = grams.longest_chars - grams.shortest_chars + 1 if grams.longest_chars > 0 else 0
    return runs * ((length + 1) // 2) + pieces * (2 * length + 2)


@compiled(inline=True)
def _slots_for(n: int) -> np.uint64:
    slots = 8
    while slots < 2 * n:
        slots *= 2
    return np.uint64(slots - 1)


# ------------------------------------------------------------------ the features of a document
@compiled(inline=True)
def _note(listed: Listed, slots: Slots, n: np.uint64, h: np.uint64, value: float, text: Text) -> np.uint64:
    """Add one occurrence of a feature to those listed; return how many distinct ones there are."""
    keys, marks, where = listed.keys, listed.marks, listed.where
    slot = h & slots.mask
    while marks[slot] >> 32 == slots.stamp:
        if keys[slot] == h:
            listed.sums[np.uint64(marks[slot]) & LOW] += value
            return n
        slot = (slot + ONE) & slots.mask
    keys[slot], marks[slot] = h, slots.stamp << 32 | np.int64(n)
    listed.hashes[n], listed.sums[n] = h, value
    at = n * FOUR
    where[at], where[at + ONE], where[at + TWO], where[at + THREE] = text.a, text.a_n, text.b, text.b_n
    return n + ONE


@compiled(helper=True)
def _list_text(
    address: int, length: int, tags: Uint64s, cutter: Cutter, listed: Listed, slots: Slots, n: np.uint64
) -> np.uint64:
    """List the features of a text after the first `n`; return how many there are then."""
    # tags (2, 3): hash state, address and length, for words and for runs of characters
    listed, tags, grams, words = borrowed(listed), borrowed(tags), cutter.grams, cutter.words
    begins, ends, states = borrowed(words.begins), borrowed(words.ends), borrowed(cutter.states)
    here, a, a_n = words.out.ctypes.data, np.int64(tags[0, 1]), np.int64(tags[0, 2])
    count = write_words(address, length, cutter.alphabet, tags[0, 0], words, states)
    if grams.shortest_words == 1:
        for w in range(np.uint64(count)):
            text = Text(a, a_n, here + begins[w], ends[w] - begins[w])
            n = _note(listed, slots, n, finish_hash(states[w]), 1.0, text)
    if grams.longest_words > 1 or grams.longest_chars > 0 or grams.shortest_words != 1:
        spans = cutter.spans
        after_words, after = spans_of_words(grams, words, count, spans)
        for j in range(after):
            tag = tags[0 if j < after_words else 1]
            text = Text(np.int64(tag[1]), np.int64(tag[2]), here + spans[0, j], spans[1, j] - spans[0, j])
            h = finish_hash(continue_hash(tag[0], text.b, text.b_n, words.out))
            n = _note(listed, slots, n, h, 1.0, text)
    return n


@compiled(inline=True)
def _lacks_room(store: WordStore, listed: Listed, n: int | np.int64, i: int, cursor: Ints) -> bool:
    where, n_bytes = borrowed(listed.where), n
    for j in range(1, 4 * n, 2):
        n_bytes += where[j]
    if has_room(store, n, n_bytes):
        return False
    cursor[0], cursor[1], cursor[2] = i, n, n_bytes
    return True


# ------------------------------------------------------------------ the row of a document
@compiled(helper=True)
def _write_row(
    listed: Listed, n: int | np.int64, space: Space, store: WordStore, grow: bool, rows: Rows, at: int
) -> int:
    """Give the features listed their columns, sort and write them; return where the row ends."""
    _give_columns(listed, n, space, store, grow)
    rising = _sort(listed, n)
    sums, factors, limited = borrowed(listed.sums), borrowed(listed.factors), space.field_limit > 0
    indices, data = borrowed(rows.indices), borrowed(rows.data)
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


@compiled(helper=True)
def _give_columns(listed: Listed, n: int | np.int64, space: Space, store: WordStore, grow: bool) -> None:
    """Find the column of each feature, adding words that are not known if `grow`; turn signs where hashes say so."""
    hashes, sums, where = borrowed(listed.hashes), borrowed(listed.sums), borrowed(listed.where)
    columns, store = borrowed(listed.columns[0]), borrowed(store)
    hashed, signed, mask = space.hashed, space.signed, np.uint64(space.mask)
    limit = store.used[0]
    unknown, known = 0, limit
    for j in range(np.uint64(n)):
        h, at = hashes[j], j * FOUR
        text = Text(where[at], where[at + ONE], where[at + TWO], where[at + THREE])
        if signed and h >= HIGHEST:
            sums[j] = -sums[j]
        if hashed:
            column: Any = np.int64(h & mask)
            if grow:
                key = np.uint64(column) * SPREAD
                if find_word(store, known, key, text, False) < 0:
                    add_word(store, key, text)
                    known += 1
        else:
            column = find_word(store, known, h, text, True)
            if column < 0 and grow:
                column = add_word(store, h, text)
                known += 1
            elif column < 0:  # it has no weights, but counts in the row's length, as the next new words would
                column = limit + unknown
                unknown += 1
        columns[j] = column << 32 | np.int64(j)


@compiled(helper=True)
def _sort(listed: Listed, n: int | np.int64) -> Ints:
    """Return the columns in rising order: sorted by one byte after the other, the lowest first."""
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


# ------------------------------------------------------------------ loops
@compiled
def _read_documents(
    fields: Fields, cutter: Cutter, space: Space, store: WordStore, grow: bool, listed: Listed, rows: Rows, cursor: Ints
) -> None:
    """Write rows from document cursor[0] on, until all are written or the words need room (cursor[1:3])."""
    addresses, lengths, limit = borrowed(fields.addresses), borrowed(fields.lengths), space.field_limit
    own, words, known = borrowed(listed), cutter.words, borrowed(store)
    out, begins, ends = borrowed(words.out), borrowed(words.begins), borrowed(words.ends)
    states, spans, tags = borrowed(cutter.states), borrowed(cutter.spans), borrowed(fields.tags)
    target = borrowed(rows)
    cursor[3] += 1  # documents begun so far: no two share a stamp
    for i in range(cursor[0], addresses.shape[0]):
        n, base, most = np.uint64(0), 0, 0
        for field in range(addresses.shape[1]):
            most += _most_features(cutter.grams, lengths[i, field])
        slots = Slots(_slots_for(most), cursor[3] + i)
        for field in range(addresses.shape[1]):
            length, before = lengths[i, field], n
            if length == 0:
                continue
            part = Cutter(cutter.alphabet, cutter.grams, Words(out[base:], begins, ends), states, spans)
            n = _list_text(addresses[i, field], length, tags[field], part, own, slots, n)
            if limit > 0:
                own.factors[before:n] = math.sqrt(limit / max(limit, np.int64(n - before)))  # type: ignore[operator]
            base += 2 * length + 4
        if grow and _lacks_room(known, own, np.int64(n), i, cursor):
            return
        target.indptr[i + 1] = _write_row(own, np.int64(n), space, known, grow, target, target.indptr[i])
    cursor[0] = addresses.shape[0]


@compiled
def _read_named(
    named: Named, start: np.uint64, space: Space, store: WordStore, grow: bool, listed: Listed, rows: Rows, cursor: Ints
) -> None:
    """Do the same for rows of named features; `start` is the state of the hash before a name."""
    like, base = borrowed(named.buffer), named.buffer.ctypes.data
    own, known = borrowed(listed), borrowed(store)
    target = borrowed(rows)
    spaces, names, values = named.spaces, named.names, named.values
    cursor[3] += 1
    for i in range(cursor[0], named.indptr.shape[0] - 1):
        n, slots = np.uint64(0), Slots(_slots_for(named.indptr[i + 1] - named.indptr[i]), cursor[3] + i)
        for k in range(named.indptr[i], named.indptr[i + 1]):
            text = Text(
                base + spaces[0, k], spaces[1, k] - spaces[0, k], base + names[0, k], names[1, k] - names[0, k]
            )  # fmt: skip
            state = start
            if text.a_n > 0:
                state = (continue_hash(state, text.a, text.a_n, like) ^ COLON_64) * PRIME
            h = finish_hash(continue_hash(state, text.b, text.b_n, like))
            n = _note(own, slots, n, h, np.float64(values[k]), text)
        if grow and _lacks_room(known, own, np.int64(n), i, cursor):
            return
        target.indptr[i + 1] = _write_row(own, np.int64(n), space, known, grow, target, target.indptr[i])
    cursor[0] = named.indptr.shape[0] - 1


def hash_start(seed: int, tag: bytes = b"") -> np.uint64:
    """Return the state of the hash after the seed and a tag; a tag is followed by a colon."""
    state = START
    for byte in (*int(seed).to_bytes(8, "little"), *(tag + b":" if tag else b"")) if seed or tag else ():
        state = (state ^ byte) * 0x100000001B3 % (1 << 64)
    return np.uint64(state)


@lru_cache(maxsize=64)
def _tags_of(fields: tuple[str, ...], seed: int) -> tuple[npt.NDArray[np.uint64], list[npt.NDArray[np.uint8]]]:
    """Return hash state, address and length of each field's tag, (fields, 2, 3), and the tags themselves."""
    held, tags = [], np.zeros((len(fields), 2, 3), np.uint64)
    for place, name in enumerate(fields):
        for kind in (0, 1):
            tag = np.frombuffer(name.encode("utf-8", "surrogatepass") + b"~" * kind, np.uint8)
            held.append(tag)
            tags[place, kind] = hash_start(seed, tag.tobytes()), tag.ctypes.data if len(tag) else 0, len(tag)
    return tags, held


def fields_of(documents: Documents, seed: int) -> tuple[Fields, list[npt.NDArray[np.uint8]]]:
    """Return what loops read of documents, and what must be kept alive meanwhile."""
    tags, held = _tags_of(documents.fields, seed)
    return Fields(documents.addresses, documents.lengths, tags), held


def rows_of_documents(documents: Documents, space: Space, words: WordList, grow: bool) -> Rows:
    """Return sparse rows of texts; with `grow`, new words are added to the list."""
    lengths = documents.lengths
    fields, _held = fields_of(documents, space.seed)
    most_of = _most_features(space.grams, lengths).sum(axis=1)
    most = int(most_of.max(initial=0)) + 1
    longest = int((2 * lengths + 4).sum(axis=1).max(initial=0)) + 1
    cutter = Cutter(
        alphabet(space.keep_case),
        space.grams,
        Words(np.empty(longest, np.uint8), np.empty(longest, np.int64), np.empty(longest, np.int64)),
        np.empty(longest, np.uint64),
        np.empty((2, most), np.int64),
    )
    listed, rows, cursor = _listed(most), _empty_rows(len(lengths), int(most_of.sum())), np.zeros(4, np.int64)
    for part in pieces(np.concatenate([[0], np.cumsum(lengths.sum(axis=1))]), PER_BYTE):
        some = Fields(fields.addresses[: part.stop], fields.lengths[: part.stop], fields.tags)
        while cursor[0] < part.stop:
            _read_documents(some, cutter, space, words.store, grow, listed, rows, cursor)
            if cursor[0] < part.stop:
                words.make_room(int(cursor[1]), int(cursor[2]))
    return _filled(rows)


def rows_of_named(named: Named, space: Space, words: WordList, grow: bool) -> Rows:
    """Return sparse rows of features that have names and values."""
    listed = _listed(int(np.diff(named.indptr).max(initial=0)) + 1)
    rows, cursor = _empty_rows(len(named.indptr) - 1, len(named.values)), np.zeros(4, np.int64)
    start, as_given = hash_start(space.seed), space._replace(values=COUNTS, field_limit=0)
    for part in pieces(named.indptr, PER_BYTE):
        some = named._replace(indptr=named.indptr[: part.stop + 1])
        while cursor[0] < part.stop:
            _read_named(some, start, as_given, words.store, grow, listed, rows, cursor)
            if cursor[0] < part.stop:
                words.make_room(int(cursor[1]), int(cursor[2]))
    return _filled(rows)


def _empty_rows(n: int, most: int) -> Rows:
    return Rows(np.zeros(n + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.float32))


def _filled(rows: Rows) -> Rows:
    end = rows.indptr[-1]
    return Rows(rows.indptr, rows.indices[:end], rows.data[:end])
