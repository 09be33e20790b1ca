"""Names of new folders: what can be a name anywhere, and a sentence where it cannot."""

from __future__ import annotations

from collections.abc import Iterable

from hinged.mail.sources.source import SourceError
from hinged.mail.sources.uses import guess_uses

__all__ = ["levels_of"]

LONGEST = 200  # bytes; file systems allow 255, and a name may be longer in modified UTF-7


def levels_of(name: str, existing: Iterable[str], separator: str = "") -> list[str]:
    """Return the levels of a new folder's name, `/` between them; refuse a name that cannot be one.

    Parameters
    ----------
    name : str
    existing : names of the folders that exist
    separator : str
        What the mailbox itself writes between levels, where that is not `/`; no level may hold it.

    Examples
    --------
    >>> levels_of("Work/Taxes 2025", ["INBOX", "Work"])
    ['Work', 'Taxes 2025']
    >>> levels_of("work", ["INBOX", "Work"])
    Traceback (most recent call last):
    hinged.mail.sources.source.SourceError: the folder 'Work' exists already; file to it, or choose another name.
    """
    levels = name.split("/")
    same = next((one for one in existing if one.casefold() == name.casefold()), None)
    uses = {name: ""}
    guess_uses(uses)
    if same is not None:
        raise SourceError(f"the folder {same!r} exists already; file to it, or choose another name.")
    if not all(level.strip() == level and level for level in levels):
        raise _refused(name, "each level needs a name, without spaces around it")
    if not name.isprintable():
        raise _refused(name, "it holds characters that cannot be shown")
    if any(level.startswith(".") for level in levels):
        raise _refused(name, "no level may begin with a dot")
    if separator not in ("", "/") and separator in name:
        raise _refused(name, f"this mailbox writes {separator!r} between its levels; use / for that")
    if any(level in ("cur", "new", "tmp") for level in levels):
        raise _refused(name, "cur, new and tmp are where a Maildir keeps its messages")
    if name.casefold() == "inbox" or uses[name]:
        raise _refused(name, f"that name belongs to the {uses[name] or 'inbox'} folder")
    if len(name.encode()) > LONGEST:
        raise _refused(name[:40] + "…", f"it may have {LONGEST} bytes")
    return levels


def _refused(name: str, why: str) -> SourceError:
    return SourceError(f"a folder cannot be called {name!r}: {why}. Nothing was made.")
