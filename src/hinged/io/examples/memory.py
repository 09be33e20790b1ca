"""Arrays whose memory is used again once nobody holds them: fresh pages of the system cost as much as parsing."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Memory"]

SPARE = 8  # pieces that may wait for use


class Memory:
    """Hands out arrays; when the last view of one is gone, its bytes serve the next that asks.

    Parameters
    ----------
    make : callable, default bytearray
        Gives so many bytes.

    Examples
    --------
    >>> memory = Memory()
    >>> first = memory.array((2, 3), np.int64)
    >>> part, address = first[1], first.ctypes.data
    >>> del first
    >>> second = memory.array((2, 3), np.int64)
    >>> second.ctypes.data == address  # `part` still looks at the first
    False
    >>> del part
    >>> third = memory.array((2, 3), np.int64)
    >>> third.ctypes.data == address
    True
    """

    def __init__(self, make: Callable[[int], Any] = bytearray) -> None:
        self._make = make
        self._spare: list[Any] = []

    def array(self, shape: int | tuple[int, ...], dtype: type) -> np.ndarray:
        """An array with anything in it."""
        size = math.prod(shape if isinstance(shape, tuple) else (shape,)) * np.dtype(dtype).itemsize
        spare, self._spare = self._spare, []  # another may come back at any moment, from any thread
        fit = [i for i, one in enumerate(spare) if size <= len(one) <= 4 * size + 4096]
        piece = spare.pop(min(fit, key=lambda i: len(spare[i]))) if fit else self._make(size + size // 8 + 64)
        self._spare.extend(spare[-SPARE:])
        whole = np.frombuffer(memoryview(piece), np.uint8)  # every view keeps this one alive
        weakref.finalize(whole, self._back, piece).atexit = False
        return whole[:size].view(dtype).reshape(shape)

    def _back(self, piece: Any) -> None:
        self._spare.append(piece)
