"""Sentences as users have them, read quickly: lists of tokens with named features, or rows of a matrix.

A token is a list of feature names (each has the value 1; names that come twice count twice) or a dict. In a dict a
number or a bool is the feature's value, and a word joins its name: ``{"word": "the"}`` is the feature "word:the", as
python-crfsuite reads it; nested dicts and lists do likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from itertools import chain, islice, repeat
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from hinged.compiling.arrays import Floats, Ints
from hinged.estimators.inputs import as_matrix, check_finite, from_matrix
from hinged.loops.tokens import Sentences

__all__ = [
    "Names",
    "SentenceReader",
    "from_rows",
    "from_tokens",
    "is_matrices",
    "listed",
    "sizes_of",
    "stacked",
    "token_features",
]

UNKNOWN = 2**31 - 2  # beyond every feature that can have a weight
ALL_ONES: dict[np.dtype, np.ndarray] = {
    np.dtype(np.float64): np.zeros(0),
    np.dtype(np.float32): np.zeros(0, np.float32),
}
PLAIN = {int, float, bool}


class Names(dict[Hashable, int]):
    """Numbers of feature names; asking for a new one gives it the next number.

    Examples
    --------
    >>> names = Names(["word:the"])
    >>> names["word:cat"], names.get("word:dog", -1), len(names)
    (1, -1, 2)
    """

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        super().__init__((name, i) for i, name in enumerate(names))

    def __missing__(self, name: Hashable) -> int:
        number = self[name] = len(self)
        return number

    def __reduce__(self) -> tuple[type[Names], tuple[list[Hashable]]]:
        return type(self), (list(self),)


class SentenceReader(NamedTuple):
    """How sentences are read, by the features met so far: their names, or the columns of matrices."""

    names: Names | None = None
    width: int | None = None

    @property
    def n_known(self) -> int:
        """How many features were met."""
        return self.width or 0 if self.names is None else len(self.names)

    def mark(self) -> Callable[[], SentenceReader]:
        """Remember this moment; the function returns the reader without the names that came after it."""
        names = self.names
        n = 0 if names is None else len(names)

        def back() -> SentenceReader:
            if names is None or len(names) <= n:
                return self
            return self._replace(names=Names(islice(names, n)))  # others may be reading the longer list

        return back


def listed(X: object) -> list[Any]:
    """Sentences in a list; refuses what has no order, and a single sentence."""
    if isinstance(X, str | bytes | Mapping | Set) or not hasattr(X, "__iter__"):
        raise TypeError(f"X must be a list of sentences, each a list of tokens; got a {type(X).__name__}.")
    return X if isinstance(X, list) else list(X)


def is_matrices(X: list[Any]) -> bool:
    """Return True if the sentences are matrices, (tokens, features) each."""
    return len(X) > 0 and all(sparse.issparse(x) or (isinstance(x, np.ndarray) and x.ndim == 2) for x in X)


# ------------------------------------------------------------------ names
def from_tokens(X: list[Any], names: Names, dtype: np.dtype, grow: bool) -> Sentences:
    """Sentences of tokens with named features; new names get numbers where they may `grow`, else count for nothing."""
    if not set(map(type, X)) <= {list, tuple}:
        X = [_tokens(i, sentence) for i, sentence in enumerate(X)]
    ends = _offsets(map(len, X), len(X))
    if len(X) == 0 or (ends[1:] == ends[:-1]).any():
        raise ValueError(_empty(ends))
    tokens = list(chain.from_iterable(X))
    indptr, flat, values = _flat(tokens, dtype)
    look_up = map(names.__getitem__, flat) if grow else map(names.get, flat, repeat(UNKNOWN))
    try:
        features = np.fromiter(look_up, np.int32, int(indptr[-1]))
    except TypeError:
        odd = next(name for token in tokens for name in token if not isinstance(name, Hashable))
        raise TypeError(
            f"a feature's name must be hashable (a str, a tuple, ...); got a {type(odd).__name__}, {odd!r}. For values "
            "use a dict of name → value."
        ) from None
    if values is None:
        return Sentences(ends, indptr, features, ALL_ONES[dtype])
    return Sentences(ends, *_without_zeros(indptr, features, values))


def _flat(tokens: list[Any], dtype: np.dtype) -> tuple[Ints, Iterable[Hashable], Floats | None]:
    """Where the features of each token begin, all their names, and their values; None where each is 1.

    Lists of names and dicts of plain numbers, the common cases, are not looked into one by one.
    """
    kinds = set(map(type, tokens))
    if kinds <= {list, tuple}:
        return _offsets(map(len, tokens), len(tokens)), chain.from_iterable(tokens), None
    if kinds == {dict}:
        given = list(chain.from_iterable(map(dict.values, tokens)))
        if set(map(type, given)) <= PLAIN:
            return _offsets(map(len, tokens), len(tokens)), chain.from_iterable(tokens), _numbers(given, dtype)
    pairs = [list(token_features(token)) for token in tokens]
    values = _numbers([value for token in pairs for _, value in token], dtype)
    return _offsets(map(len, pairs), len(pairs)), (name for token in pairs for name, _ in token), values


def _without_zeros(indptr: np.ndarray, features: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Compressed rows without the zeros among their values; no values at all where the rest are 1."""
    kept = values != 0.0
    if not kept.all():
        before = np.concatenate([[0], np.cumsum(kept)])
        indptr, features, values = before[indptr], features[kept], values[kept]
    return indptr, features, ALL_ONES[values.dtype] if bool((values == 1.0).all()) else values


