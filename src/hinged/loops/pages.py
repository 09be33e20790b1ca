"""Paged storage of weights and counts: rows by feature, columns by label, only where something was learnt.

`hinged.loops.store` says how features, blocks and pages hang together. Here are the operations on a store: with one
block for each feature where there are at most 64 columns, and otherwise by way of `hinged.loops.block_chains`.

Blocks live in pages that never move. A page begins as wide as the labels of its day and is widened alone, when a later
label is written to it, so growth costs one page at a time and readers keep what they hold. Where more is learnt at once
than all weights take, every feature gets its block at once, in order: f + 1.
"""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints, Uint32s
from hinged.loops.block_chains import (
    HEAD,
    PART,
    PART_BITS,
    add_means_of_chains,
    add_scores_of_chains,
    add_to_chains,
    fetch_chains,
    gather_chain,
    link_of,
    n_parts,
)
from hinged.loops.store import PAGE, PAGE_BITS, SEGMENT, SEGMENT_BITS, Store, new_slot
from hinged.native import fetch, segment

__all__ = [
    "add_means",
    "add_scores",
    "add_to",
    "claim",
    "fetch_blocks",
    "gather",
    "has_room",
    "most_blocks",
    "narrow_page",
    "put",
]


@compiled(inline=True)
def _locate(address: Ints, stride: Ints, layers: int, itemsize: int, block: int | np.int64) -> tuple[int, int]:
    """Address and number of columns of a block with so many layers."""
    # the arrays come one by one: a store taken apart inside a loop would be reference-counted at every turn
    page = np.int64(block) >> PAGE_BITS
    columns = stride[page]
    return address[page] + (np.int64(block) & (PAGE - 1)) * columns * layers * itemsize, columns


@compiled(inline=True)
def _seen(slots: Uint32s, n_blocks: int, feature: int) -> np.int64:
    """A feature's block as far as this view reaches: a writer beside it may know more features and pages."""
    block = np.int64(slots[feature]) if feature < slots.shape[0] else np.int64(0)
    return block if block < n_blocks else np.int64(0)


@compiled(helper=True)
def most_blocks(store: Store, columns: int) -> int:
    """Blocks that a feature may need for so many columns."""
    return n_parts(columns) if store.in_chains else 1


@compiled(helper=True)
def has_room(store: Store, slots: int, blocks: int) -> bool:
    """Whether that many new slots and blocks can still be claimed."""
    n_blocks = store.address.shape[0] << PAGE_BITS
    return store.used[0] + slots < store.owners.shape[0] and store.used[1] + blocks < n_blocks


@compiled(helper=True)
def narrow_page(store: Store, f: Ints, n: int, blocks: int, columns: int) -> int | np.int64:
    """A page too narrow for so many columns, among those of these features and of the next `blocks` new ones, or -1."""
    if store.in_chains or store.used[2] >= min(SEGMENT, columns):
        return -1
    for page in range((store.used[1] + 1) >> PAGE_BITS, ((store.used[1] + blocks) >> PAGE_BITS) + 1):
        if store.stride[page] < columns:
            return page
    for j in range(n):
        block = np.int64(store.slots[f[j]])
        if block > 0 and store.stride[block >> PAGE_BITS] < columns:
            return block >> PAGE_BITS
    return -1


@compiled(helper=True, forceinline=True)
def claim(store: Store, feature: int) -> np.int64:
    """The block of a feature in a store without chains, made of zeros where there was none."""
    slot = np.int64(store.slots[feature])
    if slot == 0:
        slot = new_slot(store, feature)
        store.used[1] = slot
    return slot


@compiled(helper=True)
def fetch_blocks(store: Store, columns: Int32s, first: int) -> None:
    """Ask the processor for the blocks of these columns of a row: read one by one, each would be waited for.

    `first` is the store's feature for column 0.
    """
    if store.in_chains:
        fetch_chains(store, columns, first)
        return
    slots, address, strides = store.slots, store.address, store.stride
    n_blocks, size = address.shape[0] << PAGE_BITS, store.depth * store.each * store.like.itemsize
    for j in range(columns.shape[0]):
        block = _seen(slots, n_blocks, columns[j] + first)
        if block > 0:
            at, stride = _locate(address, strides, size, 1, block)
            fetch(at, stride * size)


@compiled(helper=True, forceinline=True)
def gather(store: Store, feature: int, columns: int, layer: int, out: Floats | Int32s) -> bool:
    """Copy a feature's values of one layer into `out`; False where nothing was ever learnt.

    Expert e has the layer e · depth for its values, and with depth 2 the next one for its sums for the average.
    """
    out[:columns] = 0
    if store.in_chains:
        return gather_chain(store, feature, columns, layer, out)
    like, layers = store.like, store.depth * store.each
    block = _seen(store.slots, store.address.shape[0] << PAGE_BITS, feature)
    if block > 0:
        at, stride = _locate(store.address, store.stride, layers, like.itemsize, block)
        row = segment(at, stride * layers, like)
        for c in range(min(stride, columns)):
            out[c] = row[layer * stride + c]
    return block > 0


