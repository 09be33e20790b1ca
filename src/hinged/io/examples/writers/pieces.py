"""Values of a chunk as Python has them, for writers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from hinged.io.examples.chunk import Chunk, Strings

__all__ = ["Feature", "features_of", "labels_as_text", "numbers_as_text", "texts_of"]

Feature = tuple[str, str, str]  # namespace, name, value as it is spelt


def texts_of(strings: Strings) -> list[str]:
    """Texts as strings."""
    raw = strings.buffer.tobytes()
    places = zip(strings.starts.tolist(), strings.ends.tolist(), strict=True)
    return [raw[start:end].decode("utf-8", "replace") for start, end in places]


def numbers_as_text(values: np.ndarray) -> list[str]:
    """The shortest spelling that reads as the same number.

    Examples
    --------
    >>> numbers_as_text(np.array([0.1, 1.0, -2.5], np.float32))
    ['0.1', '1', '-2.5']
    """
    known, which = np.unique(values, return_inverse=True)
    spelt = [str(int(value)) if value == int(value) and abs(value) < 1e15 else str(value) for value in known]
    return [spelt[i] for i in which.tolist()]


def features_of(chunk: Chunk) -> Iterator[list[Feature]]:
    """The features of each row; columns are named by their number."""
    if chunk.columns is not None:
        indptr, indices, values = chunk.columns
        names = list(map(str, indices.tolist()))
        spaces = [""] * len(names)
    else:
        named: Any = chunk.named
        indptr, values = named.indptr, named.values
        names = texts_of(Strings(named.buffer, *named.names))
        spaces = texts_of(Strings(named.buffer, *named.spaces))
    features = list(zip(spaces, names, numbers_as_text(values), strict=True))
    for start, end in pairwise(indptr.tolist()):
        yield features[start:end]


def labels_as_text(answer: Any, line: int, forbidden: str, format: str) -> str:
    """One label, several with commas, or nothing; a label that the format could not give back is refused."""
    labels = [] if answer is None else answer if isinstance(answer, list) else [answer]
    for label in labels:
        if not label or any(c in forbidden or c.isspace() for c in label) or "," in label or label[0] == "'":
            raise ValueError(
                f"the label {label!r} of example {line} cannot be written as {format}, where blanks, commas and "
                f"{' '.join(forbidden)} mean something; rename it, or write jsonl."
            )
    return ",".join(labels)
