"""Starting a server and waiting for its end."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn

from hinged.server.app import create_app
from hinged.server.connections import BACKLOG, KEEP, Connections
from hinged.server.settings import Settings
from hinged.server.tokens import create_token

__all__ = ["serve", "serving"]

GRACE = 30  # seconds for requests under way
SWITCH = 0.0005  # seconds after which a thread that learns lets the one that answers have its turn


def serve(settings: Settings, host: str, port: int, ready: Any = None) -> None:
    """Serve until SIGINT or SIGTERM; then finish what is under way, save, and return.

    Parameters
    ----------
    settings : what to serve
    host, port : where to listen; port 0 takes a free one
    ready : called with the address once connections are accepted
    """
    server = _server(settings)
    listening = _listen(host, port)
    sys.setswitchinterval(SWITCH)
    server.ready = None if ready is None else lambda: ready(_address(listening))
    with suppress(ValueError):  # not the main thread
        for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn raises them once more when all is done
            signal.signal(number, lambda *_: None)
    server.run(sockets=[listening])
    if not server.started:
        raise OSError("the server could not start; its log says why.")


@contextmanager
def serving(settings: Settings) -> Iterator[tuple[str, str]]:
    """Serve from a thread of this process, for as long as the block lasts: the address, and a token that may all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from urllib.request import urlopen
    >>> with serving(Settings(Path(tempfile.mkdtemp()))) as (address, token):
    ...     urlopen(f"{address}/healthz").status
    200
    """
    token = "" if settings.open else create_token(settings.tokens, "*", "admin")
    server, listening = _server(settings), _listen("127.0.0.1", 0)
    begun = threading.Event()
    server.ready = begun.set
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not begun.wait(0.01):
            if not thread.is_alive():
                raise OSError(f"{settings.folder} could not be served; the log says why.")
        yield _address(listening), token
    finally:
        server.should_exit = True
        thread.join()


class _Server(uvicorn.Server):
    ready: Any = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self.ready is not None:
            self.ready()


def _server(settings: Settings) -> _Server:
    app = create_app(settings)
    connections = Connections(app.state.models.shares.connections, settings.patience)
    return _Server(
        uvicorn.Config(
            app,
            http=connections.http,
            ws="none",
            backlog=BACKLOG,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=GRACE,
            timeout_keep_alive=round(KEEP * settings.patience) + 1,  # ours come first
            server_header=False,
        )
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as problem:
        listening.close()
        raise OSError(f"cannot listen at {host}:{port} ({problem.strerror}); choose another --port.") from None
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
