"""Arrays on memory given by its address."""

from __future__ import annotations

import ctypes
from typing import Any, TypeVar

import numpy as np
from numba import carray, config, types  # type: ignore[attr-defined]
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

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

    @intrinsic
    def _pointer(typing_context: Any, address: Any, like: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(like.dtype)(address, like), generate  # type: ignore[no-untyped-call]

    @compiled
    def segment(address: int | np.int64, n: int | np.int64, like: np.ndarray) -> np.ndarray:
        """Return the `n` values at an address as an array on that memory, of the dtype of `like`."""
        return carray(_pointer(address, like), (n,))  # type: ignore[call-arg]

    @intrinsic
    def borrowed(typing_context: Any, arrays: Any) -> Any:
        """Return the same array, or tuple of arrays and tuples, without reference counts; its owner must outlive it.

        Numba counts references wherever an array changes hands, also on its way into an inlined function. Each count is
        an atomic operation, for which the processor finishes all that it has begun: on short rows, that takes as long
        as learning. A loop therefore borrows what it was given, which its caller keeps, before the first round.
        """

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _without_owner(context, builder, arrays, args[0])

        return arrays(arrays), generate


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The same value, in which no array has an owner."""
    if isinstance(kind, types.Array):
        view = make_array(kind)(context, builder, value)
        for owner in ("meminfo", "parent"):
            setattr(view, owner, getattr(view, owner).type(None))
        return view._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts = [(part, builder.extract_value(value, i)) for i, part in enumerate(kind)]  # type: ignore
        return context.make_tuple(builder, kind, [_without_owner(context, builder, *part) for part in parts])
    if context.data_model_manager[kind].contains_nrt_meminfo():
        raise TypeError(f"only arrays, and tuples of them, can be borrowed; got {kind}.")
    return value
