"""Side-by-side timing: best of several interleaved repeats."""

import gc
import random
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Thunk = Callable[[], Any]
Contender = Callable[[], Thunk]


class Timed(NamedTuple):
    """Best CPU seconds and best wall seconds over the repeats, and the return value of the last repeat."""

    seconds: float
    wall: float
    value: Any


def race(contenders: Mapping[str, Contender], repeats: int) -> dict[str, Timed]:
    """Time every contender `repeats` times, interleaved, in a new random order each time.

    Noise on a shared machine comes in bursts. Interleaving spreads a burst over all contenders, and the best repeat is
    the least affected. A contender that runs after one that emptied the caches and released memory is slower, so the
    order changes in every round, and no contender runs twice in a row. Ratios use CPU time, because a short run is
    more likely to find the machine idle than a long one. One untimed round first compiles, loads and fills caches.

    Parameters
    ----------
    contenders : mapping of name to callable
        Each prepares a run, untimed, and returns the callable to be timed.
    repeats : int
        Timed rounds, at least 1.

    Returns
    -------
    dict of name to Timed
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    walls: dict[str, list[float]] = {name: [] for name in contenders}
    values: dict[str, Any] = {}
    names, dice = list(contenders), random.Random(0)
    for turn in range(repeats + 1):
        last = names[-1] if turn > 0 else None
        dice.shuffle(names)
        while names[0] == last and len(names) > 1:
            dice.shuffle(names)
        for name in names:
            timed = contenders[name]()
            gc.collect()
            wall, start = time.perf_counter(), time.process_time()
            values[name] = timed()
            elapsed, on_wall = time.process_time() - start, time.perf_counter() - wall
            if turn > 0:
                seconds[name].append(elapsed)
                walls[name].append(on_wall)
    return {name: Timed(min(seconds[name]), min(walls[name]), values[name]) for name in contenders}
