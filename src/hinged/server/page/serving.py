"""Serving the page: a port, an address with a token, and an end without loss."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from hinged.mail.assistant import Assistant
from hinged.mail.sources.source import Source
from hinged.server.connections import BACKLOG, Connections, share_files
from hinged.server.guard import Guard
from hinged.server.page.app import Page
from hinged.server.page.desk import Desk

__all__ = ["PageServer"]

CONNECTIONS = 100
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class _Server(uvicorn.Server):
    """A server that says when it is told to stop, before it waits for those who still listen."""

    at_exit: Callable[[], None]

    def handle_exit(self, sig: int, frame: Any) -> None:
        self.at_exit()
        super().handle_exit(sig, frame)


class PageServer:
    """A page that listens; `address` holds the token that opens it.

    Parameters
    ----------
    another : function that opens the source
    assistant : Assistant
    folder : str, optional
        The folder to file from; the inbox unless named.
    host, port : str, int
        Loopback unless told otherwise; port 0 takes a free one.
    token : str, optional
    """

    def __init__(
        self,
        another: Callable[[], Source],
        assistant: Assistant,
        *,
        folder: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        show: Callable[[str, int, int], None] | None = None,
    ) -> None:
        self.source = another()
        self.desk = Desk(self.source, assistant, folder)
        self.desk.refresh(show)
        self.page = Page(self.desk, another)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.socket.bind((host, port))
            self.socket.listen(128)  # whoever comes before `run` waits
        except OSError as problem:
            self.socket.close()
            raise OSError(f"the page cannot listen on {host} port {port} ({problem.strerror}).") from problem
        self.port = int(self.socket.getsockname()[1])
        shown = f"[{host}]" if ":" in host else host
        names = {shown, *(LOOPBACK if host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::") else ())}
        if host in ("0.0.0.0", "::"):
            names |= {socket.gethostname(), socket.getfqdn()}
        self.guard = Guard(self.page.app, {f"{name}:{self.port}" for name in names}, token)
        self._home = f"http://{'127.0.0.1' if host == '0.0.0.0' else shown}:{self.port}/"
        self.address = f"{self._home}?token={self.guard.token}"
        quiet: Any = {"log_level": "warning", "access_log": False, "server_header": False}
        http = Connections(share_files(CONNECTIONS).connections).http
        config = uvicorn.Config(
            self.guard, http=http, backlog=BACKLOG, lifespan="on", ws="none", timeout_graceful_shutdown=2, **quiet
        )
        self.server = _Server(config)
        self.server.at_exit = self.page.end

    def address_once(self) -> str:
        """An address that opens the page once and holds no lasting secret."""
        return f"{self._home}?code={self.guard.one_time_code()}"

    def run(self) -> None:
        """Answer until SIGINT or SIGTERM, or until `stop` is called from another thread."""
        try:
            self.server.run(sockets=[self.socket])
        finally:
            self.page.close()
            self.source.close()

    def stop(self) -> None:
        """Let `run` return."""
        self.page.end()
        self.server.should_exit = True
