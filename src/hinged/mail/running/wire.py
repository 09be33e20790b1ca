"""What goes over the socket of a running assistant: one JSON object per line, versioned and bounded.

The client imports this file, so it imports little: `hinged mail suggest -` starts for every message that arrives.
"""

from __future__ import annotations

import os
import sys

from hinged.mail.running.small_json import decode, encode

TYPE_CHECKING = False  # importing typing takes longer than the rest of this file
if TYPE_CHECKING:
    from _socket import socket as Socket  # noqa: N812
    from collections.abc import Iterator
    from typing import Any

__all__ = ["ANSWERED", "LONGEST", "SOCKET", "VERSION", "Lines", "WireError", "address_of", "send"]

VERSION = 1
SOCKET = "socket"  # its name in the folder of the account
LONGEST = 1_000_000  # bytes of a line
LONGEST_PATH = 104 if sys.platform == "darwin" else 108  # bytes of a socket's path, with the zero at its end
#: Commands that a running assistant answers. The others start processes of their own, write files, or erase its folder.
ANSWERED = (
    "accept", "exclude", "explain", "file", "forget", "include", "learn", "log", "merge", "off", "on", "pin", "rename",
    "status", "suggest", "undo", "unpin",
)  # fmt: skip


class WireError(Exception):
    """The other side broke the protocol, or was silent for too long."""


class address_of:  # noqa: N801
    """A context manager that gives the address of the socket in a folder.

    A path that is too long for a socket is shortened by opening its folder, which only Linux can.
    """

    def __init__(self, folder: str) -> None:
        self._folder, self._file = folder, -1

    def __enter__(self) -> str:
        path = os.path.join(self._folder, SOCKET)
        if len(os.fsencode(path)) < LONGEST_PATH:
            return path
        if sys.platform != "linux":
            raise OSError(
                f"{path} is too long for a socket, whose path has at most {LONGEST_PATH - 1} bytes; name a shorter "
                "folder with --state."
            )
        self._file = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._file}/{SOCKET}"

    def __exit__(self, *raised: object) -> None:
        if self._file >= 0:
            os.close(self._file)


def send(connection: Socket, message: dict[str, Any]) -> None:
    """Send one message; within the timeout of the connection, or fail with an OSError."""
    connection.sendall(encode(message).encode("ascii") + b"\n")


class Lines:
    """The messages that arrive over a connection."""

    def __init__(self, connection: Socket) -> None:
        self._connection, self._rest = connection, bytearray()

    def next(self) -> dict[str, Any] | None:
        """Return the next message; None if the other side has closed the connection.

        Raises
        ------
        WireError
            If a line is too long, or is no JSON object, or none arrives within the timeout of the connection.
        """
        searched = 0
        while (end := self._rest.find(b"\n", searched)) < 0:
            searched = len(self._rest)
            if searched > LONGEST:
                raise WireError(f"a line may have at most {LONGEST:,} bytes")
            try:
                more = self._connection.recv(65536)
            except TimeoutError:
                raise WireError(f"nothing was sent for {self._connection.gettimeout():g} s") from None
            except ConnectionError:
                more = b""
            if not more:
                return None
            self._rest += more
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        try:
            message = decode(line.decode("utf-8"))
        except (ValueError, RecursionError):
            raise WireError("a line is not JSON") from None
        if not isinstance(message, dict):
            raise WireError("a line is not a JSON object")
        return message

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while (message := self.next()) is not None:
            yield message
