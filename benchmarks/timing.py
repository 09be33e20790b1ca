"""Side-by-side timing: best of several interleaved repeats."""

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Thunk = Callable[[], Any]
Contender = Callable[[], Thunk]


class Timed(NamedTuple):
    """Best seconds over the repeats, all of them, and what the last repeat returned."""

    seconds: float
    repeats: list[float]
    value: Any


def race(contenders: Mapping[str, Contender], repeats: int) -> dict[str, Timed]:
    """Time every contender `repeats` times, taking turns.

    Noise on a shared machine comes in bursts; taking turns lets a burst hit everybody, and the best
    repeat is the one it hit least. One untimed round first compiles, loads and fills caches.

    Parameters
    ----------
    contenders : mapping of name to callable
        Each prepares a fresh start, untimed, and returns the callable to be timed.
    repeats : int
        Timed rounds, at least 1.

    Returns
    -------
    dict of name to Timed
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    values: dict[str, Any] = {}
    for turn in range(repeats + 1):
        for name, prepare in contenders.items():
            timed = prepare()
            gc.collect()
            start = time.perf_counter()
            values[name] = timed()
            elapsed = time.perf_counter() - start
            if turn > 0:
                seconds[name].append(elapsed)
    return {name: Timed(min(taken), taken, values[name]) for name, taken in seconds.items()}
