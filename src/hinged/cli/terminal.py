"""Where output goes, and what that can show: this process's terminal, or that of a client of a running assistant.

Imports little: commands that ask a running assistant use it.
"""

from __future__ import annotations

import codecs
import os
import sys

TYPE_CHECKING = False  # importing typing takes longer than the rest of this file
if TYPE_CHECKING:
    from typing import Any

__all__ = ["columns", "facts", "is_coloured", "silence_stdout", "take_any_text"]

NARROWEST, WIDEST, USUAL = 40, 160, 120


def facts() -> dict[str, Any]:
    """Return what the assistant must know to print as this process would."""
    return {
        "coloured": is_coloured(),
        "columns": columns(),
        "encoding": sys.stdout.encoding or "utf-8",
        "out": sys.stdout.isatty(),
        "err": sys.stderr.isatty(),
    }


def is_coloured() -> bool:
    """Return True if stdout is a terminal, and the user allows colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def columns() -> int:
    """Columns of the terminal or of $COLUMNS, between 40 and 160; 120 without a terminal."""
    try:
        found = int(os.environ.get("COLUMNS", "0"))
    except ValueError:
        found = 0
    if found <= 0:  # as shutil.get_terminal_size does, which takes 10 ms to import
        try:
            found = os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 0
        except (AttributeError, ValueError, OSError):
            found = 0
    return max(NARROWEST, min(WIDEST, found if found > 0 else USUAL))


def take_any_text() -> None:
    """Escape characters that the encoding of stdout or stderr lacks, as JSON would."""
    codecs.register_error("hinged.escape", _escape)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="hinged.escape")


def _escape(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    units = problem.object[problem.start : problem.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2)), problem.end


def silence_stdout() -> None:
    """Discard further output to stdout, so that closing it at exit raises no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
