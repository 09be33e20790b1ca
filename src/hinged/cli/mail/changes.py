"""Commands that change what the assistant knows or does.

`hinged mail pin`, `unpin`, `exclude`, `include`, `off` and `on` are settings that come before what was learnt;
`forget`, `rename`, `merge` and `reset` edit what was learnt.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hinged.cli.mail.opening import Account, State, absolute, assistant_of, known_account, mail_at, state_of
from hinged.cli.mail.showing import tell
from hinged.cli.options import AsJson, argument, flag
from hinged.cli.progress import bar
from hinged.cli.tables import count

if TYPE_CHECKING:
    from hinged.mail import Assistant

__all__ = ["exclude", "forget", "include", "merge", "off", "on", "pin", "rename", "reset", "unpin"]

Who = Annotated[str, argument("WHO", "An address, a domain (@example.com), or a mailing list's List-Id.")]
Target = Annotated[str, argument("FOLDER", "A folder.")]
Name = Annotated[str, argument("FOLDER", "The folder, as the assistant knows it.")]


def pin(
    source: Account,
    who: Who,
    folder: Target,
    *,
    make: Annotated[bool, flag("--make", "Create the folder if there is none.")] = False,
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
    from hinged.mail.reading import names_of
    from hinged.mail.sources.source import SourceError

    with mail_at(source) as mail:
        if folder not in names_of(mail):
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


@contextmanager
def _showing(source: str, state: Path | None) -> Iterator[Assistant]:
    """Open the assistant of an account, and show its progress while it learns again."""
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
    new: Annotated[str, argument("NEW", "Its new name.")],
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
    into: Annotated[str, argument("INTO", "The folder it was merged into.")],
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
    yes: Annotated[bool, flag("--yes", "Do it; without this, only show what would be forgotten.")] = False,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Forget everything: what was learnt, pins, excluded folders, moves.

    The mail itself is not changed.

    Example: hinged mail reset ~/Maildir --yes
    """
    from hinged.cli.mail.last_list import forget_list
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
        forget_list(absolute(str(state_of(source, state))))
    sentence = (
        f"Everything is forgotten; {state_of(source, state)} is empty."
        if yes
        else f"{count(known or 0, 'folder')} would be forgotten, with all pins and moves; use --yes to do it."
    )
    tell(sentence, as_json, reset=yes, folders=known)
