"""Ctrl-C and SIGTERM while a model learns: the first asks to stop, a second one stops."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, Self, TypeVar

__all__ = ["Ending", "Interrupts"]

Item = TypeVar("Item")
HEEDED = (signal.SIGINT, signal.SIGTERM)
ENDING = (signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()))


class _Stopped(BaseException):
    """Raised where a signal comes while waiting for input, which may never arrive."""


class Ending:
    """While open, SIGTERM and SIGHUP end the program by SystemExit, so that `with` and `finally` blocks clean up.

    Only the first one counts: another does not interrupt the cleaning up. Python drops an exception that is raised
    while it frees an object, so a program that goes on to wait says by `call` how to wake it, and asks `check` after.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._wake: Callable[[], None] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._hear) for number in ENDING}
        return self

    def __exit__(self, *raised: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def call(self, wake: Callable[[], None]) -> None:
        """From now on, call this function in place of raising SystemExit; raise it if a signal came before."""
        self._wake = wake
        self.check()

    def check(self) -> None:
        """Raise SystemExit if a signal came."""
        if self._number is not None:
            sys.exit(128 + self._number)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._number is None:
            self._number = number
            if self._wake is None:
                self.check()
            else:
                self._wake()


class Interrupts:
    """While open, signals are noted; a second one ends the program, whatever it is doing.

    Attributes
    ----------
    signal : int or None
        The signal that came.
    """

    def __init__(self, notice: str) -> None:
        self.signal: int | None = None
        self._notice, self._waiting = notice, False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._hear) for number in HEEDED}
        return self

    def __exit__(self, kind: object, raised: object, where: object) -> bool:
        for number, before in self._before.items():
            signal.signal(number, before)
        hearing = sys.modules.get("hinged.loops.hearing")
        return hearing is not None and isinstance(raised, hearing.Stopped)  # `_hear` raised it, to come here

    @property
    def exit_code(self) -> int:
        """What the shell expects of a program that a signal stopped; 0 where none did."""
        return 0 if self.signal is None else 128 + self.signal

    def going(self) -> bool:
        """Whether nothing has asked to stop."""
        return self.signal is None

    def while_going(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items until a signal comes, also while the next one is waited for."""
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
        except _Stopped:
            self._waiting = False

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:
            sys.exit(128 + number)
        self.signal = number
        os.write(2, f"\r\x1b[K{self._notice}\n".encode() if sys.stderr.isatty() else f"{self._notice}\n".encode())
        if self._waiting:
            raise _Stopped
        hearing = sys.modules.get("hinged.loops.hearing")
        if hearing is not None and hearing.compiling(frame):  # before a round, which is then not begun
            raise hearing.Stopped
