"""Signing in with a browser on this machine: an authorisation code with PKCE, returned to a port of this program."""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from urllib.parse import parse_qsl, urlencode, urlsplit

from hinged.mail.oauth.clients import Client
from hinged.mail.oauth.endpoint import Tokens, refusal, request_tokens
from hinged.mail.sources.source import SourceError

__all__ = ["challenge_of", "sign_in"]

PATIENCE = 600.0  # seconds that the user has
HEADERS = {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def sign_in(client: Client, user: str, show: Callable[[str], object], patience: float = PATIENCE) -> Tokens:
    """Let the user allow access in a browser, and return the tokens.

    The authorisation code comes back to a random port of 127.0.0.1, with a secret (`state`) that only the browser was
    given, and is worth nothing without another secret (PKCE's verifier, RFC 7636) that stays in this process.

    Parameters
    ----------
    client : Client
    user : the address that the page is to suggest
    show : called with the address of the page, which the user has to open
    patience : seconds until this gives up

    Raises
    ------
    SourceError
        If access was not allowed, nobody came, or the server gave no tokens.
    """
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    server = _Returning(state)
    redirect = f"http://{client.redirect or '127.0.0.1'}:{server.server_port}"
    asked = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect,
        "scope": client.scope,
        "state": state,
        "code_challenge": challenge_of(verifier),
        "code_challenge_method": "S256",
        "login_hint": user,
    }
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        show(f"{client.authorize}{'&' if '?' in client.authorize else '?'}{urlencode(asked)}")
        found = server.returned.get(timeout=patience)
    except Empty:
        raise SourceError(f"nobody allowed access within {patience:.0f} s; begin anew.") from None
    finally:
        server.shutdown()
        server.server_close()
    if "error" in found:
        raise refusal(urlsplit(client.authorize).hostname or "", found["error"], found.get("error_description"))
    return request_tokens(
        client.token,
        {
            "grant_type": "authorization_code",
            "code": found["code"],
            "redirect_uri": redirect,
            "code_verifier": verifier,
            **client.credentials,
        },
    )


def challenge_of(verifier: str) -> str:
    """Return what the authorisation server may know of the verifier (RFC 7636, 4.2; the example is its appendix B).

    Examples
    --------
    >>> challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    """
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


class _Returning(ThreadingHTTPServer):
    """Waits for the browser to return; a browser also opens connections that it does not use, hence the threads."""

    daemon_threads = True

    def __init__(self, state: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.state, self.returned = state, Queue[dict[str, str]]()
        self.first = threading.Lock()  # taken by the request that counts, never given back


class _Handler(BaseHTTPRequestHandler):
    """Takes one answer, and only with the state; whoever sends anything else changes nothing."""

    server: _Returning
    timeout = 10

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        given = dict(parse_qsl(where.query))
        if where.path not in ("", "/"):
            return self._answer(404, "There is nothing here.")
        if not secrets.compare_digest(given.get("state", "").encode(), self.server.state.encode()):
            return self._answer(400, "This is not an answer to what hinged has asked; go back to the terminal.")
        if not given.keys() & {"code", "error"}:
            return self._answer(400, "This answer is incomplete; go back to the terminal.")
        if not self.server.first.acquire(blocking=False):
            return self._answer(410, "This answer was used already; go back to the terminal.")
        self._answer(200, "hinged has the answer. You can close this page; the terminal shows the rest.")
        self.server.returned.put(given)

    def _answer(self, status: int, sentence: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sentence.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the address contains the code."""
