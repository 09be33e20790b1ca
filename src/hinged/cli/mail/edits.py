"""`hinged mail forget`, `rename`, `merge` and `reset`: edit what was learnt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.mail.opening import Account, State, known_account, state_of
from hinged.cli.mail.showing import tell
from hinged.cli.options import AsJson
from hinged.cli.tables import count

if TYPE_CHECKING:
    from hinged.mail import Assistant

__all__ = ["forget", "merge", "rename", "reset"]

Name = Annotated[str, typer.Argument(metavar="FOLDER", help="The folder, as the assistant knows it.")]


@contextmanager
def _showing(source: str, state: Path | None) -> Iterator[Assistant]:
    """Open the assistant of an account, and show its progress while it learns again."""
    from hinged.cli.progress import bar

    with known_account(source, state) as assistant, bar() as show:
        assistant.kept.show = show
        yield assistant


def forget(source: Account, folder: Name, *, state: State = None, as_json: AsJson = False) -> None:
    """Forget a folder, as if its messages had never been learnt.

    Their text is erased. Messages that are there now are not learnt again; new ones are, unless the folder is excluded.

    Example: hinged mail forget ~/Maildir Work/Old
    """
    with _showing(source, state) as assistant:
        assistant.forget(folder)
    tell(f"{folder} is forgotten.", as_json, forgotten=folder)


def rename(
    source: Account,
    folder: Name,
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
    *,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Tell the assistant that a folder was renamed.

    The next learn or watch finds that out by itself if nearly all its messages are in a new folder.

    Example: hinged mail rename ~/Maildir Work Office
    """
    with _showing(source, state) as assistant:
        assistant.rename(folder, new)
    tell(f"{folder} was renamed to {new}.", as_json, renamed=folder, to=new)


def merge(
    source: Account,
    folder: Name,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The folder it was merged into.")],
    *,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Tell the assistant that a folder was merged into another.

    It then knows what it would know if all messages had always been in the latter.

    Example: hinged mail merge ~/Maildir Work/2023 Work
    """
    with _showing(source, state) as assistant:
        assistant.merge(folder, into)
    tell(f"{folder} was merged into {into}.", as_json, merged=folder, into=into)


def reset(
    source: Account,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this, only show what would be forgotten.")] = False,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Forget everything: what was learnt, pins, excluded folders, moves.

    The mail itself is not changed.

    Example: hinged mail reset ~/Maildir --yes
    """
    from hinged.journal.errors import InUseError, JournalError
    from hinged.journal.folder import erase
    from hinged.mail.web.page_state import forget_page_state

    known = None
    try:
        with known_account(source, state) as assistant:
            known = len(assistant.known())
    except JournalError as problem:
        if not yes or isinstance(problem, InUseError):
            raise
    if yes:  # also where it is too damaged to be opened
        erase(state_of(source, state))
        forget_page_state(state_of(source, state))
    sentence = (
        f"Everything is forgotten; {state_of(source, state)} is empty."
        if yes
        else f"{count(known or 0, 'folder')} would be forgotten, with all pins and moves; use --yes to do it."
    )
    tell(sentence, as_json, reset=yes, folders=known)
