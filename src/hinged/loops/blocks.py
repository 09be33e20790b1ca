"""The values of a store as states keep them, without room for more: checked, and written to pages.

What a state has of a store is listed in `hinged.estimators.state`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Uint64s
from hinged.loops.pages import PAGE
from hinged.native import lowest_bit

__all__ = ["Blocks", "SparseValues"]

ONE = np.uint64(1)


class SparseValues(NamedTuple):
    """An array of which most is 0."""

    shape: tuple[int, ...]
    bits: np.ndarray  # uint64: one bit for each number, from the lowest on, that says whether it is not 0
    kept: np.ndarray  # the numbers that are not 0, in order; as many as there are bits set

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers."""
        return self.kept.dtype

    def dense(self) -> np.ndarray:
        """Return the plain array.

        Examples
        --------
        >>> SparseValues((2, 2), np.array([0b0110], np.uint64), np.array([3.0, 5.0])).dense().tolist()
        [[0.0, 3.0], [5.0, 0.0]]
        """
        out = np.zeros(math.prod(self.shape), self.dtype)
        bits = np.unpackbits(self.bits.view(np.uint8), count=out.size, bitorder="little")
        out[np.flatnonzero(bits.view(np.bool_))] = self.kept  # places are quicker to follow than a mask
        return out.reshape(self.shape)


class Blocks(NamedTuple):
    """What a state has of a store, found to fit together."""

    owners: np.ndarray  # uint32 (slots,): feature of each slot
    held: np.ndarray  # bool (slots, segments): which of them have a block
    values: np.ndarray | SparseValues  # (blocks, layers, columns)
    stride: int  # columns that a block of the pages has room for

    @classmethod
    def of(cls, arrays: Mapping[str, Any], prefix: str, dtype: np.dtype, layers: int) -> Self:
        """Return the blocks of a store by its name in a state, or say what is wrong: compiled loops follow them."""
        owners, held, stride = (arrays[prefix + name] for name in ("owners", "held", "stride"))
        values = arrays[f"{prefix}values"]
        if owners.dtype != np.uint32 or owners.ndim != 1:
            raise ValueError("its tables are damaged")
        if held.dtype != np.bool_ or held.ndim != 2 or held.shape[0] != len(owners) or held.shape[1] < 1:
            raise ValueError("its tables are damaged")
        n_blocks = np.count_nonzero(held)
        if held.shape[1] == 1 and n_blocks != len(held):  # the fast loop takes a slot for its block
            raise ValueError("its blocks are out of order")
        if values.dtype != dtype or len(values.shape) != 3 or values.shape[:2] != (n_blocks, layers):
            raise ValueError("its blocks are damaged")
        if int(stride[0]) not in (1, 2, 4, 8, 16, 32, 64) or not values.shape[2] <= int(stride[0]):
            raise ValueError("its blocks are damaged")
        numbers = values.kept if isinstance(values, SparseValues) else values
        if dtype.kind == "f" and not np.isfinite(numbers).all():
            raise ValueError("its weights are not finite")
        return cls(owners, held, values, int(stride[0]))

    @property
    def n_pages(self) -> int:
        """How many pages hold the blocks, of which number 0 is reserved."""
        n_blocks = self.values.shape[0]
        return n_blocks // PAGE + 1 if n_blocks else 0

    @property
    def nbytes(self) -> int:
        """Bytes that the pages take."""
        return self.n_pages * PAGE * self.values.shape[1] * self.stride * self.values.dtype.itemsize

    def write(self, pages: np.ndarray) -> None:
        """Write the values to `pages`, one run of zeros, behind block 0."""
        n_blocks, layers, columns = self.values.shape
        if isinstance(self.values, SparseValues):
            _spread(self.values.bits, self.values.kept, columns, pages, layers * self.stride, self.stride)
        else:
            pages.reshape(-1, layers, self.stride)[1 : n_blocks + 1, :, :columns] = self.values


@compiled
def _spread(bits: Uint64s, kept: Floats | Int32s, columns: int, out: Floats | Int32s, begin: int, stride: int) -> None:
    """Write the numbers that are not 0 to rows of so many columns; in `out` the first is at `begin`, others follow."""
    n, row, row_ends = 0, begin, columns  # of the row: where it is in `out`, and which number is the first beyond it
    for w in range(bits.shape[0]):
        word = bits[w]
        while word != 0:
            number = 64 * w + lowest_bit(word)
            while number >= row_ends:
                row += stride
                row_ends += columns
            out[row + columns - (row_ends - number)] = kept[n]
            n += 1
            word &= word - ONE
