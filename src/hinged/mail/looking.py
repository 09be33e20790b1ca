"""A look at a source: what lies in the user's folders and is new is learnt, in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from hinged.mail.assistant import Assistant, Filed
from hinged.mail.reading import Skip, Skipped, messages, places_of
from hinged.mail.sources.source import UNREADABLE, Place, Source, SourceError

__all__ = ["Look", "check_folders", "in_order_of_time", "look"]

MOST_FOLDERS = 2000  # the joint step solves a problem over all pairs of labels
MOSTLY = 0.8  # of a folder's messages that must turn up in a new folder for it to be the old one renamed

Show = Callable[[str, int, int], None]


class Look(NamedTuple):
    """What a look found.

    Attributes
    ----------
    folders : how many folders were looked at
    read : how many messages were new there
    learnt : how many of them taught something
    renamed : folders that turned up under another name, old → new
    skipped : messages and folders that could not be read
    """

    folders: int
    read: int
    learnt: int
    renamed: dict[str, str]
    skipped: tuple[Skipped, ...] = ()


def look(
    assistant: Assistant, source: Source, show: Show | None = None, learnt: Callable[[Filed], None] | None = None
) -> Look:
    """Learn what is new in the folders of a source.

    Messages are known by their names and places, so a second look reads nothing and teaches nothing; a message that
    lies in another folder than before is new feedback. One that cannot be read is skipped, and tried again by the next
    look.

    Parameters
    ----------
    assistant : Assistant
    source : Source
    show : function of (what, done, total), optional
        Told how far it has come.
    learnt : function of a filed message, optional
        Told each one that taught something, once it is on the disk.
    """
    if assistant.is_off:
        return Look(0, 0, 0, {})
    folders, skipped = source.folders(), list[Skipped]()
    names = assistant.see_folders(folders)
    broken = [folder.name for folder in folders if folder.use == UNREADABLE]
    filed = in_order_of_time(source, [*names, *broken], skipped.append, assistant.memory.unknown, show)
    renamed = _follow_renamed(assistant, names, filed)
    check_folders({*assistant.known(), *(one.folder for one in filed)})
    taught = 0
    for done in range(0, len(filed), 256):
        if show is not None:
            show("learning", done, len(filed))
        some = filed[done : done + 256]
        new = {(one.message.id, one.folder): one for one in some if not assistant.knows(one.message, one.folder)}
        taught += assistant.learn(some, skipped.append)
        for one in new.values():
            if learnt is not None and assistant.knows(one.message, one.folder):
                learnt(one)
    return Look(len(names), len(filed), taught, renamed, tuple(skipped))


def in_order_of_time(
    source: Source,
    folders: Sequence[str],
    skip: Skip,
    choose: Callable[[str, Iterable[Place]], list[Place]] | None = None,
    show: Show | None = None,
) -> list[Filed]:
    """The messages of folders by date; one without a date comes right after the one that arrived before it.

    `skip` is told of messages and folders that cannot be read.
    """
    found: list[tuple[float, Filed]] = []
    for done, folder in enumerate(folders):
        if show is not None:
            show(f"reading {folder}", done, len(folders))
        places = places_of(source, folder, skip)
        last = 0.0
        for place, message in messages(source, places if choose is None else choose(folder, places), skip):
            last = message.date if message.date is not None else last
            found.append((last, Filed(message, folder, place)))
    found.sort(key=lambda dated: dated[0])  # which keeps the order of folders and arrivals among equals
    return [filed for _, filed in found]


def check_folders(names: Collection[str]) -> None:
    """Refuse more folders than the learner takes, before anything is learnt."""
    if len(names) > MOST_FOLDERS:
        raise SourceError(
            f"mail lies in {len(names):,} folders, and the assistant takes at most {MOST_FOLDERS:,}; leave some out "
            "with exclude, which takes in all that lie below a folder."
        )


def _follow_renamed(assistant: Assistant, names: Sequence[str], filed: Sequence[Filed]) -> dict[str, str]:
    """Find folders that are gone while nearly all their messages turned up in one that is new."""
    known = set(assistant.known())
    gone = sorted(known - set(names) - set(assistant.excluded))
    new = [name for name in names if name not in known]
    renamed: dict[str, str] = {}
    if gone and new:
        now: dict[str, set[str]] = {name: set() for name in new}
        for message, folder, _ in filed:
            if folder in now:
                now[folder].add(message.id)
        for old in gone:
            before = assistant.memory.messages_in(old)
            heir = max(new, key=lambda name: len(before & now[name]))
            if before and len(before & now[heir]) >= MOSTLY * len(before) and heir not in renamed.values():
                assistant.rename(old, heir)
                renamed[old] = heir
    return renamed
