"""Paged stores on the Python side: they make pages, widen them one at a time, and let readers go on meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import count, pairwise, takewhile
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints
from hinged.loops.blocks import Blocks
from hinged.loops.pages import PAGE, SEGMENT, Store, gather, put

__all__ = ["Paged", "longer", "restored_stores", "values_of"]

LINE = 64  # bytes in a cache line
AT_ONCE = 1 << 23  # bytes of pages to make at a time in a store that is no longer small
MANY = 1 << 20  # values learnt at once that will fill so many


class Paged:
    """Paged storage that grows with the features and columns that are learnt.

    `view` is one tuple (store, pages), replaced as a whole when anything grows: a reader that took it keeps its
    memory whatever the writer does next.

    Parameters
    ----------
    dtype : dtype of the values
    depth : 1, or 2 to keep the sums of the average beside the weights
    least : narrowest page, in columns
    each : experts that have columns of their own for every label
    """

    def __init__(self, dtype: DTypeLike, depth: int = 1, least: int = 8, each: int = 1) -> None:
        self.least, self.placed_all = least, False
        empty = Store(
            slots=np.zeros(1, np.uint32),
            owners=np.zeros(1, np.uint32),
            table=np.zeros((1, 1), np.uint32),
            address=np.zeros(0, np.int64),
            stride=np.zeros(0, np.int64),
            used=np.array([0, 0, SEGMENT, 0, 0], np.int64),
            like=np.empty(0, dtype),
            depth=depth,
            each=each,
        )
        self.view: tuple[Store, tuple[np.ndarray, ...]] = (empty, ())

    @property
    def store(self) -> Store:
        """What the loops see."""
        return self.view[0]

    def fit_to(self, features: int, columns: int) -> None:
        """Make the tables wide enough for this many features and columns; make no page yet."""
        store, pages = self.view
        if features > store.slots.shape[0]:
            store.used[4] = 0  # from now on features get their blocks in the order in which they are learnt
            store = store._replace(slots=longer(store.slots, features))
        segments = -(-columns // SEGMENT)
        if segments > store.table.shape[1]:
            table = np.zeros((store.table.shape[0], segments), np.uint32)
            table[:, : store.table.shape[1]] = store.table
            store = store._replace(table=table)
        self.view = (store, pages)

    def make_room(self, slots: int, blocks: int, columns: int, values: int = 0, in_order: bool = False) -> None:
        """Make sure that this many new slots and blocks can be claimed; `values` is how many are being learnt at once.

        With `in_order`, a new store of one segment gives all features their blocks at once if that takes no more memory
        for each expert than the values being learnt with their columns (8 bytes each, or more).
        """
        store, pages = self.view
        stride = self._stride(columns)
        features = store.slots.shape[0]
        whole = features * stride * store.like.itemsize
        in_order = in_order and not pages and store.depth == store.table.shape[1] == 1 and whole <= 8 * values
        if in_order:
            slots, blocks = slots + features, blocks + features
        missing = -(-(int(store.used[1]) + blocks + 1) // PAGE) - len(pages)
        more = max(missing, self._more(len(pages), stride, values)) if missing > 0 else 0
        need = int(store.used[0]) + slots + 1
        if need > store.table.shape[0]:
            full = (len(pages) + more) * PAGE // store.table.shape[1]  # slots, when every block is taken
            capacity = max(need, 2 * store.table.shape[0], full)
            table = np.zeros((capacity, store.table.shape[1]), np.uint32)
            table[: store.table.shape[0]] = store.table
            store = store._replace(table=table, owners=longer(store.owners, capacity))
        if more > 0:
            new = self._pages(more, stride)
            strides = np.concatenate([store.stride, np.full(more, stride)])
            self._publish(store, (*pages, *new), strides, len(pages))
        else:
            self.view = (store, pages)
        if in_order:
            self._place_all()

    def widen(self, page: int, columns: int) -> None:
        """Give one page more columns, keeping what it holds."""
        store, pages = self.view
        old, before = int(store.stride[page]), pages[page]
        stride = self._stride(columns)
        (after,) = self._pages(1, stride)
        layers = store.depth * store.each
        after.reshape(PAGE, layers, stride)[:, :, :old] = before.reshape(PAGE, layers, old)
        strides = store.stride.copy()
        strides[page] = stride
        store.used[4] = 0  # no longer in one piece
        self._publish(store, (*pages[:page], after, *pages[page + 1 :]), strides, page)

    def rows(
        self, columns: int, rounds: int = 0, factors: Sequence[float] | np.ndarray = (1.0,)
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the learnt features and their values (features, columns): after `rounds` rounds, the mean values.

        With several experts, the sum of their values, each multiplied by its factor.
        """
        store, owners = self.store, self.learnt()
        parts = [values_of(store, owners, columns, rounds, e, store.like.dtype) for e in range(len(factors))]
        if len(factors) == 1:
            return owners, parts[0]
        out = np.zeros((len(owners), columns), store.like.dtype)
        for factor, values in zip(factors, parts, strict=True):
            out += out.dtype.type(factor) * values
        return owners, out

    def learnt(self) -> np.ndarray:
        """Return the learnt features; if all got blocks in advance, those with a value other than 0."""
        store, pages = self.view
        owners = store.owners[1 : int(store.used[0]) + 1].astype(np.int64)
        if not self.placed_all or not pages:
            return owners
        filled = np.concatenate([page.reshape(PAGE, -1).any(axis=1) for page in pages])
        return owners[filled[store.table[store.slots[owners]]].any(axis=1)]

    def moved(self, onto: np.ndarray, columns: int) -> Paged:
        """Return a new store in which column c is added to column onto[c], or dropped if that is -1."""
        store, _pages = self.view
        new = Paged(store.like.dtype, store.depth, self.least, store.each)
        new.fit_to(store.slots.shape[0], max(columns, 1))
        n = int(store.used[0])
        for first in range(0, n, PAGE):  # a page at a time, so that little memory is needed beyond the copy itself
            chunk = store.owners[first + 1 : min(first + PAGE, n) + 1].astype(np.int64)
            new.make_room(len(chunk), len(chunk) * new.store.table.shape[1], columns)
            _move_columns(store, new.store, chunk, onto)
        return new

    def multiplied(self, s: float) -> Paged:
        """Return a store of s times the values, on the same tables; readers of this one keep its pages."""
        store, pages = self.view
        new, n = copy(self), int(store.used[1]) // PAGE + 1
        strides = store.stride.tolist()
        whole = len(set(strides)) == 1  # in one piece again: features may be in order
        after = self._pages(len(pages), strides[0]) if whole else [self._pages(1, each)[0] for each in strides]
        for values, before in zip(after[:n], pages, strict=False):
            np.multiply(before, store.like.dtype.type(s), out=values)
        new._publish(store, tuple(after), store.stride, 0)
        return new

    def copy(self) -> Paged:
        """Return an independent copy."""
        return Paged.from_arrays(self.arrays(), self)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything that has to be saved, as plain arrays.

        Pages are copied only if all features got blocks in advance; features that were never learnt are then left out.
        """
        store, pages = self.view
        if self.placed_all:
            columns = store.table.shape[1] * SEGMENT if store.table.shape[1] > 1 else int(store.used[3])
            return self.moved(np.arange(columns), columns).arrays()
        n = int(store.used[0])
        arrays = {
            "features": np.array([int(store.owners[1 : n + 1].max(initial=0)) + 1], np.int64),
            "owners": store.owners[1 : n + 1].copy(),
            "table": store.table[1 : n + 1].copy(),
            "blocks": store.used[1:2].copy(),
        }
        for i, page in enumerate(pages[: int(store.used[1]) // PAGE + 1]):
            arrays[f"page{i}"] = page.reshape(PAGE, -1)
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], like: Paged) -> Paged:
        """Return the store that `arrays` describes, of the same kind as another one.

        They are copied, and checked because compiled loops follow them.
        """
        dtype, depth, each = like.store.like.dtype, like.store.depth, like.store.each
        pages_in = [arrays[name] for name in takewhile(arrays.__contains__, map("page{}".format, count()))]
        _check_arrays(arrays, pages_in, np.dtype(dtype), depth * each)
        paged = cls(dtype, depth, like.least, each)
        paged.fit_to(int(arrays["features"][0]), arrays["table"].shape[1] * SEGMENT)
        n = len(arrays["owners"])
        paged.make_room(n, 0, 1)
        store, _ = paged.view
        store.owners[1 : n + 1] = arrays["owners"]
        store.slots[arrays["owners"]] = np.arange(1, n + 1)
        store.table[1 : n + 1] = arrays["table"]
        store.used[:2] = n, arrays["blocks"][0]
        strides = [values.shape[1] // (depth * each) for values in pages_in]
        pages = tuple(paged._pages(1, stride)[0] for stride in strides)
        for page, values in zip(pages, pages_in, strict=True):
            page[:] = values.ravel()
        paged._publish(store, pages, np.array(strides, np.int64), 0)
        return paged

    @classmethod
    def from_blocks(cls, blocks: Blocks, like: Paged, features: int, memory: np.ndarray) -> Paged:
        """Return the store of these blocks, of the same kind as another one, with room for so many features.

        Its pages are `memory`: `blocks.nbytes` zeros on a cache line.
        """
        owners, held, empty, n = blocks.owners, blocks.held, like.store, len(blocks.owners)
        paged = cls(empty.like.dtype, empty.depth, like.least, empty.each)
        if n == 0:
            return paged
        if int(owners.max()) >= features:
            raise ValueError("its features point outside of it")
        slots, order = np.zeros(features, np.uint32), np.arange(1, n + 1, dtype=np.uint32)
        slots[owners] = order
        if not np.array_equal(slots[owners], order):  # a feature comes twice
            raise ValueError("its tables are damaged")
        n_blocks, layers, _ = blocks.values.shape
        pages = memory.view(empty.like.dtype).reshape(-1, PAGE * layers * blocks.stride)
        blocks.write(pages.reshape(-1))
        strides = np.full(len(pages), blocks.stride)
        capacity = max(n + 1, len(pages) * PAGE // held.shape[1])
        table, owner = np.zeros((capacity, held.shape[1]), np.uint32), np.zeros(capacity, np.uint32)
        table[1 : n + 1][held] = np.arange(1, n_blocks + 1)
        owner[1 : n + 1] = owners
        store = paged.store._replace(
            slots=slots,
            owners=owner,
            table=table,
            address=pages.ctypes.data + pages.strides[0] * np.arange(len(pages)),
            stride=strides,
            used=np.array([n, n_blocks, strides.min(initial=SEGMENT), strides.max(initial=0), 0]),
        )
        paged.view = (store, tuple(pages))
        return paged

    def nbytes(self) -> int:
        """Return the bytes that the pages and their tables take."""
        store, pages = self.view
        return sum(array.nbytes for array in (*pages, store.slots, store.owners, store.table))

    def _place_all(self) -> None:
        """Give feature f block f + 1, so that its weights are found without the tables."""
        self.placed_all = True
        store, n = self.store, self.store.slots.shape[0]
        order = np.arange(1, n + 1, dtype=np.uint32)
        store.slots[:], store.owners[1 : n + 1], store.table[1 : n + 1, 0] = order, order - 1, order
        store.used[[0, 1, 4]] = n

    def _stride(self, columns: int) -> int:
        stride = self.least
        while stride < min(columns, SEGMENT):
            stride *= 2
        return min(stride, SEGMENT)

    def _more(self, n: int, stride: int, values: int) -> int:
        """Return how many pages to add to `n`: three times as many at first, later a quarter (unused ones are free)."""
        size = PAGE * self.store.depth * self.store.each * stride * self.store.like.itemsize
        return max(n // 4, AT_ONCE // size if n >= 4 or values > MANY else 3 * n)

    def _pages(self, n: int, stride: int) -> list[np.ndarray]:
        """Return `n` pages of zeros in one piece of memory that begins on a cache line."""
        return list(self._memory(n, stride))

    def _memory(self, n: int, stride: int) -> np.ndarray:
        """Return the same as one array (pages, values)."""
        size = PAGE * self.store.depth * self.store.each * stride * self.store.like.itemsize
        (raw,) = _in_one_piece([n * size])
        return raw.view(self.store.like.dtype).reshape(n, size // self.store.like.itemsize)

    def _publish(self, store: Store, pages: tuple[np.ndarray, ...], stride: np.ndarray, first: int) -> None:
        """Replace the view by one with these pages, of which those before `first` have not moved."""
        used = store.used.copy()
        used[2:4] = stride.min(initial=SEGMENT), stride.max(initial=0)
        address = np.concatenate([store.address[:first], np.array([p.ctypes.data for p in pages[first:]], np.int64)])
        self.view = (store._replace(address=address, stride=stride.astype(np.int64), used=used), pages)


def values_of(
    store: Store, features: np.ndarray, columns: int, rounds: int, expert: int, dtype: DTypeLike
) -> np.ndarray:
    """Return an expert's values of some features (features, columns): after `rounds` rounds, the mean values."""
    layers = []
    for layer in range(2 if rounds > 0 and store.depth == 2 else 1):
        out = np.zeros((len(features), columns), store.like.dtype)
        _gather_all(store, features, columns, expert * store.depth + layer, out)
        layers.append(out.astype(dtype, copy=False))
    return layers[0] if len(layers) == 1 else layers[0] - layers[1] / layers[1].dtype.type(rounds)


