"""Paged storage of weights and counts: rows by feature, columns by label, only where something was learnt.

A feature that is learnt gets a *slot*; each slot holds a *block* of up to 64 neighbouring columns for every segment of
labels it was learnt with. Blocks live in pages that never move. A page begins as wide as the labels of its day and is
widened alone, when a later label is written to it, so growth costs one page at a time and readers keep what they hold.
Where more is learnt at once than all weights take, every feature gets its slot and block at once, in order: f + 1.

    feature ─ slots ─▶ slot ─ table[slot, segment] ─▶ block ─▶ page · 1024 + place ─▶ address of `stride` columns

`depth` 2 keeps, beside each weight, the sum its average needs (docs/maths.md, "Averaging"). With `each` experts a block
holds the same labels once for every expert, one after the other: it has each · depth *layers* of `stride` columns. In
arrays of scores and coefficients, then, 64 places belong to an expert, the next 64 to the next one (`column_of`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints, Uint32s
from hinged.native import fetch, segment

__all__ = [
    "PAGE",
    "SEGMENT",
    "Store",
    "add_means",
    "add_scores",
    "add_to",
    "claim",
    "column_of",
    "fetch_blocks",
    "gather",
    "has_room",
    "narrow_page",
    "put",
]

SEGMENT_BITS, PAGE_BITS = 6, 10
SEGMENT, PAGE = 1 << SEGMENT_BITS, 1 << PAGE_BITS


class Store(NamedTuple):
    """What the loops see of a store."""

    slots: np.ndarray  # uint32 (features,): slot of each feature, 0 for none
    owners: np.ndarray  # uint32 (slots,): feature of each slot
    table: np.ndarray  # uint32 (slots, segments): block, 0 for none
    address: np.ndarray  # int64 (pages,)
    stride: np.ndarray  # int64 (pages,): columns of each block in the page
    used: np.ndarray  # int64 (5,): slots, blocks, strides of the narrowest page and the widest, features in order or 0
    like: np.ndarray  # empty, of the values' dtype
    depth: int
    each: int  # experts that have columns of their own for every label; 1 without experts


@compiled(inline=True)
def column_of(each: int, r: int, e: int) -> int:
    """Where label `r` of expert `e`, of `each`, stands among scores and coefficients, which are in whole segments."""
    return ((r >> SEGMENT_BITS) * each + e) * SEGMENT + (r & (SEGMENT - 1))


@compiled(inline=True)
def _locate(address: Ints, stride: Ints, layers: int, itemsize: int, block: int | np.int64) -> tuple[int, int]:
    """Address and number of columns of a block with so many layers."""
    # the arrays come one by one: a store taken apart inside a loop would be reference-counted at every turn
    page = np.int64(block) >> PAGE_BITS
    columns = stride[page]
    return address[page] + (np.int64(block) & (PAGE - 1)) * columns * layers * itemsize, columns


@compiled(inline=True)
def _seen(slots: Uint32s, table: Uint32s, n_blocks: int, feature: int, b: int) -> np.int64:
    """A feature's block as far as this view reaches: a writer beside it may know more features, slots and pages."""
    slot = np.int64(slots[feature]) if feature < slots.shape[0] else np.int64(0)
    block = np.int64(table[slot, b]) if slot < table.shape[0] else np.int64(0)
    return block if block < n_blocks else np.int64(0)


@compiled(helper=True)
def has_room(store: Store, slots: int, blocks: int) -> bool:
    """Whether that many new slots and blocks can still be claimed."""
    return store.used[0] + slots < store.table.shape[0] and store.used[1] + blocks < store.address.shape[0] << PAGE_BITS


