"""Replays: what the assistant would have suggested for messages that are already filed, in order of date."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypedDict

import numpy as np

from hinged.estimators.text import TextClassifier, TextRanker
from hinged.evaluate.assessment import Assessment
from hinged.journal import Journal
from hinged.mail.assistant import LEARNT_FROM, Filed, place_of
from hinged.mail.features import fields_of
from hinged.mail.headers import topic_of
from hinged.mail.hits import Hit
from hinged.mail.label_sets import with_copies
from hinged.mail.looking import check_folders, in_order_of_time
from hinged.mail.memory import GONE
from hinged.mail.message import Message
from hinged.mail.promise import Rehearsal, rehearse
from hinged.mail.reading import Show, Skip, Skipped, one_message
from hinged.mail.sources.source import UNREADABLE, Place, Source, SourceError
from hinged.mail.spool import Spool
from hinged.mail.suggestion import Thresholds, ranked, within

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


class Stretch(TypedDict):
    """What would have been filed in a part of the stream, by the number of messages at its end."""

    messages: int
    filed: int
    wrong: int


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
        Confidence in the first suggestion; 0 where there was none.
    size : array
        How many messages the suggested folder had; 0 where there was none.
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
    size: np.ndarray
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
        rows: list[Moment] = []
        for begin, end in self._cuts(parts):
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

    def filing(self, right: float) -> Rehearsal:
        """Return what would have been filed under a promise; to file the first message of a folder is always wrong."""
        return rehearse(right, (1.0 - self.confidence).tolist(), self.size.tolist(), (self.flags != 0).tolist())

    def filing_over_time(self, right: float, parts: int = 10) -> list[Stretch]:
        """Return what would have been filed in consecutive parts of the stream."""
        found, rows = self.filing(right), list[Stretch]()
        for begin, end in self._cuts(parts):
            filed, wrong = int(found.filed[begin:end].sum()), int(found.wrong[begin:end].sum())
            rows.append(Stretch(messages=end, filed=filed, wrong=wrong))
        return rows

    def _cuts(self, parts: int) -> list[tuple[int, int]]:
        cuts = np.linspace(0, len(self.flags), min(parts, max(1, len(self.flags))) + 1).astype(int).tolist()
        return list(pairwise(cuts))


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
    with in_order_of_time(source, folders, skipped.append, show=show) as found:
        if not found:
            raise SourceError(
                "there is nothing to replay: your own folders are empty (inbox, sent, drafts, trash and junk are left "
                f"out){f'; skipped: {skipped[0]}' if skipped else ''}."
            )
        check_folders(found.folders)
        merged = partial(with_copies, found, found.several)
        in_several = any(len(one.folders) > 1 for one in merged()) if found.several else False
        filed = list(merged()) if in_several else found
        return replace(replay_messages(filed, show, skipped.append), skipped=skipped)


def replay_messages(filed: Sequence[Filed] | Spool, show: Show | None = None, skip: Skip | None = None) -> Replayed:
    """Suggest a folder for each message, count, then learn where it went.

    Of a message in several folders any is right; it is counted for the one that ranks first.

    `skip` is called for each message that fails; without it, the first such message raises.

    Examples
    --------
    >>> from hinged.mail import read_message
    >>> mail = [(f"Subject: {s}\\n\\n", f) for s, f in [("tax", "Work"), ("cake", "Home")] * 3]
    >>> replay_messages([Filed(read_message(raw.encode()), folder) for raw, folder in mail]).flags.tolist()
    [-1, -1, 0, 0, 0, 0]
    """
    model = _learner(any(len(one.folders) > 1 for one in filed))
    past, known, rounds = PastInMemory(), dict[str, int](), list[_ReplayedMessage]()
    began = time.perf_counter()
    for i, one in enumerate(filed):
        if show is not None and i % 50 == 0:
            show("replaying", i, len(filed))
        with one_message(place_of(one), skip):
            rounds.append(_replay_one(model, past, known, one))
            known.update({folder: known.get(folder, 0) + 1 for folder in one.folders})
    labels, updates = (list(model.known_labels()), model.n_updates_) if rounds else ([], 0)
    return _counted(rounds, Assessment(ranks_sets=False, keep=True, labels=labels, updates=updates), began)


def _counted(rounds: Sequence[_ReplayedMessage], result: Assessment, began: float) -> Replayed:
    flags = np.array([-1 if one.rank is None else one.rank > 1 for one in rounds], np.int8)
    ranks = np.array([(one.rank or 0) if one.known > 1 else 0 for one in rounds], np.int32)
    sure, size = np.array([one.sure for one in rounds], np.float64), np.array([one.size for one in rounds], np.int64)
    folders = [one.folder for one in rounds]
    result.add(flags, ranks, folders, [one.best for one in rounds], sure)
    result.unseen = int((flags < 0).sum())
    result.seconds = time.perf_counter() - began
    return Replayed(result, folders, flags, ranks, sure, size, result.seconds)


class _ReplayedMessage(NamedTuple):
    """The suggestion for one message: the rank of its folder, None if the folder was new, among the known ones."""

    folder: str
    known: int
    rank: int | None = None
    best: str | None = None
    sure: float = 0.0
    size: int = 0


def _learner(sets: bool) -> TextRanker | TextClassifier:
    """Return a new learner; of single folders both learn the same, and the classifier is faster."""
    return TextRanker() if sets else TextClassifier()


def _replay_one(
    model: TextRanker | TextClassifier, past: PastInMemory, known: Mapping[str, int], filed: Filed
) -> _ReplayedMessage:
    message, folders = filed.message, filed.folders
    x, found = fields_of(message, past), _ReplayedMessage(filed.folder, len(known))
    if known:
        said = model.scored([x])
        sure, best, scores = float(said.confidence[0]), str(said.labels[int(said.scores[0].argmax())]), said.scores[0]
        # a tie is not a hit: only the order of folders would decide it
        ranks = {one: int((scores >= scores[said.labels.index(one)]).sum()) for one in folders if one in known}
        first = min(ranks, key=lambda one: ranks[one], default=filed.folder)
        size = known[best] if len(known) > 1 else 0
        found = _ReplayedMessage(first, len(known), ranks.get(first), best, sure, size)
    model.learn_one(x, folders if isinstance(model, TextRanker) else filed.folder)
    past.note(message, *folders)
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
    model, known = _learner(journal.get("model")["estimator"] == "TextRanker"), set[str]()
    for event in journal.examples():
        folders = list(map(str, event.label if isinstance(event.label, list) else [event.label]))
        hit = None

        def damaged(skipped: Skipped, seq: int = event.seq) -> None:
            journal.damaged[seq] = skipped.why

        with one_message(Place(folders[0], event.key or ""), damaged):
            counted = [folder for folder in folders if folder in known]
            if counted and not any((event.key, folder) in leave_out for folder in folders):
                found = ranked(model, event.x, lambda _: True, limits, top=len(known))
                hit = min((Hit.of(found, folder) for folder in counted), key=lambda one: one.rank or len(known) + 1)
            model.learn_one(event.x, folders if isinstance(model, TextRanker) else event.label)
            known.update(folders)
        if hit is not None:
            yield hit


class PastInMemory:
    """Where earlier messages went, in memory: folders by Message-ID and topic.

    Examples
    --------
    >>> from hinged.mail.message import read_message
    >>> past = PastInMemory()
    >>> past.note(read_message(b"Message-ID: <1>\\nSubject: tax\\n\\n"), "work")
    >>> past.of_thread(read_message(b"Subject: Re: tax\\n\\n")), past.name_of(past.last()[0])
    ([1], 'work')
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._by_id: dict[str, list[int]] = {}
        self._by_topic: dict[str, list[int]] = {}
        self._last: list[int] = []

    def of_thread(self, message: Message) -> list[int]:
        """Return the folders of earlier messages of the thread, nearest first, then that of the last of its subject."""
        found = [self._by_id.get(name, []) for name in reversed(message.references)]
        found.append(self._by_topic.get(topic_of(message.subject), []))
        return list(dict.fromkeys(number for numbers in found for number in numbers))

    def last(self) -> list[int]:
        """Return the folders of the last message."""
        return self._last

    def name_of(self, number: int | None) -> str:
        """Return the name of a folder by its number."""
        return next((name for name, own in self._numbers.items() if own == number), GONE)

    def note(self, message: Message, *folders: str) -> None:
        """Record where a message went."""
        numbers = [self._numbers.setdefault(folder, len(self._numbers) + 1) for folder in folders]
        self._by_id[message.id] = self._last = numbers
        if topic := topic_of(message.subject):
            self._by_topic[topic] = numbers
