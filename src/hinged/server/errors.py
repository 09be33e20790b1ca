"""What went wrong, as a status and one sentence."""

from __future__ import annotations

import logging
from typing import Any

from pydantic import ValidationError
from sklearn.exceptions import NotFittedError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from hinged.journal import InUseError, JournalError
from hinged.server.answers import as_json
from hinged.server.tokens import TokenFileError

__all__ = ["HANDLERS", "Refused", "answer_to", "bad_name", "refusal_of"]

log = logging.getLogger("hinged.server")
MODELS = "/v1/models/"
UNKNOWN_PATH = {
    404: "there is nothing at this path; /openapi.json lists what there is.",
    405: "this path has other methods.",
}


class Refused(Exception):  # noqa: N818 — an answer, not a fault
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers


def bad_name(name: str) -> Refused:
    """The answer where a name cannot be given to a model."""
    return Refused(
        422,
        "a model's name has 1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or a digit; "
        f"got {name[:100]!r}.",
    )


def refusal_of(problem: Exception) -> Refused:
    """Status and sentence of anything that was raised.

    Examples
    --------
    >>> refusal_of(ValueError("C must be positive; got C=-1.")).status
    422
    """
    if isinstance(problem, Refused):
        return problem
    if isinstance(problem, ClientDisconnect):
        return Refused(400, "the client was gone before its request had come.")
    if isinstance(problem, ValidationError):
        return _malformed(problem)
    if isinstance(problem, NotFittedError):
        return Refused(409, "this model has learnt nothing yet; teach it first.")
    if isinstance(problem, JournalError | TokenFileError):
        return _of_the_server(problem)
    if isinstance(problem, TypeError | ValueError | KeyError | IndexError | OverflowError):
        return Refused(422, str(problem.args[0]) if problem.args else "this cannot be read.")
    if isinstance(problem, RecursionError):
        return Refused(422, "this is nested too deeply.")
    if isinstance(problem, MemoryError):
        return Refused(507, "there is not enough memory for this; nothing that was acknowledged is lost.")
    log.error("a request failed", exc_info=problem)
    return Refused(500, "the server failed at this; its log says more. Nothing that was acknowledged is lost.")


def _of_the_server(problem: Exception) -> Refused:
    """Trouble with the server's own files: paths are for its log, not for clients."""
    if isinstance(problem, TokenFileError):  # logged when it was found
        return Refused(503, "the server cannot read its tokens; its log says more.")
    log.error("%s", problem)
    if isinstance(problem, InUseError):
        return Refused(503, "this model is in use by another process; try again later.", {"Retry-After": "1"})
    if "no room left" in str(problem):
        return Refused(507, "there is no room left on the server's disk; nothing that was acknowledged is lost.")
    return Refused(503, "the server cannot read or write this model's files; its log says more.")


def answer_to(problem: Exception) -> Response:
    """The same as an answer."""
    refused = refusal_of(problem)
    return as_json({"error": refused.sentence}, refused.status, refused.headers)


async def _handle(request: Request, problem: Exception) -> Response:
    """What no endpoint answered: an unknown path, another method, a fault outside of them."""
    if isinstance(problem, HTTPException):
        path = request.url.path
        if problem.status_code == 404 and request.method == "PUT" and path.startswith(MODELS):
            return answer_to(bad_name(path.removeprefix(MODELS)))  # it has slashes
        sentence = UNKNOWN_PATH.get(problem.status_code, str(problem.detail))
        return answer_to(Refused(problem.status_code, sentence, dict(problem.headers or {})))
    return answer_to(problem)


HANDLERS: dict[Any, Any] = {HTTPException: _handle, Exception: _handle}


def _malformed(problem: ValidationError) -> Refused:
    """The first thing wrong with a body."""
    error = problem.errors(include_url=False, include_input=False)[0]
    where = " → ".join(map(str, error["loc"])) or "the body"
    return Refused(422, f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}.")
