"""Folders of a server under our names, with levels separated by `/`, and their special uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hinged.mail.sources.folder_names import guess_uses, levels_of
from hinged.mail.sources.imap.client import INBOX, ImapConnection, State, canonical, is_only_a_name
from hinged.mail.sources.source import Folder, SourceError

__all__ = ["ListedFolders", "create", "list_folders"]

#: RFC 6154, and Gmail's flag for important mail.
USES = {
    b"\\all": "all",
    b"\\archive": "archive",
    b"\\drafts": "drafts",
    b"\\flagged": "flagged",
    b"\\important": "flagged",
    b"\\junk": "junk",
    b"\\sent": "sent",
    b"\\trash": "trash",
}


@dataclass
class ListedFolders:
    """The folders of a server at one moment: their names there and their states."""

    folders: list[Folder]
    names: dict[str, str]
    states: dict[str, State]


def list_folders(client: ImapConnection) -> ListedFolders:
    """List the folders and their states.

    The inbox is always selected for that: STATUS may be outdated for the selected folder, and only for that one.
    """
    inbox = client.choose(INBOX)
    found, states = client.list_with_states()
    states[INBOX] = inbox
    away = _namespaces_of_others(client)
    names: dict[str, str] = {}
    uses: dict[str, str] = {}
    for flags, delimiter, name in found:
        theirs = canonical(name)
        if is_only_a_name(flags) or theirs not in states or theirs.startswith(away):
            continue
        ours = our_name(theirs, delimiter)
        if ours not in names:
            names[ours] = theirs
            uses[ours] = "inbox" if ours == INBOX else _told(flags)
    guess_uses(uses)
    folders = [Folder(name, uses[name]) for name in sorted(names)]
    return ListedFolders(folders, names, {ours: states[theirs] for ours, theirs in names.items()})


def create(client: ImapConnection, folder: str, existing: Iterable[str]) -> str:
    """Create a folder among the user's own and subscribe to it; return the server's name for it.

    May be called again after a lost connection: a folder that exists by then is not created twice.
    """
    prefix, separator = "", (client.list_folders("", "") or [((), b"/", "")])[0][1]
    if client.can("NAMESPACE"):
        spaces: Any = client.namespace()
        prefix, separator = (spaces.personal or (("", separator),))[0]
    level = separator.decode() if isinstance(separator, bytes) else separator or ""
    above = our_name(prefix, level.encode())
    levels = levels_of(folder.removeprefix(above), (name.removeprefix(above) for name in existing), level)
    if len(levels) > 1 and not level:
        raise SourceError(f"{client.host} does not allow folders within folders, so {folder!r} cannot be created.")
    theirs = prefix + level.join(levels)
    if not client.folder_exists(theirs):
        client.create_folder(theirs)
    client.subscribe_folder(theirs)
    return theirs


def our_name(theirs: str, delimiter: bytes | None) -> str:
    """Return a name with levels separated by `/`; a `/` that was part of a name becomes %2F.

    Examples
    --------
    >>> our_name("Work.Bills 1/2", b"."), our_name("Work/Bills", b"/"), our_name("INBOX", None)
    ('Work/Bills 1%2F2', 'Work/Bills', 'INBOX')
    """
    level = (delimiter or b"").decode()
    if level == "/":
        return theirs
    parts = theirs.split(level) if level else [theirs]
    return "/".join(part.replace("/", "%2F") for part in parts)


def _told(flags: Iterable[bytes]) -> str:
    return next((USES[flag.lower()] for flag in flags if flag.lower() in USES), "")


def _namespaces_of_others(client: ImapConnection) -> tuple[str, ...]:
    """Return the prefixes of other users' and shared folders: nothing is filed or learnt there."""
    if not client.can("NAMESPACE"):
        return ()
    spaces: Any = client.namespace()
    return tuple(prefix for space in (spaces.other, spaces.shared) for prefix, _ in space or () if prefix)
