"""A list of words that grows and is searched by hash, in compiled code: a vocabulary, or what a hasher remembers."""

from __future__ import annotations

import threading
import weakref
from typing import Any, NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bytes, Uint64s
from hinged.io.examples.blocks import Memory
from hinged.native import segment

__all__ = ["Text", "WordList", "WordStore", "add_word", "check_words", "find_key", "find_word", "has_room"]

COLON = np.uint8(ord(":"))
HALF, LOW, ONE = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(1)


class WordStore(NamedTuple):
    """The arrays that loops use: word p is arena[ends[p] : ends[p + 1]]."""

    table: np.ndarray  # uint64 (a power of two,): high half of a word's hash, then p + 1, where its hash leads; else 0
    hashes: np.ndarray  # uint64 (words,)
    ends: np.ndarray  # int64 (words + 1,)
    arena: np.ndarray  # uint8
    used: np.ndarray  # int64 (2,): words, bytes


class Text(NamedTuple):
    """Where the text of a word is in memory: "a:b", or "b" alone if `a` is empty."""

    a: int | np.int64  # address
    a_n: int | np.int64  # length
    b: int | np.int64
    b_n: int | np.int64


@compiled(inline=True)
def find_word(store: WordStore, limit: int, key: np.uint64, text: Text, exact: bool) -> np.int64:
    """Return the place of a word below `limit`, or -1; `exact` compares its text as well."""
    table, hashes, ends, arena = store.table, store.hashes, store.ends, store.arena
    mask = np.uint64(table.shape[0] - 1)
    slot = key & mask
    found = np.int64(-1)
    while table[slot] != 0:
        entry = table[slot]
        if (entry ^ key) >> HALF == 0:
            p = entry & LOW  # unsigned, and one too many
            if p <= np.uint64(limit):
                if exact and _is_text(arena, ends[p - ONE], ends[p], text):
                    found = np.int64(p) - 1
                    break
                if not exact and hashes[p - ONE] == key:
                    found = np.int64(p) - 1
                    break
        slot = (slot + ONE) & mask
    return found


@compiled
def find_key(store: WordStore, limit: int, key: np.uint64) -> np.int64:
    """Return the place below `limit` of the first word with this hash, or -1."""
    return find_word(store, limit, key, Text(0, 0, 0, 0), False)


@compiled(inline=True)
def _is_text(arena: Bytes, begin: int | np.int64, end: int | np.int64, text: Text) -> bool:
    a_n, b_n = text.a_n, text.b_n
    front = a_n + 1 if a_n > 0 else 0
    same = end - begin == front + b_n
    if same:
        head, tail = segment(text.a, a_n, arena), segment(text.b, b_n, arena)
        for j in range(a_n):
            same = same and arena[np.uint64(begin + j)] == head[j]
        j, begin = 0, begin + front
        while same and j < b_n:
            same = arena[np.uint64(begin + j)] == tail[j]
            j += 1
    return same


@compiled(inline=True)
def has_room(store: WordStore, words: int | np.int64, n_bytes: int | np.int64) -> bool:
    """Return True if so many words of so many bytes in all can be added; the table has twice the room of `hashes`."""
    return store.used[0] + words <= store.hashes.shape[0] and store.used[1] + n_bytes <= store.arena.shape[0]


@compiled(inline=True)
def _enter(table: Uint64s, key: np.uint64, p: int) -> None:
    mask = np.uint64(table.shape[0] - 1)
    slot = key & mask
    while table[slot] != 0:
        slot = (slot + ONE) & mask
    table[slot] = key >> HALF << HALF | np.uint64(p + 1)


@compiled(inline=True)
def add_word(store: WordStore, key: np.uint64, text: Text) -> int:
    """Add a word that is not there yet; return its place. It is published last, for concurrent readers."""
    arena, used, a_n, b_n = store.arena, store.used, text.a_n, text.b_n
    p, at = used[0], used[1]
    head, tail = segment(text.a, a_n, arena), segment(text.b, b_n, arena)
    for j in range(a_n):
        arena[at + j] = head[j]
    if a_n > 0:
        arena[at + a_n] = COLON
        at += a_n + 1
    for j in range(b_n):
        arena[at + j] = tail[j]
    used[1] = at + b_n
    store.hashes[p], store.ends[p + 1] = key, at + b_n
    _enter(store.table, key, p)
    used[0] = p + 1
    return p


@compiled
def _enter_all(table: Uint64s, hashes: Uint64s, n: int) -> None:
    for p in range(n):
        _enter(table, hashes[p], p)


FEW = 8  # lists that keep their working memory
LATEST: list[weakref.ref[WordList]] = []
LOCK = threading.Lock()


