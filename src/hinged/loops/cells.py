"""The values of a store of many columns as files keep them: feature by feature, and only those that are not 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints, Uint32s
from hinged.loops.block_chains import (
    HEAD,
    PART,
    PART_BITS,
    bytes_of_block,
    head_at,
    locate_link,
)
from hinged.loops.blocks import Blocks, has_duplicates
from hinged.loops.store import SEGMENT, Store
from hinged.native import segment

__all__ = ["Cells"]

FEW_COLUMNS = 1 << 16  # columns whose numbers take two bytes
DAMAGED = -1


class Cells(NamedTuple):
    """Values by feature and column; one that is 0 in all layers is left out."""

    owners: np.ndarray  # uint32 (slots,): feature of each slot
    ends: np.ndarray  # int64 (slots,): the first cell after those of each slot
    columns: np.ndarray  # uint16 or uint32 (cells,): rising within a slot
    values: np.ndarray  # (cells, layers)

    @classmethod
    def of_chains(cls, store: Store) -> Self:
        """Return what the chains of a store hold."""
        n = int(store.used[0])
        ends = np.zeros(n, np.int64)
        parts = _count(store, ends)
        m = int(ends[-1]) if n else 0
        columns, values = np.zeros(m, np.uint32), np.zeros((m, store.depth * store.each), store.like.dtype)
        _take(store, parts, columns, values)
        short = parts * PART <= FEW_COLUMNS
        return cls(store.owners[1 : n + 1].copy(), ends, columns.astype(np.uint16) if short else columns, values)

    @classmethod
    def of_pages(cls, owners: np.ndarray, table: np.ndarray, pages: Sequence[np.ndarray], layers: int) -> Self:
        """Return what pages (blocks, layers, columns) hold, of which `table` has a block for each slot and segment."""
        slots, segments = np.nonzero(table)
        most = max(sum(map(len, pages)), int(table.max(initial=0)) + 1)
        slot_of, base_of = np.full(most, -1), np.zeros(most, np.int64)
        slot_of[table[slots, segments]], base_of[table[slots, segments]] = slots, SEGMENT * segments
        found, first = list[tuple[np.ndarray, ...]](), 0
        for page in pages:
            block, column = np.nonzero(page.any(axis=1))
            here = slot_of[block + first] >= 0
            block, column = block[here], column[here]
            found.append((slot_of[block + first], base_of[block + first] + column, page[block, :, column]))
            first += len(page)
        if not found:
            return cls(owners, np.zeros(len(owners), np.int64), np.zeros(0, np.uint16), np.zeros((0, layers)))
        slot, column, values = map(np.concatenate, zip(*found, strict=True))
        order = np.lexsort((column, slot))
        ends = np.cumsum(np.bincount(slot, minlength=len(owners)))
        kind = np.uint16 if column.max(initial=0) < FEW_COLUMNS else np.uint32
        return cls(owners, ends, column[order].astype(kind), values[order])

    @classmethod
    def of_blocks(cls, blocks: Blocks) -> Self:
        """Return what the blocks of a state hold."""
        table = np.zeros(blocks.held.shape, np.int64)
        table[blocks.held] = np.arange(1, np.count_nonzero(blocks.held) + 1)
        values = blocks.dense()
        reserved = np.zeros((1, *values.shape[1:]), values.dtype)  # block 0
        return cls.of_pages(blocks.owners, table, [reserved, values], values.shape[1])

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any], dtype: np.dtype, layers: int, prefix: str = "") -> Self:
        """Return the cells in a file, or say what is wrong: compiled loops follow them."""
        owners, ends, columns, values = (arrays[prefix + name] for name in cls._fields)
        if owners.dtype != np.uint32 or owners.ndim != 1 or has_duplicates(owners):
            raise ValueError("its tables are damaged")
        if ends.dtype != np.int64 or ends.shape != owners.shape or columns.ndim != 1:
            raise ValueError("its tables are damaged")
        if (np.diff(ends, prepend=0) < 0).any() or ends.max(initial=0) != len(columns):
            raise ValueError("its tables point outside of it")
        if columns.dtype not in (np.uint16, np.uint32) or values.dtype != dtype:
            raise ValueError("its cells are damaged")
        if values.shape != (len(columns), layers):
            raise ValueError("its cells are damaged")
        if dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError("its weights are not finite")
        return cls(owners, ends, columns, values)

    def blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which slots and segments of columns hold something, and a block (layers, SEGMENT) for each of them."""
        slots = np.repeat(np.arange(len(self.owners)), np.diff(self.ends, prepend=0))
        segments, within = np.divmod(self.columns.astype(np.int64), SEGMENT)
        held = np.zeros((len(self.owners), max(2, int(segments.max(initial=0)) + 1)), np.bool_)
        held[slots, segments] = True
        numbers = np.cumsum(held.reshape(-1)).reshape(held.shape) - 1
        values = np.zeros((np.count_nonzero(held), self.values.shape[1], SEGMENT), self.values.dtype)
        values[numbers[slots, segments], :, within] = self.values
        return held, values

    def n_blocks(self) -> int:
        """Return how many blocks of chains hold the cells, or say what is wrong with them."""
        n = int(_count_blocks(self.ends.copy(), self.columns.astype(np.uint32)))
        if n == DAMAGED:
            raise ValueError("its cells are damaged")
        return n

    def write(self, store: Store) -> None:
        """Write the cells to the chains of an empty store that has room for them."""
        n = len(self.owners)
        store.owners[1 : n + 1] = self.owners
        store.slots[self.owners] = np.arange(1, n + 1)
        store.used[0] = n
        _write(store, self.ends.copy(), self.columns.astype(np.uint32), _writeable(self.values))