@compiled(helper=True)
def narrow_page(store: Store, f: Ints, n: int, blocks: int, columns: int) -> int | np.int64:
    """A page too narrow for so many columns, among those of these features and of the next `blocks` new ones, or -1."""
    if store.used[2] >= min(SEGMENT, columns):
        return -1
    for page in range((store.used[1] + 1) >> PAGE_BITS, ((store.used[1] + blocks) >> PAGE_BITS) + 1):
        if store.stride[page] < min(SEGMENT, columns):
            return page
    for j in range(n):
        slot = np.int64(store.slots[f[j]])
        if slot > 0:
            for b in range((columns + SEGMENT - 1) >> SEGMENT_BITS):
                block = np.int64(store.table[slot, b])
                if block > 0 and store.stride[block >> PAGE_BITS] < min(SEGMENT, columns - (b << SEGMENT_BITS)):
                    return block >> PAGE_BITS
    return -1


@compiled(helper=True, forceinline=True)
def claim(store: Store, feature: int, b: int) -> np.int64:
    """The block of a feature's segment `b`, made of zeros where there was none."""
    slot = np.int64(store.slots[feature])
    if slot == 0:
        store.used[0] += 1
        slot = store.used[0]
        store.owners[slot] = feature
        store.slots[feature] = slot
    block = np.int64(store.table[slot, b])
    if block == 0:
        store.used[1] += 1
        block = store.used[1]
        store.table[slot, b] = block
    return block


@compiled(helper=True)
def fetch_blocks(store: Store, columns: Int32s, first: int) -> None:
    """Ask the processor for the blocks of these columns of a row: read one by one, each would be waited for.

    `first` is the store's feature for column 0.
    """
    slots, table, address, strides = store.slots, store.table, store.address, store.stride
    n_blocks, size = address.shape[0] << PAGE_BITS, store.depth * store.each * store.like.itemsize
    for j in range(columns.shape[0]):
        for b in range(table.shape[1]):
            block = _seen(slots, table, n_blocks, columns[j] + first, b)
            if block > 0:
                at, stride = _locate(address, strides, size, 1, block)
                fetch(at, stride * size)


@compiled(helper=True, forceinline=True)
def gather(store: Store, feature: int, columns: int, layer: int, out: Floats | Int32s) -> bool:
    """Copy a feature's values of one layer into `out`; False where nothing was ever learnt.

    Expert e has the layer e · depth for its values, and with depth 2 the next one for its sums for the average.
    """
    out[:columns] = 0
    found = False
    like, n_blocks = store.like, store.address.shape[0] << PAGE_BITS
    for b in range(min((columns + SEGMENT - 1) >> SEGMENT_BITS, store.table.shape[1])):
        block = _seen(store.slots, store.table, n_blocks, feature, b)
        if block > 0:
            found = True
            layers = store.depth * store.each
            at, stride = _locate(store.address, store.stride, layers, like.itemsize, block)
            row = segment(at, stride * layers, like)
            base = b << SEGMENT_BITS
            for c in range(min(stride, columns - base)):
                out[base + c] = row[layer * stride + c]
    return found


@compiled(helper=True, forceinline=True)
def put(store: Store, feature: int, column: int, layer: int, value: float) -> float:
    """Add to one value of a layer (as in `gather`), and return it; room and width must be there."""
    block, layers = claim(store, feature, column >> SEGMENT_BITS), store.depth * store.each
    at, stride = _locate(store.address, store.stride, layers, store.like.itemsize, block)
    row = segment(at, stride * layers, store.like)
    at_column = layer * stride + (column & (SEGMENT - 1))
    row[at_column] += value
    after: float = row[at_column]
    return after


@compiled(helper=True)
def add_scores(store: Store, f: Ints, v: Floats, n: int, columns: int, s: Floats) -> None:
    """s += Σ_j v_j W[f_j, :], in the order of the row; `s` is in whole segments, as `column_of` has them."""
    slots, table, address, strides, like = store.slots, store.table, store.address, store.stride, store.like
    depth, each = store.depth, store.each
    n_segments = min((columns + SEGMENT - 1) >> SEGMENT_BITS, table.shape[1])
    n_blocks = address.shape[0] << PAGE_BITS
    for j in range(n):
        value = v[j]
        for b in range(n_segments):
            block = _seen(slots, table, n_blocks, f[j], b)
            if block > 0:
                at, stride = _locate(address, strides, depth * each, like.itemsize, block)
                for e in range(each):
                    row = segment(at + e * depth * stride * like.itemsize, stride, like)
                    part = s[(b * each + e) << SEGMENT_BITS :]  # a sum as index, base + c, would not become SIMD code
                    for c in range(stride):
                        part[c] += value * row[c]


