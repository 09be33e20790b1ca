"""Whether a request is allowed: its token, and how often it comes."""

from __future__ import annotations

import time

from starlette.requests import Request

from hinged.server.connections import KNOWN
from hinged.server.errors import Refused
from hinged.server.settings import Settings
from hinged.server.tokens import Tokens

__all__ = ["Access"]

LOCAL = ("127.0.0.1", "localhost", "[::1]")
MOST_BUCKETS = 10_000


class Access:
    """Lets requests pass, or refuses them with 401, 403 or 429.

    Parameters
    ----------
    settings : of the server
    """

    def __init__(self, settings: Settings) -> None:
        self._tokens = None if settings.open else Tokens(settings.tokens)
        self._rate = settings.rate
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was so

    def check(self, request: Request, model: str, scope: str) -> None:
        """Refuse what the token of a request does not allow, or what comes too often; "known" allows any token."""
        who = self._check_token(request, model, scope)
        request.scope[KNOWN] = True
        if self._rate:
            self._check_rate(who)

    def may(self, request: Request, model: str, scope: str) -> bool:
        """Whether the token of a request allows this."""
        if self._tokens is None:
            return True
        token = self._tokens.find(_bearer(request))
        return token is not None and token.allows(model, scope)

    def _check_token(self, request: Request, model: str, scope: str) -> str:
        if self._tokens is None:
            _check_local(request)
            return request.client.host if request.client else ""
        token = self._tokens.find(_bearer(request))
        if token is None:
            raise Refused(
                401,
                "this needs a token the server knows; send it as 'Authorization: Bearer …'.",
                {"WWW-Authenticate": "Bearer"},
            )
        if scope != "known" and not token.allows(model, scope):
            raise Refused(403, f"this token allows {token.scope} on {token.model}; this needs {scope} on {model}.")
        return token.id

    def _check_rate(self, who: str) -> None:
        """A bucket for each token: it holds a second's worth of requests and fills as fast as they are allowed."""
        now, most = time.monotonic(), max(1.0, self._rate)
        left, then = self._buckets.get(who, (most, now))
        left = min(most, left + (now - then) * self._rate)
        if left < 1.0:
            wait = (1.0 - left) / self._rate
            raise Refused(
                429,
                f"too many requests; {self._rate:g} a second are allowed. Wait {wait:.2g} s.",
                {"Retry-After": str(int(wait) + 1)},
            )
        if len(self._buckets) >= MOST_BUCKETS:
            self._buckets.clear()
        self._buckets[who] = (left - 1.0, now)


def _bearer(request: Request) -> str:
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if kind.lower() == "bearer" else ""


def _check_local(request: Request) -> None:
    """Without tokens a page of the web could send requests through its reader's browser: names give it away."""
    named = request.headers.get("host", "")
    host = named if named.endswith("]") else named.rpartition(":")[0] or named
    if host not in LOCAL or "origin" in request.headers:
        raise Refused(403, f"without tokens only programs of this machine are served; this came for {named!r}.")
