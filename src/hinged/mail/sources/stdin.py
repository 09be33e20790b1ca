"""One message on standard input, for pipes of sieve and procmail."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from hinged.mail.message import ENOUGH
from hinged.mail.sources.source import Folder, Place, SourceError

__all__ = ["StdinSource"]

NAME = "stdin"


class StdinSource:
    """A folder that holds one message, read when it is asked for."""

    def __init__(self) -> None:
        self._raw: bytes | None = None

    def folders(self) -> list[Folder]:
        """The only one."""
        return [Folder(NAME, "inbox")]

    def places(self, folder: str) -> list[Place]:
        """The message, unless nothing is piped in."""
        if folder != NAME:
            raise SourceError(f"there is no folder {folder!r} on standard input; leave it out.")
        if self._raw is None:
            stream = sys.stdin.buffer
            self._raw = stream.read(ENOUGH)
            while stream.read(ENOUGH):  # let the writer of the pipe come to its end
                pass
        if not self._raw.strip():
            raise SourceError("there is no message on standard input; pipe one in.")
        return [Place(NAME, "1")]

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
        """The message."""
        for place in places:
            if self._raw is not None:
                yield place, self._raw

    def move(self, place: Place, folder: str) -> Place:
        """Refused."""
        raise SourceError("a message on standard input cannot be moved; the program that piped it in has to do that.")

    def create(self, folder: str) -> str:
        """Refused."""
        raise SourceError("no folder can be made on standard input.")

    def mark(self, place: Place, keywords: Sequence[str]) -> None:
        """Refused."""
        raise SourceError("a message on standard input cannot be marked; use the output of suggest --json.")

    def wait(self, seconds: float) -> bool:
        """Nothing will change."""
        return False

    def close(self) -> None:
        """Nothing is held."""
