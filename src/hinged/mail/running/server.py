"""The socket of a running assistant: who may connect, how long it may take, and what it gets."""

from __future__ import annotations

import os
import select
import socket
import stat
import threading
from binascii import a2b_base64
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hinged.journal import InUseError, JournalError
from hinged.journal.errors import journal_error
from hinged.journal.folder import FolderLock
from hinged.mail.running.wire import LONGEST, SOCKET, VERSION, Lines, WireError, address_of, send

__all__ = ["AloneError", "HungUp", "Reply", "RunningError", "SocketServer"]

RUNNING = "running"  # name of the lock that a running assistant holds
CONNECTIONS = 32  # clients at a time; more of them work alone
PATIENCE = 10.0  # seconds that a client may take to ask, and to read what it is sent
PATIENCE_WITH_INPUT = 600.0  # seconds that its standard input may take
BEAT = 5.0  # seconds between two signs of life
PIECE = 100_000  # characters in one message


class AloneError(Exception):
    """The command is not for this assistant: the client must do it by itself. Raised before anything happened."""


class RunningError(ValueError):
    """An assistant runs for this account already."""


class HungUp(BaseException):
    """The client has gone away, as with Ctrl-C: what it asked for is stopped. No ordinary error, like that one."""


class Reply:
    """What a client gets, piece by piece, while its command runs."""

    def __init__(self, connection: socket.socket, lines: Lines) -> None:
        self._connection, self._lines, self._lock = connection, lines, threading.Lock()
        self._gone = self._said = False

    def check(self) -> None:
        """Raise `HungUp` if the client is known to have gone away."""
        if self._gone:
            raise HungUp

    def send(self, **message: object) -> None:
        """Send a message; raise `HungUp` if the client has gone away."""
        self.check()
        self._said = True
        try:
            with self._lock:
                send(self._connection, message)
        except OSError:
            self._gone = True
            raise HungUp from None

    def write(self, text: str, err: bool) -> None:
        """Print a text where the client runs."""
        for start in range(0, len(text), PIECE):
            self.send(**{"err" if err else "out": text[start : start + PIECE]})

    def progress(self, what: str, done: int, total: int) -> None:
        """Tell how much is done; this notices that a client has gone away."""
        self.send(progress=[what[:PIECE], done, total])

    def standard_input(self, most: int) -> bytes:
        """Return the client's standard input, at most so many bytes of it."""
        if most * 4 / 3 > LONGEST:
            raise ValueError(f"one line holds at most {LONGEST} bytes; got {most}.")
        self.send(stdin=most)
        self._connection.settimeout(PATIENCE_WITH_INPUT)
        try:
            return a2b_base64((self._lines.next() or {})["stdin"], strict_mode=True)
        except (WireError, KeyError, TypeError, ValueError, OSError):
            self._gone = True
            raise HungUp from None
        finally:
            self._connection.settimeout(PATIENCE)

    def beat(self) -> None:
        """Give a sign of life if the client can take one, and notice if it has gone away."""
        if self._gone or not self._lock.acquire(blocking=False):
            return
        try:
            readable, writable, _ = select.select([self._connection], [self._connection], [], 0)
            if readable and not self._connection.recv(1, socket.MSG_PEEK):
                self._gone = True
            elif writable:
                send(self._connection, {"alive": True})
        except (OSError, ValueError):  # ValueError: closed since
            self._gone = True
        finally:
            self._lock.release()

    def decline(self) -> None:
        """Leave the command to the client."""
        if self._said:
            raise RuntimeError("a command that has printed something cannot be left to the client.")
        self.send(alone=True)


class SocketServer:
    """Listens at the socket in a folder; each client gets a thread. One process at a time may have it.

    Only the owner of the folder can connect: the folder has mode 0700, the socket 0600. The lock in the folder is held
    as long as the process lives, so a socket that is there without it was left by one that was killed.

    Parameters
    ----------
    folder : Path
        The state folder.

    Raises
    ------
    RunningError
        If an assistant runs there already.
    """

    def __init__(self, folder: Path) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise OSError("a running assistant needs Unix sockets, which this system lacks; use hinged mail watch.")
        self.folder = folder
        self._replies: set[Reply] = set()
        self._places = threading.BoundedSemaphore(CONNECTIONS)
        self._ending, self._idle = threading.Event(), threading.Condition()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = FolderLock(folder, name=RUNNING)
        except InUseError as problem:
            raise RunningError(
                f"an assistant runs for {folder} already, as process {problem.pid or '?'}; the mail commands reach it. "
                "To start another one, stop it first."
            ) from None
        except JournalError:
            raise
        except OSError as problem:
            raise journal_error(problem, folder) from problem

    def listen(self, answer: Callable[[dict[str, Any], Reply], int]) -> None:
        """Let clients connect.

        Parameters
        ----------
        answer : function of a request and a `Reply` that returns the exit code
            Raises `AloneError` for what the client must do by itself.
        """
        self._answer, self._socket = answer, self._open()
        for work in (self._accept, self._beat):
            threading.Thread(target=work, daemon=True).start()

    def _open(self) -> socket.socket:
        if stat.S_IMODE(os.stat(self.folder).st_mode) & 0o077:
            os.chmod(self.folder, 0o700)
        (self.folder / SOCKET).unlink(missing_ok=True)  # of a process that was killed: we hold the lock
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with address_of(os.fspath(self.folder)) as address:
                listening.bind(address)
                os.chmod(self.folder / SOCKET, 0o600)  # nobody else can enter the folder meanwhile
            listening.listen(CONNECTIONS)
        except BaseException:
            listening.close()
            raise
        return listening

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                if self._ending.wait(0.1):  # else there are too many open files, for a moment
                    return
                continue
            if self._places.acquire(blocking=False):
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
            else:
                connection.close()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, suppress(HungUp, OSError):
                connection.settimeout(PATIENCE)
                lines = Lines(connection)
                reply = Reply(connection, lines)
                send(connection, {"hinged": VERSION, "process": os.getpid()})
                self._converse(lines, reply)
        finally:
            self._places.release()

    def _converse(self, lines: Lines, reply: Reply) -> None:
        try:
            request = lines.next()
        except WireError as problem:
            reply.send(err=f"hinged: the request was not understood: {problem}.\n")
            reply.send(exit=2)
            return
        if request is None:
            return
        with self._idle:
            if self._ending.is_set():
                reply.decline()
                return
            self._replies.add(reply)
        try:
            code = self._answer(request, reply)
        except AloneError:
            reply.decline()
        else:
            reply.send(exit=code)
        finally:
            with self._idle:
                self._replies.discard(reply)
                self._idle.notify_all()

    def _beat(self) -> None:
        while not self._ending.wait(BEAT):
            with self._idle:
                replies = list(self._replies)
            for reply in replies:
                reply.beat()

    def close(self, patience: float = PATIENCE) -> None:
        """Accept no more clients, wait until the commands that run have ended, and remove the socket."""
        self._ending.set()
        (self.folder / SOCKET).unlink(missing_ok=True)
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._socket.close()
        with self._idle:
            self._idle.wait_for(lambda: not self._replies, patience)

    def release(self) -> None:
        """Let another process run for this folder."""
        self._lock.release()
