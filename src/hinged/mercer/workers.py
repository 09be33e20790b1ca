"""Threads for matrix products: each takes whole tiles, so that what follows a product is shared as well.

A product that BLAS shares among threads leaves the kernel's own arithmetic to one of them, and lets the others spin
until all are done. Here each thread multiplies, applies the kernel and sums for a tile of its own; BLAS is limited
to one thread meanwhile, and as many threads are taken as it would have used.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

__all__ = ["Share", "Team", "workers"]

#: Calls a function with each of some things, perhaps at the same time; what it returns comes in their order.
Share = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]

#: Multiplications from which on BLAS is held to one thread, and from which on threads are started: 20 microseconds and
#: two milliseconds of one core.
SOME, ENOUGH = 1e6, 1e8


class _Blas:
    """The process's BLAS, limited to one thread while in use here; without threadpoolctl it is left alone."""

    def __init__(self) -> None:
        self.lock, self.is_held, self.threads = threading.Lock(), False, 1
        self.controller: Any = None
        try:
            from threadpoolctl import ThreadpoolController
        except ImportError:
            return
        self.controller = ThreadpoolController().select(user_api="blas")

    @contextmanager
    def held(self) -> Iterator[int]:
        """Limit it to one thread and yield how many it had; the thread that limited it first restores it."""
        with self.lock:
            first = not self.is_held
            if first:
                told = [] if self.controller is None else self.controller.info()
                self.threads = min(max((one["num_threads"] for one in told), default=1), _cores())
                self.is_held = self.threads > 1
            threads = self.threads
        if not first or threads == 1:
            yield threads
            return
        try:
            with self.controller.limit(limits=1):
                yield threads
        finally:
            self.is_held = False


class Team(NamedTuple):
    """Threads that share work, and others that begin what is needed next while their caller goes on."""

    share: Share
    begin: Callable[..., Callable[[], Any]]  # begin(function, *arguments)() is what the function returns


def _later(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Without threads, what is needed next is computed when it is needed."""
    return lambda: function(*arguments)


ALONE = Team(map, _later)


@cache
def _blas() -> _Blas:
    return _Blas()


def _cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(work: float) -> Iterator[Team]:
    """Threads for so many multiplications, or none where they are too few; they end with the block."""
    if work < SOME:
        yield ALONE
        return
    with _blas().held() as threads:
        if threads == 1 or work < ENOUGH:
            yield ALONE
            return
        with ThreadPoolExecutor(threads) as pool, ThreadPoolExecutor(2) as others:

            def share(function: Callable[[Any], Any], things: Iterable[Any]) -> Iterator[Any]:
                return _in_order(pool, 2 * threads, function, things)

            def begin(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
                return others.submit(function, *arguments).result

            yield Team(share, begin)


def _in_order(
    pool: ThreadPoolExecutor, ahead: int, function: Callable[[Any], Any], things: Iterable[Any]
) -> Iterator[Any]:
    """What the function returns for each thing, in order; at most `ahead` calls are started in advance."""
    begun: deque[Any] = deque()
    for thing in things:
        begun.append(pool.submit(function, thing))
        if len(begun) > ahead:
            yield begun.popleft().result()
    while begun:
        yield begun.popleft().result()
