"""Endpoints: each is declared once, with its body, response and scope, then routed and described for OpenAPI."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hinged import __version__
from hinged.service.models import NAME, Models, unknown
from hinged.service.responses import NDJSON, Refused, bad_name, response_to
from hinged.service.schemas import Failure

__all__ = ["Call", "Endpoint", "describe", "endpoint", "route_of"]

Body = TypeVar("Body", bound=BaseModel)
PLACE = "#/components/schemas/"
WRONG = {
    400: "broken JSON",
    401: "no token, or an unknown one",
    403: "the token does not allow this",
    404: "no such model",
    409: "conflict: another model of that name, or nothing learnt yet",
    413: "too large",
    422: "invalid request",
    429: "too many requests",
    503: "the model is in use by another process, or cannot be read",
    507: "the disk is full",
}


@dataclass
class Call:
    """An authorized request with its validated body."""

    request: Request
    models: Models
    name: str
    body: BaseModel | None
    size: int  # bytes of the body

    def body_as(self, kind: type[Body]) -> Body:
        """Return the body, which the endpoint has declared to be of this kind."""
        assert isinstance(self.body, kind)
        return self.body


Answer = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True)
class Endpoint:
    """A declared endpoint.

    Attributes
    ----------
    method, path : HTTP method and path
    answer : the function; its docstring is the description
    scope : scope that a token needs on the model in the path, or on all models; None if no token is needed
    takes : model of the body, None for no body, or an example line of a stream
    gives : model of the response, or a media type
    statuses : status codes of success, the usual one first
    """

    method: str
    path: str
    answer: Answer
    scope: str | None
    takes: type[BaseModel] | str | None
    gives: type[BaseModel] | str | None
    statuses: tuple[int, ...]

    @property
    def summary(self) -> str:
        """The first line of its description."""
        return (inspect.getdoc(self.answer) or "").partition("\n")[0]


def endpoint(
    method: str,
    path: str,
    scope: str | None = None,
    takes: type[BaseModel] | str | None = None,
    gives: type[BaseModel] | str | None = None,
    statuses: tuple[int, ...] = (200,),
) -> Callable[[Answer], Endpoint]:
    """Decorator that declares an HTTP endpoint."""
    return lambda answer: Endpoint(method, path, answer, scope, takes, gives, statuses)


def route_of(declared: Endpoint) -> Route:
    """Return the Starlette route of an endpoint."""
    takes = declared.takes if isinstance(declared.takes, type) else None
    named = "{name}" in declared.path

    async def serve(request: Request) -> Response:
        try:
            state = request.app.state
            name = request.path_params["name"] if named else "*"
            if declared.scope is not None:
                state.access.check(request, name, declared.scope)
            if named and not re.fullmatch(NAME, name):
                raise bad_name(name) if declared.method == "PUT" else unknown(name)
            data = await _body_of(request, state.settings.max_body) if takes is not None else b""
            body = takes.model_validate(_json_of(data)) if takes is not None else None
            return await declared.answer(Call(request, state.models, name, body, len(data)))
        except Exception as problem:
            return response_to(problem)

    return Route(declared.path, serve, methods=[declared.method])


async def _body_of(request: Request, most: int) -> bytes:
    """Read the body; refuse it as soon as it is too large."""
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > most:
            raise Refused(413, f"the body is too large; {most:,} bytes are allowed. Send less at a time, or a stream.")
        pieces.append(piece)
    return b"".join(pieces)


def _json_of(data: bytes) -> dict[str, object]:
    try:
        body = from_json(data, allow_inf_nan=False)
    except ValueError as problem:
        raise Refused(400, f"the body is not JSON ({problem}).") from None
    if type(body) is not dict:
        raise Refused(422, "the body must be an object.")
    return body


def describe(endpoints: Iterable[Endpoint]) -> dict[str, object]:
    """Return the OpenAPI 3.1 description of the endpoints."""
    endpoints = list(endpoints)
    held = {kind for declared in endpoints for kind in (declared.takes, declared.gives) if isinstance(kind, type)} | {
        Failure
    }
    ordered = sorted(held, key=lambda kind: kind.__name__)
    _, schemas = models_json_schema([(kind, "validation") for kind in ordered], ref_template=f"{PLACE}{{model}}")
    paths: dict[str, dict[str, object]] = {}
    for declared in endpoints:
        paths.setdefault(declared.path, {})[declared.method.lower()] = _operation(declared)
    return {
        "openapi": "3.1.0",
        "info": {"title": "hinged", "version": __version__, "summary": "Models that learn one example at a time."},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(declared: Endpoint) -> dict[str, object]:
    good = {str(status): {"description": "success", **_content(declared.gives)} for status in declared.statuses}
    wrong = {str(status): {"description": what, **_content(Failure)} for status, what in WRONG.items()}
    operation: dict[str, object] = {
        "operationId": declared.answer.__name__,
        "summary": declared.summary,
        "responses": {**good, **(wrong if declared.scope else {})},
    }
    if "{name}" in declared.path:
        name = {"type": "string", "pattern": NAME}
        operation["parameters"] = [{"name": "name", "in": "path", "required": True, "schema": name}]
    if declared.takes is not None:
        operation["requestBody"] = {"required": True, **_content(declared.takes)}
    if declared.scope:
        operation["security"] = [{"token": []}]
    return operation


def _content(kind: type[BaseModel] | str | None) -> dict[str, object]:
    if kind is None:
        return {}
    if isinstance(kind, type):
        return {"content": {"application/json": {"schema": {"$ref": PLACE + kind.__name__}}}}
    if kind.startswith("{"):
        return {"content": {NDJSON: {"schema": {"type": "string"}, "example": kind}}}
    return {"content": {kind: {}}}
