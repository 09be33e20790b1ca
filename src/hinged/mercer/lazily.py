"""Compiled loops where Numba is installed, and None where it is not."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["compiled"]


@cache
def compiled() -> Any:
    """`hinged.mercer.compiled`, imported when it is first asked for; None without Numba."""
    try:
        from hinged.mercer import compiled as loops
    except ImportError:
        return None
    return loops
