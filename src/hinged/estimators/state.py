"""What a learner has learnt as plain values: NumPy arrays, lists of names, and facts that JSON can hold.

The weights of a label learner lie in pages with room for more (`hinged.loops.pages`). Here they are blocks without it:

    store{i}.owners   uint32 (rows,)                  the feature of each row; 0 is the bias, column c is c + 1
    store{i}.held     bool (rows, segments)           which segments of 64 columns were learnt
    store{i}.values   (blocks, layers, columns)       one block for each True of `held`, in its order
    store{i}.stride   int64 (1,)                      columns that a block of the pages has room for
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count, takewhile
from typing import Any, NamedTuple

import numpy as np

from hinged.estimators.compact import pack, unpack
from hinged.loops.blocks import SparseValues
from hinged.loops.pages import PAGE, SEGMENT

__all__ = ["ModelState", "arrays_to_restore", "blocks_of_pages", "kinds_of_stores"]

STORE = re.compile(r"store\d+\.")


@dataclass(frozen=True)
class ModelState:
    """What a learner has learnt, as plain values that any program can keep, send and merge.

    Attributes
    ----------
    about : dict
        Facts as plain JSON: the estimator, its settings, the type of its weights, what it chose by itself.
    arrays : dict of name → array
        Weights, counters and statistics.
    names : dict of list
        Labels, and the names of features where rows are dicts or data frames. Words of text are arrays, `words.*`.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.TextClassifier()
    >>> for text, folder in [("tax form due", "work"), ("cake recipe", "home"), ("the tax office", "work")] * 2:
    ...     model.learn_one(text, folder)
    >>> state = ModelState.from_bytes(model.get_state().to_bytes())
    >>> hinged.TextClassifier().set_state(state).predict_one("a tax question")
    'work'
    """

    about: dict[str, Any]
    arrays: dict[str, np.ndarray]
    names: dict[str, list[Hashable]]

    @property
    def counts(self) -> np.ndarray:
        """Rounds, rounds learnt, mistakes, updates, new labels, and known labels, in this order."""
        return self.arrays["ledger.counts" if "ledger.counts" in self.arrays else "counts"]

    def to_bytes(self) -> bytes:
        """Return the compact form: exact, without room for more, compressed; for the default text learner of 500
        messages a seventh of the arrays."""
        return pack(self.about, self.arrays, self.names)

    @classmethod
    def from_bytes(cls, data: bytes) -> ModelState:
        """Return the state that `to_bytes` packed; a ValueError says that the bytes are none, or damaged."""
        return PackedState(*unpack(data))


class PackedState(ModelState):
    """A state from bytes, whose sparse arrays are made plain ones when its arrays are first asked for."""

    def __init__(self, about: dict[str, Any], sparse: dict[str, Any], names: dict[str, list[Hashable]]) -> None:
        vars(self).update(about=about, _sparse=sparse, names=names)

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:  # type: ignore[override]
        """Weights, counters and statistics."""
        return {name: a.dense() if isinstance(a, SparseValues) else a for name, a in vars(self)["_sparse"].items()}


def arrays_to_restore(state: ModelState) -> dict[str, Any]:
    """Return the arrays as learners restore them: values of stores may be sparse if nobody asked for plain ones."""
    asked = "arrays" in vars(state)
    return dict(state.arrays if asked else vars(state)["_sparse"])


class Kind(NamedTuple):
    """What the blocks of a store are made of."""

    layers: int
    dtype: np.dtype


def kinds_of_stores(model: object) -> dict[str, Kind]:
    """Return what each store of a model holds; nothing where it has no stores."""
    stores = (paged.store for paged in getattr(model, "stores", ()))
    return {f"store{i}": Kind(store.depth * store.each, store.like.dtype) for i, store in enumerate(stores)}


def blocks_of_pages(arrays: Mapping[str, np.ndarray], kinds: Mapping[str, Kind]) -> dict[str, np.ndarray]:
    """Return copies of the arrays of a model, with blocks in place of the pages of its stores."""
    kept = {name: array.copy() for name, array in arrays.items() if not STORE.match(name)}
    for store, (layers, dtype) in kinds.items():
        table, named = arrays[f"{store}.table"], map(f"{store}.page{{}}".format, count())
        pages = [arrays[name] for name in takewhile(arrays.__contains__, named)]
        held = table > 0
        blocks = table[held].astype(np.int64)
        strides = [page.shape[1] // layers for page in pages]
        widest = max(strides, default=1)
        values = np.zeros((len(blocks), layers, widest), dtype)
        rise = held.shape[1] == 1  # then slots and blocks have the same numbers
        for i, (page, stride) in enumerate(zip(pages, strides, strict=True)):
            here = slice(*np.searchsorted(blocks, (i * PAGE, (i + 1) * PAGE))) if rise else blocks // PAGE == i
            values[here, :, :stride] = page.reshape(PAGE, layers, stride)[blocks[here] % PAGE]
        width = SEGMENT if held.shape[1] > 1 else int(np.flatnonzero(values.any(axis=(0, 1))).max(initial=0)) + 1
        kept[f"{store}.owners"], kept[f"{store}.held"] = arrays[f"{store}.owners"].copy(), held
        kept[f"{store}.values"] = np.ascontiguousarray(values[:, :, :width])
        kept[f"{store}.stride"] = np.array([widest])
    return kept
