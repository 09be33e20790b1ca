"""Signals while a model learns: handlers run between two rounds, where all counts of the model agree.

Python calls a signal's handler between any two of its own instructions, but not inside a compiled loop. So work is cut
into pieces of a fraction of a second, and handlers are deferred until a piece ends.
"""

from __future__ import annotations

import signal
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any, Self

import numpy as np

__all__ = ["BetweenRounds", "Stopped", "apart", "compiling", "hear", "pieces", "unless_stopped"]

SECONDS = 0.1  # that a piece should take: short enough to stop soon, long enough that cutting costs nothing
FIRST = 1 << 22  # operations of the first piece, before the speed is known
FASTER = 4  # the next piece is at most this many times as large as the last one
LONG = 1 << 27  # operations from which a single row runs in its own thread, so that signals are handled meanwhile
TICK = 0.05  # seconds between two looks at that thread
RETRY = 0.005  # seconds until a signal that Numba could not bear is sent again

NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2")
HEEDED = tuple(int(getattr(signal, name)) for name in NAMES if hasattr(signal, name))

try:  # the same functions without the conversion of handlers to enums, which takes as long as learning a row
    from _signal import getsignal as get_handler  # type: ignore[import-not-found]
    from _signal import signal as set_handler
except ImportError:  # not CPython
    from signal import getsignal as get_handler
    from signal import signal as set_handler

_open: BetweenRounds | None = None


class Stopped(BaseException):
    """Raised by a program's own handler, or by `unless_stopped`, to end a call before its next round."""


class BetweenRounds:
    """Context manager that defers signal handlers in the main thread: `hear` calls them, and the end of the block.

    While Numba compiles a loop, which takes up to a minute and changes no model, handlers are called at once, or a
    moment later where an exception would break Numba's own tables (`compiling`).
    """

    def __init__(self) -> None:
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._came: list[tuple[int, FrameType | None]] = []
        self._raised: BaseException | None = None

    def __enter__(self) -> Self:
        global _open
        if _open is None and threading.current_thread() is threading.main_thread():
            for number in HEEDED:
                handler = get_handler(number)
                if callable(handler):
                    self._before[number] = handler
                    set_handler(number, self._note)
            _open = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, where: TracebackType | None
    ) -> None:
        global _open
        if _open is not self:
            return
        if raised is not None and raised is self._raised:  # the handler has run, while Numba compiled
            self._came.clear()
        for number, handler in self._before.items():
            set_handler(number, handler)
        _open = None
        self.call()

    @property
    def called(self) -> bool:
        """True if a signal waits to be handled."""
        return bool(self._came)

    def call(self) -> None:
        """Call the handlers of the signals received so far."""
        for number, frame in iter(self._take, None):
            self._before[number](number, frame)

    def _take(self) -> tuple[int, FrameType | None] | None:
        try:
            return self._came.pop(0)
        except IndexError:
            return None

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came.append((number, frame))
        if compiling(frame):
            try:
                self.call()
            except BaseException as raised:  # some callbacks of the compiler swallow it: then it is raised again later
                self._raised = raised
                self._came.append((number, frame))
                raise
        elif registering(frame):
            retry = threading.Timer(RETRY, self._send_again)
            retry.daemon = True
            retry.start()

    def _send_again(self) -> None:
        """Send the oldest deferred signal again, from another thread, unless it has been handled by now."""
        if _open is self and (oldest := self._take()) is not None:
            signal.raise_signal(oldest[0])


def compiling(frame: FrameType | None) -> bool:
    """Return True if a signal arrived while Numba was compiling or loading a loop, when no model changes.

    False while Numba registers what it can compile: an exception there leaves it unable to compile in this process.
    """
    return _below(frame, "numba.") and not registering(frame)


def registering(frame: FrameType | None) -> bool:
    """Return True if a signal arrived while Numba filled its tables, importing modules as it goes."""
    return _below(frame, "numba.core.", "refresh")


