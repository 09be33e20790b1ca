"""Waiting for changes: by IDLE if the server has it, else by polling."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from hinged.mail.sources.imap.client import Client, State

__all__ = ["Pauses", "idle", "rounds"]

#: Responses during IDLE that concern which messages are in which folder; flags do not.
NEWS = {b"EXISTS", b"EXPUNGE", b"VANISHED", b"STATUS", b"LIST"}


def idle(client: Client, folder: str, seconds: float, seen: State | None) -> bool:
    """Wait in a folder for at most so many seconds; return True if the server reported new or removed messages.

    Each wait begins by selecting the folder again and comparing it with what the caller has seen: a change after that
    is reported during IDLE, one before it would be missed. After an exception the connection is unusable.
    """
    if client.choose(folder) != seen or client.was_told():
        return True
    if not client.can("IDLE"):
        time.sleep(seconds)
        return False
    end = time.monotonic() + seconds
    client.idle()
    news = False
    while not news and (left := end - time.monotonic()) > 0:
        answers = client.idle_check(timeout=left)
        if not answers:
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


class Pauses:
    """Pauses before reconnecting: a second, then twice as long each time, up to a minute.

    They are randomized, so that the clients of a server that comes back do not all reconnect at once.
    """

    def __init__(self) -> None:
        self.next = 1.0

    def take(self) -> float:
        """Return the length of the next pause."""
        length, self.next = self.next, min(60.0, self.next * 2)
        return length * random.uniform(0.75, 1.0)
