"""Around every answer: headers that keep browsers from doing more than they should, and counting."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from hinged.server.guard import HEADERS
from hinged.server.metrics import Metrics

__all__ = ["Headers"]

Message = MutableMapping[str, Any]
#: Answers for programs: what a page may do, a browser must not do with these.
FOR_PROGRAMS = {
    **HEADERS,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}


class Headers:
    """An ASGI app around another.

    Parameters
    ----------
    app : the one inside
    metrics : what counts
    """

    def __init__(self, app: Any, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        self._headers = [(name.encode(), value.encode()) for name, value in FOR_PROGRAMS.items()]

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.count(route, status, time.perf_counter() - began)