def _below(frame: FrameType | None, modules: str, function: str = "") -> bool:
    """Return True if a frame of these modules, and of this function, is at or below the frame in the stack."""
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(modules) and function in ("", frame.f_code.co_name):
            return True
        frame = frame.f_back
    return False


def hear() -> None:
    """Call the deferred handlers, between two rounds; what they raise is raised here."""
    if _called():
        _open.call()  # type: ignore[union-attr]


def _called() -> bool:
    opened = _open
    return opened is not None and opened.called and threading.current_thread() is threading.main_thread()


def pieces(
    ends: np.ndarray | range, per_value: float = 1.0, delay: int = 0, advance: Callable[[int], None] | None = None
) -> Iterable[slice]:
    """Cut rows into pieces that take a fraction of a second each; handle signals between them.

    Parameters
    ----------
    ends : int array (rows + 1,)
        Where each row's values begin, and where those of the last one end.
    per_value : float
        Estimated operations for each value; sets the size of the first piece only.
    delay : int
        Rows are learnt this many steps after they were predicted, so there are `delay` more steps than rows.
    advance : function, optional
        Called after each piece with the number of rows done: after every two-hundredth of them, if not more often.

    Examples
    --------
    >>> list(pieces(np.array([0, 3, 6, 9]), per_value=2**20)), list(pieces(np.array([0, 3])))
    ([slice(0, 1, None), slice(1, 3, None)], [slice(0, 1, None)])
    """
    if advance is None and len(ends) + delay <= 2:  # one row at a time, as in a stream
        return (slice(0, len(ends) - 1 + delay),)
    return _pieces(ends, per_value, delay, advance)


def _pieces(
    ends: np.ndarray | range, per_value: float, delay: int, advance: Callable[[int], None] | None
) -> Iterator[slice]:
    rows = len(ends) - 1
    n, start, room = rows + delay, 0, FIRST / max(1.0, per_value)
    if n <= 1:
        yield slice(0, n)
        if advance is not None:
            advance(n)
        return

    def work(step: int) -> int:
        """Operations before a step: one for each step and for each value, of the rows predicted and of those learnt."""
        values = int(ends[min(step, rows)])
        return step + values + (int(ends[max(step - delay, 0)]) if delay else 0)

    most = n if advance is None else max(1, rows // 200)
    while start < n:
        longest = bisect_right(range(start, n + 1), work(start) + room, key=work) - 1
        stop = start + max(1, longest)
        stop = min(n, stop, (start // most + 1) * most)  # whole shares of the rows, however long the last piece took
        began = time.perf_counter()
        yield slice(start, stop)
        if advance is not None:
            advance(max(0, stop - delay) - max(0, start - delay))
        hear()
        took = time.perf_counter() - began
        room = float(work(stop) - work(start)) * min(FASTER, SECONDS / max(took, 1e-9))
        start = stop


def unless_stopped(n: int, going: Callable[[], bool]) -> Callable[[int], None] | None:
    """Return an `advance` that abandons a single long row once `going()` is False; None for several rows."""

    def advance(done: int) -> None:
        if not done and not going():
            raise Stopped

    return advance if n == 1 else None


def apart(function: Any, arguments: tuple[Any, ...], stop: np.ndarray) -> None:
    """Call a slow compiled function in a thread, because the main one handles no signals while it runs compiled code.

    A signal sets `stop[0]`, after which the function must return soon.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(function, "compile"):
        function(*arguments)
        return
    from numba import typeof

    entry = function.compile(tuple(map(typeof, arguments)))
    failed: list[BaseException] = []

    def run() -> None:
        try:
            entry(*arguments)
        except BaseException as problem:
            failed.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
        while thread.is_alive():
            thread.join(TICK)
            if _called():
                stop[0] = 1
    except BaseException:
        stop[0] = 1
        with BetweenRounds():  # another signal must not leave the thread behind
            while thread.is_alive():
                thread.join(TICK)
        raise
    if failed:
        raise failed[0]
