"""Columns by hash: fixed width, nothing to agree on beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinged.text.rows import SPREAD, Space
from hinged.text.space import TextSpace
from hinged.text.words import find_key

__all__ = ["Hasher"]


class Hasher(TextSpace):
    """A feature's column is the low bits of its 64-bit hash; two features may share one.

    `transform` needs no `fit`. The first word learnt in each column is remembered, so that a model can explain itself
    in words.

    Parameters
    ----------
    bits : int, default 22
        2 to that power columns, at most 30.
    seed : int, default 0
        A different seed gives different columns.
    signed : bool, default False
        Take the sign of the value from another bit of the hash, so that shared columns cancel on average.
    words, chars, values, lowercase, field_limit
        As in `Vocabulary`.
    remember : bool, default True
        Keep the words behind the columns that were learnt.

    Examples
    --------
    >>> hasher = Hasher(bits=10)
    >>> hasher.transform(["the cat", "the dog"]).shape
    (2, 1024)
    >>> hasher.learn_one("the cat")
    >>> sorted(hasher.transform_one("the cat sat"))[-2:]
    ['cat', 'the']
    """

    def __init__(
        self,
        bits: int = 22,
        seed: int = 0,
        signed: bool = False,
        words: Any = (1, 1),
        chars: Any = None,
        values: str = "binary",
        lowercase: bool = True,
        remember: bool = True,
        field_limit: int | None = None,
    ) -> None:
        self.bits = bits
        self.seed = seed
        self.signed = signed
        self.words = words
        self.chars = chars
        self.values = values
        self.lowercase = lowercase
        self.remember = remember
        self.field_limit = field_limit

    def name_of(self, column: int) -> str | int:
        """Return the first word learnt in a column; the column's number if there is none."""
        if self.word_list_ is not None:
            key = np.uint64(int(column) * int(SPREAD) % 2**64)
            place = find_key(self.word_list_.store, len(self.word_list_), key)
            if place >= 0:
                return self.word_list_[place]
        return column

    def _keeps_words(self) -> bool:
        return bool(self.remember)

    def _space(self) -> Space:
        if isinstance(self.bits, bool) or not isinstance(self.bits, int | np.integer) or not 1 <= self.bits <= 30:
            raise ValueError(f"bits must be a whole number from 1 to 30; got bits={self.bits!r}.")
        if not isinstance(self.seed, int | np.integer) or not 0 <= self.seed < 1 << 63:
            raise ValueError(f"seed must be a whole number from 0 to 2**63 - 1; got seed={self.seed!r}.")
        return self._settled(hashed=True, signed=bool(self.signed), mask=(1 << int(self.bits)) - 1, seed=int(self.seed))

    def width(self) -> int:
        return 1 << int(self.bits)
