"""Gmail: a message lies in "All Mail" once, and its folders are labels (X-GM-EXT-1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from imapclient.imap_utf7 import decode as decode_name
from imapclient.imap_utf7 import encode as encode_name

from hinged.mail.sources.imap.box import ImapSource
from hinged.mail.sources.imap.client import INBOX, ImapConnection, State
from hinged.mail.sources.imap.listing import key_of, list_folder, uid_of
from hinged.mail.sources.source import Place, SourceError, Unreadable

__all__ = ["GmailSource", "is_gmail"]

LABELS = "X-GM-LABELS"
IN_INBOX = "\\Inbox"  # the label of the inbox; others that begin with a backslash are Gmail's own, and no folders
OWN = ("", "archive", "inbox")  # uses of folders that are labels of the user's own, or the inbox
AT_ONCE = 500  # messages whose labels are fetched in one request


def is_gmail(source: ImapSource) -> bool:
    """Return True if the server has labels, and shows the folder that holds all mail."""
    return source._ask(lambda client: client.can("X-GM-EXT-1")) and _all_mail(source) is not None


def _all_mail(source: ImapSource) -> str | None:
    return next((folder.name for folder in source._seen().folders if folder.use == "all"), None)


class GmailSource(ImapSource):
    """Labels of a Gmail account as folders, whose messages are read from "All Mail" alone.

    The key of a message is that of its place there, the same in all its folders: it is read once, and `copies` knows
    its other folders. The labels of all messages are fetched once; from then on, each folder whose state changed is
    searched. Moving a message sets one label and removes another, so no message is copied or removed.

    Parameters
    ----------
    plain : ImapSource
        Of a server with labels (`is_gmail`); this continues with its connection.
    """

    def __init__(self, plain: ImapSource) -> None:
        vars(self).update(vars(plain))
        self._states: dict[str, State] = {}  # of folders when their messages were listed
        self._validity = 0  # of "All Mail" then
        self._places: dict[str, list[Place]] = {}
        self._names: dict[str, list[str]] = {}  # folders of each message, by its key

    def places(self, folder: str) -> list[Place]:
        if folder not in self._own():
            return super().places(folder)
        self._list_labels()
        return self._places[folder]

    def copies(self, place: Place) -> tuple[Place, ...]:
        return tuple(Place(name, place.key) for name in self._names.get(place.key, ()) if name != place.folder)

    def move(self, place: Place, folder: str) -> Place:
        """Set the label of a folder, and remove that of the folder in which the message was."""
        for name in (place.folder, folder):
            self._theirs(name)
            if name not in self._own():
                raise SourceError(
                    f"{name} is a folder of Gmail's own; messages are moved between labels and the inbox."
                )
        change = _ChangeOfLabels(place, folder, self._all(), self._label(place.folder), self._label(folder))
        try:
            return self._ask(change.go)
        finally:
            for name in (place.folder, folder):
                self._states.pop(name, None)

    def mark(self, place: Place, keywords: Sequence[str]) -> None:
        super().mark(self._held(place), keywords)

    def _peek(self, folder: str, few: list[Place]) -> list[tuple[Place, bytes | Unreadable]]:
        if folder not in self._own():
            return super()._peek(folder, few)
        ours = {self._held(place): place for place in few}
        return [(ours[place], raw) for place, raw in super()._peek(next(iter(ours)).folder, list(ours))]

    def _held(self, place: Place) -> Place:
        """Return the place of a message in "All Mail"."""
        return Place(_all_mail(self) or "", place.key) if place.folder in self._own() else place

    def _own(self) -> set[str]:
        """Return the folders that are labels of the user's own, and the inbox."""
        return {folder.name for folder in self._seen().folders if folder.use in OWN}

    def _all(self) -> str:
        """Return the server's name of "All Mail"."""
        name = _all_mail(self)
        if name is None:
            raise SourceError(
                f"{self.address} does not show the folder of all mail any more; let Gmail show it in IMAP (its "
                "settings, Labels), or start again to go on without it."
            )
        return self._theirs(name)

    def _label(self, folder: str) -> str:
        return IN_INBOX if folder == INBOX else self._theirs(folder)

    # ------------------------------------------------------------------ listing
    def _list_labels(self) -> None:
        """Bring the places of all folders up to date, so that `copies` is right for each message of them."""
        now, own = self._seen().states, self._own()
        changed = [name for name in sorted(own) if self._states.get(name) != now.get(name) or name not in self._places]
        if not changed and own >= self._places.keys():
            return
        labels = {name: self._label(name) for name in own}
        validity, found = self._ask(lambda client: self._search(client, changed, labels))
        self._validity = validity
        self._places = {name: places for name, places in self._places.items() if name in own} | {
            name: [Place(name, key_of(validity, uid)) for uid in sorted(uids)] for name, uids in found.items()
        }
        self._states = {name: now[name] for name in own if name in now}
        self._names = {}
        for name, places in self._places.items():
            for place in places:
                self._names.setdefault(place.key, []).append(name)

    def _search(
        self, client: ImapConnection, changed: Sequence[str], labels: dict[str, str]
    ) -> tuple[int, dict[str, set[int]]]:
        """Return the UIDVALIDITY of "All Mail", and the UIDs of the messages of changed folders, or of all at first."""
        state = client.choose(self._all())
        if state.validity != self._validity:
            return state.validity, _fetch_labels(client, self._all(), state, labels)
        found: dict[str, set[int]] = {}
        for name in changed:
            criteria = [LABELS, encode_name(labels[name]), "UNDELETED"]
            found[name] = set(client.search(criteria)) if state.count else set()
        return state.validity, found


