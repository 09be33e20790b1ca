"""Waiting until something happens: told by the server where it can, by looking now and then where it cannot."""

from __future__ import annotations

import random
import time

from hinged.mail.sources.imap.client import Client, State

__all__ = ["Pauses", "Rounds", "idle"]

#: What a server tells while idle that concerns which messages lie where. Flags do not.
NEWS = {b"EXISTS", b"EXPUNGE", b"VANISHED", b"STATUS", b"LIST"}


def idle(client: Client, folder: str, seconds: float, seen: State | None) -> bool:
    """Wait in a folder for at most so many seconds; True where the server told of new or gone messages.

    Each wait begins by opening the folder anew and comparing it with what the caller has seen: a change after that is
    told while idle, one before it never would be. The connection cannot be used any more after an exception.
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
            break  # the time has passed, or the connection is gone: ending the wait finds out which
        news = any(map(_is_news, answers))
    _, answers = client.idle_done()
    return news or any(map(_is_news, answers))


def _is_news(answer: tuple[object, ...]) -> bool:
    return bool(NEWS & set(answer[:2]))


class Rounds:
    """How long to wait at a time: short rounds after something happened, longer ones when all is quiet.

    An answer that arrives together with the server's "go ahead" waits in a buffer, where polling the socket does not
    see it; the end of a round does. Right after an event others are likely, so the first rounds are short.
    """

    def __init__(self, longest: float) -> None:
        self.longest, self.next = longest, 1.0

    def take(self) -> float:
        """The length of this round."""
        length, self.next = min(self.next, self.longest), self.next * 4
        return length


class Pauses:
    """How long to stay away from a server that cannot be reached: a second, then twice as long up to a minute.

    A little is left to chance, so that the clients of a server that comes back do not all knock at once.
    """

    def __init__(self) -> None:
        self.next = 1.0

    def take(self) -> float:
        """The length of this pause."""
        length, self.next = self.next, min(60.0, self.next * 2)
        return length * random.uniform(0.75, 1.0)

    def over(self) -> None:
        """The server answered."""
        self.next = 1.0
