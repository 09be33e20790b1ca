"""Who may ask: those who know the token, from this page, under this address. What a browser may do with the answer."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from hinged.server.connections import KNOWN

__all__ = ["HEADERS", "Guard"]

CODE_LASTS = 120.0  # seconds
Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

#: Nothing but what this server itself gives out is loaded, run or shown; nobody may frame it.
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


class Guard:
    """Let a page's own requests through to an application, and nobody else's.

    The token comes once in the address (`/?token=…`) and is a cookie from then on, which browsers send to this site
    alone. A code from `one_time_code` does the same once (`/?code=…`).
    Requests that change something must say `X-Hinged: 1`, which another site cannot do unasked.

    Parameters
    ----------
    app : ASGI application
    hosts : names under which the server may be addressed, with their ports
    token : str, optional
        What the address holds; made up where there is none.
    cookie, secret : str, optional
        Name and value of the cookie; made up where there are none. The name is a server's own, because servers on
        other ports share a browser's cookies.
    """

    def __init__(
        self,
        app: Any,
        hosts: Collection[str],
        token: str | None = None,
        cookie: str | None = None,
        secret: str | None = None,
    ) -> None:
        self.app, self.hosts, self.token = app, set(hosts), token or secrets.token_urlsafe(24)
        self.cookie, self.secret = cookie or f"hinged-{secrets.token_hex(4)}", secret or secrets.token_urlsafe(24)
        self._codes: dict[str, float] = {}  # and when each expires

    def one_time_code(self) -> str:
        """Return a code that opens the page once, within two minutes.

        For places that others can read, such as the arguments of a browser that is started.
        """
        code = secrets.token_urlsafe(24)
        self._codes[code] = time.monotonic() + CODE_LASTS
        return code

    async def __call__(self, scope: Scope, receive: Any, send: Send) -> None:
        """Answer, or let the application answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        host = headers.get("host", "")
        if host.lower() not in self.hosts:
            shown = "".join(c for c in host[:80] if c.isascii() and c.isprintable())
            await _refuse(send, 421, f"Host header '{shown}' is not allowed; add it with --allow-host.")
        elif scope["path"] == "/" and scope["method"] == "GET" and self._opens(asked):
            cookie = f"{self.cookie}={self.secret}; Path=/; HttpOnly; SameSite=Strict"
            await _answer(send, 303, "", {"location": "/", "set-cookie": cookie, **HEADERS})
        elif not any(_same(value, self.secret) for value in self._kept(scope["headers"])):
            await _refuse(send, 403, "open the address that was printed when the server started; it holds the token.")
        elif scope["method"] not in ("GET", "HEAD") and not self._from_here(headers):
            await _refuse(send, 403, "this request did not come from the page.")
        else:
            scope[KNOWN] = True
            await self.app(scope, receive, _with_headers(send))

    def _opens(self, asked: dict[str, list[str]]) -> bool:
        """Return True if an address holds the token, or a code that was not used yet."""
        expires = max((self._codes.pop(code, 0.0) for code in asked.get("code", ())), default=0.0)
        return time.monotonic() < expires or any(_same(token, self.token) for token in asked.get("token", ()))

    def _kept(self, headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
        """The values of our cookie. Other programs on this host set cookies too, which need not be well formed."""
        text = ";".join(value.decode("latin-1") for name, value in headers if name.lower() == b"cookie")
        pairs = (pair.strip().partition("=") for pair in text.split(";"))
        return [value for name, _, value in pairs if name == self.cookie]

    def _from_here(self, headers: dict[str, str]) -> bool:
        origin = headers.get("origin")
        return (
            headers.get("x-hinged") == "1"
            and headers.get("sec-fetch-site", "same-origin") == "same-origin"
            and (origin is None or origin.partition("://")[2].lower() in self.hosts)
        )


def _same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(), secret.encode())


def _with_headers(send: Send) -> Send:
    async def more(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            extra = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in own]
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return more


async def _refuse(send: Send, status: int, why: str) -> None:
    await _answer(send, status, why + "\n", {"content-type": "text/plain; charset=utf-8", **HEADERS})


async def _answer(send: Send, status: int, text: str, headers: dict[str, str]) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": text.encode()})
