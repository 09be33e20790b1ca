"""What a mail source is, its errors, and defaults for sources on this machine."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = [
    "UNREADABLE",
    "Folder",
    "FolderError",
    "GoneError",
    "Place",
    "RejectedError",
    "Source",
    "SourceError",
    "UnclearError",
    "UnreachableError",
    "Unreadable",
]

UNREADABLE = "unreadable"  # the use of a folder that is damaged or cannot be listed
POLL = 0.5  # seconds between two checks of a local source


class SourceError(Exception):
    """Mail could not be reached or read; the message is one sentence for the user."""


class FolderError(SourceError):
    """One folder cannot be read; the others can."""


class GoneError(FolderError):
    """A folder was removed or renamed since the folders were listed."""


class RejectedError(SourceError):
    """The password or token was not accepted; trying it again may lock the account."""


class UnclearError(SourceError):
    """The server's answer could not be parsed, so it is unknown whether the request was carried out."""


class UnreachableError(SourceError):
    """Mail cannot be reached at the moment; trying again later may help, and `wait` does so."""


@dataclass(frozen=True)
class Folder:
    """A folder: its name, with levels separated by `/`, and its special use.

    `use` is "" for a folder of the user's own, else "inbox", "sent", "drafts", "templates", "outbox", "trash", "junk",
    "archive", "all" or "flagged"; "unreadable" (`UNREADABLE`) for one whose `places` raise `FolderError`.
    """

    name: str
    use: str = ""


@dataclass(frozen=True)
class Place:
    """The place of a message: its folder and its key there. A key is never used again for another message."""

    folder: str
    key: str


class Unreadable(NamedTuple):
    """Stands for a message that exists but cannot be read."""

    why: str


class Source(ABC):
    """Folders of messages. Reading changes nothing, not even the Seen flag.

    Unless a subclass overrides that, a source is read-only, and polled for changes.

    Attributes
    ----------
    read_only : the sentence that refuses to change anything
    """

    read_only = ""
    _last_seen: object = None

    @abstractmethod
    def folders(self) -> list[Folder]:
        """Return every folder that can hold messages, sorted by name."""

    @abstractmethod
    def places(self, folder: str) -> list[Place]:
        """Return the places of the messages of a folder, oldest first."""

    @abstractmethod
    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes | Unreadable]]:
        """Yield the raw messages, long ones truncated; leave out those that no longer exist.

        One that cannot be read is `Unreadable`, and does not stop the others.

        `hinged.mail.reading.messages` parses them and reports which were skipped.
        """

    def copies(self, place: Place) -> tuple[Place, ...]:
        """Return the other places of the same message that are known without reading it."""
        return ()

    def move(self, place: Place, folder: str) -> Place:
        """Move a message to another folder; return its new place."""
        raise SourceError(self.read_only)

    def create(self, folder: str) -> str:
        """Create a folder, with levels separated by `/`; return the name it is listed under. Refuse an invalid name."""
        raise SourceError(self.read_only)

    def name_on_server(self, folder: str) -> str:
        """Return the name of a folder as the mail server writes it, for rules of delivery."""
        return folder

    def deliver(self, folder: str, raw: bytes) -> None:
        """Put a new message, with lines that end in a newline alone, into a folder."""
        raise SourceError(self.read_only)

    def mark(self, place: Place, keywords: Sequence[str]) -> None:
        """Set keywords on a message; earlier ones that begin with `hinged-` are removed."""
        raise SourceError(self.read_only)

    def _fingerprint(self) -> object:
        """Return a value that differs if something may have changed."""
        return None

    def wait(self, seconds: float) -> bool:
        """Return True as soon as something may have changed, False after the timeout; checks twice a second."""
        end = time.monotonic() + seconds
        while (now := self._fingerprint()) == self._last_seen:
            left = end - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(POLL, left))
        self._last_seen = now
        return True

    def close(self) -> None:  # noqa: B027 (most have nothing to close)
        """Close connections and files."""
