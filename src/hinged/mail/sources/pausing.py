"""Pauses between attempts to reach mail."""

from __future__ import annotations

import random
from collections.abc import Iterator

__all__ = ["pauses"]


def pauses() -> Iterator[float]:
    """Yield pauses before reconnecting: a second, then twice as long each time, up to a minute.

    They are randomized, so that the clients of a server that comes back do not all reconnect at once.
    """
    length = 1.0
    while True:
        yield length * random.uniform(0.75, 1.0)
        length = min(60.0, 2 * length)
