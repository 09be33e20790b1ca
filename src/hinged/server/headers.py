"""Around every answer: headers that keep browsers from doing more than they should, and counting."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from hinged.server.metrics import Metrics

__all__ = ["Headers"]

Message = MutableMapping[str, Any]
HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


class Headers:
    """An ASGI app around another.

    Parameters
    ----------
    app : the one inside
    metrics : what counts
    headers : for every answer that does not have them
    """

    def __init__(self, app: Any, metrics: Metrics, headers: dict[str, str] | None = None) -> None:
        self._app, self._metrics = app, metrics
        self._headers = [(n.encode(), v.encode()) for n, v in (HEADERS if headers is None else headers).items()]

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
