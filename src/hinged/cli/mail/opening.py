"""Options that the mail commands share, and opening the mail and its assistant."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from hinged.cli.options import argument, flag, option
from hinged.cli.tables import emit, tell_some

if TYPE_CHECKING:
    from hinged.journal import Journal
    from hinged.mail import Assistant, Source

__all__ = [
    "DESK",
    "Account",
    "Apart",
    "Desk",
    "InFolder",
    "Keywords",
    "LeastConfidence",
    "LeastGap",
    "LeastScore",
    "Mail",
    "Review",
    "Right",
    "State",
    "absolute",
    "assistant_of",
    "exit_if_off",
    "known_account",
    "mail_at",
    "nothing_learnt",
    "state_of",
    "tell_damaged",
    "time_of",
    "utc",
]

MAIL = (
    "The mail: a Maildir, an mbox file or a folder of either, imaps://user@host, or - for one message on standard "
    "input."
)
Mail = Annotated[str, argument("SOURCE", MAIL)]
Account = Annotated[str, argument("SOURCE", "The mail whose assistant is meant; the mail itself is not changed.")]
STATE = "Folder of the assistant's data; derived from SOURCE if left out."
State = Annotated[Path | None, option("DIR", STATE, "--state")]
InFolder = Annotated[str | None, option("NAME", "The folder of the messages; the inbox if left out.", "--folder")]
APART = "Leave out this folder and those below it; may be repeated."
Apart = Annotated[list[str] | None, option("NAME", APART, "--exclude")]
KEYWORDS = "Set the best folder as a keyword on each new message (IMAP)."
Keywords = Annotated[bool, flag("--keywords", KEYWORDS)]
SCORE = "Suggest nothing unless the best folder scores above this."
LeastScore = Annotated[float, option("NUMBER", SCORE, "--min-score")]
GAP = "Suggest nothing unless it leads the second by this much."
LeastGap = Annotated[float, option("NUMBER", GAP, "--min-gap")]
LeastConfidence = Annotated[float, option("SHARE", "Suggest nothing below this confidence.", "--min-confidence")]
REVIEW = "With --right, the folder for messages that are not sure enough; they stay where they are if left out."
Review = Annotated[str | None, option("NAME", REVIEW)]
RIGHT = "File new messages by itself, but only what is right this often: 19/20, 0.95 or 95%."
Right = Annotated[str | None, option("SHARE", RIGHT, "--right")]


DAY = 86_400.0  # seconds


def time_of(text: str, what: str = "--since", days: bool = False) -> float:
    """Read a date such as 2026-11-19, with a time if wanted, in the local time zone; return seconds since 1970.

    With `days`, a number of days such as 7d is so long ago.
    """
    ago = re.fullmatch(r"(\d{1,5})d", text) if days else None
    if ago is not None:
        return time.time() - int(ago[1]) * DAY
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OSError, OverflowError):
        also = "a number of days such as 7d" if days else "2026-11-19T08:00"
        raise typer.BadParameter(f"{what} takes a date such as 2026-11-19, or {also}; got {text!r}") from None


def utc(at: float) -> str:
    """Return a time, in seconds since 1970, as programs and people can read it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


class Desk(Protocol):
    """The account of a running assistant, for one command of a client; other accounts are refused (`AloneError`).

    `folder` is the one that the client runs in.
    """

    folder: str

    def mail(self, spec: str) -> AbstractContextManager[Source]:
        """Give the mail of a source."""

    def assistant(self, spec: str, state: Path | None, read_only: bool) -> Assistant:
        """Return the assistant of a source."""

    def state(self, spec: str) -> Path:
        """Return the state folder of a source."""


#: The account of the running assistant that does a client's command in this thread; None in a process of its own.
DESK: ContextVar[Desk | None] = ContextVar("desk", default=None)


def mail_at(spec: str) -> AbstractContextManager[Source]:
    """Open a source, which is closed at the end of the block."""
    desk = DESK.get()
    if desk is not None:
        return desk.mail(spec)
    from hinged.mail.sources.opening import open_source

    return closing(open_source(spec))


@contextmanager
def assistant_of(spec: str, state: Path | None, read_only: bool = False) -> Iterator[Assistant]:
    """Open the assistant of a source, and close it at the end."""
    desk = DESK.get()
    if desk is not None:
        assistant = desk.assistant(spec, state, read_only)
        try:
            yield assistant
        finally:
            tell_damaged(assistant.kept.journal)
        return
    folder = state_of(spec, state)
    if read_only and not (folder / "journal.sqlite").exists():
        raise nothing_learnt(spec)
    from hinged.mail.assistant import Assistant

    with Assistant(folder, read_only=read_only) as assistant:
        try:
            yield assistant
        finally:
            tell_damaged(assistant.kept.journal)
            for broken in assistant.log.news:
                emit(f"hinged: {broken}.", err=True)


def exit_if_off(assistant: Assistant, done: str) -> None:
    """End the command if the assistant is switched off, and say what is not done."""
    if assistant.is_off:
        emit(f"hinged: the assistant is off, so nothing is {done}; hinged mail on switches it on.", err=True)
        raise typer.Exit


def nothing_learnt(spec: str) -> ValueError:
    """Return the error for a source that has no assistant yet."""
    return ValueError(f"nothing was learnt from {spec} yet; begin with: hinged mail learn {quote(spec)}.")


def tell_damaged(journal: Journal) -> None:
    """Name the damaged lines of a journal on stderr, and the damaged rows of tables beside it."""
    lines = [f"line {seq} of {journal.path} is damaged and was left out: {why}" for seq, why in journal.damaged.items()]
    tell_some(lines, "{} are damaged in all", "line")
    rows = [f"row {row} in {journal.path} is damaged: {why}" for row, why in journal.damaged_rows.items()]
    tell_some(rows, "{} are damaged in all", "row")


def state_of(spec: str, state: Path | None) -> Path:
    """Return the folder of a source's assistant."""
    if state is not None:
        return state
    if spec == "-":
        raise typer.BadParameter("a message on standard input belongs to no account; name one with --state DIR")
    desk = DESK.get()
    if desk is not None:
        return desk.state(spec)
    from hinged.mail.sources.opening import state_folder

    return state_folder(spec)


def absolute(spec: str) -> str:
    """Return a source or a path so that it means the same in every folder."""
    if "://" in spec:
        return spec
    desk = DESK.get()
    return os.path.abspath(os.path.join("" if desk is None else desk.folder, os.path.expanduser(spec)))


def known_account(spec: str, state: Path | None) -> AbstractContextManager[Assistant]:
    """Open the assistant of a source that has one already, for writing."""
    if DESK.get() is None and not (state_of(spec, state) / "journal.sqlite").exists():
        raise nothing_learnt(spec)
    return assistant_of(spec, state)
