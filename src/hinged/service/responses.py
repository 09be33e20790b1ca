"""Responses: JSON, NDJSON streams, and for everything that goes wrong a status and one sentence."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
from pydantic import ValidationError
from sklearn.exceptions import NotFittedError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import HTTPExceptionHandler, Receive, Scope, Send

from hinged.journal import InUseError, JournalError
from hinged.service.values import plain

__all__ = ["HANDLERS", "NDJSON", "Lines", "Refused", "TokenFileError", "as_json", "line", "refusal_of", "response_to"]

log = logging.getLogger("hinged.service")
NDJSON = "application/x-ndjson"
MODELS = "/v1/models/"
UNKNOWN_PATH = {
    404: "there is nothing at this path; /openapi.json lists what there is.",
    405: "this path has other methods.",
}
PLAIN_REFUSALS: tuple[tuple[type[Exception], int, str], ...] = (
    (ClientDisconnect, 400, "the client disconnected before its request was complete."),
    (NotFittedError, 409, "this model has learnt nothing yet; teach it first."),
    (RecursionError, 422, "this is nested too deeply."),
    (MemoryError, 507, "there is not enough memory for this; nothing that was acknowledged is lost."),
)


def line(content: object) -> bytes:
    """Return a line of NDJSON."""
    return orjson.dumps(content, plain, orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)


def as_json(content: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(orjson.dumps(content, plain), status, headers, "application/json")


class Lines(Response):
    """An NDJSON response that is sent while the request is still being read.

    Starlette's own streaming response listens for a disconnect meanwhile, and would take messages from the reader.
    """

    media_type = NDJSON

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self.status_code, self.background = 200, None
        self.init_headers({"content-type": NDJSON})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [entry for entry in self.raw_headers if entry[0] != b"content-length"]
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
        async for piece in self._pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


class Refused(Exception):  # noqa: N818 — an answer, not a fault
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers


class TokenFileError(ValueError):
    """A file of tokens cannot be read; the message names the path, and is for the server's log only."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} is not a file of tokens ({why}); put back a copy, or remove it.")


def bad_name(name: str) -> Refused:
    """Return the refusal of a name that no model can have."""
    return Refused(
        422,
        "a model's name has 1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or a digit; "
        f"got {name[:100]!r}.",
    )


def refusal_of(problem: Exception) -> Refused:
    """Return the status and the sentence for an exception.

    Examples
    --------
    >>> refusal_of(ValueError("C must be positive; got C=-1.")).status
    422
    """
    if isinstance(problem, Refused):
        return problem
    if isinstance(problem, ValidationError):
        return _malformed(problem)
    if isinstance(problem, JournalError | TokenFileError):
        return _of_the_server(problem)
    for kind, status, sentence in PLAIN_REFUSALS:
        if isinstance(problem, kind):
            return Refused(status, sentence)
    if isinstance(problem, TypeError | ValueError | KeyError | IndexError | OverflowError):
        return Refused(422, str(problem.args[0]) if problem.args else "this cannot be read.")
    log.error("a request failed", exc_info=problem)
    return Refused(500, "an internal error occurred; see the server's log. Nothing that was acknowledged is lost.")


def _of_the_server(problem: Exception) -> Refused:
    """Return the refusal for trouble with the server's own files: paths go to its log, not to clients."""
    if isinstance(problem, TokenFileError):  # logged when it was found
        return Refused(503, "the server cannot read its tokens; its log says more.")
    log.error("%s", problem)
    if isinstance(problem, InUseError):
        return Refused(503, "this model is in use by another process; try again later.", {"Retry-After": "1"})
    if "no room left" in str(problem):
        return Refused(507, "there is no room left on the server's disk; nothing that was acknowledged is lost.")
    return Refused(503, "the server cannot read or write this model's files; its log says more.")


def _malformed(problem: ValidationError) -> Refused:
    """Return the refusal of a body, which names the first error."""
    error = problem.errors(include_url=False, include_input=False)[0]
    where = " → ".join(map(str, error["loc"])) or "the body"
    return Refused(422, f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}.")


def response_to(problem: Exception) -> Response:
    """Return the response for an exception."""
    refused = refusal_of(problem)
    return as_json({"error": refused.sentence}, refused.status, refused.headers)


async def _handle(request: Request, problem: Exception) -> Response:
    """Answer what no endpoint did: an unknown path, another method, a fault outside of the endpoints."""
    if isinstance(problem, HTTPException):
        path = request.url.path
        if problem.status_code == 404 and request.method == "PUT" and path.startswith(MODELS):
            return response_to(bad_name(path.removeprefix(MODELS)))  # the name contains slashes
        sentence = UNKNOWN_PATH.get(problem.status_code, str(problem.detail))
        return response_to(Refused(problem.status_code, sentence, dict(problem.headers or {})))
    return response_to(problem)


HANDLERS: dict[type[Exception], HTTPExceptionHandler] = {HTTPException: _handle, Exception: _handle}
