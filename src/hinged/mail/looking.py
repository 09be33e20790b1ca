"""Learning what is new in the user's folders, in order of date."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from hinged.mail.assistant import Assistant, Filed
from hinged.mail.reading import Show, Skip, Skipped, messages, places_of, show_nothing
from hinged.mail.sources.source import UNREADABLE, Place, Source, SourceError

__all__ = ["Look", "check_folders", "in_order_of_time", "look"]

MOST_FOLDERS = 2000  # the joint step solves a problem over all pairs of labels
AT_ONCE = 256  # messages that are learnt between two reports of the progress
MOSTLY, HALF = 0.8, 0.5  # shares of a folder's messages that must appear in a new folder for it to count as renamed


class Look(NamedTuple):
    """What `look` found.

    Attributes
    ----------
    folders : number of folders
    read : number of new messages
    learnt : number of them that were learnt
    renamed : folders that were renamed, old → new
    skipped : messages and folders that could not be read
    """

    folders: int
    read: int
    learnt: int
    renamed: dict[str, str]
    skipped: tuple[Skipped, ...] = ()


def look(
    assistant: Assistant,
    source: Source,
    show: Show | None = None,
    learnt: Callable[[Filed], None] | None = None,
    unchanged: Callable[[str], bool] = lambda folder: False,
) -> Look:
    """Learn what is new in the folders of a source.

    Messages are known by their Message-IDs and places, so a second look reads and learns nothing; a message that is in
    another folder than before, or came back to one, is new feedback. One that cannot be read is skipped, and tried
    again by the next look.

    Parameters
    ----------
    assistant : Assistant
    source : Source
    show : function of (what, done, total), optional
        Called with the progress.
    learnt : function of a filed message, optional
        Called for each message that was learnt, once it is on the disk.
    unchanged : function of a folder's name, optional
        Called after the folder was listed; True means that no message came or went since the last look.
    """
    if assistant.is_off:
        return Look(0, 0, 0, {})
    show = show or show_nothing
    before = assistant.memory.places()  # read first: what other processes record from now on must not look removed
    left: dict[Place, str] = {}

    def new_in(folder: str, places: Iterable[Place]) -> list[Place]:
        known, now = before.get(folder, {}), {place.key: place for place in places}
        if not unchanged(folder):
            left.update({Place(folder, key): message for key, message in known.items() if key not in now})
        return [place for key, place in now.items() if key not in known]

    folders, skipped = source.folders(), list[Skipped]()
    names = assistant.see_folders(folders)
    broken = [folder.name for folder in folders if folder.use == UNREADABLE]
    filed = in_order_of_time(source, [*names, *broken], skipped.append, new_in, show)
    renamed: dict[str, str] = {}
    if filed:
        with assistant.kept.changing():  # another process may follow the same rename
            renamed = _follow_renamed(assistant, names, filed, before)
    check_folders({*assistant.known(), *(one.folder for one in filed)})
    taught = 0
    for done in range(0, len(filed), AT_ONCE):
        show("learning", done, len(filed))
        taught += _learn(assistant, filed[done : done + AT_ONCE], skipped.append, learnt)
    _forget_left(assistant, left)
    return Look(len(names), len(filed), taught, renamed, tuple(skipped))


def _forget_left(assistant: Assistant, left: Mapping[Place, str]) -> None:
    """Forget messages that left a folder, so that one that comes back is new; and places that are damaged."""
    if not assistant.is_off and (left or assistant.memory.has_damaged_places):
        with assistant.kept.changing(), assistant.kept.journal.transaction():
            assistant.memory.forget_left(left)
            assistant.memory.forget_damaged_places()


def _learn(assistant: Assistant, filed: Sequence[Filed], skip: Skip, learnt: Callable[[Filed], None] | None) -> int:
    """Learn messages; call `learnt` for each that was new, and return how many were."""
    new = {(one.message.id, one.folder): one for one in filed if not assistant.knows(one.message, one.folder)}
    taught = assistant.learn(filed, skip)
    if learnt is not None:
        for one in new.values():
            if assistant.knows(one.message, one.folder):
                learnt(one)
    return taught


def in_order_of_time(
    source: Source,
    folders: Sequence[str],
    skip: Skip,
    choose: Callable[[str, Iterable[Place]], list[Place]] | None = None,
    show: Show | None = None,
) -> list[Filed]:
    """Return the messages of folders by date; one without a date comes right after the one that arrived before it.

    `skip` is called for messages and folders that cannot be read.
    """
    show = show or show_nothing
    found: list[tuple[float, Filed]] = []
    for done, folder in enumerate(folders):
        show(f"reading {folder}", done, len(folders))
        places = places_of(source, folder, skip)
        if places is None:
            continue
        if choose is not None:
            places = choose(folder, places)
        last = 0.0
        for i, (place, message) in enumerate(messages(source, places, skip)):
            if i % 20 == 19:
                show(f"reading {folder}, {i + 1:,} of {len(places):,} messages", done, len(folders))
            last = message.date if message.date is not None else last
            found.append((last, Filed(message, folder, place)))
    found.sort(key=lambda dated: dated[0])  # stable: equal dates keep the order of folders and arrivals
    return [filed for _, filed in found]


def check_folders(names: Collection[str]) -> None:
    """Refuse more folders than the learner takes, before anything is learnt."""
    if len(names) > MOST_FOLDERS:
        raise SourceError(
            f"there are {len(names):,} folders, and the assistant takes at most {MOST_FOLDERS:,}; leave some out with "
            "exclude, which also applies to all folders below."
        )


def _follow_renamed(
    assistant: Assistant, names: Sequence[str], filed: Sequence[Filed], before: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Find folders that vanished while their messages appeared in a new one; `before` is where messages were."""
    known = set(assistant.known())
    now: dict[str, set[str]] = {}
    for message, folder, _ in filed:
        now.setdefault(folder, set()).add(message.id)
    renamed: dict[str, str] = {}
    for old in sorted(known - set(names) - set(assistant.excluded)):
        were = set(before.get(old, {}).values())
        came = {name: were & ids for name, ids in now.items() if name not in renamed.values() and were & ids}
        new = {name for name in came if name not in known or _is_made_of(assistant, before.get(name, {}), old)}
        name = _new_name(were, came, new, now)
        if name is not None:
            (assistant.merge if name in known else assistant.rename)(old, name)
            renamed[old] = name
    return renamed


