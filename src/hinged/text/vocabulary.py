"""A vocabulary that grows with the stream: exact and reversible."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinged.text.rows import Space
from hinged.text.space import TextSpace

__all__ = ["Vocabulary"]


class Vocabulary(TextSpace):
    """One column for every distinct feature, in order of appearance.

    Words are runs of letters, digits, marks and underscores, of any script; lower-cased. A document is a text, or a
    dict of field → text whose features get the field as a tag: ``subject:tax``. A field called "text" gives none.

    Parameters
    ----------
    words : (int, int) or None, default (1, 1)
        Shortest and longest run of words that is a feature.
    chars : (int, int) or None, default None
        Shortest and longest run of characters within a word, the space at either end included; tagged ``~:``.
    values : "binary", "counts" or "log", default "binary"
        1 for a feature that occurs, how often it occurs, or 1 + log of that.
    lowercase : bool, default True
    field_limit : int or None, default None
        A field with more distinct features than this weighs as much as one of so many: its values are multiplied by
        √(limit / features), so that a long body does not drown sender and subject. None lets it.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> vocabulary.fit_transform(["The cat", "the dog"]).toarray().tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    >>> vocabulary.get_feature_names_out().tolist()
    ['the', 'cat', 'dog']
    >>> Vocabulary(words=(1, 2)).fit([{"subject": "Tax form"}]).get_feature_names_out().tolist()
    ['subject:tax', 'subject:form', 'subject:tax form']
    """

    def __init__(
        self,
        words: Any = (1, 1),
        chars: Any = None,
        values: str = "binary",
        lowercase: bool = True,
        field_limit: int | None = None,
    ) -> None:
        self.words = words
        self.chars = chars
        self.values = values
        self.lowercase = lowercase
        self.field_limit = field_limit

    def __len__(self) -> int:
        return 0 if self.word_list_ is None else len(self.word_list_)

    def name_of(self, column: int) -> str:
        """Return the word of a column."""
        assert self.word_list_ is not None
        return self.word_list_[column]

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return all words, in the order of the columns."""
        return np.array([] if self.word_list_ is None else self.word_list_.texts(), object)

    def _space(self) -> Space:
        return self._settled(hashed=False, signed=False, mask=0, seed=0)

    def width(self) -> int:
        return len(self)
