"""Moving one message so that it is never lost and never duplicated, whatever happens in between."""

from __future__ import annotations

from dataclasses import dataclass

from hinged.mail.sources.imap.client import ImapConnection, Items, State
from hinged.mail.sources.imap.listing import key_of, uid_of
from hinged.mail.sources.source import Place, SourceError

__all__ = ["MoveInProgress"]

HEADER = "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]"


@dataclass
class MoveInProgress:
    """A move in progress. `go` may be called again after a lost connection: it first finds out what was already done.

    MOVE is one step for the server. Without it the message is copied, the original flagged as deleted, and only that
    message expunged. If the server cannot expunge a single message, the original stays, flagged: a plain EXPUNGE
    would also remove what others have flagged.

    Attributes
    ----------
    place : Place
        Where the message is.
    folder : str
        Our name of the target folder.
    source, target : str
        The server's names of the two folders.
    """

    place: Place
    folder: str
    source: str
    target: str
    _before: State | None = None
    _message: tuple[bytes, int] = (b"", 0)

    def go(self, client: ImapConnection) -> Place:
        """Do the remaining steps, and return where the message is now.

        Raises
        ------
        SourceError
            If another program has moved or removed it; then nothing is done.
        """
        again = self._before is not None
        if not again:
            self._before = client.choose(self.target)
        uid, items = self._original(client)
        if not again:
            if uid is None or b"\\Deleted" in items[b"FLAGS"]:
                raise self._gone()
            self._message = _identity(items)
        found = self._move(client, uid) if client.can("MOVE") else self._copy_and_remove(client, uid, again)
        if found is None:
            raise self._gone()
        return Place(self.folder, key_of(*found))

    def _move(self, client: ImapConnection, uid: int | None) -> tuple[int, int] | None:
        told = None if uid is None else client.transfer(client.move, uid, self.target)
        return told or self._copy(client)

    def _copy_and_remove(self, client: ImapConnection, uid: int | None, again: bool) -> tuple[int, int] | None:
        found = self._copy(client) if again else None
        if uid is None:
            return found
        if found is None:
            client.choose(self.source, write=True)
            found = client.transfer(client.copy, uid, self.target) or self._copy(client)
        if found is not None:
            self._remove(client, uid)
        return found

    def _original(self, client: ImapConnection) -> tuple[int | None, Items]:
        """Return the message's UID, None if it is no longer there, and what identifies it."""
        uid = uid_of(self.place, client.choose(self.source, write=True))
        found = {} if uid is None else client.fetch([uid], [HEADER, "RFC822.SIZE", "FLAGS"])
        return (uid, found[uid]) if uid in found else (None, {})

    def _copy(self, client: ImapConnection) -> tuple[int, int] | None:
        """Search the messages that arrived in the target since the move began for this one."""
        assert self._before is not None
        now = client.choose(self.target)
        if now.validity != self._before.validity or not now.count:
            return None
        came = [uid for uid in client.search(f"UID {self._before.next}:*") if uid >= self._before.next]
        for uid, items in client.fetch(came, [HEADER, "RFC822.SIZE"]).items():
            if _identity(items) == self._message:
                return now.validity, uid
        return None

    def _remove(self, client: ImapConnection, uid: int) -> None:
        client.choose(self.source, write=True)
        client.add_flags([uid], [b"\\Deleted"], silent=True)
        if client.can("UIDPLUS"):
            client.uid_expunge([uid])

    def _gone(self) -> SourceError:
        return SourceError(f"a message is no longer in {self.place.folder}, so it was not moved to {self.folder}.")


def _identity(items: Items) -> tuple[bytes, int]:
    """Return the Message-ID of a message, or its size if it has none."""
    header = next((value for key, value in items.items() if key.startswith(b"BODY[HEADER") and value), b"")
    name = b"".join(header.split())
    return name, 0 if name else items[b"RFC822.SIZE"]
