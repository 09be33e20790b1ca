"""Reading messages of one folder: one that the server does not give costs no other."""

from __future__ import annotations

from collections.abc import Sequence

from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from hinged.mail.sources.imap.client import MISREAD, Client
from hinged.mail.sources.imap.complaints import words_of
from hinged.mail.sources.imap.listing import uid_of
from hinged.mail.sources.source import Place, Unreadable

__all__ = ["peek"]

NOTHING = "the server gives nothing of it"


def peek(client: Client, folder: str, places: Sequence[Place]) -> list[tuple[Place, bytes | Unreadable]]:
    """Read messages of a folder, by the server's name of it; one that is gone is left out.

    Raises what IMAPClient raises where the folder cannot be opened or the connection is lost.
    """
    state = client.choose(folder)  # anew, so that what is gone is known to be gone
    uids = {uid: place for place in places if (uid := uid_of(place, state)) is not None}
    found: dict[int, bytes | Unreadable] = {}
    refused: dict[int, str] = {}
    _fetch(client, list(uids), found, refused)
    missing = [uid for uid in uids if not found.get(uid)]
    if missing:
        client.choose(folder)
        there = set(client.search(f"UID {','.join(map(str, missing))}"))
        for uid in missing:
            if uid not in there:
                found.pop(uid, None)
            elif uid not in found:
                found[uid] = Unreadable(refused.get(uid, NOTHING))
    return [(place, found[uid]) for uid, place in uids.items() if uid in found]


def _fetch(client: Client, uids: list[int], found: dict[int, bytes | Unreadable], refused: dict[int, str]) -> None:
    """Fetch messages; where the answer for several is refused or cannot be read, each half of them by itself."""
    if not uids:
        return
    try:
        found.update({uid: body for uid, body in client.bodies(uids).items() if body is not None})
    except IMAPClientAbortError:
        raise
    except (IMAPClientError, *MISREAD) as error:
        half = len(uids) // 2
        if half == 0:
            refused[uids[0]] = words_of(error)
            return
        _fetch(client, uids[:half], found, refused)
        _fetch(client, uids[half:], found, refused)
