"""Watching mail: what anybody files is learnt, and what is new in the inbox gets a suggestion."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hinged.journal import InUseError
from hinged.mail.assistant import Assistant, Filed
from hinged.mail.looking import look
from hinged.mail.message import Message
from hinged.mail.reading import Skipped, messages, one_message
from hinged.mail.sources.folder_names import to_utf7
from hinged.mail.sources.source import Folder, Place, RejectedError, Source, SourceError, UnreachableError, Unreadable
from hinged.mail.suggestion import Suggestion

__all__ = ["Away", "Back", "Learnt", "Renamed", "Stopped", "Suggested", "Watcher", "keyword_of"]

LONGEST_KEYWORD = 50  # what Dovecot takes unless told otherwise
REFUSALS = 3  # in a row; a folder that is renamed or removed while it is looked at is refused once
QUIET, SOON = 300.0, 1.0  # seconds to wait for news, and after a turn that was refused
WATCHED = "watched"  # the journal's note of inboxes whose old mail was passed over


class Learnt(NamedTuple):
    """A message was found in a folder of the user's own, and is on the disk as learnt."""

    message: Message
    folder: str


class Suggested(NamedTuple):
    """A new message, where it lies, and what the assistant says of it."""

    message: Message
    place: Place
    suggestion: Suggestion


class Renamed(NamedTuple):
    """A folder turned up under another name."""

    old: str
    new: str


class Away(NamedTuple):
    """The source cannot be reached; it is tried again until it can."""

    sentence: str


class Back(NamedTuple):
    """The source was reached again, and what had happened meanwhile is learnt."""


Event = Away | Back | Learnt | Renamed | Skipped | Suggested


class Stopped(Exception):  # noqa: N818
    """Somebody asked to stop; everything told so far is kept."""


