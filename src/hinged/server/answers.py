"""Labels and numbers as JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Set
from typing import Any

import numpy as np
import orjson
from starlette.responses import Response

from hinged.estimators.labels import in_order

__all__ = ["NDJSON", "Lines", "as_json", "line", "plain"]

NDJSON = "application/x-ndjson"
LARGEST = 1 << 63


def plain(value: Any) -> Any:
    """A label, a set of labels or a number as JSON has it; whole numbers beyond 64 bits are texts.

    Examples
    --------
    >>> plain({"b", "a"}), plain(np.float64(0.5)), plain((1, b"x"))
    (['a', 'b'], 0.5, [1, 'x'])
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Set):
        value = in_order(value)
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, int) and not -LARGEST <= value < LARGEST:
        return str(value)
    if isinstance(value, str | bytes):  # half a surrogate pair is no UTF-8, and bytes need not be
        return (
            value.decode("utf-8", "replace") if isinstance(value, bytes) else value.encode("utf-8", "replace").decode()
        )
    return value


def line(content: Any) -> bytes:
    """A line of NDJSON."""
    return orjson.dumps(content, plain, orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)


def as_json(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer."""
    return Response(orjson.dumps(content, plain), status, headers, "application/json")


class Lines(Response):
    """An answer of NDJSON, sent while the request is still read.

    Starlette's own stream listens for the client's end meanwhile, and would take what it hears from the one who reads.
    """

    media_type = NDJSON

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self.status_code, self.background = 200, None
        self.init_headers({"content-type": NDJSON})

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [entry for entry in self.raw_headers if entry[0] != b"content-length"]
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
        async for piece in self._pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
