"""Watching mail: filed messages are learnt, and new messages in the inbox get a suggestion."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hinged.journal import InUseError
from hinged.mail.assistant import Assistant, Filed
from hinged.mail.filed import PromiseBroken
from hinged.mail.filing import folders_besides
from hinged.mail.looking import look
from hinged.mail.message import Message
from hinged.mail.reading import Skipped, attempt, messages, there_now
from hinged.mail.self_filing import SelfFiling
from hinged.mail.sources.folder_names import to_utf7
from hinged.mail.sources.source import (
    Folder,
    Place,
    RejectedError,
    Source,
    SourceError,
    UnreachableError,
    Unreadable,
)
from hinged.mail.suggestion import Suggestion

__all__ = ["Away", "Back", "MessageFiled", "MessageLearnt", "Renamed", "StoppedWatching", "Suggested", "Watcher"]
__all__ += ["keyword_of"]

LONGEST_KEYWORD = 50  # Dovecot's default limit
REFUSALS = 3  # errors in a row; a folder that is renamed or removed while it is read causes a single one
QUIET, SOON = 300.0, 1.0  # seconds to wait for changes, and after a failed turn
WATCHED = "watched"  # name of the journal's note of inboxes whose old mail was skipped


class MessageLearnt(NamedTuple):
    """A message was found in a folder of the user's own, and was learnt for all its folders; it is on the disk."""

    message: Message
    folder: str
    folders: tuple[str, ...] = ()


class Suggested(NamedTuple):
    """A new message, its place, and the suggestion for it."""

    message: Message
    place: Place
    suggestion: Suggestion


class MessageFiled(NamedTuple):
    """A new message was moved to the best folder; `failed` says why if it was not."""

    message: Message
    place: Place
    suggestion: Suggestion
    failed: str


class Renamed(NamedTuple):
    """A folder was renamed."""

    old: str
    new: str


class Away(NamedTuple):
    """The source cannot be reached; connecting is tried again until it succeeds."""

    sentence: str


class Back(NamedTuple):
    """The source was reached again, and what happened in the meantime is learnt."""


Event = Away | Back | PromiseBroken | MessageFiled | MessageLearnt | Renamed | Skipped | Suggested


class StoppedWatching(Exception):  # noqa: N818
    """The user asked to stop; everything reported so far is stored."""


