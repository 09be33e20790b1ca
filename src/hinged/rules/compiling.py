"""Numba's decorator; where Numba is not installed, functions stay plain Python, so kernel learners run without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["njit"]

try:
    from numba import njit
except ImportError:

    def njit(**_options: Any) -> Callable[[Any], Any]:  # type: ignore[no-redef]
        """Leave a function as it is."""
        return lambda function: function
