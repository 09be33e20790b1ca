"""Running uvicorn on a socket of our own."""

from __future__ import annotations

import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from hinged.http.connections import BACKLOG, Connections

__all__ = ["Server", "address_of", "listen", "server_for"]


class Server(uvicorn.Server):
    """A uvicorn server with two hooks.

    Attributes
    ----------
    ready : called once connections are accepted
    stopping : called when a signal asks the server to stop, before it waits for open requests
    """

    ready: Callable[[], None] = staticmethod(lambda: None)
    stopping: Callable[[], None] = staticmethod(lambda: None)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.stopping()
        super().handle_exit(sig, frame)


def server_for(app: ASGIApp, connections: Connections, grace: int, keep_alive: int = 5) -> Server:
    """Return a server for an app.

    Parameters
    ----------
    app : ASGI application with a lifespan
    connections : limits on open connections
    grace : seconds that open requests have to finish after a signal
    keep_alive : seconds between two requests after which uvicorn itself closes a connection
    """
    return Server(
        uvicorn.Config(
            app,
            http=connections.http,
            ws="none",
            lifespan="on",
            backlog=BACKLOG,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=grace,
            timeout_keep_alive=keep_alive,
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; clients that connect before the server runs wait. Port 0 takes a free one."""
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as problem:
        listening.close()
        raise OSError(f"cannot listen on {host} port {port} ({problem.strerror}); choose another --port.") from problem
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the URL of a socket that listens."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
