"""Reading messages of a source one by one: unreadable ones are skipped and reported, and do not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, ParamSpec, TypeVar

from hinged.journal.errors import JournalError
from hinged.mail.message import Message, read_message
from hinged.mail.sources.source import (
    FolderError,
    GoneError,
    Place,
    RejectedError,
    Source,
    SourceError,
    UnreachableError,
    Unreadable,
)

__all__ = ["Show", "Skip", "Skipped", "attempt", "messages", "names_of", "one_message", "places_of", "show_nothing"]
__all__ += ["still_there", "there_now"]

P = ParamSpec("P")
T = TypeVar("T")


class Skipped(NamedTuple):
    """A message that was skipped, and why; the key is "" if a whole folder was skipped."""

    place: Place
    why: str

    def __str__(self) -> str:
        """Return its name and the reason.

        Examples
        --------
        >>> print(Skipped(Place("Work", "17.a.host"), "it is a folder"), Skipped(Place("Old", ""), "no mbox"), sep="; ")
        17.a.host in Work: it is a folder; the folder Old: no mbox
        """
        where = f"{self.place.key} in {self.place.folder}" if self.place.key else f"the folder {self.place.folder}"
        return f"{where}: {self.why}"


Skip = Callable[[Skipped], None]
Show = Callable[[str, int, int], None]


def show_nothing(what: str, done: int, total: int) -> None:
    """Show no progress."""


def names_of(source: Source) -> list[str]:
    """Return the names of a source's folders."""
    return [folder.name for folder in source.folders()]


def messages(source: Source, places: Sequence[Place], skip: Skip) -> Iterator[tuple[Place, Message]]:
    """Read the messages at these places; call `skip` for each that cannot be read."""
    for place, raw in source.read(places):
        if isinstance(raw, Unreadable):
            skip(Skipped(place, raw.why))
            continue
        message = attempt(place, skip, read_message, raw)
        if message is not None:
            yield place, message


def places_of(source: Source, folder: str, skip: Skip) -> list[Place] | None:
    """Return the places of a folder's messages; None if it no longer exists, or cannot be read (calls `skip`)."""
    try:
        return source.places(folder)
    except GoneError:
        return None
    except FolderError as problem:
        skip(Skipped(Place(folder, ""), str(problem).rstrip(".")))
        return None


def still_there(source: Source, places: Sequence[Place]) -> tuple[Place, ...]:
    """Return those of these places that still hold a message; none of a folder that is gone or cannot be listed."""
    now: dict[str, set[Place]] = {}
    for folder in {place.folder for place in places}:
        try:
            now[folder] = set(source.places(folder))
        except (UnreachableError, RejectedError):
            raise
        except SourceError:  # also of a source that has no such folder, as standard input
            now[folder] = set()
    return tuple(place for place in places if place in now[place.folder])


def there_now(source: Source, places: Sequence[Place]) -> tuple[Place, ...]:
    """Return those of these places that hold a message when the source is asked anew, not as of the last look."""
    source.folders()
    return still_there(source, places)


@contextmanager
def one_message(place: Place, skip: Skip | None) -> Iterator[None]:
    """Process one message: call `skip` if that fails; without it, raise.

    Errors of the journal, the source or memory concern all messages and are raised.
    """
    try:
        yield
    except (JournalError, SourceError, MemoryError):
        raise
    except Exception as problem:  # no message may stop the others
        if skip is None:
            raise
        skip(Skipped(place, f"{type(problem).__name__}: {problem}"))


def attempt(place: Place, skip: Skip | None, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T | None:
    """Return what a function returns for one message; None if that fails (see `one_message`)."""
    with one_message(place, skip):
        return work(*given, **named)
    return None
