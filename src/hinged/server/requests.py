"""Bodies of requests: JSON, and never more than is allowed."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from hinged.server.errors import Refused

__all__ = ["JsonRoute", "too_large"]


def too_large(most: int) -> Refused:
    """The answer to too many bytes."""
    return Refused(413, f"the body is too large; {most:,} bytes are allowed. Send less at a time, or a stream.")


class JsonRequest(Request):
    """A request whose body is counted while it comes, and read by orjson: no NaN, no half characters, no deep nests."""

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            most = self.app.state.settings.max_body
            if int(self.headers.get("content-length", 0)) > most:
                raise too_large(most)
            pieces, size = [], 0
            async for piece in self.stream():
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    raise too_large(most)
            self._body = b"".join(pieces)
        return self._body

    async def json(self) -> Any:
        return orjson.loads(await self.body())


class JsonRoute(APIRoute):
    """A route whose requests are `JsonRequest`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(JsonRequest(request.scope, request.receive))

        return handle
