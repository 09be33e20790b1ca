"""Requests to an authorisation server: a form goes there, JSON comes back; tokens are read from it."""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import BaseHandler, HTTPRedirectHandler, ProxyHandler, Request, build_opener

from hinged.http.local import is_local
from hinged.mail.sources.source import SourceError, UnreachableError

__all__ = ["RefusedError", "Tokens", "printable", "request", "request_tokens", "seconds_of"]

PATIENCE = 30.0  # seconds until an answer
ENOUGH = 1 << 16  # bytes of an answer
LONGEST = 86400.0  # seconds that a token is trusted to last; a rejected one is renewed anyway
TOKEN = re.compile(r"[!-~]{1,16384}")
#: What to do about a refusal, by its code (RFC 6749, 8628).
ADVICE = {
    "invalid_client": "check client_id and client_secret",
    "unauthorized_client": "check client_id, and whether the client may do this",
    "invalid_scope": "check scope",
    "access_denied": "access was not allowed",
    "expired_token": "nobody allowed access in time; begin anew",
}


class RefusedError(SourceError):
    """The authorisation server refused; `code` is its word for why."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Tokens(NamedTuple):
    """An access token, the time until which it is used, and a refresh token, "" if none came with it."""

    access: str
    until: float
    refresh: str

    def __repr__(self) -> str:
        return f"Tokens(until={self.until})"


class _NoRedirects(HTTPRedirectHandler):
    """Secrets go to the address that was given, and no further."""

    def redirect_request(self, *given: Any) -> None:
        return None


def request(address: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Send a form, and return the fields of the answer.

    Raises
    ------
    RefusedError
        If the server says no.
    UnreachableError
        If it cannot be reached, or answers as no authorisation server does; trying again may help.
    """
    host = urlsplit(address).hostname or ""
    handlers = (_NoRedirects(), ProxyHandler({} if is_local(host) else None))
    asked = Request(address, urlencode(fields).encode(), {"Accept": "application/json"}, method="POST")
    try:
        status, body = _send(asked, *handlers)
    except (OSError, HTTPException, UnicodeError) as error:
        raise _about(host, error) from None
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if status == 200 and isinstance(found, dict):
        return found
    code = found.get("error") if isinstance(found, dict) else None
    if status >= 500 or status == 429 or not isinstance(code, str):
        raise UnreachableError(f"{host} did not answer as an authorisation server does (HTTP status {status}).")
    raise refusal(host, code, found.get("error_description"))


def _send(asked: Request, *handlers: BaseHandler) -> tuple[int, bytes]:
    try:
        answer = build_opener(*handlers).open(asked, timeout=PATIENCE)
    except HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.read(ENOUGH)


def _about(host: str, error: Exception) -> SourceError:
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        return SourceError(f"the certificate of {host} was not accepted: {reason.verify_message}.")
    words = "no answer in time" if isinstance(reason, TimeoutError) else getattr(reason, "strerror", None) or reason
    return UnreachableError(f"{host} cannot be reached for OAuth2: {printable(words) or type(reason).__name__}.")


def refusal(host: str, code: str, description: object) -> RefusedError:
    """Return the error for a refusal."""
    words = printable(code) + (f", {printable(description)}" if isinstance(description, str) else "")
    advice = ADVICE.get(code)
    return RefusedError(code, f"{host} refused: {words}{'' if advice is None else f'; {advice}'}.")


def printable(text: object) -> str:
    """Return words of somebody else on one short line.

    Examples
    --------
    >>> printable("AADSTS70000: \\x1b[2J expired.\\r\\nTrace ID: 7")
    'AADSTS70000: [2J expired. Trace ID: 7'
    """
    words = "".join(one if one.isprintable() else " " for one in str(text)[:400])
    return " ".join(words.split())[:200].rstrip(".")


def request_tokens(address: str, fields: Mapping[str, str]) -> Tokens:
    """Send a form that is answered with tokens, and return these."""
    asked_at = time.time()
    answer = request(address, fields)
    access, refresh = (answer.get(key, "") for key in ("access_token", "refresh_token"))
    kind = str(answer.get("token_type", "")).lower()
    valid = [isinstance(one, str) and TOKEN.fullmatch(one) for one in (access, refresh or "none")]
    if not all(valid) or kind != "bearer":
        host = urlsplit(address).hostname
        raise UnreachableError(f"{host} did not answer with tokens that can be used.")
    return Tokens(access, asked_at + 0.9 * seconds_of(answer.get("expires_in"), LONGEST), refresh)


def seconds_of(value: object, default: float) -> float:
    """Return a number of seconds from an answer, between 0 and a day; the default if it is none.

    Examples
    --------
    >>> [seconds_of(value, 5.0) for value in ("3599", -1, 10**400, None, "NaN")]
    [3599.0, 0.0, 5.0, 5.0, 5.0]
    """
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return default
    return default if seconds != seconds else min(max(0.0, seconds), LONGEST)
