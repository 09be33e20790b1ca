"""Opening the mail and its assistant for a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from hinged.cli.tables import emit

if TYPE_CHECKING:
    from hinged.journal import Journal
    from hinged.mail import Assistant, Source, Thresholds

__all__ = ["assistant_of", "known_account", "mail_at", "nothing_learnt", "state_of", "tell_damaged"]

MOST_DAMAGED = 10  # lines of a journal that are named; all are counted


@contextmanager
def mail_at(spec: str) -> Iterator[Source]:
    """The source, let go of at the end."""
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
    """The assistant of a source, let go of at the end."""
    folder = state_of(spec, state)
    if read_only and not (folder / "journal.sqlite").exists():
        raise nothing_learnt(spec)
    from hinged.cli.lean import import_lean

    import_lean()
    from hinged.mail.assistant import Assistant

    with Assistant(folder, read_only=read_only, thresholds=thresholds) as assistant:
        try:
            yield assistant
        finally:
            tell_damaged(assistant.kept.journal)


def nothing_learnt(spec: str) -> ValueError:
    """What to say of a source that has no assistant yet."""
    return ValueError(f"nothing was learnt from {spec} yet; begin with: hinged mail learn {quote(spec)}.")


def tell_damaged(journal: Journal) -> None:
    """Name on stderr the lines of a journal that are damaged, and the rows of tables beside it."""
    from hinged.cli.tables import count

    for seq, why in list(journal.damaged.items())[:MOST_DAMAGED]:
        emit(f"hinged: line {seq} of {journal.path} is damaged and was left out: {why}.", err=True)
    if len(journal.damaged) > MOST_DAMAGED:
        emit(f"hinged: {count(len(journal.damaged), 'line')} are damaged in all.", err=True)
    for row, why in list(journal.damaged_rows.items())[:MOST_DAMAGED]:
        emit(f"hinged: row {row} in {journal.path} is damaged: {why}.", err=True)
    if len(journal.damaged_rows) > MOST_DAMAGED:
        emit(f"hinged: {count(len(journal.damaged_rows), 'row')} are damaged in all.", err=True)


def state_of(spec: str, state: Path | None) -> Path:
    """Where the assistant of a source keeps what it knows."""
    if state is not None:
        return state
    if spec == "-":
        raise typer.BadParameter("a message on standard input belongs to no account; say which one by --state DIR")
    from hinged.mail.state import state_folder

    return state_folder(spec)


def known_account(spec: str, state: Path | None, **more: Any) -> Any:
    """The assistant of a source that has one already; opened to write."""
    if not (state_of(spec, state) / "journal.sqlite").exists():
        raise nothing_learnt(spec)
    return assistant_of(spec, state, **more)
