"""Compile the loops that read text ahead of their first use."""

from __future__ import annotations

import numpy as np

from hinged.io.examples.chunk import Chunk, Named
from hinged.text.hasher import Hasher
from hinged.text.tokens import hash_words
from hinged.text.vocabulary import Vocabulary

__all__ = ["warm_up"]


def warm_up() -> None:
    """Read two words, and two named features, into each kind of space; hash a word of a state."""
    pair = np.array([[0, 2], [1, 3]], np.int64)
    named = Named(
        np.array([0, 2], np.int64),
        np.frombuffer(bytearray(b"a b"), np.uint8),
        np.zeros((2, 2), np.int64),
        pair,
        np.ones(2, "f4"),
    )
    chunk = Chunk(["x"], np.array([1]), "nowhere", named=named)
    for space in (Vocabulary(), Hasher(bits=8)):
        space.fit(["a b"])
        space.read(chunk, grow=True)
        space.transform_one("a b")
        space.name_of(0)
        assert space.word_list_ is not None
        space.word_list_.truncate(0)
    read_only, ways, hashes = np.frombuffer(b"ab", np.uint8), np.zeros(1, np.uint8), np.zeros(1, np.uint64)
    hash_words(read_only, np.array([0, 2]), np.zeros(1, np.uint64), ways, hashes)
