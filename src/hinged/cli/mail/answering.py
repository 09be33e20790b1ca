"""Commands that a running assistant does for its clients, with what it holds in memory."""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import typer

from hinged.cli.mail.opening import DESK
from hinged.cli.tables import SCREEN
from hinged.mail.assistant import Assistant
from hinged.mail.message import ENOUGH
from hinged.mail.running.accounts import RunningAccount
from hinged.mail.running.server import AloneError, Reply
from hinged.mail.running.wire import ANSWERED, VERSION
from hinged.mail.sources.opening import StdinSource
from hinged.mail.sources.source import Source
from hinged.mail.sources.states import state_path

__all__ = ["Answering"]

MOST_WORDS = 1000  # in a command
EVERY = 0.1  # seconds between two reports of progress


class ClientScreen:
    """The terminal of a client, or what its output is piped to."""

    def __init__(self, facts: dict[str, Any], reply: Reply) -> None:
        self.coloured, self.out, self._err = (facts[name] is True for name in ("coloured", "out", "err"))
        self.columns, self.encoding = int(facts["columns"]), str(facts["encoding"])
        self._reply, self._last = reply, 0.0

    def write(self, text: str, err: bool) -> None:
        """Print a text to its stdout or stderr."""
        self._reply.write(text, err)

    def progress(self, what: str, done: int, total: int) -> None:
        """Show how much is done, if its stderr is a terminal; end the command if the client has gone away."""
        now = time.monotonic()
        if self._err and now - self._last >= EVERY:
            self._last = now
            self._reply.progress(what, done, total)
        else:
            self._reply.check()


class ClientDesk:
    """The account of a running assistant, for one command of a client; `folder` is where the client runs."""

    def __init__(self, account: RunningAccount, folder: str, reply: Reply) -> None:
        self._running, self.folder, self._reply = account, folder, reply
        self._state = os.path.realpath(account.account.state)

    def mail(self, spec: str) -> AbstractContextManager[Source]:
        """Give the mail of a source, or the client's standard input."""
        if spec == "-":
            return closing(StdinSource(lambda: self._reply.standard_input(ENOUGH)))
        self._check_source(spec)
        return self._running.mail()

    def assistant(self, spec: str, state: Path | None, read_only: bool) -> Assistant:
        """Return the assistant of a source."""
        if state is not None:
            if os.path.realpath(os.path.join(self.folder, state)) != self._state:
                raise AloneError
        elif spec == "-" or os.path.realpath(self.state(spec)) != self._state:
            raise AloneError
        if spec != "-":
            self._check_source(spec)
        return self._running.assistant(read_only)

    def state(self, spec: str) -> Path:
        """Return the state folder of a source, which may be relative to the client's folder."""
        return Path(state_path(spec, self.folder))

    def _check_source(self, spec: str) -> None:
        if self.state(spec) != Path(state_path(self._running.account.source)):
            raise AloneError


class Answering:
    """Does commands for the clients of one account, with the same parser and functions as `hinged` itself."""

    def __init__(self, account: RunningAccount) -> None:
        from hinged.cli.main import app  # which holds the command that runs this

        self._account = account
        self._program = typer.main.get_command(app)  # built once: that takes longer than a suggestion

    def __call__(self, request: dict[str, Any], reply: Reply) -> int:
        """Do a command, and return its exit code."""
        from hinged.cli.main import exit_code_of

        command = _words(request.get("command"))
        if request.get("version") != VERSION or command[:1] not in [[one] for one in ANSWERED]:
            raise AloneError
        try:
            screen, folder = ClientScreen(request["screen"], reply), str(request["folder"])
        except (KeyError, TypeError, ValueError):
            reply.write("hinged: the request lacks the screen or the folder of the client.\n", err=True)
            return 2
        SCREEN.set(screen)  # for this thread, which serves this client alone
        DESK.set(ClientDesk(self._account, folder, reply))
        return exit_code_of(self._program, "hinged", ["mail", *command])


def _words(command: object) -> list[str]:
    """Return the words of a command; none if it is anything else than a list of words."""
    if isinstance(command, list) and len(command) <= MOST_WORDS and all(isinstance(word, str) for word in command):
        return command
    return []
