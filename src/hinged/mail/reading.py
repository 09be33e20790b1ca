"""Messages of a source one by one: what cannot be read is skipped, named and counted, and costs no other message."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from hinged.journal.errors import JournalError
from hinged.mail.message import Message, read_message
from hinged.mail.sources.source import FolderError, GoneError, Place, Source, SourceError, Unreadable

__all__ = ["Skip", "Skipped", "messages", "one_message", "places_of"]


class Skipped(NamedTuple):
    """A message that was left out, and why; the key is "" where a whole folder was left out."""

    place: Place
    why: str

    def __str__(self) -> str:
        """Name it and say why.

        Examples
        --------
        >>> print(Skipped(Place("Work", "17.a.host"), "it is a folder"), Skipped(Place("Old", ""), "no mbox"), sep="; ")
        17.a.host in Work: it is a folder; the folder Old: no mbox
        """
        where = f"{self.place.key} in {self.place.folder}" if self.place.key else f"the folder {self.place.folder}"
        return f"{where}: {self.why}"


Skip = Callable[[Skipped], None]


def messages(source: Source, places: Sequence[Place], skip: Skip) -> Iterator[tuple[Place, Message]]:
    """Read the messages at these places; `skip` is told of each that cannot be read."""
    for place, raw in source.read(places):
        if isinstance(raw, Unreadable):
            skip(Skipped(place, raw.why))
            continue
        message = None
        with one_message(place, skip):
            message = read_message(raw)
        if message is not None:
            yield place, message


def places_of(source: Source, folder: str, skip: Skip) -> list[Place] | None:
    """Where the messages of a folder lie; None where it is gone or cannot be read, and the latter is told to `skip`."""
    try:
        return source.places(folder)
    except GoneError:
        return None
    except FolderError as problem:
        skip(Skipped(Place(folder, ""), str(problem).rstrip(".")))
        return None


@contextmanager
def one_message(place: Place, skip: Skip) -> Iterator[None]:
    """Work on one message: whatever goes wrong with it is told to `skip`.

    Trouble with the journal, the source or memory concerns all messages and is raised.
    """
    try:
        yield
    except (JournalError, SourceError, MemoryError):
        raise
    except Exception as problem:  # whatever a message does to a parser or a learner, it costs no other message
        skip(Skipped(place, f"{type(problem).__name__}: {problem}"))
