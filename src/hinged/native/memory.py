"""Arrays on memory given by its address."""

from __future__ import annotations

import ctypes
from typing import Any, TypeVar

import numpy as np
from numba import carray, config, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from hinged.compiling import compiled

__all__ = ["borrowed", "segment"]

Arrays = TypeVar("Arrays")  # an array, or a tuple of arrays and tuples


if config.DISABLE_JIT:  # type: ignore[attr-defined]

    def segment(address: int | np.int64, n: int | np.int64, like: np.ndarray) -> np.ndarray:
        """Return the `n` values at an address as an array on that memory, of the dtype of `like`."""
        buffer: Any = (ctypes.c_char * (int(n) * like.itemsize)).from_address(int(address))
        return np.frombuffer(buffer, dtype=like.dtype)

    def borrowed(arrays: Arrays) -> Arrays:
        """Return the same array, or tuple of arrays and tuples, without reference counts; its owner must outlive it."""
        return arrays

else:
    from hinged.compiling.owners import owns, without_owner

    @intrinsic
    def _pointer(typing_context: Any, address: Any, like: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(like.dtype)(address, like), generate  # type: ignore[no-untyped-call]

    @compiled
    def segment(address: int | np.int64, n: int | np.int64, like: np.ndarray) -> np.ndarray:
        """Return the `n` values at an address as an array on that memory, of the dtype of `like`."""
        return carray(_pointer(address, like), (n,))  # type: ignore[call-arg]

    def _check_arrays(context: Any, kind: Any) -> None:
        """Refuse what holds memory of another kind, such as lists and strings."""
        if isinstance(kind, types.BaseTuple):
            for part in kind:  # type: ignore
                _check_arrays(context, part)
        elif owns(context, kind) and not isinstance(kind, types.Array):
            raise TypeError(f"only arrays, and tuples of them, can be borrowed; got {kind}.")

    @intrinsic
    def borrowed(typing_context: Any, arrays: Any) -> Any:
        """Return the same array, or tuple of arrays and tuples, without reference counts; its owner must outlive it.

        Numba counts references wherever an array changes hands, also on its way into an inlined function. Each count is
        an atomic operation, for which the processor finishes all that it has begun: on short rows, that takes as long
        as learning. A loop therefore borrows what it was given, which its caller keeps, before the first round.
        """

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            _check_arrays(context, arrays)
            return without_owner(context, builder, arrays, args[0])

        return arrays(arrays), generate
