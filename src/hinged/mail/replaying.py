"""Replays: what the assistant would have suggested for messages that are already filed, in order of date."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypedDict

import numpy as np

from hinged.estimators.text import TextClassifier
from hinged.evaluate.assessment import Assessment
from hinged.journal import Journal
from hinged.mail.assistant import LEARNT_FROM, Filed, place_of
from hinged.mail.features import fields_of
from hinged.mail.headers import topic_of
from hinged.mail.hits import Hit
from hinged.mail.looking import check_folders, in_order_of_time
from hinged.mail.memory import GONE
from hinged.mail.message import Message
from hinged.mail.reading import Show, Skip, Skipped, one_message
from hinged.mail.sources.source import UNREADABLE, Place, Source, SourceError
from hinged.mail.suggestion import Suggestion, Thresholds, ranked, within

__all__ = ["FolderHits", "Hit", "Replayed", "replay", "replay_journal", "replay_messages"]


@dataclass(frozen=True)
class FolderHits:
    """How often a folder was suggested for its own messages."""

    folder: str
    messages: int
    counted: int  # all but the first, whose folder was unknown
    first: int
    top3: int


class Moment(TypedDict):
    """The hits in a part of the stream, by the number of messages at its end."""

    messages: int
    counted: int
    first: float | None
    top3: float | None
    new: int  # folders


@dataclass(frozen=True)
class Replayed:
    """The result of a replay.

    Attributes
    ----------
    assessment : Assessment
        Mistakes, hits, confusions; a folder's first message is not counted.
    folders : list of str
        The folder of each message, in order.
    flags, ranks : arrays
        By message: 1 wrong, 0 right, -1 for the first of its folder; the rank of its folder, from 1, or 0 if it is the
        first or no other folder was known.
    confidence : array
        Confidence in the first suggestion.
    seconds : float
        Time for suggesting and learning.
    skipped : list of Skipped
        Messages and folders that could not be read.
    """

    assessment: Assessment
    folders: list[str]
    flags: np.ndarray
    ranks: np.ndarray
    confidence: np.ndarray
    seconds: float
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def counted(self) -> np.ndarray:
        """True for each message that counts: its folder was known, and another one too."""
        return self.ranks > 0

    def top(self, k: int) -> float | None:
        """Return the share of counted messages whose folder was among the first `k`; None if none counts."""
        return self.assessment.top(k)

    def over_time(self, parts: int = 10) -> list[Moment]:
        """Return the hits in consecutive parts of the stream."""
        cuts = np.linspace(0, len(self.flags), min(parts, max(1, len(self.flags))) + 1).astype(int)
        rows: list[Moment] = []
        for begin, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            counted, ranks = self.counted[begin:end], self.ranks[begin:end]
            n = int(counted.sum())
            shares = [float((ranks[counted] <= k).mean()) if n else None for k in (1, 3)]
            new = len(set(self.folders[begin:end]) - set(self.folders[:begin]))
            rows.append(Moment(messages=end, counted=n, first=shares[0], top3=shares[1], new=new))
        return rows

    def by_folder(self) -> list[FolderHits]:
        """Return the hits of each folder, the largest first."""
        names = np.array(self.folders, object)
        found = []
        for name in sorted(set(self.folders)):
            own = names == name
            counted = own & self.counted
            first, top3 = (int((self.ranks[counted] <= k).sum()) for k in (1, 3))
            found.append(FolderHits(name, int(own.sum()), int(counted.sum()), first, top3))
        return sorted(found, key=lambda hits: (-hits.messages, hits.folder))

    def when_sure(self, at_least: float) -> tuple[float, float]:
        """Return the share of counted messages of at least that confidence, and the share of these that were right."""
        counted = self.counted
        sure = counted & (self.confidence >= at_least)
        return float(sure.sum() / max(1, counted.sum())), float((self.flags[sure] == 0).mean()) if sure.any() else 0.0


def replay(source: Source, exclude: Collection[str] = (), show: Show | None = None) -> Replayed:
    """Replay the folders of a source; nothing is stored or changed.

    Parameters
    ----------
    source : Source
    exclude : folders to leave out, with those below them
    show : function of (what, done, total), optional
    """
    uses, skipped = (*LEARNT_FROM, UNREADABLE), list[Skipped]()
    folders = [one.name for one in source.folders() if one.use in uses and not within(one.name, exclude)]
    filed = in_order_of_time(source, folders, skipped.append, show=show)
    if not filed:
        raise SourceError(
            "there is nothing to replay: your own folders are empty (inbox, sent, drafts, trash and junk are left "
            f"out){f'; skipped: {skipped[0]}' if skipped else ''}."
        )
    check_folders({one.folder for one in filed})
    return replace(replay_messages(filed, show, skipped.append), skipped=skipped)


def replay_messages(filed: Sequence[Filed], show: Show | None = None, skip: Skip | None = None) -> Replayed:
    """Suggest a folder for each message, count, then learn where it went.

    `skip` is called for each message that fails; without it, the first such message raises.

    Examples
    --------
    >>> from hinged.mail import read_message
    >>> mail = [(f"Subject: {s}\\n\\n", f) for s, f in [("tax", "Work"), ("cake", "Home")] * 3]
    >>> replay_messages([Filed(read_message(raw.encode()), folder) for raw, folder in mail]).flags.tolist()
    [-1, -1, 1, 0, 0, 0]
    """
    model, past, known, rounds = TextClassifier(), PastInMemory(), set[str](), list[_Round]()
    began = time.perf_counter()
    for i, one in enumerate(filed):
        if show is not None and i % 50 == 0:
            show("replaying", i, len(filed))
        with one_message(place_of(one), skip):
            rounds.append(_replay_one(model, past, known, one))
            known.add(one.folder)
    labels, updates = (list(model.known_labels()), model.n_updates_) if rounds else ([], 0)
    return _counted(rounds, Assessment(ranks_sets=False, keep=True, labels=labels, updates=updates), began)


def _counted(rounds: Sequence[_Round], result: Assessment, began: float) -> Replayed:
    flags = np.array([-1 if one.rank is None else one.rank > 1 for one in rounds], np.int8)
    ranks = np.array([(one.rank or 0) if one.known > 1 else 0 for one in rounds], np.int32)
    sure, folders = np.array([one.sure for one in rounds], np.float64), [one.folder for one in rounds]
    result.add(flags, ranks, folders, [one.best for one in rounds], sure)
    result.unseen = int((flags < 0).sum())
    result.seconds = time.perf_counter() - began
    return Replayed(result, folders, flags, ranks, sure, result.seconds)


class _Round(NamedTuple):
    """The suggestion for one message: the rank of its folder, None if the folder was new, among the known ones."""

    folder: str
    known: int
    rank: int | None = None
    best: str | None = None
    sure: float = 0.0


def _replay_one(model: TextClassifier, past: PastInMemory, known: Collection[str], filed: Filed) -> _Round:
    message, folder, _ = filed
    x, found = fields_of(message, past), _Round(folder, len(known))
    if known:
        said = model.scored([x])
        sure, best, scores = float(said.confidence[0]), str(said.labels[int(said.scores[0].argmax())]), said.scores[0]
        # a tie is not a hit: only the order of folders would decide it
        rank = int((scores >= scores[said.labels.index(folder)]).sum()) if folder in known else None
        found = _Round(folder, len(known), rank, best, sure)
    model.learn_one(x, folder)
    past.note(message, folder)
    return found


def replay_journal(
    journal: Journal, limits: Thresholds, leave_out: Collection[tuple[str | None, str]] = ()
) -> Iterator[Hit]:
    """Learn a journal again, and yield what the assistant would have suggested for each message before.

    A folder's first message is learnt but not yielded, because the folder was unknown. A line that cannot be learnt is
    left out, and reported in `journal.damaged`.

    Parameters
    ----------
    journal : journal of an assistant
    limits : when the assistant suggests nothing
    leave_out : messages that are only learnt, by key and folder
    """
    model, known = TextClassifier(), set[str]()
    for event in journal.examples():
        folder, hit = str(event.label), None

        def damaged(skipped: Skipped, seq: int = event.seq) -> None:
            journal.damaged[seq] = skipped.why

        with one_message(Place(folder, event.key or ""), damaged):
            if folder in known and (event.key, folder) not in leave_out:
                hit = _hit(ranked(model, event.x, lambda _: True, limits, top=len(known)), folder)
            model.learn_one(event.x, event.label)
            known.add(folder)
        if hit is not None:
            yield hit


def _hit(found: Suggestion, folder: str) -> Hit:
    folders = [one.folder for one in found.candidates]
    return Hit(folder, folders.index(folder) + 1 if folder in folders else 0, found.best or "")


class PastInMemory:
    """Where earlier messages went, in memory: folders by Message-ID and topic.

    Examples
    --------
    >>> from hinged.mail.message import read_message
    >>> past = PastInMemory()
    >>> past.note(read_message(b"Message-ID: <1>\\nSubject: tax\\n\\n"), "work")
    >>> past.of_thread(read_message(b"Subject: Re: tax\\n\\n")), past.name_of(past.last())
    ([1], 'work')
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._by_id: dict[str, int] = {}
        self._by_topic: dict[str, int] = {}
        self._last: int | None = None

    def of_thread(self, message: Message) -> list[int]:
        """Return the folders of earlier messages of the thread, nearest first, then that of the last of its subject."""
        found = [self._by_id.get(name) for name in reversed(message.references)]
        found.append(self._by_topic.get(topic_of(message.subject)))
        return list(dict.fromkeys(number for number in found if number is not None))

    def last(self) -> int | None:
        """Return the folder of the last message."""
        return self._last

    def name_of(self, number: int | None) -> str:
        """Return the name of a folder by its number."""
        return next((name for name, own in self._numbers.items() if own == number), GONE)

    def note(self, message: Message, folder: str) -> None:
        """Record where a message went."""
        number = self._numbers.setdefault(folder, len(self._numbers) + 1)
        self._by_id[message.id] = self._last = number
        if topic := topic_of(message.subject):
            self._by_topic[topic] = number
