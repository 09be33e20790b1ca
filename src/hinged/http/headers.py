"""Response headers that limit what a browser may do with an answer."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import Message, Send

__all__ = ["FOR_PROGRAMS", "HEADERS", "encoded", "with_headers"]

#: For a page: only files of this server may be loaded, run or shown, and no site may frame it.
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "font-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
#: For programs: a browser must load nothing at all.
FOR_PROGRAMS = {
    **HEADERS,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}


def encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Return headers as ASGI sends them."""
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def with_headers(send: Send, headers: list[tuple[bytes, bytes]]) -> Send:
    """Wrap `send` so that each response gets these headers, unless it sets them itself."""

    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message.get("headers", ())}
            missing = [header for header in headers if header[0] not in own]
            message = {**message, "headers": [*message.get("headers", ()), *missing]}
        await send(message)

    return send_more
