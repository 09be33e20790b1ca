"""Which messages lie in a folder, found anew only where it changed."""

from __future__ import annotations

from dataclasses import dataclass

from hinged.mail.sources.imap.client import Client, State
from hinged.mail.sources.source import Place

__all__ = ["Listing", "key_of", "list_folder", "uid_of"]

WINDOW = 40_000  # numbers in one answer; IMAP's lines may grow without end, a reader's patience should not


@dataclass(frozen=True)
class Listing:
    """The messages of a folder; those marked as deleted are left out.

    Attributes
    ----------
    seen : State or None
        The folder's state in the look at all folders that this listing belongs to.
    state : State
        Its state when it was listed, which may be a little newer, and which some servers count in another way.
    places : list of Place
    """

    seen: State | None
    state: State
    places: list[Place]


def key_of(validity: int, uid: int) -> str:
    """A message's key: when its folder's numbers became valid, and its number. The pair is never given twice."""
    return f"{validity}.{uid}"


def uid_of(place: Place, state: State) -> int | None:
    """The number of a message in its folder as it is now; None where its numbers are not valid any more."""
    validity, _, uid = place.key.partition(".")
    return int(uid) if validity == str(state.validity) else None


def list_folder(
    client: Client, name: str, folder: str, seen: State | None = None, before: Listing | None = None
) -> Listing:
    """List a folder.

    Parameters
    ----------
    client : Client
    name : str
        Ours, for the places.
    folder : str
        The server's.
    seen : State, optional
        The folder's state in the last look at all folders.
    before : Listing, optional
        What was found last time; if messages have only come since then, only these are asked for.
    """
    state = client.choose(folder)
    if before is not None and before.state.validity == state.validity:
        if before.state == state:
            return Listing(seen, state, before.places)
        came = [uid for uid in _search(client, f"UID {before.state.next}:*", state) if uid >= before.state.next]
        if before.state.count + len(came) == state.count:
            kept = set(_search(client, f"UID {before.state.next}:* UNDELETED", state) if came else ())
            return Listing(seen, state, before.places + _places(name, state, [uid for uid in came if uid in kept]))
    found: set[int] = set()
    # From the newest down: a message removed meanwhile moves those not yet seen down, never past the window.
    for last in range(state.count, 0, -WINDOW):
        found.update(_search(client, f"{max(1, last - WINDOW + 1)}:{last} UNDELETED", state))
    return Listing(seen, state, _places(name, state, sorted(found)))


def _search(client: Client, criteria: str, state: State) -> list[int]:
    return list(client.search(criteria)) if state.count else []


def _places(name: str, state: State, uids: list[int]) -> list[Place]:
    return [Place(name, key_of(state.validity, uid)) for uid in uids]
