"""The terminal while a command reads single keys: it shows one page of lines, and is left as it was found."""

from __future__ import annotations

import os
import select
import sys
from typing import Any, Self

from hinged.cli.tables import cleaned, width_of

__all__ = ["Keyboard", "fitted"]

LOOK = 0.25  # seconds between two looks whether the window has another size
ENTER_PAGE, LEAVE_PAGE, CLEAR = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[H\x1b[2J"
#: What terminals send for keys with a name.
NAMES = {
    "\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down", "\x1b": "escape", "\r": "enter",
    "\n": "enter", "\x7f": "backspace", "\x08": "backspace", "\t": "tab", "\x03": "quit", "\x04": "quit",
}  # fmt: skip


class Keyboard:
    """A terminal of which every key is read at once; use it in a `with` block.

    Raises
    ------
    ValueError
        If stdin or stdout is no terminal, or the system has no terminals as Unix has them.
    """

    def __init__(self) -> None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise ValueError("this command reads single keys and needs a terminal; hinged mail suggest needs none.")
        try:
            import termios
        except ImportError:
            raise ValueError(
                "this system has no terminals that give single keys; use hinged mail suggest and accept."
            ) from None
        self._termios, self._file = termios, sys.stdin.fileno()
        self._before: Any = termios.tcgetattr(self._file)
        self._rest = b""
        self._drawn = self.size

    @property
    def size(self) -> os.terminal_size:
        """The present columns and lines of the window."""
        return os.get_terminal_size()

    def __enter__(self) -> Self:
        now = self._termios.tcgetattr(self._file)
        now[3] &= ~(self._termios.ICANON | self._termios.ECHO | self._termios.ISIG)  # Ctrl-C is a key like others
        self._termios.tcsetattr(self._file, self._termios.TCSADRAIN, now)
        self._write(ENTER_PAGE)
        return self

    def __exit__(self, *raised: object) -> None:
        self._write(LEAVE_PAGE)
        self._termios.tcsetattr(self._file, self._termios.TCSADRAIN, self._before)

    def show(self, lines: list[str]) -> None:
        """Show lines in place of what was shown; those that do not fit are cut."""
        self._drawn = self.size
        self._write(CLEAR + "\n".join(cleaned(line) for line in lines[: self._drawn.lines - 1]))

    def key(self) -> str:
        """Wait for a key; return its character, or its name: up, down, enter, escape, tab, backspace, quit.

        Returns "resized" when the window has another size, and "quit" when the terminal is gone.
        """
        while not self._rest:
            if select.select([self._file], [], [], LOOK)[0]:
                self._rest = os.read(self._file, 1024)
                if not self._rest:
                    return "quit"
            elif self.size != self._drawn:
                return "resized"
        if self._rest[:1] == b"\x1b":  # the bytes of one key arrive together
            length = 3 if self._rest[1:2] in (b"[", b"O") else 1
        else:
            length = next((n for n, least in ((4, 0xF0), (3, 0xE0), (2, 0xC0)) if self._rest[0] >= least), 1)
        raw, self._rest = self._rest[:length], self._rest[length:]
        text = raw.decode("utf-8", "replace")
        return NAMES.get(text, text if len(text) == 1 and text.isprintable() else "")

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def fitted(text: str, columns: int) -> list[str]:
    """Break a text into lines of at most so many columns.

    Examples
    --------
    >>> fitted("the quick brown fox", 10)
    ['the quick', 'brown fox']
    """
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        if width_of(joined) <= columns:
            lines[-1] = joined
        else:
            lines.append(word)
    return [line for line in lines if line]
