"""Features of tokens for tagging: each token seen with its neighbours, its ends and its shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["window"]


def window(
    tokens: Iterable[str | Sequence[str]],
    *,
    around: int = 2,
    joined: bool = True,
    affixes: int = 4,
    shape: bool = True,
) -> list[list[str]]:
    """Return the names of features for each token of a sentence, for `hinged.SequenceTagger`.

    Parameters
    ----------
    tokens : words, or rows of columns: (word, part of speech, ...)
        The first column is the word.
    around : int, default 2
        Number of neighbours on each side that are used, in every column.
    joined : bool, default True
        Neighbouring values together: pairs of words next to the token; pairs and triples of the other columns.
    affixes : int, default 4
        Longest beginning and ending of the word itself, in characters; 0 for none.
    shape : bool, default True
        Whether the word has capitals, digits, hyphens, as in "Xx-0", and the word in lower case.

    Examples
    --------
    >>> for names in window(["Ann", "sat"], around=1, affixes=1):
    ...     print(names)
    ['word=Ann', '+1 word=sat', 'first', '+0+1 word=Ann|sat', 'begins=A', 'ends=n', 'shape=Xx', 'lower=ann']
    ['word=sat', '-1 word=Ann', 'last', '-1+0 word=Ann|sat', 'begins=s', 'ends=t', 'shape=x', 'lower=sat']
    >>> window([("cat", "NN")], affixes=0, shape=False)
    [['word=cat', 'tag=NN', 'first', 'last']]
    """
    rows = [(token,) if isinstance(token, str) else tuple(token) for token in tokens]
    if any(not row or len(row) != len(rows[0]) for row in rows):
        raise ValueError("every token of a sentence must have as many columns; got rows of different lengths.")
    n = len(rows)
    columns = [list(column) for column in zip(*rows, strict=True)]
    names = ["word", "tag", *(f"column{c}" for c in range(3, len(columns) + 1))]
    features: list[list[str]] = [[] for _ in range(n)]
    for name, column in zip(names, columns, strict=False):
        _single(features, name, column, around)
    if n:
        features[0].append("first")
        features[-1].append("last")
    if joined:
        for name, column in zip(names, columns, strict=False):
            _runs(features, name, column, 2, 1 if name == "word" else around)
            if name != "word":
                _runs(features, name, column, 3, around)
    for own, row in zip(features, rows, strict=True):
        word = row[0]
        own += [f"begins={word[:k]}" for k in range(1, min(affixes, len(word)) + 1)]
        own += [f"ends={word[-k:]}" for k in range(1, min(affixes, len(word)) + 1)]
        if shape:
            own += [f"shape={_shape(word)}", f"lower={word.lower()}"]
    return features


def _single(features: list[list[str]], name: str, column: list[str], around: int) -> None:
    n = len(column)
    for own, value in zip(features, column, strict=True):
        own.append(f"{name}={value}")
    for offset in range(1, around + 1):
        before, after = f"-{offset} {name}=", f"+{offset} {name}="
        for i in range(offset, n):
            features[i].append(before + column[i - offset])
        for i in range(n - offset):
            features[i].append(after + column[i + offset])


def _runs(features: list[list[str]], name: str, column: list[str], size: int, around: int) -> None:
    """Add runs of `size` neighbouring values that lie within `around` of the token."""
    n = len(column)
    runs = ["|".join(column[i : i + size]) for i in range(n - size + 1)]
    for offset in range(-around, around - size + 2):
        mark = f"{offset:+d}{offset + size - 1:+d} {name}="
        for i in range(max(0, -offset), min(n, n - size + 1 - offset)):
            features[i].append(mark + runs[i + offset])


def _shape(word: str) -> str:
    """Write runs of capitals as X, of small letters as x, of digits as 0; the rest as it is.

    Examples
    --------
    >>> _shape("McDonald's"), _shape("F-16"), _shape("3,000")
    ("XxXx'x", 'X-0', '0,0')
    """
    marks = ["X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c for c in word]
    return "".join(c for c, before in zip(marks, ["", *marks], strict=False) if c != before)
