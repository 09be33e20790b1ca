"""The app: routes, errors, headers, and a life that ends with everything saved."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from hinged import __version__
from hinged.server import health, routes
from hinged.server.access import Access
from hinged.server.errors import add_handlers
from hinged.server.headers import Headers
from hinged.server.metrics import Metrics
from hinged.server.models import Models
from hinged.server.settings import Settings

__all__ = ["create_app"]


def create_app(settings: Settings) -> FastAPI:
    """An ASGI app that serves the models of a folder.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> app = create_app(Settings(Path(tempfile.mkdtemp())))
    >>> sorted(app.openapi()["paths"])[:2]
    ['/healthz', '/v1/models']
    """

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        models = app.state.models = Models(settings)
        try:
            yield
        finally:
            await models.close()

    app = FastAPI(
        title="hinged",
        version=__version__,
        summary="Models that learn one example at a time.",
        lifespan=life,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    metrics = Metrics()
    app.state.settings, app.state.access, app.state.metrics = settings, Access(settings), metrics
    app.include_router(health.router)
    app.include_router(routes.router)
    add_handlers(app)
    app.add_middleware(Headers, metrics=metrics)
    return app
