"""Serving the page: a port, an address with a token, and an end without loss."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import uvicorn

from hinged.mail.assistant import Assistant
from hinged.mail.looking import Show
from hinged.mail.sources.source import Source
from hinged.server.connections import BACKLOG, Connections, share_files
from hinged.server.guard import Guard
from hinged.server.page.addresses import allowed_hosts, name_to_print
from hinged.server.page.app import Page
from hinged.server.page.desk import Desk
from hinged.server.page.kept import keep, kept_in

__all__ = ["PageServer"]

CONNECTIONS = 100


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
    host : str
        Loopback unless told otherwise.
    port : int, optional
        0 takes a free one. Where none is named it is that of the last start, if that is free, so that tabs that are
        open find the page again.
    allow_hosts : names
        More names that the page may be addressed by, such as that of a proxy.
    sign_out : bool, default False
        Let in no browser that knows the page from an earlier start.
    token : str, optional
        Made up at each start where there is none; what browsers keep outlives a restart (see docs/page.md).

    Attributes
    ----------
    loaded : threading.Event
        Set when the first look is over.
    """

    def __init__(
        self,
        another: Callable[[], Source],
        assistant: Assistant,
        *,
        folder: str | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        allow_hosts: Iterable[str] = (),
        sign_out: bool = False,
        token: str | None = None,
    ) -> None:
        self.source = another()
        self.desk = Desk(self.source, assistant, folder)
        self.loaded = threading.Event()
        self.page = Page(self.desk, another)
        kept = kept_in(assistant.state, anew=sign_out)
        self.socket = _listening(host, port, kept.port)
        self.port = int(self.socket.getsockname()[1])
        keep(assistant.state, replace(kept, port=self.port))
        hosts = allowed_hosts(host, self.port, allow_hosts)
        self.guard = Guard(self.page.app, hosts, token, kept.cookie, kept.secret)
        self._home = f"http://{name_to_print(host)}:{self.port}/"
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

    def run(self, show: Show | None = None, loaded: Callable[[], None] | None = None) -> None:
        """Read the mail, and answer until SIGINT or SIGTERM, or until `stop` is called from another thread.

        Parameters
        ----------
        show : function of (what, done, total), optional
            Told how far the first look at the mail has come; the page shows it too.
        loaded : function, optional
            Called when that look is over.

        Raises
        ------
        Whatever went wrong during the first look.
        """

        def end() -> None:
            if loaded is not None:
                loaded()
            self.loaded.set()
            if self.page.failure is not None:
                self.stop()

        self.page.at_first_look(show, end)
        try:
            self.server.run(sockets=[self.socket])
        finally:
            self.page.close()
            self.socket.close()
            self.source.close()
        if self.page.failure is not None:
            raise self.page.failure

    def stop(self) -> None:
        """Let `run` return."""
        self.page.end()
        self.server.should_exit = True


def _listening(host: str, port: int | None, last: int) -> socket.socket:
    """A socket that listens: on the port named, else on that of the last start, else on a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for one in (port,) if port is not None else (last, 0):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, one))
            listener.listen(128)  # whoever comes before `run` waits
            return listener
        except OSError as problem:
            listener.close()
            if port is not None or one == 0:
                why = problem.strerror
                raise OSError(f"the page cannot listen on {host} port {one} ({why}).") from problem
    raise AssertionError
