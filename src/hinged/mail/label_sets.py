"""Messages that lie in several folders at once: the set of its folders is the label of such a message."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hinged.journal.codec import Label, label_from_text
from hinged.mail.message import Message
from hinged.mail.sources.source import Place

__all__ = ["Filed", "folders_in", "label_of", "place_of", "with_copies"]


class Filed(NamedTuple):
    """A message, the folder the user put it in, its place, and those of its copies in any folder."""

    message: Message
    folder: str
    place: Place | None = None
    copies: tuple[Place, ...] = ()

    @property
    def folders(self) -> tuple[str, ...]:
        """All folders that the message lies in, each once, in alphabetical order."""
        return tuple(sorted({self.folder, *(copy.folder for copy in self.copies)}))

    @property
    def places(self) -> tuple[Place, ...]:
        """All places that are known."""
        return self.copies if self.place is None else (self.place, *self.copies)


def place_of(filed: Filed) -> Place:
    """Return the place of a message, or its Message-ID if the place is unknown."""
    return filed.place or Place(filed.folder, filed.message.id)


def label_of(folders: Collection[str], as_set: bool = False) -> Label:
    """Return what the journal stores for a message of these folders: a name, or several as a list.

    With `as_set`, a single one is a list as well: so a ranker takes it.

    Examples
    --------
    >>> label_of({"Work"}), label_of({"Work", "Tax"}), label_of({"Work"}, as_set=True)
    ('Work', ['Tax', 'Work'], ['Work'])
    """
    names = sorted(folders)
    return names[0] if len(names) == 1 and not as_set else list(names)


def folders_in(label: str) -> tuple[str, ...]:
    """Return the folders in a label of the journal, which is given as text; none if it is damaged.

    Examples
    --------
    >>> folders_in('"Work"'), folders_in('{"list": ["Tax", "Work"]}'), folders_in("[")
    (('Work',), ('Tax', 'Work'), ())
    """
    try:
        found = label_from_text(label)
    except (TypeError, ValueError):
        return ()
    return tuple(map(str, found)) if isinstance(found, list) else (str(found),)


def with_copies(
    filed: Iterable[Filed], several: Collection[str], lying: Mapping[str, Sequence[Place]] | None = None
) -> Iterator[Filed]:
    """Yield each message once, known by its Message-ID, as it was found first, with its places elsewhere as copies.

    Parameters
    ----------
    filed : what was found, in order; it may be iterated over twice, so no iterator
    several : Message-IDs of those with more than one place
    lying : further places of messages, by Message-ID
    """
    places: dict[str, dict[Place, None]] = {}  # in order, each once
    for one in filed if several else ():
        if one.message.id in several:
            places.setdefault(one.message.id, {}).update(dict.fromkeys(one.places))
    for one in filed:
        if one.message.id not in several:
            yield one
        elif (found := places.pop(one.message.id, None)) is not None:
            found.update(dict.fromkeys((lying or {}).get(one.message.id, ())))
            yield one._replace(copies=tuple(place for place in found if place != one.place))