def _new_name(
    were: set[str], came: Mapping[str, set[str]], new: Collection[str], now: Mapping[str, Collection[str]]
) -> str | None:
    """Return the new folder in which most messages of an old one appeared, if it is that one renamed."""
    name = max((name for name in came if name in new), key=lambda name: len(came[name]), default=None)
    return name if name is not None and _is_renamed(name, were, came, new, now[name]) else None


def _is_renamed(
    name: str, were: set[str], came: Mapping[str, set[str]], new: Collection[str], holds: Collection[str]
) -> bool:
    """Return True if a folder is an old one renamed, judged by its messages.

    Parameters
    ----------
    name : name of the folder
    were : messages of the old folder
    came : folders in which some of these appeared, with these
    new : those of the folders that did not exist before
    holds : all messages that appeared in this folder
    """
    here, left = len(came[name]), len(were.difference(*(ids for other, ids in came.items() if other not in new)))
    in_new = len(set().union(*(came[other] for other in new)))
    return here >= MOSTLY * left or (here >= HALF * left and here >= MOSTLY * max(len(holds), in_new))


def _is_made_of(assistant: Assistant, were_there: Mapping[str, str], old: str) -> bool:
    """Return True if the messages of a folder came from another one: it was seen while the other was being renamed."""
    from_old = sum(assistant.kept.journal.find(message, old) is not None for message in were_there.values())
    return bool(were_there) and from_old >= MOSTLY * len(were_there)
