"""Arrays on memory given by its address, and on large pages of the operating system."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import carray, config, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

__all__ = ["LARGE_PAGE", "borrowed", "empty", "segment", "zeros"]

LARGE_PAGE = 1 << 21  # bytes that the operating system may map at once


if config.DISABLE_JIT:  # type: ignore[attr-defined]

    def segment(address: int, n: int, like: Any) -> Any:
        """Return the `n` values at an address as an array on that memory, of the dtype of `like`."""
        buffer = (ctypes.c_char * (int(n) * like.itemsize)).from_address(int(address))
        return np.frombuffer(buffer, dtype=like.dtype)

    def borrowed(array: Any) -> Any:
        """Return the same array, in C order, without a reference count; its owner must outlive it."""
        return array

else:

    @intrinsic
    def _pointer(typing_context: Any, address: Any, like: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(like.dtype)(address, like), generate  # type: ignore[no-untyped-call]

    @njit(cache=True)
    def segment(address: int, n: int, like: Any) -> Any:
        """Return the `n` values at an address as an array on that memory, of the dtype of `like`."""
        return carray(_pointer(address, like), (n,))  # type: ignore[call-arg]

    @njit(cache=True)
    def borrowed(array: Any) -> Any:
        """Return the same array, in C order, without a reference count; its owner must outlive it.

        Numba counts references wherever an array changes hands, also on its way into an inlined function. Each count is
        an atomic operation, for which the processor finishes all that it has begun.
        """
        return carray(_pointer(array.ctypes.data, array), array.shape)  # type: ignore[call-arg]


def empty(n: int, dtype: Any) -> np.ndarray:
    """Return an array of `n` values, on a large page if they fill half of one.

    The first use of a page stops the program for a while whatever the size of the page; an ordinary one is 4 KB.
    """
    size = n * np.dtype(dtype).itemsize
    if 2 * size < LARGE_PAGE:
        return np.empty(n, dtype)
    whole = np.empty(max(size, LARGE_PAGE) + LARGE_PAGE, np.uint8)  # NumPy asks for large pages from two of them on
    start = -whole.ctypes.data % LARGE_PAGE
    return whole[start : start + size].view(dtype)


def zeros(n: int, dtype: Any) -> np.ndarray:
    """Return an array of `n` zeros, on a large page if they fill half of one."""
    if 2 * n * np.dtype(dtype).itemsize < LARGE_PAGE:
        return np.zeros(n, dtype)
    room = empty(n, dtype)
    room[:] = 0
    return room
