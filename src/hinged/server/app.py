"""The app: routes, errors, headers, and a life that ends with everything saved."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hinged.server.access import Access
from hinged.server.answers import as_json
from hinged.server.endpoint import route_of
from hinged.server.errors import HANDLERS
from hinged.server.headers import Headers
from hinged.server.metrics import Metrics
from hinged.server.models import Models
from hinged.server.openapi import describe
from hinged.server.routes import ENDPOINTS, metrics
from hinged.server.settings import Settings

__all__ = ["create_app"]


def create_app(settings: Settings) -> Starlette:
    """An ASGI app that serves the models of a folder, which is held for this process from now on.

    Starlette routes and pydantic reads bodies, with the OpenAPI description made of the same endpoints: half the time
    a request takes with FastAPI on top of both (docs/service.md, "Figures").

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> type(create_app(Settings(Path(tempfile.mkdtemp())))).__name__
    'Starlette'
    """
    access, counts, models = Access(settings), Metrics(), Models(settings)
    described = describe(ENDPOINTS)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
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
        middleware=[Middleware(Headers, metrics=counts)],
        lifespan=life,
    )
    app.state.settings, app.state.access, app.state.metrics = settings, access, counts
    app.state.models = models
    return app
