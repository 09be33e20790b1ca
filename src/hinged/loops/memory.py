"""Paged stores on the Python side: they make pages, widen them one at a time, and let readers go on meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints
from hinged.loops.block_chains import HEAD, PART, bytes_of_block, n_parts
from hinged.loops.blocks import Blocks, check_pages, pages_of
from hinged.loops.cells import Cells
from hinged.loops.pages import gather, put
from hinged.loops.store import PAGE, SEGMENT, Store

__all__ = ["Paged", "longer", "restored_stores", "values_of"]

LINE = 64  # bytes in a cache line
AT_ONCE = 1 << 23  # bytes of pages to make at a time in a store that is no longer small
PIECE = 1 << 21  # bytes in a piece of many pages: the system takes long to find large pages of memory for larger ones
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
            heads=np.zeros(1, np.uint32),
            address=np.zeros(0, np.int64),
            stride=np.zeros(0, np.int64),
            used=np.array([0, 0, SEGMENT, 0, 0], np.int64),
            like=np.empty(0, dtype),
            depth=depth,
            each=each,
            in_chains=False,
        )
        self.view: tuple[Store, tuple[np.ndarray, ...]] = (empty, ())

    @property
    def store(self) -> Store:
        """What the loops see."""
        return self.view[0]

    def fit_to(self, features: int, columns: int) -> None:
        """Make the tables wide enough for this many features and columns; make no page for them yet.

        More columns than a block has room for bring all that is kept into chains, once.
        """
        if columns > SEGMENT and not self.store.in_chains:
            self._chain()
        store, pages = self.view
        if features > store.slots.shape[0]:
            store.used[4] = 0  # from now on features get their blocks in the order in which they are learnt
            store = store._replace(slots=longer(store.slots, features))
        self.view = (store, pages)

    def _chain(self) -> None:
        """Put all values into chains; readers keep the pages that they hold."""
        arrays, layers = self.arrays(), self.store.depth * self.store.each
        cells = Cells.of_pages(arrays["owners"], arrays["table"], pages_of(arrays, layers), layers)
        self.view, self.placed_all = Paged.from_cells(cells, self, self.store.slots.shape[0]).view, False

    def make_room(self, slots: int, blocks: int, columns: int, values: int = 0, in_order: bool = False) -> None:
        """Make sure that this many new slots and blocks can be claimed; `values` is how many are being learnt at once.

        With `in_order`, a new store of one segment gives all features their blocks at once if that takes no more memory
        for each expert than the values being learnt with their columns (8 bytes each, or more).
        """
        store, pages = self.view
        stride = self._stride(columns)
        features = store.slots.shape[0]
        whole = features * stride * store.like.itemsize
        in_order = in_order and not (pages or store.in_chains) and store.depth == 1 and whole <= 8 * values
        if in_order:
            slots, blocks = slots + features, blocks + features
        missing = -(-(int(store.used[1]) + blocks + 1) // PAGE) - len(pages)
        more = max(missing, self._more(len(pages), stride, values)) if missing > 0 else 0
        need = int(store.used[0]) + slots + 1
        if need > store.owners.shape[0]:
            full = 0 if store.in_chains else (len(pages) + more) * PAGE  # slots, when every block is taken
            owners = longer(store.owners, max(need, 2 * store.owners.shape[0], full))
            heads = longer(store.heads, len(owners)) if store.in_chains else store.heads
            store = store._replace(owners=owners, heads=heads)
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
        return owners[filled[store.slots[owners]]]

    def moved(self, onto: np.ndarray, columns: int) -> Paged:
        """Return a new store in which column c is added to column onto[c], or dropped if that is -1."""
        store, _pages = self.view
        new = Paged(store.like.dtype, store.depth, self.least, store.each)
        new.fit_to(store.slots.shape[0], max(columns, 1))
        n = int(store.used[0])
        for first in range(0, n, PAGE):  # a page at a time, so that little memory is needed beyond the copy itself
            chunk = store.owners[first + 1 : min(first + PAGE, n) + 1].astype(np.int64)
            new.make_room(len(chunk), len(chunk) * (n_parts(columns) if new.store.in_chains else 1), columns)
            _move_columns(store, new.store, chunk, onto)
        return new

    def multiplied(self, s: float) -> Paged:
        """Return a store of s times the values, on the same tables; readers of this one keep its pages."""
        store, pages = self.view
        new, n = copy(self), int(store.used[1]) // PAGE + 1
        strides = store.stride.tolist()
        whole = len(set(strides)) == 1  # in one piece again: features may be in order
        after = self._pages(len(pages), strides[0]) if whole else [self._pages(1, each)[0] for each in strides]
        head = HEAD // store.like.itemsize if store.in_chains else 0
        for values, before in zip(after[:n], pages, strict=False):
            into, old = (page.reshape(PAGE, -1) for page in (values, before))
            into[:, :head] = old[:, :head]
            np.multiply(old[:, head:], store.like.dtype.type(s), out=into[:, head:])
        new._publish(store, tuple(after), store.stride, 0)
        return new

    def copy(self) -> Paged:
        """Return an independent copy."""
        return Paged.from_arrays(self.arrays(), self)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything that has to be saved, as plain arrays.

        Pages are copied only if all features got blocks in advance; features that were never learnt are then left out.
        Of chains only what is not 0 is kept.
        """
        store, pages = self.view
        if self.placed_all:
            columns = int(store.used[3])
            return self.moved(np.arange(columns), columns).arrays()
        n = int(store.used[0])
        features = np.array([int(store.owners[1 : n + 1].max(initial=0)) + 1], np.int64)
        arrays: dict[str, np.ndarray] = {"features": features}
        if store.in_chains:
            return arrays | Cells.of_chains(store)._asdict()
        arrays |= {
            "owners": store.owners[1 : n + 1].copy(),
            "table": np.arange(1, n + 1, dtype=np.uint32)[:, None],
            "blocks": store.used[1:2].copy(),
        }
        for i, page in enumerate(pages[: n // PAGE + 1]):
            arrays[f"page{i}"] = page.reshape(PAGE, -1)
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], like: Paged) -> Paged:
        """Return the store that `arrays` describes, of the same kind as another one.

        They are copied, and checked because compiled loops follow them. Older files have pages of many columns, with a
        table of blocks of 64 columns.
        """
        dtype, layers = like.store.like.dtype, like.store.depth * like.store.each
        features = int(arrays["features"][0])
        if "ends" in arrays:
            return cls.from_cells(Cells.of_arrays(arrays, dtype, layers), like, features)
        pages_in = pages_of(arrays, layers)
        check_pages(arrays, pages_in, np.dtype(dtype), layers)
        owners, table, n = arrays["owners"], arrays["table"], len(arrays["owners"])
        if table.shape[1] > 1:
            return cls.from_cells(Cells.of_pages(owners, table, pages_in, layers), like, features)
        paged = cls(dtype, like.store.depth, like.least, like.store.each)
        paged.fit_to(features, 1)
        paged.make_room(n, 0, 1)
        store, _ = paged.view
        store.owners[1 : n + 1] = owners
        store.slots[owners] = np.arange(1, n + 1)
        store.used[:2] = n
        strides = [values.shape[2] for values in pages_in]
        pages = tuple(paged._pages(1, stride)[0] for stride in strides)
        for page, values in zip(pages, pages_in, strict=True):
            page[:] = values.ravel()
        paged._publish(store, pages, np.array(strides, np.int64), 0)
        return paged

    @classmethod
    def from_cells(cls, cells: Cells, like: Paged, features: int) -> Paged:
        """Return a store of chains with these cells, of the same kind as another one, with room for so many features.

        The blocks of a slot follow each other, in the order of their columns.
        """
        if int(cells.owners.max(initial=0)) >= features:
            raise ValueError("its features point outside of it")
        paged = cls(like.store.like.dtype, like.store.depth, like.least, like.store.each)
        paged.view = (paged.store._replace(in_chains=True, slots=np.zeros(features, np.uint32)), ())
        n, n_blocks = len(cells.owners), cells.n_blocks()
        if n:
            paged.make_room(n + n // 4, n_blocks + n_blocks // 4, SEGMENT + 1)  # what is not used yet is free
            cells.write(paged.store)
        return paged

    @classmethod
    def from_blocks(cls, blocks: Blocks, like: Paged, features: int, memory: np.ndarray) -> Paged:
        """Return the store of these blocks, of one segment, of the same kind as another one, with room for so many
        features.

        Its pages are `memory`: `blocks.nbytes` zeros on a cache line.
        """
        owners, empty, n = blocks.owners, like.store, len(blocks.owners)
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
        owner = np.zeros(max(n + 1, len(pages) * PAGE), np.uint32)
        owner[1 : n + 1] = owners
        store = paged.store._replace(
            slots=slots,
            owners=owner,
            address=pages.ctypes.data + pages.strides[0] * np.arange(len(pages)),
            stride=strides,
            used=np.array([n, n_blocks, strides.min(initial=SEGMENT), strides.max(initial=0), 0]),
        )
        paged.view = (store, tuple(pages))
        return paged

    def nbytes(self) -> int:
        """Return the bytes that the pages and their tables take."""
        store, pages = self.view
        return sum(array.nbytes for array in (*pages, store.slots, store.owners, store.heads))

    def _place_all(self) -> None:
        """Give feature f block f + 1, so that its weights are found without the tables."""
        self.placed_all = True
        store, n = self.store, self.store.slots.shape[0]
        order = np.arange(1, n + 1, dtype=np.uint32)
        store.slots[:], store.owners[1 : n + 1] = order, order - 1
        store.used[[0, 1, 4]] = n

    def _stride(self, columns: int) -> int:
        if self.store.in_chains:
            return PART
        stride = self.least
        while stride < min(columns, SEGMENT):
            stride *= 2
        return min(stride, SEGMENT)

    def _more(self, n: int, stride: int, values: int) -> int:
        """Return how many pages to add to `n`: three times as many at first, later a quarter (unused ones are free)."""
        size = self._bytes_of_page(stride)
        return max(n // 4, AT_ONCE // size if n >= 4 or values > MANY else 3 * n)

    def _pages(self, n: int, stride: int) -> list[np.ndarray]:
        """Return `n` pages of zeros in one piece of memory that begins on a cache line; those of chains in several."""
        most = max(1, PIECE // self._bytes_of_page(stride)) if self.store.in_chains else n
        return [page for first in range(0, n, most) for page in self._memory(min(most, n - first), stride)]

    def _memory(self, n: int, stride: int) -> np.ndarray:
        """Return the same as one array (pages, values)."""
        size = self._bytes_of_page(stride)
        (raw,) = _in_one_piece([n * size])
        return raw.view(self.store.like.dtype).reshape(n, size // self.store.like.itemsize)

    def _bytes_of_page(self, stride: int) -> int:
        layers, itemsize = self.store.depth * self.store.each, self.store.like.itemsize
        return PAGE * (bytes_of_block(layers, itemsize) if self.store.in_chains else layers * stride * itemsize)

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
    memory = _in_one_piece([each.nbytes if each.n_segments == 1 else 0 for each in blocks])
    return [
        Paged.from_blocks(each, like, features, m)
        if each.n_segments == 1
        else Paged.from_cells(Cells.of_blocks(each), like, features)
        for each, like, m in zip(blocks, likes, memory, strict=True)
    ]


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
