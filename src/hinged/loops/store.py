"""What the loops see of a store: rows by feature, columns by label, in pages at given addresses.

A feature that is learnt gets a *slot*. Where there are at most 64 columns, a slot is also the number of its one *block*
(`hinged.loops.pages`). Where there are more, a slot has a chain of small blocks, only for labels it was learnt with
(`hinged.loops.block_chains`).

    feature ─ slots ─▶ slot = block                        ─▶ page · 1024 + place ─▶ address of `stride` columns
    feature ─ slots ─▶ slot ─ heads ─▶ block ─▶ block ─▶ … ─▶ page · 1024 + place ─▶ address of a head and 8 columns

`depth` 2 keeps, beside each weight, the sum its average needs (docs/maths.md, "Averaging"). With `each` experts a block
holds the same labels once for every expert, one after the other: it has each · depth *layers* of so many columns. In
arrays of scores and coefficients, then, 64 places belong to an expert, the next 64 to the next one (`column_of`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled

__all__ = ["PAGE", "PAGE_BITS", "SEGMENT", "SEGMENT_BITS", "Store", "column_of", "new_slot"]

SEGMENT_BITS, PAGE_BITS = 6, 10
SEGMENT, PAGE = 1 << SEGMENT_BITS, 1 << PAGE_BITS


class Store(NamedTuple):
    """What the loops see of a store."""

    slots: np.ndarray  # uint32 (features,): slot of each feature, 0 for none
    owners: np.ndarray  # uint32 (slots,): feature of each slot
    heads: np.ndarray  # uint32 (slots,): first block of each slot's chain, 0 for none; one number without chains
    address: np.ndarray  # int64 (pages,)
    stride: np.ndarray  # int64 (pages,): columns of each block in the page
    used: np.ndarray  # int64 (5,): slots, blocks, strides of the narrowest page and the widest, features in order or 0
    like: np.ndarray  # empty, of the values' dtype
    depth: int
    each: int  # experts that have columns of their own for every label; 1 without experts
    in_chains: bool


@compiled(inline=True)
def column_of(each: int, r: int | np.int64, e: int) -> int | np.int64:
    """Where label `r` of expert `e`, of `each`, stands among scores and coefficients, which are in whole segments."""
    return ((r >> SEGMENT_BITS) * each + e) * SEGMENT + (r & (SEGMENT - 1))


@compiled(helper=True, forceinline=True)
def new_slot(store: Store, feature: int) -> np.int64:
    """Give a feature the next slot."""
    store.used[0] += 1
    slot: np.int64 = store.used[0]
    store.owners[slot] = feature
    store.slots[feature] = slot
    return slot
