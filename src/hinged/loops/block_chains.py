"""Rows of many columns in chains of small blocks: a word that two labels of five hundred had takes two blocks.

A block begins with its head, two numbers: the next block of the chain or 0, and which *part* of the columns it holds,
8 of them. Blocks stay where they are and new ones go to the end of a chain, so a reader beside the writer finds all
that it knew, and stops at the first block beyond its pages. Sums over a row add the same numbers in the same order as
wide blocks would: zeros that are not there change no bit.

Of 200,000 messages in 500 folders, a block of 64 columns holds 3 values of statistics other than 0, or 6 weights; in
these chains all of it takes a third of the memory.
"""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints, Uint32s
from hinged.loops.store import PAGE, PAGE_BITS, SEGMENT_BITS, Store, column_of, new_slot
from hinged.native import fetch, segment

__all__ = [
    "HEAD",
    "PART",
    "PART_BITS",
    "add_means_of_chains",
    "add_scores_of_chains",
    "add_to_chains",
    "bytes_of_block",
    "fetch_chains",
    "first_of_chain",
    "gather_chain",
    "head_at",
    "link_of",
    "locate_link",
    "n_parts",
]

PART_BITS, HEAD = 3, 8  # HEAD in bytes
PART = 1 << PART_BITS
NUMBERS = np.empty(0, np.uint32)
UNASKED, MISSING = -2, -1


@compiled(helper=True)
def n_parts(columns: int) -> int:
    """How many parts so many columns have."""
    return (columns + PART - 1) >> PART_BITS


@compiled(helper=True)
def bytes_of_block(layers: int, itemsize: int) -> int:
    """Bytes of a block with its head."""
    return HEAD + layers * PART * itemsize


@compiled(inline=True)
def locate_link(address: Ints, size: int, block: int | np.int64) -> int:
    """Address of a block of so many bytes."""
    return address[np.int64(block) >> PAGE_BITS] + (np.int64(block) & (PAGE - 1)) * size


@compiled(inline=True)
def head_at(at: int) -> Uint32s:
    """The head of the block at an address: the next block, and which part this one holds."""
    return segment(at, 2, NUMBERS)


@compiled(inline=True)
def first_of_chain(slots: Uint32s, heads: Uint32s, feature: int) -> np.int64:
    """The first block of a feature; this view may know fewer features, slots and blocks than a writer beside it."""
    slot = np.int64(slots[feature]) if feature < slots.shape[0] else np.int64(0)
    return np.int64(heads[slot]) if slot < heads.shape[0] else np.int64(0)


@compiled(helper=True)
def fetch_chains(store: Store, columns: Int32s, first: int) -> None:
    """Ask the processor for the first blocks of these columns of a row; `first` is the feature of column 0."""
    slots, heads, address, n_blocks = store.slots, store.heads, store.address, store.address.shape[0] << PAGE_BITS
    size = bytes_of_block(store.depth * store.each, store.like.itemsize)
    for j in range(columns.shape[0]):
        block = first_of_chain(slots, heads, columns[j] + first)
        if 0 < block < n_blocks:
            fetch(locate_link(address, size, block), size)


@compiled(helper=True)
def gather_chain(store: Store, feature: int, columns: int, layer: int, out: Floats | Int32s) -> bool:
    """Copy a feature's values of one layer into `out`, which holds zeros; False where nothing was ever learnt."""
    found, like, address = False, store.like, store.address
    n_blocks, size = address.shape[0] << PAGE_BITS, bytes_of_block(store.depth * store.each, like.itemsize)
    block = first_of_chain(store.slots, store.heads, feature)
    while 0 < block < n_blocks:
        at = locate_link(address, size, block)
        head = head_at(at)
        base = np.int64(head[1]) << PART_BITS
        if base < columns:
            found = True
            row = segment(at + HEAD + layer * PART * like.itemsize, PART, like)
            for c in range(min(PART, int(columns - base))):
                out[base + c] = row[c]
        block = np.int64(head[0])
    return found


@compiled(helper=True)
def link_of(store: Store, feature: int, part: int) -> int:
    """Address of a feature's block of a part, made of zeros at the end of the chain where there was none."""
    heads, address = store.heads, store.address
    size = bytes_of_block(store.depth * store.each, store.like.itemsize)
    slot = np.int64(store.slots[feature])
    if slot == 0:
        slot = new_slot(store, feature)
    last, block = np.int64(0), np.int64(heads[slot])
    while block > 0:
        head = head_at(locate_link(address, size, block))
        if head[1] == part:
            return locate_link(address, size, block)
        last, block = block, np.int64(head[0])
    return _append(store, slot, last, part)


@compiled(helper=True, forceinline=True)
def _append(store: Store, slot: np.int64, last: np.int64, part: int) -> int:
    """Address of a new block at the end of a slot's chain; `last` is the last one so far, or 0."""
    address, size = store.address, bytes_of_block(store.depth * store.each, store.like.itemsize)
    store.used[1] += 1
    block = store.used[1]
    at = locate_link(address, size, block)
    head_at(at)[1] = part
    if last > 0:
        head_at(locate_link(address, size, last))[0] = block
    else:
        store.heads[slot] = block
    return at