def _fetch_labels(client: ImapConnection, all_mail: str, state: State, labels: dict[str, str]) -> dict[str, set[int]]:
    """Return the UIDs of the messages of each folder.

    Only in "All Mail" they are complete: elsewhere Gmail leaves out the label of the folder that is open.
    """
    found: dict[str, set[int]] = {name: set() for name in labels}
    named = _by_label(labels)
    uids = [uid_of(place, state) for place in list_folder(client, "", all_mail).places]
    for start in range(0, len(uids), AT_ONCE):
        for uid, items in client.fetch(uids[start : start + AT_ONCE], [LABELS]).items():
            for name in _named(items, named):
                found[name].add(uid)
    return found


def _by_label(labels: dict[str, str]) -> dict[object, str]:
    """Return folders by their labels in lower case; by the number if a label is one, because IMAPClient gives that."""
    named: dict[object, str] = {label.lower(): name for name, label in labels.items()}
    return named | {int(label): name for name, label in labels.items() if label.isdecimal()}


def _named(items: dict[bytes, Any], named: dict[object, str]) -> list[str]:
    """Return the folders among the labels of a message."""
    found: Iterable[object] = items.get(LABELS.encode(), ())
    texts = (decode_name(label).lower() if isinstance(label, bytes) else label for label in found)
    return [named[text] for text in texts if text in named]


@dataclass
class _ChangeOfLabels:
    """A move in progress: `go` may be called again after a lost connection, and both of its steps may be repeated."""

    place: Place
    folder: str
    all_mail: str
    origin: str
    target: str
    _begun: bool = False

    def go(self, client: ImapConnection) -> Place:
        """Set the label of the target, then remove that of the origin."""
        uid = uid_of(self.place, client.choose(self.all_mail, write=True))
        found = {} if uid is None else client.fetch([uid], [LABELS])
        has = _named(found[uid], _by_label({"from": self.origin, "to": self.target})) if uid in found else []
        if uid is None or not ("from" in has or (self._begun and "to" in has)):
            raise SourceError(f"a message is no longer in {self.place.folder}, so it was not moved to {self.folder}.")
        self._begun = True
        client.add_gmail_labels([uid], [self.target], silent=True)
        client.remove_gmail_labels([uid], [self.origin], silent=True)
        return Place(self.folder, self.place.key)
