"""A path of the service, said once: what it takes and gives, who may call it, and the function that answers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hinged.server.errors import Refused, answer_to, bad_name
from hinged.server.models import NAME, Models, unknown

__all__ = ["Call", "Endpoint", "endpoint", "route_of"]


@dataclass
class Call:
    """A request that is allowed, with what its endpoint takes."""

    request: Request
    models: Models
    name: str
    body: Any
    size: int  # bytes of the body


Answer = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True)
class Endpoint:
    """A path and what is known of it.

    Attributes
    ----------
    method, path : of HTTP
    answer : the function; its docstring is the description
    scope : what a token must allow, on the model that the path names, else on all; None where none is needed
    takes : what the body holds, None for none, or an example of a line where it is a stream
    gives : what the answer holds, or the media type of bytes
    statuses : of good answers, the usual one first
    """

    method: str
    path: str
    answer: Answer
    scope: str | None
    takes: type[BaseModel] | str | None
    gives: type[BaseModel] | str | None
    statuses: tuple[int, ...]

    @property
    def says(self) -> str:
        """What it does, in words."""
        return inspect.getdoc(self.answer) or ""


def endpoint(
    method: str,
    path: str,
    scope: str | None = None,
    takes: type[BaseModel] | str | None = None,
    gives: type[BaseModel] | str | None = None,
    statuses: tuple[int, ...] = (200,),
) -> Callable[[Answer], Endpoint]:
    """Make an endpoint of a function."""
    return lambda answer: Endpoint(method, path, answer, scope, takes, gives, statuses)


def route_of(said: Endpoint) -> Route:
    """The endpoint as Starlette routes it."""
    takes = said.takes if isinstance(said.takes, type) else None
    named = "{name}" in said.path

    async def serve(request: Request) -> Response:
        try:
            state = request.app.state
            name = request.path_params["name"] if named else "*"
            if said.scope is not None:
                state.access.check(request, name, said.scope)
            if named and not re.fullmatch(NAME, name):
                raise bad_name(name) if said.method == "PUT" else unknown(name)
            data = await _body_of(request, state.settings.max_body) if takes is not None else b""
            body = takes.model_validate(_json_of(data)) if takes is not None else None
            return await said.answer(Call(request, state.models, name, body, len(data)))
        except Exception as problem:
            return answer_to(problem)

    return Route(said.path, serve, methods=[said.method])


async def _body_of(request: Request, most: int) -> bytes:
    """The body, counted while it comes."""
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > most:
            raise Refused(413, f"the body is too large; {most:,} bytes are allowed. Send less at a time, or a stream.")
        pieces.append(piece)
    return b"".join(pieces)


def _json_of(data: bytes) -> Any:
    try:
        body = from_json(data, allow_inf_nan=False)
    except ValueError as problem:
        raise Refused(400, f"the body is not JSON ({problem}).") from None
    if type(body) is not dict:
        raise Refused(422, "the body must be an object.")
    return body