class Watcher:
    """Watches a source in turns: each learns what was filed, then suggests folders for new messages.

    Nothing is moved without `filing`. A message gets one suggestion, and is learnt once per folder, however often it is
    seen and whichever program moved it; keywords that the assistant set are not feedback.

    Parameters
    ----------
    assistant : Assistant
    source : Source
    inbox : str
        The folder whose new messages get suggestions. Messages that are there at the first start are skipped.
    keywords : bool, default False
        Set the best folder as a keyword on each new message (`keyword_of`), and remove it once the message is filed.
    filing : SelfFiling, optional
        Moves new messages of which the assistant is sure enough; the others wait.
    tell : function of an event
        Called for each event; for a learnt message, after it is on the disk. What another thread learns meanwhile, with
        an assistant `beside` this one, is told too, in that thread.
    away : bool, default False
        True if `tell` was told that the source cannot be reached: the first turn that succeeds tells that it is back.
    going : function, optional
        Called between messages; if it returns False, `StoppedWatching` is raised.
    """

    def __init__(
        self,
        assistant: Assistant,
        source: Source,
        inbox: str,
        tell: Callable[[Event], None],
        *,
        keywords: bool = False,
        filing: SelfFiling | None = None,
        away: bool = False,
        going: Callable[[], bool] = lambda: True,
    ) -> None:
        self.assistant, self.source, self.inbox, self.keywords = assistant, source, inbox, keywords
        self.filing, self._tell, self._view = filing, tell, _View(source, going)
        self._settled, self._away, self._refusals, self._asked_anew = False, away, 0, False
        self._to_unmark: list[Place] = []
        self._skipped: set[Place] = set()
        assistant.listeners.append(self._learnt)

    def close(self) -> None:
        """Tell no more of what the assistant learns."""
        self.assistant.listeners.remove(self._learnt)

    def moments(self) -> Iterator[None]:
        """Yield whenever a turn is due: at once, when something may have changed, and after a failed turn.

        Nothing is written while this waits, so that it may be interrupted at any point.
        """
        yield
        while True:
            try:
                news = self.source.wait(QUIET if self._settled or self._away else SOON)
            except UnreachableError as problem:
                self._lose(problem)
                continue
            except SourceError as problem:
                self._refuse(problem)
                time.sleep(SOON)
                continue
            if news or not self._settled:
                yield

    def turn(self) -> None:
        """Learn what was filed and suggest folders for new messages; the next turn makes up for a failed one.

        Raises
        ------
        SourceError
            If the source fails several times in a row, or rejects the login.
        StoppedWatching
        """
        self._settled = self._asked_anew = False
        try:
            self._learn()
            self._suggest()
        except UnreachableError as problem:
            self._lose(problem)
        except SourceError as problem:
            self._refuse(problem)
        except InUseError:  # another process holds the lock; the next turn does it
            pass
        else:
            self._view.settle()
            self._settled, self._refusals = not self._asked_anew, 0
            if self._away:
                self._away = False
                self._tell(Back())

    def _refuse(self, problem: SourceError) -> None:
        self._settled = False
        self._refusals += 1
        if self._refusals == REFUSALS or isinstance(problem, RejectedError):
            raise problem

    def _lose(self, problem: UnreachableError) -> None:
        self._settled = False
        if not self._away:
            self._away = True
            self._tell(Away(str(problem)))

    def _learn(self) -> None:
        found = look(self.assistant, self._view, unchanged=self._view.is_settled, there=self._there)
        for old, new in found.renamed.items():
            self._tell(Renamed(old, new))
        for one in found.skipped:
            self._skip(one)
        while self._to_unmark and not self.assistant.is_off:
            self.source.mark(self._to_unmark[-1], [])
            self._to_unmark.pop()

    def _there(self, places: Sequence[Place]) -> tuple[Place, ...]:
        """Ask the source anew; what else changed meanwhile is for another turn, which the source will not announce."""
        self._asked_anew = True
        return there_now(self.source, places)

    def _learnt(self, filed: Filed) -> None:
        self._tell(MessageLearnt(filed.message, filed.folder, tuple(sorted(self.assistant.own_folders(filed)))))
        if self.keywords and filed.place is not None and self.assistant.memory.lies_in(filed.message.id, self.inbox):
            self._to_unmark.append(filed.place)  # it got a keyword there

    def _skip(self, skipped: Skipped) -> None:
        """Report a message that cannot be read, once."""
        if skipped.place not in self._skipped:  # compared by place, because the reason may contain the time
            self._skipped.add(skipped.place)
            self._tell(skipped)

    def _suggest(self) -> None:
        if self.assistant.is_off:
            return
        memory, journal = self.assistant.memory, self.assistant.kept.journal
        new = memory.unknown(self.inbox, self._view.places(self.inbox))
        before: list[str] = journal.get(WATCHED, [])
        looked_at: dict[Place, str] = {}
        try:
            if self.inbox in before:
                self._suggest_for(new, looked_at)
            else:
                looked_at = dict.fromkeys(new, "")
        finally:
            news = self.assistant.log.news
            while news:
                self._tell(news.pop(0))
            if looked_at or self.inbox not in before:
                with self.assistant.kept.writing():
                    for place, name in looked_at.items():
                        memory.note_place(place, name)
                    journal.put(WATCHED, sorted({*before, self.inbox}))

    def _suggest_for(self, places: Sequence[Place], looked_at: dict[Place, str]) -> None:
        """Suggest folders for messages at these places, and record which of them have been seen."""
        seen = self.assistant.memory.messages_in(self.inbox)
        for place, message in messages(self._view, places, self._skip):
            if message.id not in seen:  # the server may number messages anew
                has = folders_besides(self.assistant, self.source, message, place)
                suggestion = attempt(place, self._skip, self.assistant.suggest, message, has=has)
                if suggestion is None or self._file(place, message, suggestion):
                    continue
                if self.keywords and suggestion.best is not None:
                    self.source.mark(place, [keyword_of(suggestion.best)])
                self._tell(Suggested(message, place, suggestion))
                if self.filing is not None:
                    self.filing.wait(place, message)
                    problem = self.filing.put_aside(place, message)
                    if problem is not None:
                        self._skip(Skipped(place, f"not put aside: {str(problem).rstrip('.')}"))
            looked_at[place] = message.id

    def _file(self, place: Place, message: Message, suggestion: Suggestion) -> bool:
        """File a message if that is wanted, and sure enough; return True if it was moved."""
        if self.filing is None:
            return False
        done = self.filing.take(place, message, suggestion)
        if done is None:
            return False
        self._tell(MessageFiled(message, place, suggestion, done.failed))
        return done.moved


class _View(Source):
    """A source in which folders that have not changed since the last turn look empty."""

    read_only = "mail that is watched is not changed."

    def __init__(self, source: Source, going: Callable[[], bool]) -> None:
        self._source, self._going = source, going
        self._settled: dict[str, list[Place]] = {}
        self._pending: dict[str, list[Place]] = {}

    def settle(self) -> None:
        """Record that all changes seen so far have been processed."""
        self._settled |= self._pending
        self._pending = {}

    def folders(self) -> list[Folder]:
        """Return the folders; forget removed ones, which count as new if they come back."""
        found = self._source.folders()
        names = {folder.name for folder in found}
        self._settled = {name: places for name, places in self._settled.items() if name in names}
        return found

    def places(self, folder: str) -> list[Place]:
        """Return the places of a folder; none if it has not changed."""
        now = self._source.places(folder)
        if now == self._settled.get(folder):
            self._pending.pop(folder, None)  # from a failed turn
            return []
        self._pending[folder] = now
        return now

    def copies(self, place: Place) -> tuple[Place, ...]:
        """Return the other places of the same message that are known without reading it."""
        return self._source.copies(place)

    def is_settled(self, folder: str) -> bool:
        """Return True if the folder has not changed since the last turn."""
        return folder in self._settled and folder not in self._pending

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes | Unreadable]]:
        """Yield the messages, until the user asks to stop."""
        for place, raw in self._source.read(places):
            if not self._going():
                raise StoppedWatching
            yield place, raw


def keyword_of(folder: str) -> str:
    """Return the keyword for a folder: `hinged-` and its name, in characters and of a length that servers allow.

    Examples
    --------
    >>> keyword_of("Work/Tax 2024"), keyword_of("Bücher")
    ('hinged-Work/Tax_2024', 'hinged-B&APw-cher')
    """
    name = re.sub(r'[][(){}%*"\\\s]', "_", to_utf7(folder))
    if len(name) > LONGEST_KEYWORD - 7:
        name = f"{name[: LONGEST_KEYWORD - 16]}-{hashlib.sha256(folder.encode()).hexdigest()[:8]}"
    return f"hinged-{name}"