@compiled(helper=True)
def add_scores_of_chains(store: Store, f: Ints, v: Floats, n: int, columns: int, s: Floats) -> None:
    """s += Σ_j v_j W[f_j, :], in the order of the row; `s` is in whole segments, as `column_of` has them."""
    slots, heads, address, like = store.slots, store.heads, store.address, store.like
    depth, each, n_blocks = store.depth, store.each, address.shape[0] << PAGE_BITS
    size = bytes_of_block(depth * each, like.itemsize)
    for j in range(n):
        value = v[j]
        block = first_of_chain(slots, heads, f[j])
        while 0 < block < n_blocks:
            at = locate_link(address, size, block)
            head = head_at(at)
            base = np.int64(head[1]) << PART_BITS
            if base < columns:
                for e in range(each):
                    row = segment(at + HEAD + e * depth * PART * like.itemsize, PART, like)
                    part = s[column_of(each, base, e) :]
                    for c in range(PART):
                        part[c] += value * row[c]
            block = np.int64(head[0])


@compiled(helper=True)
def add_means_of_chains(store: Store, f: Ints, v: Floats, n: int, columns: int, rounds: int, s: Floats) -> None:
    """The same with the mean weights, W - A / rounds."""
    slots, heads, address, like = store.slots, store.heads, store.address, store.like
    each, n_blocks = store.each, address.shape[0] << PAGE_BITS
    size = bytes_of_block(2 * each, like.itemsize)
    for j in range(n):
        block = first_of_chain(slots, heads, f[j])
        while 0 < block < n_blocks:
            at = locate_link(address, size, block)
            head = head_at(at)
            base = np.int64(head[1]) << PART_BITS
            if base < columns:
                for e in range(each):
                    row = segment(at + HEAD + 2 * e * PART * like.itemsize, PART, like)
                    sums = segment(at + HEAD + (2 * e + 1) * PART * like.itemsize, PART, like)
                    part = s[column_of(each, base, e) :]
                    for c in range(PART):
                        part[c] += v[j] * (row[c] - sums[c] / rounds)
            block = np.int64(head[0])


@compiled(helper=True)
def add_to_chains(
    store: Store, f: Ints, v: Floats, n: int, g: Floats, touched: Ints, n_touched: int, age: float
) -> None:
    """W[f_j, c] += v_j g_c for the touched columns c, as `add_to` of pages has it; each chain is followed once."""
    if n_touched == 0:
        return
    heads, address = store.heads, store.address
    size = bytes_of_block(store.depth * store.each, store.like.itemsize)
    asked = np.empty(n_touched, np.int64)
    n_asked = _parts_of(store.each, touched, n_touched, asked)
    met = np.full(asked[n_asked - 1] + 1, UNASKED)
    for a in range(n_asked):
        met[asked[a]] = MISSING
    for j in range(n):
        slot, left = np.int64(store.slots[f[j]]), n_asked
        if slot == 0:
            slot = new_slot(store, f[j])
        last, block = np.int64(0), np.int64(heads[slot])
        while block > 0:
            at = locate_link(address, size, block)
            head = head_at(at)
            part = np.int64(head[1])
            if part < met.shape[0] and met[part] != UNASKED:
                met[part] = j
                left -= 1
                _add_part(store, at, part, v[j], g, age)
            last, block = block, np.int64(head[0])
        for a in range(n_asked if left > 0 else 0):
            if met[asked[a]] != j:
                at = _append(store, slot, last, asked[a])
                last = store.used[1]
                _add_part(store, at, asked[a], v[j], g, age)


@compiled(helper=True)
def _parts_of(each: int, touched: Ints, n_touched: int, asked: Ints) -> int:
    """List the parts that the touched columns are in, rising; return how many."""
    n, parts = 0, 1 << (SEGMENT_BITS - PART_BITS)
    first = 0
    while first < n_touched:
        b, held = (touched[first] >> SEGMENT_BITS) // each, 0
        while first < n_touched and (touched[first] >> SEGMENT_BITS) // each == b:
            held |= 1 << ((touched[first] >> PART_BITS) & (parts - 1))
            first += 1
        for p in range(parts):
            if held >> p & 1:
                asked[n] = b * parts + p
                n += 1
    return n


@compiled(helper=True, forceinline=True)
def _add_part(store: Store, at: int, part: int, value: float, g: Floats, age: float) -> None:
    """Add to the columns of one block, for every expert."""
    like, depth = store.like, store.depth
    for e in range(store.each):
        own = g[column_of(store.each, part << PART_BITS, e) :]
        at_row = at + HEAD + e * depth * PART * like.itemsize
        row = segment(at_row, PART, like)
        for c in range(PART):
            row[c] += value * own[c]
        if depth == 2:
            sums = segment(at_row + PART * like.itemsize, PART, like)
            aged = like.dtype.type(age) * value
            for c in range(PART):
                sums[c] += aged * own[c]
