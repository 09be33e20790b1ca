"""Access to the page: its token, its cookie, its own requests only."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Iterable
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from hinged.http.connections import KNOWN
from hinged.http.headers import HEADERS, encoded, with_headers

__all__ = ["Guard"]

CODE_LASTS = 120.0  # seconds


class Guard:
    """ASGI middleware that lets only the page's own requests through.

    The token comes once in the address (`/?token=…`); from then on a cookie replaces it, which browsers send to this
    site alone. A code from `one_time_code` does the same, once (`/?code=…`). Requests that change something must have
    the header `X-Hinged: 1`, which another site cannot send without permission.

    Parameters
    ----------
    app : ASGI application
    hosts : allowed Host headers, with their ports
    cookie, secret : str
        Name and value of the cookie. Each server has its own name, because servers on other ports share a browser's
        cookies.
    token : str, optional
        Token in the address; generated if left out.
    """

    def __init__(
        self, app: ASGIApp, hosts: Collection[str], cookie: str, secret: str, token: str | None = None
    ) -> None:
        self.app, self.hosts, self.token = app, set(hosts), token or secrets.token_urlsafe(24)
        self.cookie, self.secret = cookie, secret
        self._codes: dict[str, float] = {}  # and when each expires
        self._headers = encoded(HEADERS)

    def one_time_code(self) -> str:
        """Return a code that opens the page once, within two minutes.

        For places that others can read, such as the arguments of a browser process.
        """
        code = secrets.token_urlsafe(24)
        self._codes[code] = time.monotonic() + CODE_LASTS
        return code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the application answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = self._answer_to(scope)
        if answer is None:
            scope[KNOWN] = True
        await (answer or self.app)(scope, receive, with_headers(send, self._headers))

    def _answer_to(self, scope: Scope) -> Response | None:
        """Return a redirect to the page or a refusal; None if the application may answer."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        host = headers.get("host", "")
        if host.lower() not in self.hosts:
            return _refusal(421, f"Host header '{_printable(host)}' is not allowed; add it with --allow-host.")
        if scope["path"] == "/" and scope["method"] == "GET" and self._opens(asked):
            cookie = f"{self.cookie}={self.secret}; Path=/; HttpOnly; SameSite=Strict"
            return Response("", 303, {"location": "/", "set-cookie": cookie})
        if not self._has_cookie(scope["headers"]):
            return _refusal(403, "open the address that was printed when the server started; it holds the token.")
        if scope["method"] not in ("GET", "HEAD") and not self._is_own(headers):
            return _refusal(403, "this request did not come from the page.")
        return None

    def _opens(self, asked: dict[str, list[str]]) -> bool:
        """Return True if an address holds the token, or a code that was not used yet."""
        expires = max((self._codes.pop(code, 0.0) for code in asked.get("code", ())), default=0.0)
        return time.monotonic() < expires or any(_same(token, self.token) for token in asked.get("token", ()))

    def _has_cookie(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return True if a request has our cookie; cookies of other programs on this host may be malformed."""
        text = ";".join(value.decode("latin-1") for name, value in headers if name.lower() == b"cookie")
        pairs = (pair.strip().partition("=") for pair in text.split(";"))
        return any(name == self.cookie and _same(value, self.secret) for name, _, value in pairs)

    def _is_own(self, headers: dict[str, str]) -> bool:
        """Return True if the page itself sent the request."""
        origin = headers.get("origin")
        return (
            headers.get("x-hinged") == "1"
            and headers.get("sec-fetch-site", "same-origin") == "same-origin"
            and (origin is None or origin.partition("://")[2].lower() in self.hosts)
        )


def _printable(text: str) -> str:
    return "".join(c for c in text[:80] if c.isascii() and c.isprintable())


def _same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(), secret.encode())


def _refusal(status: int, why: str) -> Response:
    return PlainTextResponse(why + "\n", status)
