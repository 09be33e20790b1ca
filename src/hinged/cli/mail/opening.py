"""Options that the mail commands share, and opening the mail and its assistant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.options import argument, option
from hinged.cli.tables import tell_some

if TYPE_CHECKING:
    from hinged.journal import Journal
    from hinged.mail import Assistant, Source, Thresholds

__all__ = [
    "Account",
    "Apart",
    "InFolder",
    "LeastConfidence",
    "LeastGap",
    "LeastScore",
    "Mail",
    "State",
    "assistant_of",
    "known_account",
    "mail_at",
    "nothing_learnt",
    "state_of",
    "tell_damaged",
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
SCORE = "Suggest nothing unless the best folder scores above this."
LeastScore = Annotated[float, option("NUMBER", SCORE, "--min-score")]
GAP = "Suggest nothing unless it leads the second by this much."
LeastGap = Annotated[float, option("NUMBER", GAP, "--min-gap")]
LeastConfidence = Annotated[float, option("SHARE", "Suggest nothing below this confidence.", "--min-confidence")]


@contextmanager
def mail_at(spec: str) -> Iterator[Source]:
    """Open a source, and close it at the end."""
    from hinged.mail.sources.opening import open_source

    source = open_source(spec)
    try:
        yield source
    finally:
        source.close()


@contextmanager
def assistant_of(
    spec: str, state: Path | None, read_only: bool = False, thresholds: Thresholds | None = None
) -> Iterator[Assistant]:
    """Open the assistant of a source, and close it at the end."""
    folder = state_of(spec, state)
    if read_only and not (folder / "journal.sqlite").exists():
        raise nothing_learnt(spec)
    from hinged.mail.assistant import Assistant

    with Assistant(folder, read_only=read_only, thresholds=thresholds) as assistant:
        try:
            yield assistant
        finally:
            tell_damaged(assistant.kept.journal)


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
    from hinged.mail.sources.opening import state_folder

    return state_folder(spec)


def known_account(spec: str, state: Path | None) -> AbstractContextManager[Assistant]:
    """Open the assistant of a source that has one already, for writing."""
    if not (state_of(spec, state) / "journal.sqlite").exists():
        raise nothing_learnt(spec)
    return assistant_of(spec, state)
