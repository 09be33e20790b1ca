"""Open connections: how many, and how long each may keep the server waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["KNOWN", "Connections", "Shares", "share_files"]

KNOWN = "hinged.known"  # in the scope of a request: its token is known
PATIENCE = 10.0  # seconds for the head of a request
KEEP, STALL = 7.5, 6.0  # times that: a known client between two requests; a body or an answer without any progress
LONGEST_HEAD = 1 << 16  # bytes
BACKLOG = 128  # connections that wait to be accepted, and may all be accepted at once
FILES_ASIDE = 64 + BACKLOG  # whatever else has files open
FILES_EACH = 5  # a journal, its two companions, a lock, and one to spare
SENTENCE = b'{"error": "the server has too many connections; try again later."}'
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(SENTENCE), SENTENCE)
)


class Shares(NamedTuple):
    """How many connections and models may be open, so that the files a process may have open suffice."""

    connections: int
    models: int


def share_files(connections: int, files: int | None = None) -> Shares:
    """Divide the files that this process may have open: a quarter at most for connections, the rest for models.

    Examples
    --------
    >>> share_files(1000, 1024), share_files(1000, 65_536)
    (Shares(connections=208, models=124), Shares(connections=1000, models=12868))
    """
    left = (_files_allowed() if files is None else files) - FILES_ASIDE
    connections = max(8, min(connections, left // 4))
    return Shares(connections, max(1, (left - connections) // FILES_EACH))


def _files_allowed() -> int:
    """How many files this process may have open; as many as the system lets it ask for."""
    try:
        import resource
    except ImportError:  # Windows, where the limit is far away
        return 8192
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):  # the system allows less than it says, as macOS does
            return soft
    return max(soft, wanted)


class Connections:
    """All open connections of a server: closes those that let it wait too long, and makes room for new ones.

    At most `most` are open. For one more, the oldest one is closed that waits between two requests, or has not sent a
    whole head yet; those of unknown clients first. Where all of them are being answered, the new one gets a 503.

    Parameters
    ----------
    most : how many may be open
    patience : seconds for the head of a request; other limits are multiples of it
    """

    def __init__(self, most: int, patience: float = PATIENCE) -> None:
        self.most, self.patience = most, patience
        self._unknown: dict[Watched, None] = {}  # the oldest first
        self._known: dict[Watched, None] = {}  # the one that asked last is last
        self._next_look: asyncio.TimerHandle | None = None
        self.http: Any = partial(Watched, self)  # for uvicorn's Config

    def __iter__(self) -> Iterator[Watched]:
        yield from self._unknown
        yield from self._known

    def add(self, new: Watched) -> bool:
        """Admit a connection, if there is room or can be made."""
        if len(self._unknown) + len(self._known) >= self.most:
            oldest = next((one for one in self if not one.is_answered), None)
            if oldest is None:
                return False
            oldest.end()
        self._unknown[new] = None
        self._look_later(new.loop)
        return True

    def know(self, one: Watched) -> None:
        """Its client has shown a token."""
        self.remove(one)
        self._known[one] = None

    def remove(self, one: Watched) -> None:
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


class Watched(HttpToolsProtocol):
    """A connection that knows since when it waits for its client.

    uvicorn itself limits only the time between two requests.
    """

    def __init__(self, among: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._among, self._known = among, False
        self._receives_body = self._receives_head = False
        self._since = self._heard = time.monotonic()  # when the present wait began; when something came
        self._unread_since: float | None = None  # when the client stopped to read its answer
        self._head = 0  # bytes of a head so far

    @property
    def is_answered(self) -> bool:
        """Whether a request of it is under way, whose head is complete."""
        return self.cycle is not None and not self.cycle.response_complete

    def is_overdue(self, now: float) -> bool:
        """Whether its client lets it wait for too long."""
        patience = self._among.patience
        if self._unread_since is not None:
            return now - self._unread_since > STALL * patience
        if self.is_answered:  # reading is paused while the server is busy with what it has
            return self._receives_body and not self.flow.read_paused and now - self._heard > STALL * patience
        rests = self._known and not self._receives_head and not self._receives_body
        return now - self._since > (KEEP * patience if rests else patience)

    def end(self) -> None:
        """Close it now, whatever was not sent yet."""
        self._among.remove(self)
        self.transport.abort()

    # ------------------------------------------------------------------ what uvicorn and its parser call
    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if not self._among.add(self):
            transport.write(BUSY)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._among.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard = time.monotonic()
        super().data_received(data)
        if self._receives_head:
            self._head += len(data)
            if self._head > LONGEST_HEAD:
                self.end()

    def on_message_begin(self) -> None:
        self._receives_head, self._head, self._since = True, 0, self._heard
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
