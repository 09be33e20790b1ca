"""Output to the terminal: lines, aligned tables and JSON, without Rich, which is slow to import."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Protocol

import typer

from hinged.cli.terminal import columns, is_coloured, silence_stdout

__all__ = [
    "SCREEN",
    "Screen",
    "aligned",
    "bold",
    "cleaned",
    "count",
    "dim",
    "emit",
    "emit_json",
    "json_line",
    "percent",
    "rows_of",
    "say",
    "say_table",
    "shorten",
    "tell_some",
    "width",
    "width_of",
]

GAP = 2
MOST_TOLD = 10  # things that are named on stderr; all are counted
# control characters except tab and newline, and those that change the direction of text or end lines
CONTROLS = re.compile(
    r"\x1b\[[012]m|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
PLAIN = str.maketrans({"…": "...", "–": "-", "−": "-", "→": "->", "•": "*"})


class Screen(Protocol):
    """Where a command prints that this process runs for another one, and what can be shown there."""

    coloured: bool
    columns: int
    encoding: str
    out: bool  # True if its stdout is a terminal

    def write(self, text: str, err: bool) -> None:
        """Print a text to stdout or stderr."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Show how much is done."""


#: The screen of the client that the current thread serves; None in a process of its own.
SCREEN: ContextVar[Screen | None] = ContextVar("screen", default=None)


def rows_of(table: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Rows of cells as lines; the first `left` columns are aligned to the left, the others to the right.

    Examples
    --------
    >>> rows_of([["label", "F1"], ["spam", "0.5"]])
    ['label   F1', 'spam   0.5']
    """
    widths = [max(map(width_of, column)) for column in zip(*table, strict=True)]
    return [aligned(row, widths, left) for row in table]


def say_table(heading: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> None:
    """Print an aligned table for people, its heading dim."""
    first, *lines = rows_of([heading, *rows], left)
    say(dim(first))
    for line in lines:
        say(line)


def aligned(cells: Sequence[str], widths: Sequence[int], left: int = 0) -> str:
    """Cells padded to widths."""
    padded = [
        cell + " " * (width - width_of(cell)) if i < left else " " * (width - width_of(cell)) + cell
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return (" " * GAP).join(padded).rstrip()


def width_of(text: str) -> int:
    """Width of a text on a terminal: two for an East Asian wide character, none for a combining mark."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def shorten(text: str, most: int) -> str:
    """Shorten a text to at most `most` columns, on one line.

    Examples
    --------
    >>> shorten("a long label", 8)
    'a long …'
    """
    text = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    if width_of(text) <= most:
        return text
    while text and width_of(text) > most - 1:
        text = text[:-1]
    return text + "…"


def count(n: int, what: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "mistake"), count(2000, "mistake")
    ('1 mistake', '2,000 mistakes')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent; a dash for None."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def dim(text: str) -> str:
    """Make a text dim on a terminal, for headings and asides."""
    return _styled(2, text)


def bold(text: str) -> str:
    """Make a text bold on a terminal."""
    return _styled(1, text)


def _styled(code: int, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if _coloured() else text


def _coloured() -> bool:
    screen = SCREEN.get()
    return is_coloured() if screen is None else screen.coloured


def say(line: str = "") -> None:
    """Print a line for people to stdout; a closed pipe (`| head`) does not stop the command."""
    line = cleaned(line)
    try:
        _write(line if _takes("…") else line.translate(PLAIN))
    except BrokenPipeError:
        silence_stdout()


def emit(text: str, err: bool = False) -> None:
    """Print data to stdout, unchanged unless that is a terminal, or a sentence for people to stderr."""
    screen = SCREEN.get()
    is_terminal = sys.stdout.isatty() if screen is None else screen.out
    _write(cleaned(text) if err or is_terminal else text, err)


def _write(text: str, err: bool = False) -> None:
    screen = SCREEN.get()
    if screen is None:
        typer.echo(text, err=err)
    else:
        screen.write(text + "\n", err)


def json_line(facts: object) -> str:
    """Return data as JSON on one line, characters as they are: `terminal.take_any_text` escapes what stdout lacks."""
    return json.dumps(facts, ensure_ascii=False)


def emit_json(facts: object, one_line: bool = False, default: Callable[[object], object] | None = None) -> None:
    """Print data to stdout as JSON: indented, or on one line where objects follow each other.

    `default` converts values that JSON lacks.
    """
    emit(json_line(facts) if one_line else json.dumps(facts, indent=2, ensure_ascii=False, default=default))


def tell_some(sentences: Sequence[str], in_all: str, what: str) -> None:
    """Print the first of some sentences (without full stop) to stderr, then how many there are in all."""
    for sentence in sentences[:MOST_TOLD]:
        emit(f"hinged: {sentence}.", err=True)
    if len(sentences) > MOST_TOLD:
        emit(f"hinged: {in_all.format(count(len(sentences), what))}.", err=True)


def cleaned(text: str) -> str:
    """Replace control characters by blanks; on a terminal, those of `bold` and `dim` are kept.

    Mail, labels and names of files may hold sequences that move the cursor, change titles or hide text.

    Examples
    --------
    >>> cleaned("a \\x1b]0;title\\x07 and \\x9b2J")
    'a  ]0;title  and  2J'
    """
    if text.isprintable():
        return text
    coloured = _coloured()
    return CONTROLS.sub(lambda found: found[0] if len(found[0]) > 1 and coloured else " ", text)


def width() -> int:
    """Columns of the terminal or of $COLUMNS, between 40 and 160; 120 without a terminal."""
    screen = SCREEN.get()
    return columns() if screen is None else screen.columns


def _takes(text: str) -> bool:
    """Return True if the encoding of stdout has these characters."""
    screen = SCREEN.get()
    encoding = sys.stdout.encoding if screen is None else screen.encoding
    try:
        text.encode(encoding or "utf-8")
    except (LookupError, UnicodeEncodeError):
        return False
    return True
