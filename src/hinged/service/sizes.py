"""Estimates of how much memory a model takes."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from itertools import islice

import numpy as np

from hinged.loops.memory import Paged

__all__ = ["bytes_of"]

LOOKED_AT = 32  # items of a collection; the others are assumed to be similar


def bytes_of(thing: object, seen: set[int] | None = None) -> int:
    """Return the approximate bytes of the arrays, texts and collections that a learner holds.

    Examples
    --------
    >>> 8_000 <= bytes_of({"weights": np.zeros(1000)}) <= 9_000
    True
    >>> 50_000 < bytes_of([f"word {i}" for i in range(1000)]) < 120_000
    True
    """
    seen = set() if seen is None else seen
    if thing is None or isinstance(thing, bool | int | float | type) or id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, Paged):
        return thing.nbytes()
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes) if thing.base is None else bytes_of(thing.base, seen)
    return sys.getsizeof(thing, 64) + _inside(thing, seen)


def _inside(thing: object, seen: set[int]) -> int:
    """Return the bytes of what an object refers to."""
    if isinstance(thing, dict):
        return _several(thing, seen) + _several(thing.values(), seen)
    if isinstance(thing, list | tuple | set | frozenset):
        return _several(thing, seen)
    return sum(bytes_of(one, seen) for one in _attributes(thing))


def _several(items: Collection[object], seen: set[int]) -> int:
    some = [bytes_of(item, seen) for item in islice(items, LOOKED_AT)]
    return sum(some) * len(items) // len(some) if some else 0


def _attributes(thing: object) -> Iterator[object]:
    """Yield the attributes of an object of this library."""
    if type(thing).__module__.startswith("hinged"):
        yield from list(getattr(thing, "__dict__", {}).values())  # a copy: another thread may predict meanwhile
        for kind in type(thing).__mro__:
            yield from (getattr(thing, name, None) for name in getattr(kind, "__slots__", ()))
