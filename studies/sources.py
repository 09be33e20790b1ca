"""The source files that a module depends on: those it imports, directly or indirectly."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import hinged

__all__ = ["sources_of"]

#: Package → the folder that contains it.
ROOTS = {"studies": Path(__file__).parents[1], "hinged": Path(hinged.__file__).parents[1]}


@lru_cache
def sources_of(module: str) -> tuple[Path, ...]:
    """The files of a module, and of all modules of `studies` and `hinged` that it imports, sorted.

    Parent packages are left out unless a name is imported from them: importing one study runs `studies/__init__.py`,
    but the result does not depend on it.

    Examples
    --------
    >>> [path.name for path in sources_of("studies.study")]
    ['study.py']
    """
    found: dict[str, Path] = {}
    todo = [module]
    while todo:
        name = todo.pop()
        path = _file(name)
        if path is None or name in found:
            continue
        found[name] = path
        todo += _imports(path)
    return tuple(sorted(found.values()))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if _file(inner) is not None else node.module


def _file(module: str) -> Path | None:
    root = ROOTS.get(module.split(".")[0])
    if root is None:
        return None
    place = root.joinpath(*module.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
