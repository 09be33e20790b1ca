"""What the assistant asks of a place where mail lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

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

UNREADABLE = "unreadable"  # the use of a folder that is damaged or may not be listed


class SourceError(Exception):
    """Mail could not be reached or read; the text is one sentence for the user."""


class FolderError(SourceError):
    """One folder cannot be read; the others can."""


class GoneError(FolderError):
    """A folder was removed or renamed since the folders were listed."""


class RejectedError(SourceError):
    """Password or token were not accepted; trying again without a new one may lock the account."""


class UnclearError(SourceError):
    """The answer could not be read, so nobody knows whether what was asked for has been done."""


class UnreachableError(SourceError):
    """Mail cannot be reached just now; trying again later may help, and `wait` does so."""


@dataclass(frozen=True)
class Folder:
    """A folder: its name with `/` between levels, and its special use.

    `use` is "" for a folder of the user's own, else "inbox", "sent", "drafts", "templates", "outbox", "trash", "junk",
    "archive", "all" or "flagged"; "unreadable" (`UNREADABLE`) for one whose `places` raise `FolderError`.
    """

    name: str
    use: str = ""


@dataclass(frozen=True)
class Place:
    """Where one message lies now. The key never names another message of the same folder later on."""

    folder: str
    key: str


class Unreadable(NamedTuple):
    """Stands for a message that is there but cannot be read."""

    why: str


class Source(Protocol):
    """Folders of messages. Reading changes nothing, not even what is marked as seen."""

    def folders(self) -> list[Folder]:
        """Every folder that can hold messages, in the order of their names."""

    def places(self, folder: str) -> list[Place]:
        """Where the messages of a folder lie, oldest arrival first."""

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes | Unreadable]]:
        """The raw messages; one that is gone meanwhile is left out. One that cannot be read does not stop the others.

        `hinged.mail.reading.messages` parses them and tells which were skipped.
        """

    def move(self, place: Place, folder: str) -> Place:
        """Put a message into another folder and say where it lies now."""

    def create(self, folder: str) -> str:
        """Make a folder, `/` between levels, and say under which name it is listed; refuse a name that cannot be."""

    def mark(self, place: Place, keywords: Sequence[str]) -> None:
        """Set keywords on a message, in place of earlier ones of ours (those that begin with `hinged-`)."""

    def wait(self, seconds: float) -> bool:
        """Return True as soon as something may have changed, False when the time has passed."""

    def close(self) -> None:
        """Let go of connections and files."""
