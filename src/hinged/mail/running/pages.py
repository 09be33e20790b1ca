"""The pages of a running assistant: each account can have one, served by a thread of the same process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from hinged.journal import JournalError
from hinged.mail.running.accounts import Account, RunningAccount
from hinged.mail.sources.opening import open_source
from hinged.mail.sources.pausing import pauses
from hinged.mail.sources.source import SourceError
from hinged.mail.web.serving import PageServer

__all__ = ["PageAt", "RunningPage"]

PATIENCE = 10.0  # seconds that the page has to end


class PageAt(NamedTuple):
    """The page of an account can be opened, at an address that contains a token."""

    address: str


class RunningPage:
    """The page of an account that runs; if its mail cannot be reached at first, this is tried again.

    Parameters
    ----------
    running : RunningAccount
    tell : function of the account and a `PageAt`
    """

    def __init__(self, running: RunningAccount, tell: Callable[[Account, PageAt], None]) -> None:
        self._running, self._tell = running, tell
        self._server: PageServer | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"page {running.account.name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        account, lengths = self._running.account, pauses()
        while not self._ending.is_set():
            try:
                self._server = PageServer(
                    lambda: open_source(account.source), self._running.assistant(), folder=account.folder
                )
                self._tell(account, PageAt(self._server.address))
                if not self._ending.is_set():
                    self._server.run()
            except (SourceError, JournalError, OSError):  # the thread that watches tells the same
                self._ending.wait(next(lengths))

    def close(self) -> None:
        """Stop serving."""
        self._ending.set()
        if self._server is not None:
            self._server.stop()
        self._thread.join(PATIENCE)
