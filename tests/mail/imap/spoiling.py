"""A server that cannot give one message, or answers what nobody can read: a proxy that changes some of the talk."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from tests.mail.imap.cutting import Cutter

Spoil = Callable[[bytes], tuple[bytes, bytes | None] | None]
CUT = (b"", b"")
ASKED = re.compile(rb"(\S+) UID FETCH (\S+) (\(BODY\.PEEK\[\].*)", re.DOTALL)


class Spoiler(Cutter):
    """Passes lines on to a server, each way, but for those that `spoil` changes.

    `spoil` is given a command and returns what the server gets and what the client is told at once, both as bytes, or
    None for the latter where the client is told nothing any more. It returns None where the command passes as it is,
    and `CUT` where the connection ends.
    """

    def __init__(self, host: str, port: int, spoil: Spoil) -> None:
        self.spoil = spoil
        super().__init__(host, port, at=b"", answered=False)

    def __exit__(self, *raised: object) -> None:
        self._refuse()  # without waiting: a test that fails leaves its connection open

    def _commands(self, near: socket.socket, far: socket.socket, cut: threading.Event) -> None:
        with suppress(OSError), near.makefile("rb") as lines:
            for line in lines:
                spoilt = self.spoil(line)
                if spoilt == CUT:
                    break
                there, here = spoilt or (line, b"")
                if here is None:
                    cut.set()
                    far.sendall(there)
                    far.shutdown(socket.SHUT_WR)  # the server finishes the command, then sees the end
                    return
                near.sendall(here)
                far.sendall(there)
        for one in (near, far):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


#: What is told of one message, before the others come; None ends the connection, "NO" and "BAD" refuse all of them.
TOLD = {
    "NO": b"",
    "BAD": b"",
    "leaves it out": b"",
    "gives NIL": b"* 2 FETCH (UID %d BODY[]<0> NIL)\r\n",
    "gives what is no answer": b'* 2 FETCH (UID %d BODY[]<0> "no end)\r\n',
    "gives a number": b"* 2 FETCH (UID %d BODY[]<0> 12)\r\n",
    "gives no list": b"* 2 FETCH 7\r\n",
    "gives more than it says": b"* 2 FETCH (UID %d BODY[]<0> {4}\r\nmuch more than that\r\nand more)\r\n",
    "hangs up": None,
}


def cannot_give(uid: int, how: str) -> Spoil:
    """Let the server fail at one message, in one of the ways of `TOLD`."""

    def spoil(line: bytes) -> tuple[bytes, bytes | None] | None:
        asked = ASKED.fullmatch(line)
        uids = asked[2].split(b",") if asked else []
        if asked is None or b"%d" % uid not in uids:
            return None
        told = TOLD[how]
        if told is None:
            return CUT
        if how in ("NO", "BAD"):
            return b"", b"%s %s it cannot be fetched\r\n" % (asked[1], how.encode())
        told = told % uid if b"%d" in told else told
        others = b",".join(one for one in uids if one != b"%d" % uid)
        if not others:
            return b"", told + asked[1] + b" OK done\r\n"
        return b"%s UID FETCH %s %s" % (asked[1], others, asked[3]), told

    return spoil
