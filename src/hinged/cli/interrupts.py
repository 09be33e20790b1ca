"""Ctrl-C and SIGTERM while a model learns: the first asks to stop, a second one stops."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, Self, TypeVar

__all__ = ["Interrupts"]

Item = TypeVar("Item")
HEEDED = (signal.SIGINT, signal.SIGTERM)


class _Stopped(BaseException):
    """Raised where a signal comes while waiting for input, which may never arrive."""


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

    def __exit__(self, *raised: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

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
