"""The messages of one folder: listed anew only if it changed, and read so that one bad message does not stop others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from hinged.mail.sources.imap.client import MISREAD, ImapConnection, State, is_throttled, words_of
from hinged.mail.sources.source import Place, Unreadable

__all__ = ["ListedMessages", "key_of", "list_folder", "peek", "uid_of"]

NOTHING = "the server sends no content"
WINDOW = 40_000  # UIDs in one response, whose line could otherwise grow without limit


@dataclass(frozen=True)
class ListedMessages:
    """The messages of a folder; those marked as deleted are left out.

    Attributes
    ----------
    seen : State or None
        The folder's state when all folders were last listed.
    state : State
        Its state when its messages were listed: may be newer, and some servers count differently here.
    places : list of Place
    """

    seen: State | None
    state: State
    places: list[Place]


def key_of(validity: int, uid: int) -> str:
    """Return a message's key: UIDVALIDITY and UID, a pair that is never used twice."""
    return f"{validity}.{uid}"


def uid_of(place: Place, state: State) -> int | None:
    """Return the UID of a message; None if the folder's UIDVALIDITY has changed since."""
    validity, _, uid = place.key.partition(".")
    return int(uid) if validity == str(state.validity) else None


def list_folder(
    client: ImapConnection, name: str, folder: str, seen: State | None = None, before: ListedMessages | None = None
) -> ListedMessages:
    """List a folder.

    Parameters
    ----------
    client : ImapConnection
    name : str
        Our name of the folder, for the places.
    folder : str
        The server's name of it.
    seen : State, optional
        The folder's state when all folders were last listed.
    before : ListedMessages, optional
        The previous listing; if messages were only added since, only these are asked for.
    """
    state = client.choose(folder)
    if before is not None and before.state.validity == state.validity:
        came = [] if before.state == state else _came(client, before.state, state)
        if came is not None:
            return ListedMessages(seen, state, before.places + _places(name, state, came))
    found: set[int] = set()
    # Newest first: a message removed meanwhile shifts those not yet seen down, never past the window.
    for last in range(state.count, 0, -WINDOW):
        found.update(_search(client, f"{max(1, last - WINDOW + 1)}:{last} UNDELETED", state))
    return ListedMessages(seen, state, _places(name, state, sorted(found)))


def _came(client: ImapConnection, before: State, now: State) -> list[int] | None:
    """Return the messages that were added to a folder; None if others were removed."""
    came = [uid for uid in _search(client, f"UID {before.next}:*", now) if uid >= before.next]
    if before.count + len(came) != now.count:
        return None
    kept = set(_search(client, f"UID {before.next}:* UNDELETED", now) if came else ())
    return [uid for uid in came if uid in kept]


def _search(client: ImapConnection, criteria: str, state: State) -> list[int]:
    return list(client.search(criteria)) if state.count else []


def _places(name: str, state: State, uids: list[int]) -> list[Place]:
    return [Place(name, key_of(state.validity, uid)) for uid in uids]


def peek(client: ImapConnection, folder: str, places: Sequence[Place]) -> list[tuple[Place, bytes | Unreadable]]:
    """Read messages of a folder, by the server's name of it; leave out those that no longer exist.

    Raises what IMAPClient raises if the folder cannot be opened or the connection is lost.
    """
    state = client.choose(folder)  # again, so that removed messages are known to be removed
    uids = {uid: place for place in places if (uid := uid_of(place, state)) is not None}
    found: dict[int, bytes | Unreadable] = {}
    refused: dict[int, str] = {}
    _fetch(client, list(uids), found, refused)
    missing = [uid for uid in uids if not found.get(uid)]
    there = _still_there(client, folder, missing)
    for uid in missing:
        if uid not in there:
            found.pop(uid, None)
        elif uid not in found:
            found[uid] = Unreadable(refused.get(uid, NOTHING))
    return [(place, found[uid]) for uid, place in uids.items() if uid in found]


def _still_there(client: ImapConnection, folder: str, uids: list[int]) -> set[int]:
    if not uids:
        return set()
    client.choose(folder)
    return set(client.search(f"UID {','.join(map(str, uids))}"))


def _fetch(
    client: ImapConnection, uids: list[int], found: dict[int, bytes | Unreadable], refused: dict[int, str]
) -> None:
    """Fetch messages; if the response for several is refused or cannot be parsed, fetch each half separately."""
    if not uids:
        return
    try:
        found.update({uid: body for uid, body in client.bodies(uids).items() if body is not None})
    except IMAPClientAbortError:
        raise
    except (IMAPClientError, *MISREAD) as error:
        if is_throttled(error):  # it has nothing to do with these messages
            raise
        half = len(uids) // 2
        if half == 0:
            refused[uids[0]] = words_of(error)
            return
        _fetch(client, uids[:half], found, refused)
        _fetch(client, uids[half:], found, refused)
