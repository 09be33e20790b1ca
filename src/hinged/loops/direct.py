"""Calls of compiled loops that skip Numba's check of every argument's type, which takes longer than a short row."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from numba import config, typeof

__all__ = ["Direct"]


class Direct:
    """A compiled function whose machine code is looked up by one key instead of by the types of all arguments."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.entries: dict[Hashable, Callable[..., Any]] = {}

    def __call__(self, kind: Hashable, *args: Any) -> Any:
        """Call it; calls with the same `kind` must have arguments of the same types."""
        entry = self.entries.get(kind)
        if entry is None:
            entry = self.function
            if not config.DISABLE_JIT:  # type: ignore[attr-defined]
                entry = self.function.compile(tuple(map(typeof, args)))
            self.entries[kind] = entry
        return entry(*args)
