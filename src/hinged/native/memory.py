"""Arrays on memory given by its address."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import carray, config, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

__all__ = ["borrowed", "segment"]


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