class Watcher:
    """Takes turns at a source: learn what was filed, then suggest for what is new.

    Nothing is moved. A message is suggested for once, and learnt once per folder, however often it is seen and
    whichever program moved it; keywords that the assistant set are no feedback.

    Parameters
    ----------
    assistant : Assistant
    source : Source
    inbox : str
        The folder whose new messages get suggestions. Those that lie there when it is watched for the first time
        are passed over.
    keywords : bool, default False
        Set the best folder as a keyword on each new message (`keyword_of`), and take it off where it was filed.
    tell : function of an event
        Called for each of the above; for what is learnt, after it is on the disk.
    going : function, optional
        Asked between messages; where it answers False, `Stopped` is raised.
    """

    def __init__(
        self,
        assistant: Assistant,
        source: Source,
        inbox: str,
        tell: Callable[[Event], None],
        *,
        keywords: bool = False,
        going: Callable[[], bool] = lambda: True,
    ) -> None:
        self.assistant, self.source, self.inbox, self.keywords = assistant, source, inbox, keywords
        self._tell, self._view = tell, _View(source, going)
        self._settled, self._away, self._refusals = False, False, 0
        self._to_unmark: list[Place] = []
        self._skipped: set[Place] = set()

    def moments(self) -> Iterator[None]:
        """Come back whenever a turn is due: at once, when something may have changed, and after a turn that failed.

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
        """Learn what was filed and suggest for what is new; a turn that fails is made up for by the next.

        Raises
        ------
        SourceError
            Where the source refuses several times in a row, or does not let us in any more.
        Stopped
        """
        self._settled = False
        try:
            self._learn()
            self._suggest()
        except UnreachableError as problem:
            self._lose(problem)
        except SourceError as problem:
            self._refuse(problem)
        except InUseError:  # another process has been busy for long; the next turn does it
            pass
        else:
            self._view.settle()
            self._settled, self._refusals = True, 0
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
        marked = self.assistant.memory.messages_in(self.inbox) if self.keywords else set()

        def learnt(filed: Filed) -> None:
            self._tell(Learnt(filed.message, filed.folder))
            if filed.message.id in marked and filed.place is not None:
                self._to_unmark.append(filed.place)

        found = look(self.assistant, self._view, learnt=learnt, unchanged=self._view.is_settled)
        for old, new in found.renamed.items():
            self._tell(Renamed(old, new))
        for one in found.skipped:
            self._skip(one)
        while self._to_unmark and not self.assistant.is_off:
            self.source.mark(self._to_unmark[-1], [])
            self._to_unmark.pop()

    def _skip(self, skipped: Skipped) -> None:
        """Tell of a message that cannot be read, once."""
        if skipped.place not in self._skipped:  # the reason may name the time
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
            if looked_at or self.inbox not in before:
                with self.assistant.kept.changing(), journal.transaction():
                    for place, name in looked_at.items():
                        memory.note_place(place, name)
                    journal.put(WATCHED, sorted({*before, self.inbox}))

    def _suggest_for(self, places: Sequence[Place], looked_at: dict[Place, str]) -> None:
        """Suggest for messages at these places, and write down which of them have been looked at."""
        seen = self.assistant.memory.messages_in(self.inbox)
        for place, message in messages(self._view, places, self._skip):
            if message.id not in seen:  # numbers may begin anew, messages do not
                suggestion = None
                with one_message(place, self._skip):
                    suggestion = self.assistant.suggest(message)
                if suggestion is None:
                    continue
                if self.keywords and suggestion.best is not None:
                    self.source.mark(place, [keyword_of(suggestion.best)])
                self._tell(Suggested(message, place, suggestion))
            looked_at[place] = message.id


class _View:
    """A source as a turn sees it: folders that have not changed since the last turn are empty."""

    def __init__(self, source: Source, going: Callable[[], bool]) -> None:
        self._source, self._going = source, going
        self._settled: dict[str, list[Place]] = {}
        self._pending: dict[str, list[Place]] = {}

    def settle(self) -> None:
        """All that was seen since the last time has been dealt with."""
        self._settled |= self._pending
        self._pending = {}

    def folders(self) -> list[Folder]:
        """As they are. One that is gone will be looked at anew if it comes back."""
        found = self._source.folders()
        names = {folder.name for folder in found}
        self._settled = {name: places for name, places in self._settled.items() if name in names}
        return found

    def places(self, folder: str) -> list[Place]:
        """Those of a folder that changed."""
        now = self._source.places(folder)
        if now == self._settled.get(folder):
            self._pending.pop(folder, None)  # of a turn that failed
            return []
        self._pending[folder] = now
        return now

    def is_settled(self, folder: str) -> bool:
        """Whether the folder is as the last turn left it."""
        return folder in self._settled and folder not in self._pending

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes | Unreadable]]:
        """The messages, until somebody asks to stop."""
        for place, raw in self._source.read(places):
            if not self._going():
                raise Stopped
            yield place, raw

    def move(self, place: Place, folder: str) -> Place:
        """Refused: whoever watches moves nothing."""
        raise SourceError(f"{place.key} was not moved to {folder}: whoever watches moves nothing.")

    def create(self, folder: str) -> str:
        """Refused: whoever watches makes no folders."""
        raise SourceError(f"{folder} was not made: whoever watches makes no folders.")

    def mark(self, place: Place, keywords: Sequence[str]) -> None:
        """As it is."""
        self._source.mark(place, keywords)

    def wait(self, seconds: float) -> bool:
        """As it is."""
        return self._source.wait(seconds)

    def close(self) -> None:
        """Whose source it is closes it."""


def keyword_of(folder: str) -> str:
    """The keyword for a folder: `hinged-` and its name, in characters and of a length that servers take.

    Examples
    --------
    >>> keyword_of("Work/Tax 2024"), keyword_of("Bücher")
    ('hinged-Work/Tax_2024', 'hinged-B&APw-cher')
    """
    name = re.sub(r'[][(){}%*"\\\s]', "_", to_utf7(folder))
    if len(name) > LONGEST_KEYWORD - 7:
        name = f"{name[: LONGEST_KEYWORD - 16]}-{hashlib.sha256(folder.encode()).hexdigest()[:8]}"
    return f"hinged-{name}"
