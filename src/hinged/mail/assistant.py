"""The assistant: it learns where messages go, suggests a folder for the next one, and gives reasons."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Self

from hinged.estimators.learner import Learner
from hinged.estimators.text import TextClassifier
from hinged.journal import DurableModel, Example
from hinged.mail.beginning import check_beginning
from hinged.mail.features import FIELDS, fields_of
from hinged.mail.filed import FilingLog
from hinged.mail.hits import Hits
from hinged.mail.label_sets import Filed, label_of, place_of
from hinged.mail.memory import MailMemory
from hinged.mail.message import Message
from hinged.mail.reading import Skip, Skipped, attempt
from hinged.mail.settings import AccountSettings
from hinged.mail.sources.source import Folder, Place
from hinged.mail.suggestion import Candidate, Suggestion, Thresholds, ranked, reasons, within

__all__ = ["LEARNT_FROM", "Assistant", "Filed", "place_of"]

#: Uses of folders that are learnt and suggested; "" is the user's own. Sent, drafts, trash, junk and the inbox are not.
LEARNT_FROM = ("", "archive")
TOGETHER = 64  # messages in one commit


class Assistant(AccountSettings):
    """Learns from where the user files messages; all it knows is stored in one folder (`hinged.journal`).

    Parameters
    ----------
    state : path
        The folder of this account; created if needed.
    read_only : bool, default False
        Only suggest and explain; works beside a process that learns.
    thresholds : Thresholds, optional
        When to suggest nothing.
    model : TextClassifier or TextRanker, optional
        What a new assistant begins with, learnt elsewhere from fields of the same names; labels are folders.

    Attributes
    ----------
    listeners : list of functions of a `Filed`
        Each is called for each message that was learnt, once it is on the disk; shared with assistants `beside`.

    Examples
    --------
    >>> import tempfile
    >>> from hinged.mail import Assistant, Filed, Thresholds, read_message
    >>> letter = "From: {}\\nSubject: {}\\nMessage-ID: <{}>\\n\\n{}\\n".format
    >>> mail = [("ann@example.com", "tax form", "Work"), ("bob@example.org", "cake", "Home")] * 3
    >>> with Assistant(tempfile.mkdtemp(), thresholds=Thresholds(messages=6)) as assistant:
    ...     for i, (sender, subject, folder) in enumerate(mail):
    ...         learnt = assistant.learn([Filed(read_message(letter(sender, subject, i, "hello").encode()), folder)])
    ...     new = read_message(letter("ann@example.com", "the form", 99, "hello").encode())
    ...     suggestion = assistant.suggest(new)
    >>> suggestion.best, suggestion.candidates[0].reasons[0]
    ('Work', 'it is from ann@example.com')
    """

    def __init__(
        self,
        state: str | os.PathLike[str],
        *,
        read_only: bool = False,
        thresholds: Thresholds | None = None,
        model: Learner | None = None,
        fsync: bool = True,
    ) -> None:
        self.state, self.read_only = Path(state), read_only
        if model is not None:
            check_beginning(self.state, model)
        self.listeners: list[Callable[[Filed], None]] = []
        self._here: dict[str, list[str]] = {}  # folders seen by a read-only assistant
        self.kept = DurableModel(
            state, None if read_only else model or TextClassifier, read_only=read_only, fsync=fsync
        )
        self.memory, self.hits = MailMemory(self.kept.journal), Hits(self.kept)
        self.log = FilingLog(self.memory)
        try:
            self._open(read_only)
        except BaseException:
            self.kept.close()
            raise
        self.thresholds = thresholds or self._kept_thresholds()

    def beside(self, read_only: bool = False) -> Assistant:
        """Return an assistant of the same folder for another thread: it shares what is learnt, and has thresholds of
        its own. Close the first one only.
        """
        other = copy(self)
        other.read_only, other._here, other.thresholds = read_only, {}, self._kept_thresholds()
        return other

    def _open(self, read_only: bool) -> None:
        if read_only:
            self.memory.check_tables(temporary=True)
            return
        with self.kept.writing():
            self.memory.make_tables()
            self.hits.make_table()
            self.log.make_table()

    # ------------------------------------------------------------------ learning
    def learn(self, filed: Iterable[Filed], skip: Skip | None = None) -> int:
        """Learn where the user put messages, in this order; return how many of them were new.

        A message that was learnt for the same folder before is not new, and neither is one that the assistant moved
        there itself. A message that lies in several folders is learnt for the set of them, see docs/mail.md. Each batch
        is on the disk before the next one begins, and all are when this returns.

        `skip` is called for each message that cannot be learnt; without it, the first such message raises.
        """
        learnt, left = 0, iter(filed)
        while some := list(islice(left, TOGETHER)):
            given: list[Filed] = []
            self._expect_sets(some)
            receipts = self.kept.learn_many(self._examples(some, given, skip))
            learnt += sum(receipt.new for receipt in receipts)
            for one, receipt in zip(given, receipts, strict=True):
                if receipt.error is not None:
                    if skip is None:
                        raise receipt.error
                    skip(Skipped(place_of(one), str(receipt.error)))
                elif receipt.new:
                    for listener in tuple(self.listeners):  # another thread may remove one meanwhile
                        listener(one)
        return learnt

    def _expect_sets(self, filed: Iterable[Filed]) -> None:
        """Learn sets of folders from now on, if one of these messages lies in several: until then they are the same."""
        if self.is_off or not any(len(self.own_folders(one)) > 1 for one in filed if one.copies):
            return
        with self.kept.changing():
            if not self.ranks_sets:
                self.kept.become_ranker()

    def _examples(self, filed: Iterable[Filed], given: list[Filed], skip: Skip | None) -> Iterator[Example]:
        """Yield examples of the new messages, and add these messages to `given`.

        The user's settings are read inside the transaction: once `off` or `exclude` has returned, nothing is learnt.
        """
        if self.is_off:
            return
        for one in filed:
            example = attempt(place_of(one), skip, self._example, one)
            if example is not None:
                given.append(one)
                yield example
                if self.kept.journal.find(one.message.id, example.y):  # else it was refused; the next look tries again
                    self.memory.note(one.message, one.places)

    def _example(self, filed: Filed) -> Example | None:
        """Return a message as an example; None if it is not new."""
        message = filed.message
        if within(filed.folder, self.excluded):
            return None
        folders = self.own_folders(filed)
        if self.knows(message, folders):
            for place in filed.places:
                self.memory.note_place(place, message.id)
            return None
        sets = self.kept.model.task == "rank"
        label = label_of(folders, as_set=sets)
        for same in (label, label_of(folders)):  # from before there were sets
            self.kept.journal.release(message.id, same)  # so that it is learnt again
        if sets:
            self.memory.number(folders)
        return Example(fields_of(message, self.memory), label, message.id)

    def own_folders(self, filed: Filed) -> Collection[str]:
        """Return the folders that a message lies in; of its copies, those that are learnt from."""
        if not filed.copies:
            return {filed.folder}
        usable = self._may_suggest()
        return {filed.folder, *(copy.folder for copy in filed.copies if usable(copy.folder))}

    def knows(self, message: Message, folder: str | Collection[str]) -> bool:
        """Return True if this message in this folder, or set of them, is not new: learnt before, or put there by the
        assistant. One that was elsewhere since, and came back, is new.
        """
        now, went = {folder} if isinstance(folder, str) else {*folder}, self.memory.went_last(message.id)
        if len(now) > 1 or len(went) > 1:
            return now == {*went}
        (only,) = now
        return self.has_learnt(message, only) and (went == (only,) or self.memory.lies_in(message.id, only))

    def has_learnt(self, message: Message, folder: str) -> bool:
        """Return True if the journal has this message in this folder, wherever it went since."""
        return self.memory.was_in(message.id, folder)

    def retract(self, message: Message, folder: str, place: Place | None = None) -> None:
        """Unlearn that a message belongs to a folder, as if it had never been learnt.

        Of a message in several folders, the last set with this one is unlearnt; the set before it counts again.
        """
        with self.kept.changing():
            label = self.memory.learnt_for(message.id, folder)
            if label is None:
                raise ValueError(f"the message {message.id!r} was not learnt for the folder {folder!r}.")
            with self.kept.journal.transaction():
                self.memory.forget_topic(message, label)
                if place is not None:
                    self.memory.forget_place(place)
            self.kept.retract(message.id, label)

    def forget_place(self, place: Place) -> None:
        """Forget which message is at a place, so that it counts as unseen."""
        with self.kept.writing():
            self.memory.forget_place(place)

    # ------------------------------------------------------------------ suggesting
    def suggest(self, message: Message, top: int = 3, why: bool = True, has: Collection[str] = ()) -> Suggestion:
        """Return the best folders for a message, or why there is no suggestion; changes nothing.

        `has` are folders with copies of it (`hinged.mail.filing.folders_besides`), which are not suggested again.
        """
        if self.is_off:
            return Suggestion(silent="the assistant is switched off")
        pin = self.pinned(message)
        if pin is not None:
            return self._suggest_pinned(*pin, has)
        x, may_suggest = fields_of(message, self.memory), self._may_suggest()
        model = self.model  # the same for folders and reasons, even if another process renames a folder now
        found = replace(ranked(model, x, may_suggest, self.thresholds, top, has), further=bool(has))
        if not why:
            return found

        def why_of(folder: str) -> tuple[str, ...]:
            shares = reasons(model, x, message, folder, self.memory.name_of)
            return tuple(words for words, share in shares if share > 0)

        explained = [replace(one, reasons=why_of(one.folder)) for one in found.candidates]
        return replace(found, candidates=tuple(explained))

    def _suggest_pinned(self, who: str, folder: str, has: Collection[str]) -> Suggestion:
        why = f"mail from {who} is pinned to {folder}"
        if folder in has:
            return Suggestion(silent=f"{why}, where it is already")
        there = self._here.get("folders", self._get("folders"))
        if there is not None and folder not in there:
            return Suggestion(silent=f"{why}, a folder that is gone")
        return Suggestion((Candidate(folder, 0.0, (why,)),), 1.0, pinned=True)

    def explain(
        self, message: Message, folder: str, most: int | None = 10, telling: bool = False
    ) -> list[tuple[str, float]]:
        """Return the reasons for a folder, in words, with their shares of the score, from most for to most against.

        The shares of all reasons add up to the score. With `telling`, stop words are left out.
        """
        self._check_known(folder)
        x = fields_of(message, self.memory)
        return reasons(self.model, x, message, folder, self.memory.name_of, most, telling)

    fields = FIELDS

    @property
    def model(self) -> Learner:
        """The `TextClassifier`, or `TextRanker` for sets, including what other processes have learnt until now."""
        self.kept.refresh()
        return self.kept.model

    @property
    def ranks_sets(self) -> bool:
        """True if a message of several folders was ever learnt."""
        return self.model.task == "rank"

    # ------------------------------------------------------------------ folders
    def folders(self) -> list[str]:
        """Return the folders learnt so far that may be suggested: they still exist, and are not excluded."""
        return sorted(filter(self._may_suggest(), self.known()))

    def known(self) -> list[str]:
        """Return all folders learnt so far, also removed and excluded ones."""
        self.kept.refresh()
        return sorted(map(str, self.kept.labels()))

    def _may_suggest(self) -> Callable[[str], bool]:
        present, excluded = self._here.get("present", self._get("present")), set(self.excluded)
        there = None if present is None else set(present)
        return lambda folder: (there is None or folder in there) and not within(folder, excluded)

    def see_folders(self, folders: Sequence[Folder]) -> list[str]:
        """Record the folders that exist now; return the names of those to learn from.

        A removed folder is not suggested, unless it comes back. A read-only assistant keeps this in memory only.
        """
        names = sorted(folder.name for folder in folders if folder.use in LEARNT_FROM)
        now = {"present": names, "folders": sorted(folder.name for folder in folders)}
        if self.read_only:
            self._here = now
        elif any(now[note] != sorted(self._get(note, [])) for note in now):
            with self.kept.writing():
                for note, value in now.items():
                    self.kept.journal.put(note, value)
        return list(filter(self._may_suggest(), names))

    def forget(self, folder: str) -> None:
        """Forget what was learnt from a folder, as if its messages had never existed; their text is erased.

        Messages that lie in other folders as well remain examples of these.
        """
        with self.kept.changing():
            self._check_known(folder)
            sets = {message: folders for message, folders in self.memory.sets().items() if folder in folders}
            with self.kept.journal.transaction():
                self.memory.forget_topics(folder)
                self.memory.forget_moves(folder)
                self.log.forget()
                self.hits.forget(folder)
            self.kept.forget(folder)  # also removes erased content from the file
            with self.kept.writing():  # so that these messages are not new where they lie
                for message, folders in sets.items():
                    self.memory.stay_in(message, folders)

    def rename(self, old: str, new: str) -> None:
        """Rename a folder that was learnt."""
        with self.kept.changing():
            self._check_known(old)
            if new in self.kept.labels():
                raise ValueError(f"a folder {new!r} is known already; use merge to join the two.")
            self.kept.rename(old, new)
            self._follow(old, new)

    def merge(self, source: str, into: str) -> None:
        """Merge a folder into another, as if all its messages had always been there."""
        with self.kept.changing():
            self._check_known(source)
            self._check_known(into)
            self.kept.merge(source, into)
            self._follow(source, into)

    def _follow(self, old: str, new: str) -> None:
        def renamed(names: Iterable[str]) -> list[str]:
            return list(dict.fromkeys(new if name == old else name for name in names))

        with self.kept.writing():
            self.memory.follow(old, new)
            self.hits.follow(old, new)
            for note in ("present", "folders"):
                if self._get(note) is not None:
                    self.kept.journal.put(note, renamed(self._get(note)))
            self.kept.journal.put("excluded", renamed(self.excluded))
            pins = {who: new if folder == old else folder for who, folder in self.pins().items()}
            self.kept.journal.put("pins", pins)

    def _check_known(self, folder: str) -> None:
        names = self.known()
        if folder not in names:
            some = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
            raise ValueError(f"nothing was learnt of a folder {folder!r}; known are {some or 'none yet'}.")

    # ------------------------------------------------------------------ closing
    def reset(self) -> None:
        """Forget everything, and close."""
        self.kept.erase()

    def close(self) -> None:
        """Close the folder."""
        self.kept.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
