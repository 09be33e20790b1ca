"""Asking a running assistant to do a command: this process then loads neither the learner nor the command line.

Imports little, and `_socket` rather than `socket`: `hinged mail suggest -` starts for every message that arrives.
"""

from __future__ import annotations

import os
import sys

from hinged.mail.running.wire import ANSWERED, VERSION, Lines, WireError, address_of, send

TYPE_CHECKING = False  # importing typing takes longer than the rest of this file
if TYPE_CHECKING:
    from _socket import socket as Socket  # noqa: N812
    from collections.abc import Sequence
    from typing import Any

__all__ = ["ask"]

GREETING, SILENCE = 2.0, 30.0  # seconds that an assistant may take to greet, and to say anything later


def ask(arguments: Sequence[str]) -> int | None:
    """Let a running assistant do a command, and print what it says; return its exit code.

    None if there is no such assistant, or it leaves the command to this process. Nothing has happened then: standard
    input is not read, and nothing is printed.
    """
    if len(arguments) < 2 or arguments[0] != "mail" or arguments[1] not in ANSWERED:
        return None
    if not {"--help", "-h"}.isdisjoint(arguments):
        return None
    folder = _state_of_last_list() if arguments[1] == "accept" else _state_of(arguments[2:])
    connection = None if folder is None else _connect(folder)
    if connection is None:
        return None
    try:
        lines = Lines(connection)
        greeting = lines.next()
        if greeting is None or greeting.get("hinged") != VERSION:  # too busy, or of another version
            return None
    except WireError:
        return None
    return _Conversation(connection, lines, greeting.get("process")).run(list(arguments[1:]))


def _state_of(arguments: Sequence[str]) -> str | None:
    """Return the state folder that a command is about, if an assistant may run there.

    The assistant reads the arguments properly, and refuses commands that are about another folder.
    """
    state, account = _value_of("--state", arguments), _value_of("--account", arguments)
    if state is not None:
        return state
    if account is not None:
        return _state_of_account(account)
    from hinged.mail.running.wire import SOCKET
    from hinged.mail.sources.states import state_path

    places = (state_path(word) for word in arguments if word and not word.startswith("-"))
    return next((place for place in places if os.path.exists(os.path.join(place, SOCKET))), None)


def _state_of_last_list() -> str | None:
    """Return the state folder of the account that `suggest` has listed last; None if there is none."""
    from hinged.mail.running.small_json import decode
    from hinged.mail.sources.states import last_list_path

    try:
        with open(last_list_path(), encoding="utf-8") as file:
            return str(decode(file.read())[1])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _value_of(option: str, arguments: Sequence[str]) -> str | None:
    for number, word in enumerate(arguments):
        if word == option and number + 1 < len(arguments):
            return arguments[number + 1]
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None


def _state_of_account(name: str) -> str | None:
    """Return the state folder of an account in the user's file; None if something is wrong, which is told later."""
    from hinged.mail.config import settings_of, state_of

    try:
        return state_of(settings_of(name))
    except (OSError, ValueError):
        return None


def _connect(folder: str) -> Socket | None:
    try:
        from _socket import AF_UNIX, SOCK_STREAM, socket
    except ImportError:  # no Unix sockets on this system
        return None
    connection = socket(AF_UNIX, SOCK_STREAM)
    connection.settimeout(GREETING)
    try:
        with address_of(folder) as address:
            connection.connect(address)
    except OSError:  # nobody listens there
        connection.close()
        return None
    return connection


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return "/"


class _Conversation:
    """A request, and what the assistant says until it is answered."""

    def __init__(self, connection: Socket, lines: Lines, process: object) -> None:
        self._connection, self._lines, self._process = connection, lines, process
        self._drawn = False  # True if a line of progress is on the terminal

    def run(self, command: list[str]) -> int | None:
        from hinged.cli.terminal import facts, take_any_text

        self._connection.settimeout(SILENCE)
        try:
            send(self._connection, {"version": VERSION, "command": command, "folder": _here(), "screen": facts()})
            take_any_text()
            for message in self._lines:
                if "alone" in message:
                    return None
                if "exit" in message:
                    self._erase()
                    return int(message["exit"])
                self._take(message)
            return self._complain("ended before it had answered")
        except WireError as problem:
            return self._complain(f"does not answer: {problem}")
        except ConnectionError:
            return self._complain("ended before it had answered")
        finally:
            self._connection.close()

    def _take(self, message: dict[str, Any]) -> None:
        for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
            if name in message:
                self._erase()
                self._print(str(message[name]), stream)
        if "progress" in message and sys.stderr.isatty():
            self._draw(*message["progress"])
        if "stdin" in message:
            self._send_input(int(message["stdin"]))

    def _print(self, text: str, stream: Any) -> None:
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError:
            if stream is not sys.stdout:
                raise
            from hinged.cli.terminal import silence_stdout

            silence_stdout()

    def _send_input(self, most: int) -> None:
        from binascii import b2a_base64

        stream = sys.stdin.buffer
        raw = stream.read(most)
        while stream.read(most):  # let the writer of the pipe finish
            pass
        send(self._connection, {"stdin": b2a_base64(raw, newline=False).decode("ascii")})

    def _draw(self, what: str, done: int, total: int) -> None:
        from hinged.cli.terminal import columns

        share = f"  {100 * done // total} %" if total else ""
        sys.stderr.write(f"\r\x1b[K{what[: columns() - len(share) - 1]}{share}")
        sys.stderr.flush()
        self._drawn = True

    def _erase(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False

    def _complain(self, what: str) -> int:
        self._erase()
        sys.stderr.write(
            f"hinged: the assistant (process {self._process}) {what}; it may have done what was asked: hinged mail "
            "status shows what it knows.\n"
        )
        return 1