def _writeable(array: np.ndarray) -> np.ndarray:
    """Return the array in one piece that may be written to: compiled code is made once, for those."""
    array = np.ascontiguousarray(array)
    return array if array.flags.writeable else array.copy()


@compiled
def _count(store: Store, ends: Ints) -> int:
    """Fill in where the cells of each slot end; return how many parts the columns have."""
    address, like, layers, parts, m = store.address, store.like, store.depth * store.each, 0, 0
    size = bytes_of_block(layers, like.itemsize)
    for i in range(ends.shape[0]):
        block = np.int64(store.heads[i + 1])
        while block > 0:
            at = locate_link(address, size, block)
            head = head_at(at)
            parts = max(parts, int(np.int64(head[1])) + 1)
            row = segment(at + HEAD, layers * PART, like)
            for c in range(PART):
                for layer in range(layers):
                    if row[layer * PART + c] != 0:
                        m += 1
                        break
            block = np.int64(head[0])
        ends[i] = m
    return parts


@compiled
def _take(store: Store, parts: int, columns: Uint32s, values: Floats | Int32s) -> None:
    """Copy the cells, those of each slot by column."""
    address, like, layers, m = store.address, store.like, store.depth * store.each, 0
    size, places = bytes_of_block(layers, like.itemsize), np.zeros(parts, np.int64)
    for slot in range(1, store.used[0] + 1):
        block = np.int64(store.heads[slot])
        while block > 0:
            at = locate_link(address, size, block)
            head = head_at(at)
            places[head[1]] = at
            block = np.int64(head[0])
        for part in range(parts):
            if places[part] == 0:
                continue
            row = segment(places[part] + HEAD, layers * PART, like)
            places[part] = 0
            for c in range(PART):
                filled = False
                for layer in range(layers):
                    filled = filled or row[layer * PART + c] != 0
                if filled:
                    columns[m] = (part << PART_BITS) + c
                    for layer in range(layers):
                        values[m, layer] = row[layer * PART + c]
                    m += 1


@compiled
def _count_blocks(ends: Ints, columns: Uint32s) -> int:
    """How many blocks hold so many cells; DAMAGED if the columns of a slot do not rise."""
    n, k = 0, 0
    for i in range(ends.shape[0]):
        before = np.int64(-1)
        while k < ends[i]:
            column = np.int64(columns[k])
            if column <= before:
                return DAMAGED
            if before < 0 or column >> PART_BITS != before >> PART_BITS:
                n += 1
            before = column
            k += 1
    return n


@compiled
def _write(store: Store, ends: Ints, columns: Uint32s, values: Floats | Int32s) -> None:
    """Write the cells of slots 1, 2, … to chains."""
    heads, address, like, layers = store.heads, store.address, store.like, store.depth * store.each
    size, block, k = bytes_of_block(layers, like.itemsize), np.int64(0), 0
    for i in range(ends.shape[0]):
        at, before = np.int64(0), np.int64(-1)
        while k < ends[i]:
            part = np.int64(columns[k]) >> PART_BITS
            if part != before:
                block += 1
                if before < 0:
                    heads[i + 1] = block
                else:
                    head_at(at)[0] = block
                at, before = locate_link(address, size, block), part
                head_at(at)[1] = part
            row, c = segment(at + HEAD, layers * PART, like), np.int64(columns[k]) & (PART - 1)
            for layer in range(layers):
                row[layer * PART + c] = values[k, layer]
            k += 1
    store.used[1] = block