@compiled(helper=True)
def add_means(store: Store, f: Ints, v: Floats, n: int, columns: int, rounds: int, s: Floats) -> None:
    """The same with the mean weights, W - A / rounds."""
    slots, table, address, strides, like = store.slots, store.table, store.address, store.stride, store.like
    n_segments, each = min((columns + SEGMENT - 1) >> SEGMENT_BITS, table.shape[1]), store.each
    n_blocks = address.shape[0] << PAGE_BITS
    for j in range(n):
        for b in range(n_segments):
            block = _seen(slots, table, n_blocks, f[j], b)
            if block > 0:
                at, stride = _locate(address, strides, 2 * each, like.itemsize, block)
                for e in range(each):
                    row = segment(at + 2 * e * stride * like.itemsize, stride, like)
                    sums = segment(at + (2 * e + 1) * stride * like.itemsize, stride, like)
                    part = s[(b * each + e) << SEGMENT_BITS :]
                    for c in range(stride):
                        part[c] += v[j] * (row[c] - sums[c] / rounds)


@compiled(helper=True)
def add_to(store: Store, f: Ints, v: Floats, n: int, g: Floats, touched: Ints, n_touched: int, age: float) -> None:
    """W[f_j, c] += v_j g_c for the touched columns c, which rise; `age` weighs the average's share.

    `age` is the number of rounds learnt before this one; columns are as `column_of` has them.
    """
    first = 0
    while first < n_touched:
        b = touched[first] >> SEGMENT_BITS
        end = first + 1
        while end < n_touched and touched[end] >> SEGMENT_BITS == b:
            end += 1
        part = g[b << SEGMENT_BITS :]
        if store.depth == 1 and end - first == 2:
            _add_two(store, f, v, n, b, part, touched[first] & (SEGMENT - 1), touched[first + 1] & (SEGMENT - 1))
        else:
            _add_segment(store, f, v, n, b, part, age)
        first = end


@compiled(helper=True)
def _add_two(store: Store, f: Ints, v: Floats, n: int, b: int, g: Floats, c: int, d: int) -> None:
    """Two columns of one segment: what the rules that act on the worst pair alone need."""
    slots, table, address, strides, like = store.slots, store.table, store.address, store.stride, store.like
    g_c, g_d, each, b, e = g[c], g[d], store.each, b // store.each, b % store.each
    for j in range(n):
        block = np.int64(table[slots[f[j]], b])  # slot 0 has no blocks
        if block == 0:
            block = claim(store, f[j], b)
        at, stride = _locate(address, strides, each, like.itemsize, block)
        row = segment(at + e * stride * like.itemsize, stride, like)
        row[c] += v[j] * g_c
        row[d] += v[j] * g_d


@compiled(helper=True)
def _add_segment(store: Store, f: Ints, v: Floats, n: int, b: int, g: Floats, age: float) -> None:
    """Whole rows of one segment."""
    slots, table, address, strides = store.slots, store.table, store.address, store.stride
    like, depth, each, b, e = store.like, store.depth, store.each, b // store.each, b % store.each
    for j in range(n):
        block = np.int64(table[slots[f[j]], b])
        if block == 0:
            block = claim(store, f[j], b)
        at, stride = _locate(address, strides, depth * each, like.itemsize, block)
        at += e * depth * stride * like.itemsize
        row = segment(at, stride, like)
        value = v[j]
        for c in range(stride):
            row[c] += value * g[c]
        if depth == 2:
            sums = segment(at + stride * like.itemsize, stride, like)
            aged = like.dtype.type(age) * value
            for c in range(stride):
                sums[c] += aged * g[c]
