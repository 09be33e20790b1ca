"""Calling a compiled loop without Numba's look at the type of every argument, which costs more than a short row.

Only for calls whose arguments were made here and are always of the same types; anything else goes the usual way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from numba import config, typeof

__all__ = ["Direct"]


class Direct:
    """A compiled function, with the machine code of each kind of call kept at hand."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.entries: dict[Hashable, Callable[..., Any]] = {}

    def __call__(self, kind: Hashable, *args: Any) -> Any:
        """Call it; `kind` names the arguments' types."""
        entry = self.entries.get(kind)
        if entry is None:
            entry = self.function
            if not config.DISABLE_JIT:  # type: ignore[attr-defined]
                entry = self.function.compile(tuple(map(typeof, args)))
            self.entries[kind] = entry
        return entry(*args)
