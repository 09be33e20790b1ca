"""Limits on open connections: how many, and how long each may keep the server waiting."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

__all__ = ["KNOWN", "Connections", "Shares", "share_files"]

KNOWN = "hinged.known"  # key in the ASGI scope: the request showed a valid token
PATIENCE = 10.0  # seconds for the head of a request
KEEP, STALL = 7.5, 6.0  # times that: an authenticated client between two requests; a body or answer without progress
LONGEST_HEAD = 1 << 16  # bytes
BACKLOG = 128  # connections that wait to be accepted, and may all be accepted at once
FILES_ASIDE = 64 + BACKLOG  # for everything else that has files open
FILES_EACH = 5  # a journal, its two companion files, a lock, and one to spare
SENTENCE = b'{"error": "the server has too many connections; try again later."}'
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(SENTENCE), SENTENCE)
)


class Shares(NamedTuple):
    """How many connections and models may be open within the limit on open files."""

    connections: int
    models: int


def share_files(connections: int, files: int | None = None) -> Shares:
    """Divide the file descriptors of this process: a quarter at most for connections, the rest for models.

    Examples
    --------
    >>> share_files(1000, 1024), share_files(1000, 65_536)
    (Shares(connections=208, models=124), Shares(connections=1000, models=12868))
    """
    left = (_files_allowed() if files is None else files) - FILES_ASIDE
    connections = max(8, min(connections, left // 4))
    return Shares(connections, max(1, (left - connections) // FILES_EACH))


def _files_allowed() -> int:
    """Raise the limit on open files as far as the system allows, and return it."""
    try:
        import resource
    except ImportError:  # Windows, where the limit is far higher
        return 8192
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):  # macOS allows less than it reports
            return soft
    return max(soft, wanted)


class Connections:
    """All open connections of a server: closes those that stall, and makes room for new ones.

    At most `most` are open. To admit one more, the oldest connection that is idle or has not sent a complete head is
    closed, unauthenticated clients first. If all of them are being answered, the new one gets a 503.

    Parameters
    ----------
    most : maximum number of open connections
    patience : seconds for the head of a request; other limits are multiples of it
    """

    def __init__(self, most: int, patience: float = PATIENCE) -> None:
        self.most, self.patience = most, patience
        self._unknown: dict[WatchedConnection, None] = {}  # oldest first
        self._known: dict[WatchedConnection, None] = {}  # most recently used last
        self._next_look: asyncio.TimerHandle | None = None
        self.http: Any = partial(WatchedConnection, self)  # for uvicorn's Config, which is typed for classes only

    def __iter__(self) -> Iterator[WatchedConnection]:
        yield from self._unknown
        yield from self._known

    def add(self, new: WatchedConnection) -> bool:
        """Admit a connection; return False if there is no room and none can be made."""
        if len(self._unknown) + len(self._known) >= self.most:
            oldest = next((one for one in self if not one.is_answered), None)
            if oldest is None:
                return False
            oldest.end()
        self._unknown[new] = None
        self._look_later(new.loop)
        return True

    def know(self, one: WatchedConnection) -> None:
        """Mark a connection as authenticated."""
        self.remove(one)
        self._known[one] = None

    def remove(self, one: WatchedConnection) -> None:
        """Forget a connection that is closed."""
        self._unknown.pop(one, None)
        self._known.pop(one, None)

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._next_look is None:
            self._next_look = loop.call_later(self.patience / 10, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._next_look, now = None, time.monotonic()
        for one in [one for one in self if one.is_overdue(now)]:
            one.end()
        if self._unknown or self._known:
            self._look_later(loop)


class WatchedConnection(HttpToolsProtocol):
    """A connection that records since when it has been waiting for its client.

    uvicorn itself limits only the time between two requests.
    """

    def __init__(
        self,
        among: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._among, self._known = among, False
        self._receives_body = self._receives_head = False
        self._since = self._last_data = time.monotonic()  # start of the present wait; time of the last data
        self._unread_since: float | None = None  # when the client stopped reading its answer
        self._head = 0  # bytes of a head so far

    @property
    def is_answered(self) -> bool:
        """True while a request with a complete head is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def is_overdue(self, now: float) -> bool:
        """Return True if the client has been stalling for too long."""
        since, most = self._waits_for()
        return now - since > most * self._among.patience

    def _waits_for(self) -> tuple[float, float]:
        """Return since when the client is waited for, and how many times the patience that may take."""
        if self._unread_since is not None:
            return self._unread_since, STALL
        if self.is_answered:  # reading is paused while the server is busy
            return self._last_data, STALL if self._receives_body and not self.flow.read_paused else math.inf
        idle = self._known and not self._receives_head and not self._receives_body
        return self._since, KEEP if idle else 1.0

    def end(self) -> None:
        """Close the connection now, without sending what is pending."""
        self._among.remove(self)
        self.transport.abort()

    # ------------------------------------------------------------------ callbacks of uvicorn and its parser
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if not self._among.add(self):
            transport.write(BUSY)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._among.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._last_data = time.monotonic()
        super().data_received(data)
        if self._receives_head:
            self._head += len(data)
            if self._head > LONGEST_HEAD:
                self.end()

    def on_message_begin(self) -> None:
        self._receives_head, self._head, self._since = True, 0, self._last_data
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._receives_head, self._receives_body = False, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._receives_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._since = time.monotonic()
        if self.cycle.scope.get(KNOWN) and not self.transport.is_closing():
            self._known = True
            self._among.know(self)
        super().on_response_complete()

    def pause_writing(self) -> None:
        self._unread_since = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._unread_since = None
        super().resume_writing()
