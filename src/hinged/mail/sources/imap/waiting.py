"""Waiting for changes: by IDLE if the server has it, else by polling."""

from __future__ import annotations

import time
from collections.abc import Iterator

from hinged.mail.sources.imap.client import ImapConnection, State

__all__ = ["idle", "rounds"]

#: Responses during IDLE that concern which messages are in which folder; flags do not.
NEWS = {b"EXISTS", b"EXPUNGE", b"VANISHED", b"STATUS", b"LIST"}


STEP = 10.0  # seconds between two looks at the clock while idle
SLEPT = 20.0  # seconds that the clock on the wall may go ahead before the machine must have slept


class Sleep:
    """Notices that the machine has slept: the clock on the wall went on, the one that measures waits stood still.

    A connection does not survive a long sleep, but nothing tells: the server has forgotten it, and its farewell was not
    heard. A clock that was set looks the same, and a new connection does no harm.
    """

    def __init__(self) -> None:
        self._begun = time.time() - time.monotonic()

    def check(self) -> None:
        """Raise ConnectionAbortedError if the machine has slept."""
        if abs(time.time() - time.monotonic() - self._begun) > SLEPT:
            raise ConnectionAbortedError("this machine has slept")


def idle(client: ImapConnection, folder: str, seconds: float, seen: State | None) -> bool:
    """Wait in a folder for at most so many seconds; return True if the server reported new or removed messages.

    Each wait begins by selecting the folder again and comparing it with what the caller has seen: a change after that
    is reported during IDLE, one before it would be missed. After an exception the connection is unusable; it is one if
    the machine has slept.
    """
    sleep = Sleep()
    if client.choose(folder) != seen or client.was_told():
        return True
    if not client.can("IDLE"):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, STEP))
            sleep.check()
        return False
    end = time.monotonic() + seconds
    client.idle()
    news = False
    while not news and (left := end - time.monotonic()) > 0:
        answers = client.idle_check(timeout=min(left, STEP))
        sleep.check()
        if not answers and left <= STEP:
            break  # timeout, or a lost connection: ending IDLE finds out which
        news = any(map(_is_news, answers))
    _, answers = client.idle_done()
    return news or any(map(_is_news, answers))


def _is_news(answer: tuple[object, ...]) -> bool:
    return bool(NEWS & set(answer[:2]))


def rounds(longest: float) -> Iterator[float]:
    """Yield the lengths of successive waits: short ones after an event, longer ones later.

    A response that arrives together with the server's "go ahead" stays in a buffer, where polling the socket does not
    see it until the wait ends. More events are likely right after one, so the first waits are short.
    """
    length = 1.0
    while True:
        yield min(length, longest)
        length *= 4
