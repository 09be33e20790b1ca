"""What the assistant asks of a place where mail lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Folder", "Place", "RejectedError", "Source", "SourceError", "UnreachableError"]


class SourceError(Exception):
    """Mail could not be reached or read; the text is one sentence for the user."""


class RejectedError(SourceError):
    """Password or token were not accepted; trying again without a new one may lock the account."""


class UnreachableError(SourceError):
    """Mail cannot be reached just now; trying again later may help, and `wait` does so."""


@dataclass(frozen=True)
class Folder:
    """A folder: its name with `/` between levels, and its special use.

    `use` is "" for a folder of the user's own, else "inbox", "sent", "drafts", "trash", "junk", "archive", "all"
    or "flagged".
    """

    name: str
    use: str = ""


@dataclass(frozen=True)
class Place:
    """Where one message lies now. The key never names another message of the same folder later on."""

    folder: str
    key: str


class Source(Protocol):
    """Folders of messages. Reading changes nothing, not even what is marked as seen."""

    def folders(self) -> list[Folder]:
        """Every folder that can hold messages, in the order of their names."""

    def places(self, folder: str) -> list[Place]:
        """Where the messages of a folder lie, oldest arrival first."""

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
        """The raw messages; one that is gone meanwhile is left out."""

    def move(self, place: Place, folder: str) -> Place:
        """Put a message into another folder and say where it lies now."""

    def mark(self, place: Place, keywords: Sequence[str]) -> None:
        """Set keywords on a message, in place of earlier ones of ours (those that begin with `hinged-`)."""

    def wait(self, seconds: float) -> bool:
        """Return True as soon as something may have changed, False when the time has passed."""

    def close(self) -> None:
        """Let go of connections and files."""
