"""Which characters make words, and their lower case: one table for the compiled tokeniser."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

__all__ = ["BREAK", "FIRST_BEYOND", "character_table", "plain_table"]

FIRST_BEYOND = 0x20000  # ideographs follow: word characters without case, and no table for them
BREAK = -1


@cache
def character_table() -> np.ndarray:
    """The lower case of every code point below `FIRST_BEYOND`; `BREAK` for one that ends a word.

    Letters, digits, marks on letters and the underscore make words. A lower case of several characters (there is one,
    of "İ") is taken by its first.

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
def plain_table(keep_case: bool) -> np.ndarray:
    """What to write for each byte that is a word character by itself; 0 for a byte that needs a closer look.

    Examples
    --------
    >>> plain_table(False)[[*b"aA-"]].tolist(), plain_table(True)[[*b"aA-"]].tolist()
    ([97, 97, 0], [97, 65, 0])
    """
    small = character_table()[:128]
    table = np.zeros(256, np.uint8)
    table[:128] = np.where(small == BREAK, 0, np.arange(128) if keep_case else small)
    return table
