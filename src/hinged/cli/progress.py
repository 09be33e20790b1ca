"""Progress of a command, on stderr; silent unless that is a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from hinged.cli.tables import SCREEN, cleaned, shorten

__all__ = ["ProgressLine", "bar", "size_of"]

EVERY = 0.1  # seconds between two drawings


@contextmanager
def bar() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function ``show(what, done, total)`` that draws a progress bar."""
    screen = SCREEN.get()
    if screen is not None:
        yield screen.progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("starting", total=None)

        def show(what: str, done: int, total: int) -> None:
            progress.update(task, description=shorten(what, 60), completed=done, total=total)

        yield show


class ProgressLine:
    """A progress line below what a command prints, for bytes read; drawn without Rich, which is slow to import."""

    def __init__(self) -> None:
        self._on, self._drawn, self._last, self._began = sys.stderr.isatty(), False, 0.0, time.monotonic()
        encoding = (sys.stderr.encoding or "").lower()
        self._marks = ("━", "─") if encoding.startswith("utf") else ("#", "-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.clear()

    def show(self, what: str, done: int, total: int | None) -> None:
        """Draw how many bytes of `what` have been read; `total` is None if it is not known."""
        now = time.monotonic()
        if not self._on or now - self._last < EVERY:
            return
        self._last = now
        what, width = cleaned(what), shutil.get_terminal_size().columns - 1
        seconds = max(now - self._began, 1e-9)
        speed = f"{size_of(done / seconds)}/s"
        if not total:
            line = f"{what}  {size_of(done)}  {speed}"
        else:
            share = min(1.0, done / total)
            left = seconds * (1 - share) / max(share, 1e-9)
            end = f"  {100 * share:3.0f} %  {speed:>9}  {int(left) // 60}:{int(left) % 60:02d} left"
            room = max(0, min(48, width - len(end) - len(what) - 2))
            filled = round(share * room)
            line = f"{what}  {self._marks[0] * filled}{self._marks[1] * (room - filled)}{end}"
        self._draw(line)

    def note(self, what: str) -> None:
        """Draw a note in place of the progress."""
        if self._on:
            self._draw(cleaned(what))

    def clear(self) -> None:
        """Erase the line."""
        if self._drawn:
            self._draw("")
            self._drawn, self._last = False, 0.0

    def _draw(self, line: str) -> None:
        """Draw a line in place of the last one, as far as it fits."""
        sys.stderr.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()
        self._drawn = True


def size_of(n_bytes: float) -> str:
    """Format a number of bytes.

    Examples
    --------
    >>> size_of(512), size_of(1500), size_of(2_400_000)
    ('512 B', '1.5 kB', '2.4 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 999.5 or unit == "GB":
            break
        n_bytes /= 1000
    return f"{n_bytes:.0f} {unit}" if unit == "B" or n_bytes >= 99.95 else f"{n_bytes:.1f} {unit}"
