"""The page of the reference with every request of the service, from its OpenAPI description."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tables import table

from hinged.service.endpoint import describe
from hinged.service.routes import ENDPOINTS

__all__ = ["write"]

FRONT = """# HTTP, from the service

Every request that `hinged serve` answers, from its OpenAPI description, which a running service gives at
`/openapi.json`. [The service](../service.md) explains them.
"""


def write(path: Path) -> None:
    """Write the page."""
    described: dict[str, Any] = describe(ENDPOINTS)
    operations = [
        (f"{method.upper()} {address}", operation)
        for address, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    asked = [[f"[`{what}`](#{place(operation)})", operation["summary"]] for what, operation in operations]
    failures = {status: told["description"] for _, one in operations for status, told in answers(one, 400, 599)}
    lines = [
        FRONT,
        table(["request", "what it does"], asked),
        *(line for what, operation in operations for line in request(what, operation)),
        "\n## Errors\n\nWhat needs a token may answer one of these, with a [Failure](#failure).\n",
        table(["status", "meaning"], [[status, failures[status]] for status in sorted(failures)]),
        "\n## Bodies\n",
        *(line for name, one in sorted(described["components"]["schemas"].items()) for line in body(name, one)),
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def request(what: str, operation: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about one request."""
    yield f"\n({place(operation)})=\n\n## `{what}`\n\n{operation['summary']}\n"
    takes = content(operation.get("requestBody", {}))
    if takes:
        yield f"- takes {takes}"
    for status, told in answers(operation, 200, 399):
        given = content(told)
        yield f"- answers {status}{' with ' * bool(given)}{given}"
    yield "- needs a token\n" if operation.get("security") else "- needs no token\n"


def answers(operation: dict[str, Any], low: int, high: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the statuses of a request between two numbers, and what they mean."""
    return [(status, told) for status, told in operation["responses"].items() if low <= int(status) <= high]


def place(operation: dict[str, Any]) -> str:
    """Return the anchor of a request; bodies have those of their names."""
    return f"request-{operation['operationId'].replace('_', '-')}"


def content(told: dict[str, Any]) -> str:
    """Return what a body is: a schema below, or its media type with an example."""
    for media, kind in told.get("content", {}).items():
        if "$ref" in kind.get("schema", {}):
            return kind_of(kind["schema"])
        return f"`{media}`" + (f", such as `{kind['example'].strip()}`" if "example" in kind else "")
    return ""


def body(name: str, schema: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about one kind of body."""
    yield f"\n### {name}\n\n{one_line(schema)}\n"
    rows = [
        [f"`{field}`" + (" (may be left out)" if field not in schema.get("required", []) else ""), meaning(told)]
        for field, told in schema.get("properties", {}).items()
    ]
    yield table(["field", "what it is"], rows)


def meaning(told: dict[str, Any]) -> str:
    """Return the type of a field, what it means, and what holds where it is left out."""
    default = f"Default: `{told['default']!r}`." if told.get("default") is not None else ""
    return ". ".join(filter(None, [kind_of(told), one_line(told), default])).replace("..", ".")


def one_line(told: dict[str, Any]) -> str:
    return " ".join(told.get("description", "").split())


def kind_of(told: dict[str, Any]) -> str:
    """Return the type of a field in a few words."""
    if "$ref" in told:
        name = told["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in told:
        return " or ".join(dict.fromkeys(map(kind_of, told["anyOf"])))
    if told.get("type") == "array":
        return f"list of {kind_of(told.get('items', {}))}"
    if "enum" in told or "const" in told:
        return " or ".join(f"`{one}`" for one in told.get("enum", [told.get("const")]))
    return str(told.get("type", "any value"))