class WordList:
    """A growing list of words.

    Examples
    --------
    >>> words = WordList()
    >>> words.make_room(1, 3)
    >>> cat = np.frombuffer(b"cat", np.uint8)
    >>> int(add_word(words.store, np.uint64(7), Text(0, 0, cat.ctypes.data, 3))), words[0], len(words)
    (0, 'cat', 1)
    """

    def __init__(self) -> None:
        self.store = WordStore(
            table=np.zeros(64, np.uint64),
            hashes=np.zeros(32, np.uint64),
            ends=np.zeros(33, np.int64),
            arena=np.zeros(256, np.uint8),
            used=np.zeros(2, np.int64),
        )
        self._without_spare()

    def _without_spare(self) -> None:
        self.spare: dict[Any, Any] = {}  # working memory of loops, which may hold places of words
        self.memory = Memory(lambda n: np.empty(n, np.uint8))  # for the rows they write

    def was_used(self) -> None:
        """Keep working memory only for the lists used last: a service may hold a thousand models, most of them idle."""
        if LATEST and LATEST[-1]() is self:
            return
        with LOCK:
            others = [words for ref in LATEST if (words := ref()) is not None and words is not self]
            for words in others[: 1 - FEW]:
                words._without_spare()
            LATEST[:] = [weakref.ref(words) for words in (*others[1 - FEW :], self)]

    def __getstate__(self) -> WordStore:
        return self.store

    def __setstate__(self, store: WordStore) -> None:
        self.store = store
        self._without_spare()

    def __len__(self) -> int:
        return int(self.store.used[0])

    def __getitem__(self, p: int | np.int64) -> str:
        begin, end = self.store.ends[p : p + 2].tolist()
        return self.store.arena[begin:end].tobytes().decode("utf-8", "replace")

    def texts(self) -> list[str]:
        """Return all words, in order."""
        return [self[p] for p in range(len(self))]

    def make_room(self, words: int, n_bytes: int) -> None:
        """Make room for so many words of so many bytes in all."""
        store = self.store
        n, filled = store.used.tolist()
        if n + words > len(store.hashes):
            capacity = 1 << max(5, (n + words - 1).bit_length())  # as many as the table may hold
            table = np.zeros(2 * capacity, np.uint64)
            _enter_all(table, store.hashes, n)
            hashes, ends = np.zeros(capacity, np.uint64), np.zeros(capacity + 1, np.int64)
            hashes[:n], ends[: n + 1] = store.hashes[:n], store.ends[: n + 1]
            store = store._replace(table=table, hashes=hashes, ends=ends)
        if filled + n_bytes > len(store.arena):
            arena = np.zeros(max(filled + n_bytes, len(store.arena) + len(store.arena) // 2), np.uint8)
            arena[:filled] = store.arena[:filled]
            store = store._replace(arena=arena)
        self.store = store._replace(used=store.used.copy())

    def truncate(self, n: int) -> None:
        """Forget all words but the first `n`."""
        if n == len(self):
            return
        store = self.store
        table = np.zeros_like(store.table)
        _enter_all(table, store.hashes, n)
        self.store = store._replace(table=table, used=np.array([n, store.ends[n]], np.int64))
        self._without_spare()

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that have to be saved."""
        n, filled = self.store.used.tolist()
        store = self.store
        return {"hashes": store.hashes[:n].copy(), "ends": store.ends[: n + 1].copy(), "arena": store.arena[:filled]}

    @classmethod
    def from_arrays(cls, hashes: np.ndarray, ends: np.ndarray, arena: np.ndarray) -> WordList:
        """Return the list that `arrays` described; checked, because loops trust the numbers."""
        n = len(hashes)
        if hashes.dtype != np.uint64 or hashes.ndim != 1:
            raise ValueError("its words are damaged")
        check_words(n, ends, arena)
        words = cls()
        words.make_room(n, len(arena))
        store = words.store
        store.hashes[:n], store.ends[: n + 1], store.arena[: len(arena)] = hashes, ends, arena
        _enter_all(store.table, store.hashes, n)
        store.used[:] = n, len(arena)
        return words


def check_words(n: int, ends: np.ndarray, arena: np.ndarray) -> None:
    """Refuse `n` words that are not where the numbers say."""
    if ends.dtype != np.int64 or arena.dtype != np.uint8 or ends.shape != (n + 1,) or arena.ndim != 1:
        raise ValueError("its words are damaged")
    if ends[0] != 0 or (ends[1:] < ends[:-1]).any() or ends[-1] != len(arena):
        raise ValueError("its words point outside of it")
