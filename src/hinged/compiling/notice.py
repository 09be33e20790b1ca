"""Tell the user when something is being compiled: what, how far it is, and that it happens once.

Whatever compiles for more than a second is announced on standard error: on a terminal by a bar, elsewhere by a line
every ten seconds. `HINGED_QUIET=1` turns that off. The logger `hinged.compiling` gets the same texts, for programs.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.event import Event, Listener, register

__all__ = ["quiet", "watch"]

LOG = logging.getLogger("hinged.compiling")
PATIENCE = 1.0  # seconds before the first word
EVERY = 10.0  # seconds between lines where there is no terminal
BAR = 20  # characters
RARELY = (100_000, 50, 100)  # thresholds of Python's garbage collector while something compiles; 700, 10, 10 otherwise


def parts_of(function: Any) -> set[Any]:
    """Return the compiled functions that a function calls, directly or not, and the function itself.

    Examples
    --------
    >>> from hinged.compiling import compiled
    >>> double = compiled(lambda x: 2 * x)
    >>> len(parts_of(double))
    1
    """
    found: set[Any] = set()
    waiting = [function]
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found.add(each)
        code, names = each.py_func.__code__, each.py_func.__globals__
        called = (names.get(name) for name in code.co_names)
        waiting.extend(other for other in called if hasattr(other, "py_func"))
    return found


class Notice:
    """What is said of one function that Python called and that is being compiled."""

    def __init__(self, function: Any) -> None:
        self.name = f"{function.py_func.__module__}.{function.py_func.__name__}"
        self.total, self.done = len(parts_of(function)), 0
        self.place = Path(getattr(function._cache, "cache_path", None) or os.devnull)
        self.began = time.monotonic()
        self.told = False
        self._over = threading.Event()
        threading.Thread(target=self._tell, name="hinged-compiling", daemon=True).start()

    def end(self, failed: bool = False) -> None:
        """Stop, and say how long it took if anything was said before."""
        self._over.set()
        if self.told:
            seconds = f"{time.monotonic() - self.began:.0f} s"
            done = f"could not compile {self.name}" if failed else f"compiled {self.name} in {seconds}; {self._kept()}"
            self._say(done, last=True)

    def _kept(self) -> str:
        existing = next(path for path in (self.place, *self.place.parents) if path.exists())
        if existing.is_dir() and os.access(existing, os.W_OK):
            return "later runs find it stored"
        return "nothing can be stored, so later runs compile again unless NUMBA_CACHE_DIR is a folder you can write to"

    def _tell(self) -> None:
        wait = PATIENCE
        while not self._over.wait(wait):
            self.told = True
            wait = 0.2 if _is_terminal() else EVERY
            self._say(f"compiling {self.name}, which happens once: {self._progress()}")

    def _progress(self) -> str:
        seconds = f"{time.monotonic() - self.began:.0f} s"
        if self.done >= self.total - 1:  # only the whole is left
            return f"all {self.total} parts read, optimising, {seconds}"
        full = BAR * self.done // self.total
        bar = f"[{'#' * full}{'.' * (BAR - full)}] " if _is_terminal() else ""
        return f"{bar}{self.done} of {self.total} parts, {seconds}"

    def _say(self, text: str, last: bool = False) -> None:
        LOG.info(text)
        if _is_quiet():
            return
        try:
            if _is_terminal():
                sys.stderr.write(f"\r\x1b[Khinged: {text}" + "\n" * last)
            else:
                sys.stderr.write(f"hinged: {text}\n")
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):  # no standard error, or it is closed
            pass


class Watch(Listener):
    """Follows what Numba compiles, for functions of this package and what they call.

    Meanwhile Python looks for garbage rarely: the compiler makes millions of objects that live until it is done, and
    looking through them again and again took a fifth of its time.
    """

    def __init__(self) -> None:
        self.notice: Notice | None = None
        self.depth = 0  # Numba compiles in one thread at a time, a function before those that call it
        self.thresholds = gc.get_threshold()

    def on_start(self, event: Event) -> None:
        """Begin a notice where Python asked for a function of ours."""
        self.depth += 1
        function = event.data["dispatcher"]
        if self.depth == 1 and function.py_func.__module__.startswith("hinged."):
            self.notice = Notice(function)
            self.thresholds = gc.get_threshold()
            if self.thresholds[0]:  # else it is off
                gc.set_threshold(*map(max, self.thresholds, RARELY))

    def on_end(self, event: Event) -> None:
        """Count a part, or end the notice."""
        self.depth -= 1
        if self.notice is None:
            return
        self.notice.done += 1
        if self.depth == 0:
            gc.set_threshold(*self.thresholds)
            self.notice.end(failed=tuple(event.data["args"]) not in event.data["dispatcher"].overloads)
            self.notice = None


SILENT = threading.Event()


@cache
def watch() -> None:
    """Announce what is compiled from now on; a second call changes nothing."""
    register("numba:compile", Watch())


@contextmanager
def quiet() -> Iterator[None]:
    """Say nothing on standard error within this block, which shows progress by its own means."""
    SILENT.set()
    try:
        yield
    finally:
        SILENT.clear()


def _is_quiet() -> bool:
    return SILENT.is_set() or os.environ.get("HINGED_QUIET", "0") not in ("", "0")


def _is_terminal() -> bool:
    """Return True if standard error is a terminal that nobody else draws on."""
    return sys.stderr is sys.__stderr__ and sys.stderr is not None and sys.stderr.isatty()
