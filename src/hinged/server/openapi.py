"""The OpenAPI description, made of the endpoints themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from hinged import __version__
from hinged.server.answers import NDJSON
from hinged.server.endpoint import Endpoint
from hinged.server.models import NAME
from hinged.server.schemas import Failure

__all__ = ["describe"]

PLACE = "#/components/schemas/"
WRONG = {
    400: "broken JSON",
    401: "no token, or one nobody knows",
    403: "a token for something else",
    404: "no such model",
    409: "not as things are: another model of that name, or nothing learnt yet",
    413: "too large",
    422: "not what this takes",
    429: "too many requests",
    503: "the model is in use elsewhere, or cannot be read",
    507: "the disk is full",
}


def describe(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """OpenAPI 3.1 of the endpoints."""
    endpoints = list(endpoints)
    held = {kind for said in endpoints for kind in (said.takes, said.gives) if isinstance(kind, type)} | {Failure}
    ordered = sorted(held, key=lambda kind: kind.__name__)
    _, schemas = models_json_schema([(kind, "validation") for kind in ordered], ref_template=f"{PLACE}{{model}}")
    paths: dict[str, dict[str, Any]] = {}
    for said in endpoints:
        paths.setdefault(said.path, {})[said.method.lower()] = _operation(said)
    return {
        "openapi": "3.1.0",
        "info": {"title": "hinged", "version": __version__, "summary": "Models that learn one example at a time."},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(said: Endpoint) -> dict[str, Any]:
    good = {str(status): {"description": "as asked", **_content(said.gives)} for status in said.statuses}
    wrong = {str(status): {"description": what, **_content(Failure)} for status, what in WRONG.items()}
    operation: dict[str, Any] = {
        "operationId": said.answer.__name__,
        "summary": said.says.splitlines()[0],
        "responses": {**good, **(wrong if said.scope else {})},
    }
    if "{name}" in said.path:
        name = {"type": "string", "pattern": NAME}
        operation["parameters"] = [{"name": "name", "in": "path", "required": True, "schema": name}]
    if said.takes is not None:
        operation["requestBody"] = {"required": True, **_content(said.takes)}
    if said.scope:
        operation["security"] = [{"token": []}]
    return operation


def _content(kind: type[BaseModel] | str | None) -> dict[str, Any]:
    if kind is None:
        return {}
    if isinstance(kind, type):
        return {"content": {"application/json": {"schema": {"$ref": PLACE + kind.__name__}}}}
    if kind.startswith("{"):
        return {"content": {NDJSON: {"schema": {"type": "string"}, "example": kind}}}
    return {"content": {kind: {}}}
