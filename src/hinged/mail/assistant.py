"""The assistant: it learns where messages go, suggests a folder for the next one, and gives reasons."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from hinged.estimators.learner import Learner
from hinged.estimators.text import TextClassifier
from hinged.journal import DurableModel, Example
from hinged.mail.features import FIELDS, fields_of
from hinged.mail.headers import addresses_in
from hinged.mail.hits import Hits
from hinged.mail.memory import Memory
from hinged.mail.message import Message
from hinged.mail.reading import Skip, Skipped, attempt
from hinged.mail.sources.source import Folder, Place
from hinged.mail.suggestion import Candidate, Suggestion, Thresholds, ranked, reasons, within

__all__ = ["LEARNT_FROM", "Assistant", "Filed", "place_of"]

#: Uses of folders that are learnt and suggested; "" is the user's own. Sent, drafts, trash, junk and the inbox are not.
LEARNT_FROM = ("", "archive")
TOGETHER = 64  # messages in one commit


class Filed(NamedTuple):
    """A message, the folder the user put it in, and its place."""

    message: Message
    folder: str
    place: Place | None = None


class Assistant:
    """Learns from where the user files messages; all it knows is stored in one folder (`hinged.journal`).

    Parameters
    ----------
    state : path
        The folder of this account; created if needed.
    read_only : bool, default False
        Only suggest and explain; works beside a process that learns.
    thresholds : Thresholds, optional
        When to suggest nothing.

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
        fsync: bool = True,
    ) -> None:
        self.state, self.thresholds = Path(state), thresholds or Thresholds()
        self._here: dict[str, list[str]] = {}  # folders seen by a read-only assistant
        self.kept = DurableModel(state, None if read_only else TextClassifier, read_only=read_only, fsync=fsync)
        self.memory, self.hits = Memory(self.kept.journal), Hits(self.kept)
        try:
            self._open(read_only)
        except BaseException:
            self.kept.close()
            raise
        if thresholds is None:
            self.thresholds = replace(self.thresholds, confidence=self._get("confidence", 0.0))

    def _open(self, read_only: bool) -> None:
        if read_only:
            self.memory.check_tables(temporary=True)
            return
        with self.kept.changing(), self.kept.journal.transaction():
            self.memory.make_tables()
            self.hits.make_table()

    # ------------------------------------------------------------------ learning
    def learn(self, filed: Iterable[Filed], skip: Skip | None = None) -> int:
        """Learn where the user put messages, in this order; return how many of them were new.

        A message that was learnt for the same folder before is not new, and neither is one that the assistant moved
        there itself. Each batch is on the disk before the next one begins, and all are when this returns.

        `skip` is called for each message that cannot be learnt; without it, the first such message raises.
        """
        learnt = 0
        for some in _batches(filed, TOGETHER):
            given: list[Filed] = []
            receipts = self.kept.learn_many(self._examples(some, given, skip))
            learnt += sum(receipt.new for receipt in receipts)
            for one, receipt in zip(given, receipts, strict=True):
                if receipt.error is not None:
                    if skip is None:
                        raise receipt.error
                    skip(Skipped(place_of(one), str(receipt.error)))
        return learnt

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
                if self.has_learnt(one.message, one.folder):  # else it was refused; the next look tries it again
                    self.memory.note(one.message, one.place)

    def _example(self, filed: Filed) -> Example | None:
        """Return a message as an example; None if it is not new."""
        message, folder, place = filed
        if within(folder, self.excluded):
            return None
        if self.knows(message, folder):
            if place is not None:
                self.memory.note_place(place, message.id)
            return None
        self.kept.journal.release(message.id, folder)  # so that it is learnt again
        return Example(fields_of(message, self.memory), folder, message.id)

    def knows(self, message: Message, folder: str) -> bool:
        """Return True if this message in this folder is not new: learnt before, or moved there by the assistant.

        One that was elsewhere since, and came back, is new.
        """
        return self.has_learnt(message, folder) and (
            self.memory.went_last(message.id) == folder or self.memory.lies_in(message.id, folder)
        )

    def has_learnt(self, message: Message, folder: str) -> bool:
        """Return True if the journal has this message in this folder, wherever it went since."""
        return self.kept.journal.find(message.id, folder) is not None

    def retract(self, message: Message, folder: str, place: Place | None = None) -> None:
        """Unlearn that a message belongs to a folder, as if it had never been learnt."""
        with self.kept.changing():
            if not self.has_learnt(message, folder):
                raise ValueError(f"the message {message.id!r} was not learnt for the folder {folder!r}.")
            with self.kept.journal.transaction():
                self.memory.forget_topic(message, folder)
                if place is not None:
                    self.memory.forget_place(place)
            self.kept.retract(message.id, folder)

    def forget_place(self, place: Place) -> None:
        """Forget which message is at a place, so that it counts as unseen."""
        with self.kept.changing(), self.kept.journal.transaction():
            self.memory.forget_place(place)

    # ------------------------------------------------------------------ suggesting
    def suggest(self, message: Message, top: int = 3, why: bool = True) -> Suggestion:
        """Return the best folders for a message, or why there is no suggestion; changes nothing."""
        if self.is_off:
            return Suggestion(silent="the assistant is switched off")
        pin = self.pinned(message)
        if pin is not None:
            return self._suggest_pinned(*pin)
        x, may_suggest = fields_of(message, self.memory), self._may_suggest()
        model = self.model  # the same for folders and reasons, even if another process renames a folder now
        found = ranked(model, x, may_suggest, self.thresholds, top)
        if not why:
            return found

        def why_of(folder: str) -> tuple[str, ...]:
            shares = reasons(model, x, message, folder, self.memory.name_of)
            return tuple(words for words, share in shares if share > 0)

        explained = [replace(one, reasons=why_of(one.folder)) for one in found.candidates]
        return replace(found, candidates=tuple(explained))

    def _suggest_pinned(self, who: str, folder: str) -> Suggestion:
        why = f"mail from {who} is pinned to {folder}"
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
        """The `TextClassifier`, including what other processes have learnt until now."""
        self.kept.refresh()
        return self.kept.model

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
        if self.kept.read_only:
            self._here = now
        elif any(now[note] != sorted(self._get(note, [])) for note in now):
            with self.kept.changing(), self.kept.journal.transaction():
                for note, value in now.items():
                    self.kept.journal.put(note, value)
        return list(filter(self._may_suggest(), names))

    def forget(self, folder: str) -> None:
        """Forget what was learnt from a folder, as if its messages had never existed; their text is erased."""
        with self.kept.changing():
            self._check_known(folder)
            with self.kept.journal.transaction():
                self.memory.forget_topics(folder)
                self.memory.forget_moves(folder)
                self.hits.forget(folder)
            self.kept.forget(folder)  # also removes erased content from the file

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

        with self.kept.changing(), self.kept.journal.transaction():
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

    # ------------------------------------------------------------------ the user's settings
    def pin(self, who: str, folder: str) -> None:
        """Always suggest a folder for mail from an address, a domain (``@example.com``) or a list."""
        with self.kept.changing():
            self._put("pins", {**self.pins(), _who(who): folder})

    def unpin(self, who: str) -> None:
        """Remove a pin."""
        with self.kept.changing():
            pins = self.pins()
            if _who(who) not in pins:
                raise ValueError(f"there is no pin for {who!r}; pinned are {', '.join(pins) or 'none'}.")
            del pins[_who(who)]
            self._put("pins", pins)

    def pins(self) -> dict[str, str]:
        """Return all pins: sender or list → folder."""
        return dict(self._get("pins", {}))

    def pinned(self, message: Message) -> tuple[str, str] | None:
        """Return the pin that applies to a message, and its folder: of the sender, the list, or the sender's domain."""
        pins = self.pins()
        address = message.address
        for who in (address, message.list_id.lower(), f"@{address.rpartition('@')[2]}"):
            for name in (who, *addresses_in(who)):
                if name and name in pins:
                    return name, pins[name]
        return None

    def keep_confidence(self, least: float) -> None:
        """Store the minimum confidence below which nothing is suggested."""
        self._put("confidence", least)
        self.thresholds = replace(self.thresholds, confidence=least)

    def exclude(self, folder: str) -> None:
        """Exclude a folder, and those below it, from learning and suggestions."""
        with self.kept.changing():
            self._put("excluded", list(dict.fromkeys([*self.excluded, folder])))

    def include(self, folder: str) -> None:
        """Undo `exclude`."""
        with self.kept.changing():
            if folder not in self.excluded:
                raise ValueError(f"{folder!r} is not excluded; excluded are {', '.join(self.excluded) or 'none'}.")
            self._put("excluded", [name for name in self.excluded if name != folder])

    @property
    def excluded(self) -> tuple[str, ...]:
        """Folders that are neither learnt from nor suggested."""
        return tuple(self._get("excluded", []))

    def switch(self, on: bool) -> None:
        """Switch the assistant on or off; while it is off, nothing is learnt, suggested, moved or marked."""
        self._put("off", not on)

    @property
    def is_off(self) -> bool:
        """True if the assistant is switched off."""
        return bool(self._get("off", False))

    def _get(self, name: str, default: object = None) -> Any:
        self.kept.refresh()  # raises if another process has erased everything
        return self.kept.journal.get(name, default)

    def _put(self, name: str, value: object) -> None:
        with self.kept.changing(), self.kept.journal.transaction():
            self.kept.journal.put(name, value)

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


def place_of(filed: Filed) -> Place:
    """Return the place of a message, or its Message-ID if the place is unknown."""
    return filed.place or Place(filed.folder, filed.message.id)


def _who(who: str) -> str:
    return next(iter(addresses_in(who)), who.strip().lower())


def _batches(items: Iterable[Filed], size: int) -> Iterator[list[Filed]]:
    left = iter(items)
    return iter(lambda: list(islice(left, size)), [])
