"""Whether the server is well: /healthz, and /metrics where it was asked for."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from hinged import __version__
from hinged.server.answers import as_json
from hinged.server.errors import Refused
from hinged.server.schemas import Health

__all__ = ["router"]

router = APIRouter()


@router.get("/healthz", response_model=Health)
async def health() -> Response:
    """That the server answers; needs no token."""
    return as_json({"status": "ok", "version": __version__})


@router.get("/metrics", response_class=PlainTextResponse, include_in_schema=False)
async def metrics(request: Request) -> Response:
    """Counts for Prometheus; needs a token that may read all models."""
    state = request.app.state
    if not state.settings.metrics:
        raise Refused(404, "metrics are off; start the server with --metrics.")
    state.access.check(request, "*", "read")
    return PlainTextResponse(state.metrics.text(state.models), media_type="text/plain; version=0.0.4")
