"""An authorisation server on a loopback port: codes with PKCE, codes for devices, refresh tokens; and a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import ProxyHandler, build_opener

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
CLIENT, SECRET, SCOPE = "hinged-test", "not so secret", "mail offline_access"


def browse(address: str, **headers: str) -> tuple[int, str]:
    """Open an address as a browser does, which follows redirects; return the status and the page."""
    opener = build_opener(ProxyHandler({}))
    opener.addheaders = list(headers.items())
    try:
        with opener.open(address, timeout=10) as page:
            return page.status, page.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def opened_by(address: str) -> dict[str, str]:
    """What a page was asked for."""
    return dict(parse_qsl(urlsplit(address).query))


class Authority:
    """The server, and the user in front of it.

    Attributes
    ----------
    user : who allows access
    refuses : the error that the user or the server answers with, "" if access is allowed
    lasts : seconds that access tokens last
    rotates : whether a refresh token is replaced at each renewal, and no longer taken afterwards
    spoilt : by path, answers (status, headers, body) that come first in place of the right ones
    asked : what came, as (path, fields)
    """

    def __init__(self, token_for: Callable[[str], str] = lambda user: f"access.{secrets.token_hex(4)}") -> None:
        self.token_for, self.user, self.refuses = token_for, "jane", ""
        self.lasts: object = 3600
        self.rotates = True
        self.spoilt: dict[str, list[tuple[int, dict[str, str], str]]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.devices: dict[str, list[str]] = {}
        self.refreshing: dict[str, str] = {}  # users by valid refresh tokens
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.005})
        self._thread.start()

    def settings(self, server: str = "localhost", **more: str) -> str:
        """The table of the user's file for a client of this server."""
        keys = {"server": server, "client_id": CLIENT, "client_secret": SECRET, "scope": SCOPE}
        keys |= {name: f"{self.address}/{name}" for name in ("authorize", "token", "device")} | more
        return "[oauth.test]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    # ------------------------------------------------------------------ what is asked
    def authorize(self, given: dict[str, str]) -> tuple[int, dict[str, str], str]:
        back = urlsplit(given["redirect_uri"])
        known = given["client_id"] == CLIENT and back.hostname == "127.0.0.1" and back.scheme == "http"
        if not known or given["response_type"] != "code" or given["code_challenge_method"] != "S256":
            return 400, {}, "this is not a request of the client"
        code = secrets.token_urlsafe(8)
        self.codes[code] = given
        answer = {"error": self.refuses, "error_description": "no,\nnot now"} if self.refuses else {"code": code}
        return 302, {"Location": f"{given['redirect_uri']}/?{urlencode({'state': given['state'], **answer})}"}, ""

    def device(self, given: dict[str, str]) -> tuple[int, dict[str, str], str]:
        code = secrets.token_urlsafe(8)
        self.devices[code] = ["authorization_pending", "slow_down"]
        page = {"verification_uri": f"{self.address}/activate", "user_code": "WDJB-MJHT"}
        return _json(200, {"device_code": code, "expires_in": 600, "interval": 2, **page})

    def token(self, given: dict[str, str]) -> tuple[int, dict[str, str], str]:
        if (given.get("client_id"), given.get("client_secret")) != (CLIENT, SECRET):
            return _json(401, {"error": "invalid_client"})
        if given["grant_type"] == "authorization_code":
            asked = self.codes.pop(given["code"], {})  # a code is taken once
            challenge = base64.urlsafe_b64encode(hashlib.sha256(given["code_verifier"].encode()).digest())
            if (asked.get("code_challenge"), asked.get("redirect_uri")) != (
                challenge.decode().rstrip("="),
                given["redirect_uri"],
            ):
                return _json(400, {"error": "invalid_grant", "error_description": "code or verifier"})
            return self._tokens(self.user)
        if given["grant_type"] == DEVICE_GRANT:
            waiting = self.devices[given["device_code"]]
            if waiting or self.refuses:
                return _json(400, {"error": waiting.pop(0) if waiting else self.refuses})
            return self._tokens(self.user)
        user = self.refreshing.get(given["refresh_token"])
        if user is None:
            return _json(400, {"error": "invalid_grant", "error_description": "Token has been expired or revoked."})
        if self.rotates:
            del self.refreshing[given["refresh_token"]]
        return self._tokens(user, again=not self.rotates)

    def _tokens(self, user: str, again: bool = False) -> tuple[int, dict[str, str], str]:
        found = {"access_token": self.token_for(user), "token_type": "Bearer", "expires_in": self.lasts}
        if not again:
            found["refresh_token"] = f"refresh.{secrets.token_hex(4)}"
            self.refreshing[str(found["refresh_token"])] = user
        return _json(200, found)

    def renewals(self) -> int:
        """How many times a token was renewed, or that was tried."""
        return sum(fields.get("grant_type") == "refresh_token" for _, fields in self.asked)


def _json(status: int, fields: dict[str, object]) -> tuple[int, dict[str, str], str]:
    return status, {"Content-Type": "application/json"}, json.dumps(fields)


def _handler_of(authority: Authority) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve(urlsplit(self.path).query)

        def do_POST(self) -> None:
            self._serve(self.rfile.read(int(self.headers["Content-Length"])).decode())

        def _serve(self, form: str) -> None:
            path, given = urlsplit(self.path).path.strip("/"), dict(parse_qsl(form))
            authority.asked.append((path, given))
            first = authority.spoilt.get(path)
            status, headers, body = first.pop(0) if first else getattr(authority, path)(given)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
