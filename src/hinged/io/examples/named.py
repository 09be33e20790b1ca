"""Named features gathered one row at a time, from dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hinged.io.examples.chunk import Named

__all__ = ["NamedRows"]

LARGEST = float(np.finfo(np.float32).max)


class NamedRows:
    """Rows of features on their way into a `Named`.

    Examples
    --------
    >>> rows = NamedRows()
    >>> rows.add({"size": 1.5, "colour": "red", "f": {"a": 2}, "new": True, "old": False, "who": None})
    >>> named = rows.take()
    >>> [named.buffer[a:b].tobytes().decode() for a, b in named.names.T.tolist()]
    ['size', 'colour=red', 'a', 'new']
    >>> named.buffer[slice(*named.spaces[:, 2])].tobytes(), named.values.tolist()
    (b'f', [1.5, 1.0, 2.0, 1.0])
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pieces: list[bytes] = []
        self._spaces: list[int] = []  # which piece is the namespace, -1 for none
        self._names: list[int] = []
        self._values: list[float] = []
        self._ends = [0]
        self._known: dict[str, int] = {}  # piece of each name so far

    def add(self, features: Mapping[str, Any]) -> None:
        """Enter a row; nothing is entered where a feature is refused.

        Numbers are values, true is 1, false, null and 0 are absent, a word makes name=word with the value 1, an
        object is a namespace.
        """
        spaces: list[str | None] = []
        names: list[str] = []
        values: list[float] = []
        for name, value in features.items():
            if isinstance(value, dict):
                for inner, number in value.items():
                    _enter(name, inner, number, spaces, names, values)
            else:
                _enter(None, name, value, spaces, names, values)
        self._spaces.extend(-1 if space is None else self._piece(space) for space in spaces)
        self._names.extend(map(self._piece, names))
        self._values.extend(values)
        self._ends.append(len(self._values))

    def take(self) -> Named:
        """The rows so far; the next ones begin anew."""
        ends = np.cumsum([0, *map(len, self._pieces)])
        spaces, names = np.array(self._spaces, np.int64), np.array(self._names, np.int64)
        space_ends = np.stack([ends[spaces], ends[np.minimum(spaces + 1, len(self._pieces))]])
        named = Named(
            np.array(self._ends, np.int64),
            np.frombuffer(bytearray(b"".join(self._pieces)), np.uint8),
            np.where(spaces >= 0, space_ends, 0),
            np.stack([ends[names], ends[names + 1]]),
            np.array(self._values, np.float32),
        )
        self._begin()
        return named

    def _piece(self, name: str) -> int:
        place = self._known.get(name)
        if place is None:
            place = self._known[name] = len(self._pieces)
            self._pieces.append(name.encode("utf-8", "replace"))
        return place


def _enter(
    space: str | None, name: str, value: Any, spaces: list[str | None], names: list[str], values: list[float]
) -> None:
    if value is None or value is False or value == 0:
        return
    if isinstance(value, str):
        if not value:
            return
        name, value = f"{name}={value}", 1.0
    if not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise ValueError(f"the value {value!r:.40} of {name!r:.40} is no finite number")
    spaces.append(space)
    names.append(name)
    values.append(float(value))
