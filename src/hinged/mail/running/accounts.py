"""The accounts of a running assistant: each is watched by a thread of its own, and serves commands meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from hinged.journal import JournalError
from hinged.journal.errors import ErasedError
from hinged.mail.assistant import Assistant
from hinged.mail.filing import inbox_of
from hinged.mail.message import read_message
from hinged.mail.self_filing import SelfFiling
from hinged.mail.sources.opening import open_source
from hinged.mail.sources.pausing import pauses
from hinged.mail.sources.source import RejectedError, Source, SourceError
from hinged.mail.suggestion import Thresholds
from hinged.mail.watching import Away, Back, Event, StoppedWatching, Watcher

__all__ = ["Account", "GaveUp", "RunningAccount"]

FRESH = 60.0  # seconds that a connection for commands is kept without use; a firewall may drop it silently
WARM_UP = b"From: a@example.com\nSubject: hello\nMessage-ID: <warm-up>\n\nhello\n"


class Account(NamedTuple):
    """An account to run for.

    Attributes
    ----------
    name : what its events are reported under
    source : as `open_source` takes it
    state : folder of the assistant's data
    folder : the folder whose new messages get suggestions; the inbox if None
    keywords : True to set the best folder as a keyword on each new message
    page : True to serve its page as well
    thresholds : when new messages get no suggestion
    right : the share of what is filed by itself that is to be right; None to file nothing
    review : the folder for new messages that are not sure enough to be filed; None to leave them
    """

    name: str
    source: str
    state: Path
    folder: str | None = None
    keywords: bool = False
    page: bool = False
    thresholds: Thresholds = Thresholds()
    right: float | None = None
    review: str | None = None


class GaveUp(NamedTuple):
    """An account is no longer watched, and why; commands still work."""

    sentence: str


class RunningAccount:
    """An account that is watched in a thread, with an assistant that other threads may use.

    Whatever goes wrong with the source or the disk is reported once and tried again after growing pauses, except for a
    rejected password, because trying that again may lock the account, and for an address that is none.

    Parameters
    ----------
    account : Account
    tell : function of the account and an event
        Called by the thread that watches.
    """

    def __init__(self, account: Account, tell: Callable[[Account, Event | GaveUp], None]) -> None:
        self.account, self._tell = account, tell
        self._assistant = Assistant(account.state)
        self._opening, self._turn = threading.Lock(), threading.Lock()
        self._ending, self._away = threading.Event(), False
        self._spares: list[tuple[float, Source]] = []
        self._assistant.suggest(read_message(WARM_UP))  # what a first suggestion loads, no command should wait for
        self._thread = threading.Thread(target=self._run, name=f"watch {account.name}", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    # ------------------------------------------------------------------ for commands
    def assistant(self, read_only: bool = False) -> Assistant:
        """Return an assistant for the current thread. If another process has erased everything, it knows nothing."""
        with self._opening:
            try:
                self._assistant.kept.refresh()
            except ErasedError:
                old, self._assistant = self._assistant, Assistant(self.account.state)
                old.close()
            return self._assistant.beside(read_only)

    @contextmanager
    def mail(self) -> Iterator[Source]:
        """Give the mail, over a connection of its own; it is kept for the next command."""
        source = self._spare() or open_source(self.account.source)
        try:
            yield source
        except BaseException:
            source.close()
            raise
        self._spares.append((time.time(), source))

    def _spare(self) -> Source | None:
        """Return a connection that was used a moment ago, and close older ones."""
        while True:
            try:
                used, source = self._spares.pop()
            except IndexError:
                return None
            if abs(time.time() - used) < FRESH:  # by the clock on the wall, which goes on while the machine sleeps
                return source
            source.close()

    # ------------------------------------------------------------------ watching
    def _run(self) -> None:
        lengths = pauses()
        while not self._ending.is_set():
            try:
                for _ in self._watch():
                    lengths = pauses()
            except StoppedWatching:
                return
            except (RejectedError, ImportError, ValueError) as problem:  # trying again would not help
                self._tell(self.account, GaveUp(str(problem)))
                return
            except ErasedError:
                continue
            except (SourceError, JournalError, OSError) as problem:
                self._lose(str(problem))
                self._ending.wait(next(lengths))
            except Exception as problem:  # a mistake of this program; it must not pass unnoticed
                self._tell(self.account, GaveUp(f"{type(problem).__name__}: {problem}"))
                raise

    def _watch(self) -> Iterator[None]:
        """Watch until something fails; yield after each turn."""
        account = self.account
        source = open_source(account.source)
        try:
            assistant = self.assistant()
            assistant.thresholds = account.thresholds
            inbox = inbox_of(source, account.folder)
            filing = None if account.right is None else SelfFiling(assistant, source, account.right, account.review)
            watcher = Watcher(
                assistant,
                source,
                inbox,
                self._report,
                keywords=account.keywords,
                filing=filing,
                away=self._away,
                going=lambda: not self._ending.is_set(),
            )
            with closing(watcher):
                for _ in watcher.moments():
                    with self._turn:
                        if self._ending.is_set():
                            return
                        watcher.turn()
                    yield
        finally:
            source.close()

    def _report(self, event: Event) -> None:
        if isinstance(event, Away | Back):
            self._away = isinstance(event, Away)
        self._tell(self.account, event)

    def _lose(self, sentence: str) -> None:
        if not self._away:
            self._report(Away(sentence))

    def close(self) -> None:
        """Stop watching after the current message, and close the assistant. What is waited for is abandoned."""
        self._ending.set()
        with self._turn:
            self._assistant.close()
        for _, source in self._spares:
            source.close()