def token_features(token: object) -> Iterator[tuple[Hashable, float]]:
    """Names and values of one token's features.

    Examples
    --------
    >>> list(token_features({"word": "the", "capital": False, "length": 3, "next": {"word": "cat"}}))
    [('word:the', 1.0), ('capital', 0.0), ('length', 3.0), ('next:word:cat', 1.0)]
    """
    if isinstance(token, Mapping):
        for name, value in token.items():
            yield from _named_features(name, value)
    elif isinstance(token, Set):
        yield from ((name, 1.0) for name in sorted(token, key=repr))
    elif isinstance(token, list | tuple):
        yield from ((name, 1.0) for name in token)
    else:
        raise TypeError(
            f"a token must be a list of feature names or a dict of name → value; got a {type(token).__name__}, "
            f"{token!r}. hinged.text.window makes features of words."
        )


def _named_features(name: Hashable, value: object) -> Iterator[tuple[Hashable, float]]:
    """The features of one entry of a dict."""
    if isinstance(value, Real | np.number | np.bool_):
        yield name, _float(name, value)
    elif isinstance(value, str):
        yield f"{name}:{value}", 1.0
    elif isinstance(value, Mapping | list | tuple | Set):
        for inner, number in token_features(value):
            yield f"{name}:{inner}", number
    else:
        raise TypeError(
            f"a feature's value must be a number, a bool, a word, or a dict or list of them; got {name!r}: {value!r}."
        )


def _tokens(i: int, sentence: object) -> list[Any]:
    if isinstance(sentence, str | bytes | Mapping | Set) or not hasattr(sentence, "__iter__"):
        raise TypeError(
            f"a sentence must be a list of tokens; sentence {i} is a {type(sentence).__name__}, {sentence!r}."
        )
    return list(sentence)


def _offsets(lengths: Iterable[int], n: int) -> np.ndarray:
    ends = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, n), out=ends[1:])
    return ends


def _empty(ends: np.ndarray) -> str:
    if len(ends) == 1:
        return "X must hold at least one sentence; got none."
    at = int(np.flatnonzero(ends[1:] == ends[:-1])[0])
    return f"a sentence must have at least one token; sentence {at} (counted from 0) has none. Leave it out."


def _numbers(values: list[float], dtype: np.dtype) -> np.ndarray:
    try:
        data = np.array(values, np.float64)
    except OverflowError:
        raise ValueError("values must not exceed 1e30; got a larger whole number. Scale the features down.") from None
    check_finite(data, dtype)
    return data.astype(dtype, copy=False)


def _float(name: Hashable, value: Real | np.number | np.bool_) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(
            f"values must not exceed 1e30; got a larger whole number for {name!r}. Scale it down."
        ) from None


# ------------------------------------------------------------------ matrices
def stacked(X: list[Any]) -> tuple[sparse.csr_array, Ints]:
    """Matrices of sentences as one matrix, and the tokens of each sentence."""
    widths = {x.shape[1] for x in X}
    if len(widths) > 1:
        raise ValueError(f"the matrices of X must be equally wide; got {sorted(widths)} columns.")
    sizes = np.array([x.shape[0] for x in X], np.int64)
    return sparse.vstack([sparse.csr_array(x) for x in X], format="csr"), sizes


def sizes_of(lengths: ArrayLike) -> Ints:
    """The tokens of each sentence, as users give them beside one matrix."""
    sizes = np.asarray(lengths)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any():
        raise ValueError(f"lengths must be whole numbers, the tokens of each sentence; got {lengths!r}.")
    return sizes.astype(np.int64)


def from_rows(X: object, sizes: Ints, who: object, dtype: np.dtype) -> tuple[Sentences, int]:
    """Sentences of so many rows of a matrix each, and its width."""
    matrix = as_matrix(X, who)
    if int(sizes.sum()) != matrix.shape[0]:
        raise ValueError(f"lengths must add up to the rows of X; got {int(sizes.sum())} for {matrix.shape[0]} rows.")
    ends = _offsets(sizes.tolist(), len(sizes))
    if len(sizes) == 0 or (sizes == 0).any():
        raise ValueError(_empty(ends))
    rows = from_matrix(matrix, dtype)
    return Sentences(ends, *_without_zeros(rows.indptr, rows.indices, rows.data)), matrix.shape[1]
