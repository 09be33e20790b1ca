"""Learning what is new in the user's folders, in order of date."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

from hinged.journal.errors import JournalError
from hinged.mail.assistant import Assistant, Filed
from hinged.mail.label_sets import with_copies
from hinged.mail.reading import Show, Skip, Skipped, messages, places_of, show_nothing, there_now
from hinged.mail.self_filing import settle
from hinged.mail.sources.source import UNREADABLE, Place, Source, SourceError
from hinged.mail.spool import Spool

__all__ = ["Look", "check_folders", "in_order_of_time", "look"]

MOST_FOLDERS = 2000  # the joint step solves a problem over all pairs of labels
AT_ONCE = 256  # messages that are learnt between two reports of the progress
SNAPSHOT_EVERY = 1000  # lines of the journal, as by default; while much is learnt, a snapshot is rarer:
RARELY = 3  # a snapshot when the journal is half as long again: all of them together cost as much as three of the last
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
    unchanged: Callable[[str], bool] = lambda folder: False,
    there: Callable[[Sequence[Place]], Collection[Place]] | None = None,
) -> Look:
    """Learn what is new in the folders of a source.

    Messages are known by their Message-IDs and places, so a second look reads and learns nothing; a message that is in
    another folder than before, or came back to one, is new feedback. One that cannot be read is skipped, and tried
    again by the next look. A message that lies in several folders is learnt for all of them at once, and anew when it
    came to another one or left one of them.

    Parameters
    ----------
    assistant : Assistant
    source : Source
    show : function of (what, done, total), optional
        Called with the progress.
    unchanged : function of a folder's name, optional
        Called after the folder was listed; True means that no message came or went since the last look.
    there : function of places, optional
        Which of them hold a message now, where `source` itself would not say.
    """
    if assistant.is_off:
        return Look(0, 0, 0, {})
    show = show or show_nothing
    before = assistant.memory.places()  # read first: what other processes record from now on must not look removed
    left, listed = dict[Place, str](), set[str]()

    def new_in(folder: str, places: Iterable[Place]) -> list[Place]:
        listed.add(folder)
        known, now = before.get(folder, {}), {place.key: place for place in places}
        if not unchanged(folder):
            left.update({Place(folder, key): message for key, message in known.items() if key not in now})
        return [place for key, place in now.items() if key not in known]

    folders, skipped = source.folders(), list[Skipped]()
    names = assistant.see_folders(folders)
    broken = [folder.name for folder in folders if folder.use == UNREADABLE]
    renamed: dict[str, str] = {}
    with in_order_of_time(source, [*names, *broken], skipped.append, new_in, show) as found:
        if found:
            with assistant.kept.changing():  # another process may follow the same rename
                renamed = _follow_renamed(assistant, names, found, before)
        check_folders({*assistant.known(), *found.folders})
        lying = _lying(before, listed.intersection(names), left) if found or left else {}
        fewer = _in_fewer(assistant, source, left, lying, found.ids, skipped.append)
        several = found.several | found.ids.intersection(lying)
        filed = partial(with_copies, found, several, lying)
        gone = _moved_on(filed(), there or partial(there_now, source)) if several else set[Place]()
        read = len(found) + len(fewer)
        taught = _learn(assistant, chain(_without(gone, filed()), fewer), read, skipped.append, show)
    _forget_left(assistant, left)
    settle(assistant)
    return Look(len(names), read, taught, renamed, tuple(skipped))


def _lying(
    before: Mapping[str, Mapping[str, str]], listed: Iterable[str], left: Collection[Place]
) -> dict[str, list[Place]]:
    """Return where messages were at the last look and still are, by Message-ID, of the folders that were listed."""
    found: dict[str, list[Place]] = {}
    for folder in sorted(listed):
        for key, message in before.get(folder, {}).items():
            if (place := Place(folder, key)) not in left:
                found.setdefault(message, []).append(place)
    return found


def _moved_on(filed: Iterable[Filed], there: Callable[[Sequence[Place]], Collection[Place]]) -> set[Place]:
    """Return the places that messages have left, of those that seem to lie in several folders.

    Folders are listed one after the other, so a message that is moved meanwhile is found in both.
    """
    several = [place for one in filed if len(one.folders) > 1 for place in one.places]
    return set(several).difference(there(several)) if several else set()


def _without(gone: Collection[Place], filed: Iterable[Filed]) -> Iterator[Filed]:
    """Yield messages without places that they have left; those that left all are for the next look."""
    for one in filed:
        places = [place for place in one.places if place not in gone]
        if len(places) == len(one.places):
            yield one
        elif places:
            yield Filed(one.message, places[0].folder, places[0], tuple(places[1:]))


def _in_fewer(
    assistant: Assistant,
    source: Source,
    left: dict[Place, str],
    lying: Mapping[str, Sequence[Place]],
    found: Collection[str],
    skip: Skip,
) -> list[Filed]:
    """Return messages that left some of the folders that they were learnt for, by date: that is feedback as well.

    If one cannot be read, its places are removed from `left`, so that the next look tries again.
    """
    gone = {name for name in left.values() if name not in found and name in lying}
    were = {name: assistant.memory.went_last(name) for name in sorted(gone)}
    fewer = [name for name, went in were.items() if len(went) > 1 and set(went) != {p.folder for p in lying[name]}]
    read = {message.id: message for _, message in messages(source, [lying[name][0] for name in fewer], skip)}
    for place, name in list(left.items()):
        if name in fewer and name not in read:
            del left[place]
    some = [Filed(read[name], lying[name][0].folder, copies=tuple(lying[name])) for name in fewer if name in read]
    return sorted(some, key=lambda one: one.message.date or 0.0)


def _learn(assistant: Assistant, filed: Iterator[Filed], total: int, skip: Skip, show: Show) -> int:
    """Learn messages in their order, at most `total`; return how many of them were new."""
    taught, kept = 0, assistant.kept
    try:
        for done in range(0, total, AT_ONCE):
            show("learning", done, total)
            kept.snapshot_every = max(SNAPSHOT_EVERY, kept.journal.last // RARELY)
            taught += assistant.learn(islice(filed, AT_ONCE), skip)
    finally:
        kept.snapshot_every = SNAPSHOT_EVERY
    if taught > SNAPSHOT_EVERY and kept.is_ahead_of_its_snapshot:
        with suppress(JournalError):  # the journal is complete: the next start learns from it
            kept.snapshot()
    return taught


def _forget_left(assistant: Assistant, left: Mapping[Place, str]) -> None:
    """Forget messages that left a folder, so that one that comes back is new; and places that are damaged."""
    if not assistant.is_off and (left or assistant.memory.has_damaged_places):
        with assistant.kept.writing():
            assistant.memory.forget_left(left)
            assistant.memory.forget_damaged_places()


def in_order_of_time(
    source: Source,
    folders: Sequence[str],
    skip: Skip,
    choose: Callable[[str, Iterable[Place]], list[Place]] | None = None,
    show: Show | None = None,
) -> Spool:
    """Return the messages of folders by date; one without a date comes right after the one that arrived before it.

    The caller closes what is returned. `skip` is called for messages and folders that cannot be read. A message whose
    copies the source knows is read once.
    """
    show = show or show_nothing
    wanted, have = set(folders), set[Place]()
    with ExitStack() as on_error:
        found = on_error.enter_context(Spool())
        for done, folder in enumerate(folders):
            show(f"reading {folder}", done, len(folders))
            places = places_of(source, folder, skip)
            if places is None:
                continue
            if choose is not None:
                places = choose(folder, places)
            last, places = 0.0, [place for place in places if place not in have]
            for i, (place, message) in enumerate(messages(source, places, skip)):
                if i % 20 == 19:
                    show(f"reading {folder}, {i + 1:,} of {len(places):,} messages", done, len(folders))
                last = message.date if message.date is not None else last
                copies = tuple(copy for copy in source.copies(place) if copy.folder in wanted)
                have.update(copies)
                found.add(last, Filed(message, folder, place, copies))
        on_error.pop_all()
    return found


def check_folders(names: Collection[str]) -> None:
    """Refuse more folders than the learner takes, before anything is learnt."""
    if len(names) > MOST_FOLDERS:
        raise SourceError(
            f"there are {len(names):,} folders, and the assistant takes at most {MOST_FOLDERS:,}; leave some out with "
            "exclude, which also applies to all folders below."
        )


def _follow_renamed(
    assistant: Assistant, names: Sequence[str], filed: Iterable[Filed], before: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Find folders that vanished while their messages appeared in a new one; `before` is where messages were."""
    known = set(assistant.known())
    gone = sorted(known - set(names) - set(assistant.excluded))
    if not gone:
        return {}
    now: dict[str, set[str]] = {}
    for one in filed:
        for place in one.places:
            if place.key not in before.get(place.folder, {}):
                now.setdefault(place.folder, set()).add(one.message.id)
    renamed: dict[str, str] = {}
    for old in gone:
        name = _new_name(assistant, old, known, before, now)
        if name is not None:
            (assistant.merge if name in known else assistant.rename)(old, name)
            renamed[old] = name
            del now[name]  # no other folder was renamed to this one
    return renamed


def _new_name(
    assistant: Assistant,
    old: str,
    known: Collection[str],
    before: Mapping[str, Mapping[str, str]],
    now: Mapping[str, set[str]],
) -> str | None:
    """Return the new folder in which most messages of an old one appeared, if it is that one renamed."""
    were = set(before.get(old, {}).values())
    came = {name: were & ids for name, ids in now.items() if were & ids}
    new = [name for name in came if name not in known or _is_made_of(assistant, before.get(name, {}), old)]
    name = max(new, key=lambda name: len(came[name]), default=None)
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
    from_old = sum(assistant.memory.was_in(message, old) for message in were_there.values())
    return bool(were_there) and from_old >= MOSTLY * len(were_there)