def restored_stores(arrays: Mapping[str, Any], likes: Sequence[Paged], features: int) -> list[Paged]:
    """Return the stores that a file (by pages) or a state (by blocks) describes, each of the same kind as another one.

    Those of a state have room for so many features.
    """
    if "store0.held" not in arrays:
        prefixes = [f"store{i}." for i in range(len(likes))]
        of_each = [{n.removeprefix(p): a for n, a in arrays.items() if n.startswith(p)} for p in prefixes]
        return [Paged.from_arrays(theirs, like) for theirs, like in zip(of_each, likes, strict=True)]
    stores = [paged.store for paged in likes]
    blocks = [Blocks.of(arrays, f"store{i}.", s.like.dtype, s.depth * s.each) for i, s in enumerate(stores)]
    memory = _in_one_piece([each.nbytes for each in blocks])
    return [Paged.from_blocks(each, like, features, m) for each, like, m in zip(blocks, likes, memory, strict=True)]


def _in_one_piece(sizes: Iterable[int]) -> list[np.ndarray]:
    """Return zeros, so many bytes in each array, which begins on a cache line; sizes are whole cache lines.

    From 4 MB on NumPy asks for large pages of memory, which the system provides sooner than many small ones.
    """
    ends = np.cumsum([0, *sizes]).tolist()
    raw = np.zeros(ends[-1] + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return [raw[start + begin : start + end] for begin, end in pairwise(ends)]


def longer(array: np.ndarray, n: int) -> np.ndarray:
    """Return at least `n` rows: the old ones, then zeros; grow by half at least, so that single steps stay cheap."""
    if n <= len(array):
        return array
    more = np.zeros((max(n, len(array) + len(array) // 2), *array.shape[1:]), array.dtype)
    more[: len(array)] = array
    return more


def _check_arrays(arrays: dict[str, np.ndarray], pages: list[np.ndarray], dtype: np.dtype, layers: int) -> None:
    """Refuse a description that points outside itself."""
    owners, table, blocks = arrays["owners"], arrays["table"], int(arrays["blocks"][0])
    strides = [page.shape[1] // layers if page.ndim == 2 else 0 for page in pages]
    if any(
        page.dtype != dtype or page.shape != (PAGE, layers * stride) or stride not in (1, 2, 4, 8, 16, 32, 64)
        for page, stride in zip(pages, strides, strict=True)
    ):
        raise ValueError("its pages are damaged")
    if dtype.kind == "f" and not all(np.isfinite(page).all() for page in pages):
        raise ValueError("its weights are not finite")
    if owners.dtype != np.uint32 or table.dtype != np.uint32 or owners.ndim != 1 or table.shape[:1] != owners.shape:
        raise ValueError("its tables are damaged")
    if table.ndim != 2 or len(arrays["features"]) != 1 or _has_duplicates(owners):
        raise ValueError("its tables are damaged")
    if table.shape[1] == 1 and not np.array_equal(table[:, 0], np.arange(1, len(table) + 1)):
        raise ValueError("its blocks are out of order")  # the fast loop takes a slot for its block
    if len(owners) and int(owners.max()) >= int(arrays["features"][0]):
        raise ValueError("its features point outside of it")
    held = table[table > 0]
    if not 0 <= blocks <= max(0, len(pages) * PAGE - 1) or _has_duplicates(held):
        raise ValueError("its blocks are damaged")
    if len(held) and int(held.max()) > blocks:
        raise ValueError("its blocks point outside of it")


def _has_duplicates(numbers: np.ndarray) -> bool:
    """Return True if a number comes twice; several times as fast as `np.unique`, which looks each up in a table."""
    ordered = np.sort(numbers)
    return bool((ordered[1:] == ordered[:-1]).any())


@compiled
def _gather_all(store: Store, owners: Ints, columns: int, layer: int, out: Floats | Int32s) -> None:
    for i in range(owners.shape[0]):
        gather(store, owners[i], columns, layer, out[i])


@compiled
def _move_columns(old: Store, new: Store, owners: Ints, onto: Ints) -> None:
    row = np.zeros(onto.shape[0], old.like.dtype)
    for i in range(owners.shape[0]):
        for layer in range(old.depth * old.each):
            gather(old, owners[i], onto.shape[0], layer, row)
            for c in range(onto.shape[0]):
                if onto[c] >= 0 and row[c] != 0:
                    put(new, owners[i], onto[c], layer, row[c])
