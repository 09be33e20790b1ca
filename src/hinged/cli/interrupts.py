"""Ctrl-C and SIGTERM while a model learns: the first signal asks to stop, a second one ends the program at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Self, TypeAlias, TypeVar

__all__ = ["Ending", "Interrupts"]

Item = TypeVar("Item")
Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None  # what `signal.signal` returns
HANDLED = (signal.SIGINT, signal.SIGTERM)
ENDING = (signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()))


class _Interrupted(BaseException):
    """Raised by a signal while the program waits for input, which may never arrive."""


class Ending:
    """While open, SIGTERM and SIGHUP end the program by SystemExit, so that `with` and `finally` blocks clean up.

    Only the first signal counts; another one does not interrupt the cleanup. Python drops an exception that is raised
    while it frees an object. A program that then waits registers with `call` how to wake it, and calls `check` after.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._wake: Callable[[], None] | None = None
        self._before: dict[int, Handler] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in ENDING}
        return self

    def __exit__(self, *raised: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def call(self, wake: Callable[[], None]) -> None:
        """From now on, call this function instead of raising SystemExit; raise it now if a signal has arrived."""
        self._wake = wake
        self.check()

    def check(self) -> None:
        """Raise SystemExit if a signal has arrived."""
        if self._number is not None:
            sys.exit(128 + self._number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._number is None:
            self._number = number
            if self._wake is None:
                self.check()
            else:
                self._wake()


class Interrupts:
    """While open, a first signal is recorded; a second one ends the program.

    Attributes
    ----------
    signal : int or None
        The first signal that arrived.
    """

    def __init__(self, notice: str) -> None:
        self.signal: int | None = None
        self._notice, self._waiting = notice, False
        self._before: dict[int, Handler] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in HANDLED}
        return self

    def __exit__(self, kind: object, raised: object, where: object) -> bool:
        for number, before in self._before.items():
            signal.signal(number, before)
        hearing = sys.modules.get("hinged.loops.hearing")
        return hearing is not None and isinstance(raised, hearing.Stopped)  # raised by `_handle`, to end the block

    @property
    def exit_code(self) -> int:
        """The exit code of a program stopped by a signal; 0 if there was none."""
        return 0 if self.signal is None else 128 + self.signal

    def going(self) -> bool:
        """Return True until a signal has arrived."""
        return self.signal is None

    def while_going(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items until a signal arrives, even while waiting for the next item."""
        iterator = iter(items)
        try:
            while self.signal is None:
                self._waiting = True
                try:
                    item = next(iterator)
                except StopIteration:
                    return
                finally:
                    self._waiting = False
                yield item
        except _Interrupted:
            self._waiting = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:
            sys.exit(128 + number)
        self.signal = number
        os.write(2, f"\r\x1b[K{self._notice}\n".encode() if sys.stderr.isatty() else f"{self._notice}\n".encode())
        if self._waiting:
            raise _Interrupted
        hearing = sys.modules.get("hinged.loops.hearing")
        if hearing is not None and hearing.compiling(frame):  # no round is running, so none is cut short
            raise hearing.Stopped
