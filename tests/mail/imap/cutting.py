"""A way to the server that breaks: a proxy that cuts the connection at a chosen command."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Cutter:
    """Passes lines on to a server, each way. A chosen command of all connections is the last of its connection.

    Parameters
    ----------
    host, port : the server, spoken to without TLS
    at : int or bytes
        Which command: the nth, or the first that holds these words.
    answered : bool
        Whether the server still gets that command; its answer never arrives.
    for_good : bool, default False
        Whether no connection is made after it.
    """

    def __init__(self, host: str, port: int, at: int | bytes, answered: bool, for_good: bool = False) -> None:
        self.there, self.at, self.answered, self.for_good = (host, port), at, answered, for_good
        self.commands = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> Cutter:
        return self

    def __exit__(self, *raised: object) -> None:
        self._refuse()
        for thread in self._threads:
            thread.join()

    def _refuse(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            # From the server's own address: only then does Dovecot take an unencrypted way for a private one.
            far = socket.create_connection(self.there, source_address=(self.there[0], 0))
            cut = threading.Event()
            for way in ((self._commands, near, far, cut), (self._answers, near, far, cut)):
                self._threads.append(threading.Thread(target=way[0], args=way[1:], daemon=True))
                self._threads[-1].start()

    def _commands(self, near: socket.socket, far: socket.socket, cut: threading.Event) -> None:
        with suppress(OSError), near.makefile("rb") as lines:
            for line in lines:
                self.commands += 1
                if self.at in line if isinstance(self.at, bytes) else self.commands == self.at:
                    cut.set()
                    if self.for_good:
                        self._refuse()
                    if self.answered:
                        far.sendall(line)
                        far.shutdown(socket.SHUT_WR)  # the server finishes the command, then sees the end
                        return
                    break
                far.sendall(line)
        for one in (near, far):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _answers(self, near: socket.socket, far: socket.socket, cut: threading.Event) -> None:
        with suppress(OSError):
            while content := far.recv(65536):
                if not cut.is_set():
                    near.sendall(content)
        for one in (near, far):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
