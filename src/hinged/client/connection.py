"""A persistent connection to the service, and retries where these are safe."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlsplit

__all__ = ["Connection", "Json", "ServiceError"]

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

FIRST_WAIT, LONGEST_WAIT = 0.05, 5.0  # seconds between two tries
TRY_AGAIN = (429, 502, 503, 504)


class ServiceError(Exception):
    """The service refused a request, or could not be reached.

    Attributes
    ----------
    status : int
        Status code; 0 if there was no response.
    """

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Connection:
    """Requests to one server, one at a time; threads wait for each other.

    Parameters
    ----------
    url : such as http://127.0.0.1:8377
    token : token, or None for an open server
    timeout : seconds to wait for a response
    tries : maximum number of attempts if there is no response, or the server asks to wait
    """

    def __init__(self, url: str, token: str | None, timeout: float, tries: int) -> None:
        where = urlsplit(url)
        if where.scheme not in ("http", "https") or not where.hostname:
            raise ValueError(f"url must look like http://127.0.0.1:8377; got {url!r}.")
        kind = http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
        self._http = kind(where.hostname, where.port, timeout=timeout)
        self._url, self._path, self._tries = url, where.path.rstrip("/"), tries
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._lock = threading.Lock()

    def ask(self, method: str, path: str, content: Json = None, again: bool = True) -> Any:
        """Send JSON and return JSON; `again` allows the request to be sent twice."""
        body = None if content is None else json.dumps(content).encode()
        answer = self.send(method, path, body, "application/json", again)
        return json.loads(answer) if answer else None

    def send(self, method: str, path: str, body: bytes | None, kind: str, again: bool = True) -> bytes:
        """Send bytes and return the bytes of a successful response."""
        wait = FIRST_WAIT
        for left in reversed(range(self._tries if again else 1)):
            try:
                status, answer, asked = self._once(method, path, body, kind)
            except (OSError, http.client.HTTPException) as problem:
                if not left:
                    raise ServiceError(
                        0, f"no answer from {self._url} ({problem}); is the server running?"
                    ) from problem
                asked = 0.0
            else:
                if status < 400:
                    return answer
                if status not in TRY_AGAIN or not left:
                    raise ServiceError(status, _sentence(answer))
            time.sleep(max(asked, wait * (0.5 + random.random())))
            wait = min(2 * wait, LONGEST_WAIT)
        raise AssertionError("tries is at least 1")

    def _once(self, method: str, path: str, body: bytes | None, kind: str) -> tuple[int, bytes, float]:
        headers = self._headers if body is None else {**self._headers, "Content-Type": kind}
        with self._lock:
            try:
                self._http.request(method, self._path + path, body, headers)
                answer = self._http.getresponse()
                return answer.status, answer.read(), float(answer.headers.get("Retry-After", 0))
            except BaseException:
                self._http.close()
                raise

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        with self._lock:
            self._http.close()


def _sentence(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return answer.decode("utf-8", "replace")[:200] or "the server gave no reason."
