"""The application: routes, error handlers, response headers and metrics, and how to run it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hinged.http.connections import KEEP, Connections
from hinged.http.headers import FOR_PROGRAMS, encoded, with_headers
from hinged.http.running import Server, address_of, listen, server_for
from hinged.service.access import Access, create_token
from hinged.service.endpoint import describe, route_of
from hinged.service.models import Models
from hinged.service.responses import HANDLERS, as_json
from hinged.service.routes import ENDPOINTS, metrics
from hinged.service.settings import Settings

if TYPE_CHECKING:
    from hinged.service.metrics import Metrics

__all__ = ["create_app", "serve", "serving"]

GRACE = 30  # seconds for open requests
SWITCH = 0.0005  # seconds after which a thread that learns yields to the one that answers


class ResponseMiddleware:
    """ASGI middleware: adds headers to every response, and counts responses if there are metrics."""

    def __init__(self, app: ASGIApp, metrics: Metrics | None) -> None:
        self._app, self._metrics, self._headers = app, metrics, encoded(FOR_PROGRAMS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_request = scope["type"] == "http"
        send = with_headers(send, self._headers) if is_request else send
        if self._metrics is None or not is_request:
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.count(route, status, time.perf_counter() - began)


def create_app(settings: Settings) -> Starlette:
    """Return an ASGI app that serves the models of a folder; this process holds the folder's lock from now on.

    Starlette routes and pydantic validates bodies; the OpenAPI description is made of the same endpoints. A request
    takes half the time it takes with FastAPI on top of both (docs/service.md, "Figures").

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> type(create_app(Settings(Path(tempfile.mkdtemp())))).__name__
    'Starlette'
    """
    access, models, counts = Access(settings), Models(settings), None
    if settings.metrics:
        from hinged.service.metrics import Metrics

        counts = Metrics(models)
    described = describe(ENDPOINTS)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        """Save all models on shutdown."""
        try:
            yield
        finally:
            await models.close()

    async def openapi(request: Request) -> Response:
        return as_json(described)

    app = Starlette(
        routes=[
            *map(route_of, (*ENDPOINTS, metrics) if settings.metrics else ENDPOINTS),
            Route("/openapi.json", openapi),
        ],
        exception_handlers=HANDLERS,
        middleware=[Middleware(ResponseMiddleware, metrics=counts)],
        lifespan=lifespan,
    )
    app.state.settings, app.state.access, app.state.metrics = settings, access, counts
    app.state.models = models
    return app


def serve(settings: Settings, host: str, port: int, ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM; then finish open requests, save, and return.

    Parameters
    ----------
    settings : what to serve
    host, port : where to listen; port 0 takes a free one
    ready : called with the address once connections are accepted
    """
    server = _server(settings)
    listening = listen(host, port)
    sys.setswitchinterval(SWITCH)
    if ready is not None:
        server.ready = lambda: ready(address_of(listening))
    with suppress(ValueError):  # not the main thread
        for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn raises them again after its shutdown
            signal.signal(number, lambda *_: None)
    server.run(sockets=[listening])
    if not server.started:
        raise OSError("the server could not start; its log says why.")


@contextmanager
def serving(settings: Settings) -> Iterator[tuple[str, str]]:
    """Serve from a thread of this process while the block runs; gives the address and an admin token for all models.

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
    server, listening = _server(settings), listen("127.0.0.1", 0)
    started = threading.Event()
    server.ready = started.set
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not started.wait(0.01):
            if not thread.is_alive():
                raise OSError(f"{settings.folder} could not be served; the log says why.")
        yield address_of(listening), token
    finally:
        server.should_exit = True
        thread.join()


def _server(settings: Settings) -> Server:
    app = create_app(settings)
    connections = Connections(app.state.models.shares.connections, settings.patience)
    keep_alive = round(KEEP * settings.patience) + 1  # the limits of `Connections` come first
    return server_for(app, connections, GRACE, keep_alive)