@compiled(helper=True, forceinline=True)
def put(store: Store, feature: int, column: int, layer: int, value: float) -> float:
    """Add to one value of a layer (as in `gather`), and return it; room and width must be there."""
    layers, like = store.depth * store.each, store.like
    if store.in_chains:
        at, stride = link_of(store, feature, column >> PART_BITS) + HEAD, PART
    else:
        at, stride = _locate(store.address, store.stride, layers, like.itemsize, claim(store, feature))
    row = segment(at, stride * layers, like)
    at_column = layer * stride + (column & (stride - 1))
    row[at_column] += value
    after: float = row[at_column]
    return after


@compiled(helper=True)
def add_scores(store: Store, f: Ints, v: Floats, n: int, columns: int, s: Floats) -> None:
    """s += Σ_j v_j W[f_j, :], in the order of the row; `s` is in whole segments, as `column_of` has them."""
    if store.in_chains:
        add_scores_of_chains(store, f, v, n, columns, s)
        return
    slots, address, strides, like = store.slots, store.address, store.stride, store.like
    depth, each, n_blocks = store.depth, store.each, address.shape[0] << PAGE_BITS
    for j in range(n):
        value = v[j]
        block = _seen(slots, n_blocks, f[j])
        if block > 0:
            at, stride = _locate(address, strides, depth * each, like.itemsize, block)
            for e in range(each):
                row = segment(at + e * depth * stride * like.itemsize, stride, like)
                part = s[e << SEGMENT_BITS :]  # a sum as index, base + c, would not become SIMD code
                for c in range(stride):
                    part[c] += value * row[c]


@compiled(helper=True)
def add_means(store: Store, f: Ints, v: Floats, n: int, columns: int, rounds: int, s: Floats) -> None:
    """The same with the mean weights, W - A / rounds."""
    if store.in_chains:
        add_means_of_chains(store, f, v, n, columns, rounds, s)
        return
    slots, address, strides, like = store.slots, store.address, store.stride, store.like
    each, n_blocks = store.each, address.shape[0] << PAGE_BITS
    for j in range(n):
        block = _seen(slots, n_blocks, f[j])
        if block > 0:
            at, stride = _locate(address, strides, 2 * each, like.itemsize, block)
            for e in range(each):
                row = segment(at + 2 * e * stride * like.itemsize, stride, like)
                sums = segment(at + (2 * e + 1) * stride * like.itemsize, stride, like)
                part = s[e << SEGMENT_BITS :]
                for c in range(stride):
                    part[c] += v[j] * (row[c] - sums[c] / rounds)


@compiled(helper=True)
def add_to(store: Store, f: Ints, v: Floats, n: int, g: Floats, touched: Ints, n_touched: int, age: float) -> None:
    """W[f_j, c] += v_j g_c for the touched columns c, which rise; `age` weighs the average's share.

    `age` is the number of rounds learnt before this one; columns are as `column_of` has them.
    """
    if store.in_chains:
        add_to_chains(store, f, v, n, g, touched, n_touched, age)
        return
    first = 0
    while first < n_touched:
        e = touched[first] >> SEGMENT_BITS
        end = first + 1
        while end < n_touched and touched[end] >> SEGMENT_BITS == e:
            end += 1
        part = g[e << SEGMENT_BITS :]
        if store.depth == 1 and end - first == 2:
            _add_two(store, f, v, n, e, part, touched[first] & (SEGMENT - 1), touched[first + 1] & (SEGMENT - 1))
        else:
            _add_rows(store, f, v, n, e, part, age)
        first = end


@compiled(helper=True)
def _add_two(store: Store, f: Ints, v: Floats, n: int, e: int, g: Floats, c: int, d: int) -> None:
    """Two columns of one expert: what the rules that act on the worst pair alone need."""
    slots, address, strides, like = store.slots, store.address, store.stride, store.like
    g_c, g_d, each = g[c], g[d], store.each
    for j in range(n):
        block = np.int64(slots[f[j]])
        if block == 0:
            block = claim(store, f[j])
        at, stride = _locate(address, strides, each, like.itemsize, block)
        row = segment(at + e * stride * like.itemsize, stride, like)
        row[c] += v[j] * g_c
        row[d] += v[j] * g_d


@compiled(helper=True)
def _add_rows(store: Store, f: Ints, v: Floats, n: int, e: int, g: Floats, age: float) -> None:
    """Whole rows of one expert."""
    slots, address, strides = store.slots, store.address, store.stride
    like, depth, each = store.like, store.depth, store.each
    for j in range(n):
        block = np.int64(slots[f[j]])
        if block == 0:
            block = claim(store, f[j])
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
