"""What a vocabulary and a hasher share: settings, documents in, sparse rows out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse

from hinged.interface import Estimator, not_fitted
from hinged.io.examples.chunk import Chunk
from hinged.loops.rows import Rows
from hinged.text.documents import as_documents, side_by_side, tags_of
from hinged.text.plain import is_plain, rows_of_names, rows_of_plain_words
from hinged.text.rows import BINARY, COUNTS, LOG, Documents, Space, rows_of_documents
from hinged.text.tokens import Grams
from hinged.text.words import WordList

__all__ = ["TextSpace"]

VALUES = {"binary": BINARY, "counts": COUNTS, "log": LOG}
LONGEST_GRAM = 20


class TextSpace(Estimator, ABC):
    """From documents to rows; `Vocabulary` and `Hasher` define what a column is."""

    _kinds = ("TransformerMixin",)

    word_list_: WordList | None = None
    words: Any
    chars: Any
    values: Any
    lowercase: Any
    field_limit: Any

    # ------------------------------------------------------------------ scikit-learn's names
    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the words of these documents, forgetting all others."""
        self.word_list_ = None
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Learn the words of these documents as well."""
        self.read(X, grow=True)
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return documents as sparse rows (documents, columns), float32, without unknown words."""
        rows = self.read(X, grow=False)
        return self._matrix(rows)

    def fit_transform(self, X: Any, y: object = None) -> sparse.csr_matrix:
        """`fit`, then `transform`, reading the documents once."""
        self.word_list_ = None
        rows = self.read(X, grow=True)
        return self._matrix(rows)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Accept None or "default": sparse rows, which data frames cannot hold."""
        if transform not in (None, "default"):
            raise ValueError(f"rows of words are sparse, which data frames do not hold; got transform={transform!r}.")
        return self

    def learn_one(self, x: Any) -> None:
        """Learn the words of one document."""
        self.read([x], grow=True)

    def transform_one(self, x: Any) -> dict[str, float]:
        """Return one document as a dict of feature → value, without unknown words."""
        rows = self.read([x], grow=False)
        width = self.width()
        pairs = zip(rows.indices.tolist(), rows.data.tolist(), strict=True)
        return {str(self.name_of(column)): value for column, value in pairs if column < width}

    @abstractmethod
    def name_of(self, column: int) -> str | int:
        """Return the word of a column."""

    # ------------------------------------------------------------------ rows
    @abstractmethod
    def _space(self) -> Space:
        """Return the settings as the loops read them."""

    @abstractmethod
    def width(self) -> int:
        """Return the number of columns."""

    def _settled(self, **more: Any) -> Space:
        """Check the settings and return them as the loops read them."""
        if self.values not in VALUES:
            raise ValueError(f"values must be 'binary', 'counts' or 'log'; got {self.values!r}.")
        words, chars = _runs("words", self.words), _runs("chars", self.chars)
        if not words[1] and not chars[1]:
            raise ValueError("words and chars are both None, so a document has no features; give words=(1, 1).")
        limit = 0 if self.field_limit is None else self.field_limit
        if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < (self.field_limit is not None):
            raise ValueError(f"field_limit must be a whole number of at least 1, or None; got {self.field_limit!r}.")
        return Space(Grams(*words, *chars), VALUES[self.values], not self.lowercase, int(limit), **more)

    def read(self, X: Any, grow: bool) -> Rows:
        """Return rows of documents or of a reader's chunk; refused input leaves the words unchanged."""
        space = self._space()
        if self.word_list_ is None:
            if not grow and not space.hashed:
                raise not_fitted(f"This {type(self).__name__} knows no words yet; call fit or partial_fit first.")
            words = WordList()
        else:
            words = self.word_list_
        if isinstance(X, Chunk) and X.named is not None:
            rows = rows_of_names(X.named, space, words, grow and self._keeps_words())
        else:
            documents = _of_chunk(X) if isinstance(X, Chunk) else as_documents(X)
            rows_of = rows_of_plain_words if is_plain(documents, space) else rows_of_documents
            rows = rows_of(documents, space, words, grow and self._keeps_words())
        if grow:
            self.word_list_ = words
        return rows

    def _keeps_words(self) -> bool:
        return True

    def _matrix(self, rows: Rows) -> sparse.csr_matrix:
        width = self.width()
        indptr, indices, data = rows.indptr, rows.indices, rows.data
        known = indices < width
        if not known.all():
            indptr = np.concatenate([[0], np.cumsum(known)])[indptr]
            indices, data = indices[known], data[known]
        matrix = sparse.csr_matrix((data, indices, indptr.astype(np.int32)), shape=(len(indptr) - 1, width))
        matrix.has_canonical_format = True
        return matrix

    def __sklearn_is_fitted__(self) -> bool:
        return self.word_list_ is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _of_chunk(chunk: Chunk) -> Documents:
    texts = tuple(chunk.texts.values())
    addresses = side_by_side([strings.buffer.ctypes.data + strings.starts for strings in texts])
    lengths = side_by_side([strings.ends - strings.starts for strings in texts])
    return Documents(tags_of(chunk.texts), addresses, lengths, texts)


def _runs(name: str, value: Any) -> tuple[int, int]:
    """Return the shortest and longest run, (0, 0) for none."""
    if value is None:
        return 0, 0
    try:
        shortest, longest = (value, value) if isinstance(value, int) else value
        sound = int(shortest) == shortest and int(longest) == longest and 1 <= shortest <= longest <= LONGEST_GRAM
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise ValueError(
            f"{name} is None or (shortest, longest) with 1 ≤ shortest ≤ longest ≤ {LONGEST_GRAM}; got {value!r}."
        )
    return int(shortest), int(longest)
