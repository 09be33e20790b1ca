"""What every reader hands on: a handful of examples as columns, never one object per value."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hinged.io.examples.columns import Layout

__all__ = ["Chunk", "Named", "Strings"]


class Strings(NamedTuple):
    """UTF-8 texts as pieces of one buffer, as Arrow keeps them."""

    buffer: np.ndarray  # uint8
    starts: np.ndarray  # int64 (texts,)
    ends: np.ndarray  # int64 (texts,)


class Named(NamedTuple):
    """Sparse rows whose features have names: namespace and name as pieces of one buffer."""

    indptr: np.ndarray  # int64 (rows + 1,)
    buffer: np.ndarray  # uint8
    spaces: np.ndarray  # int64 (2, features): where the namespace begins and ends; empty for none
    names: np.ndarray  # int64 (2, features): where the name begins and ends
    values: np.ndarray  # float32 (features,)


@dataclass
class Chunk:
    """Some consecutive examples; of `texts`, `named` and `columns` exactly one is given.

    Attributes
    ----------
    answers : list of labels, or of lists of labels, or None for an example without
    lines : int64 array
        Line (or record) number of each example in its file, from 1.
    source : str
        The file it came from, for messages.
    weights : float64 array, optional
    tags : list of str, optional
        What the file calls each example, for predictions.
    texts : dict of field → Strings, optional
    named : Named, optional
    columns : (indptr, indices, values), optional
        Rows of a format whose features are numbers.
    skipped : int
        Lines left out since the last chunk because they were malformed.
    layout : Layout, optional
        Which columns or keys were read as what, where the format has them.
    """

    answers: list[Hashable | list[Hashable] | None]
    lines: np.ndarray
    source: str
    weights: np.ndarray | None = None
    tags: list[str] | None = None
    texts: dict[str, Strings] = field(default_factory=dict)
    named: Named | None = None
    columns: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    skipped: int = 0
    layout: Layout | None = None

    def __len__(self) -> int:
        return len(self.answers)
