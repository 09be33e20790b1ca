"""Plain aligned tables for the terminal; Rich would take longer to import than a row to learn."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Sequence

import typer

__all__ = ["aligned", "bold", "count", "dim", "percent", "rows_of", "say", "shorten", "silence_stdout"]

GAP = 2


def rows_of(table: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Rows of cells as lines: the first `left` columns to the left, the others to the right.

    Examples
    --------
    >>> rows_of([["label", "F1"], ["spam", "0.5"]])
    ['label   F1', 'spam   0.5']
    """
    widths = [max(map(width_of, column)) for column in zip(*table, strict=True)]
    return [aligned(row, widths, left) for row in table]


def aligned(cells: Sequence[str], widths: Sequence[int], left: int = 0) -> str:
    """Cells padded to widths."""
    padded = [
        cell + " " * (width - width_of(cell)) if i < left else " " * (width - width_of(cell)) + cell
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return (" " * GAP).join(padded).rstrip()


def width_of(text: str) -> int:
    """Columns a text takes on a terminal: two for an East Asian wide character, none for a combining mark."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def shorten(text: str, most: int) -> str:
    """A text of at most so many columns, on one line.

    Examples
    --------
    >>> shorten("a long label", 8)
    'a long …'
    """
    text = "".join(c if c.isprintable() else " " for c in text)
    if width_of(text) <= most:
        return text
    while text and width_of(text) > most - 1:
        text = text[:-1]
    return text + "…"


def count(n: int, what: str) -> str:
    """So many of something.

    Examples
    --------
    >>> count(1, "mistake"), count(2000, "mistake")
    ('1 mistake', '2,000 mistakes')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def dim(text: str) -> str:
    """Headings and asides, on a terminal."""
    return f"\x1b[2m{text}\x1b[0m" if _coloured() else text


def bold(text: str) -> str:
    """What matters, on a terminal."""
    return f"\x1b[1m{text}\x1b[0m" if _coloured() else text


def _coloured() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def say(line: str = "") -> None:
    """Print a line of the result to stdout; a reader that has gone away (`| head`) does not stop the command."""
    try:
        typer.echo(line)
    except BrokenPipeError:
        silence_stdout()


def silence_stdout() -> None:
    """Send whatever is still printed to nowhere, so that the end of the program has nothing to complain about."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
