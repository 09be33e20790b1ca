"""`hinged mail pin`, `unpin`, `exclude`, `include`, `off` and `on`: settings that come before what was learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.mail.opening import Account, State, assistant_of, known_account, mail_at
from hinged.cli.mail.showing import tell
from hinged.cli.options import AsJson

if TYPE_CHECKING:
    from hinged.mail import Assistant

__all__ = ["exclude", "include", "off", "on", "pin", "unpin"]

Who = Annotated[
    str, typer.Argument(metavar="WHO", help="An address, a domain (@example.com), or a mailing list's List-Id.")
]
Target = Annotated[str, typer.Argument(metavar="FOLDER", help="A folder.")]


def pin(
    source: Account,
    who: Who,
    folder: Target,
    *,
    make: Annotated[bool, typer.Option("--make", help="Create the folder if there is none.")] = False,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Always suggest a folder for mail from someone.

    A pin comes before anything that was learnt; the sender's address before the list, the list before the domain. The
    folder must exist, unless --make is given.

    Example: hinged mail pin ~/Maildir boss@example.com Work
    """
    with assistant_of(source, state) as assistant:
        if source != "-":
            folder = _existing(assistant, source, folder, make)
        assistant.pin(who, folder)
    tell(f"Mail from {who} goes to {folder}.", as_json, pinned=who, to=folder)


def _existing(assistant: Assistant, source: str, folder: str, make: bool) -> str:
    """Return the name of an existing folder; create it if `make`, else refuse a missing one."""
    from hinged.mail.sources.source import SourceError

    with mail_at(source) as mail:
        if folder not in [one.name for one in mail.folders()]:
            if not make:
                raise SourceError(f"there is no folder {folder!r} in {source}; --make creates it.")
            folder = mail.create(folder)
        assistant.see_folders(mail.folders())
    return folder


def unpin(source: Account, who: Who, *, state: State = None, as_json: AsJson = False) -> None:
    """Remove a pin.

    Example: hinged mail unpin ~/Maildir boss@example.com
    """
    with known_account(source, state) as assistant:
        assistant.unpin(who)
    tell(f"Mail from {who} is no longer pinned.", as_json, unpinned=who)


def exclude(source: Account, folder: Target, *, state: State = None, as_json: AsJson = False) -> None:
    """Exclude a folder, and those below it, from learning and suggestions.

    Example: hinged mail exclude ~/Maildir Archive
    """
    with assistant_of(source, state) as assistant:
        assistant.exclude(folder)
    tell(f"{folder} is excluded.", as_json, excluded=folder)


def include(source: Account, folder: Target, *, state: State = None, as_json: AsJson = False) -> None:
    """Include a folder that was excluded.

    Example: hinged mail include ~/Maildir Archive
    """
    with known_account(source, state) as assistant:
        assistant.include(folder)
    tell(f"{folder} is included.", as_json, included=folder)


def off(source: Account, *, state: State = None, as_json: AsJson = False) -> None:
    """Switch the assistant off.

    While it is off, it learns, suggests, moves and marks nothing; what it knows is kept.

    Example: hinged mail off ~/Maildir
    """
    with assistant_of(source, state) as assistant:
        assistant.switch(on=False)
    tell("The assistant is off.", as_json, on=False)


def on(source: Account, *, state: State = None, as_json: AsJson = False) -> None:
    """Switch the assistant on again.

    Example: hinged mail on ~/Maildir
    """
    with assistant_of(source, state) as assistant:
        assistant.switch(on=True)
    tell("The assistant is on.", as_json, on=True)
