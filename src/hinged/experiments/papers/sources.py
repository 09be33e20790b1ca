"""Which sources a module is made of: those it imports, directly or through others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

__all__ = ["sources_of"]

ROOT = Path(__file__).parents[3]  # holds the folder `hinged`


@lru_cache
def sources_of(module: str) -> tuple[Path, ...]:
    """The files of a module of this package and of all that it imports from it, sorted.

    Packages on the way to a module are left out where nothing is asked of them: importing one study runs the list of
    all studies, but does not depend on it.

    Examples
    --------
    >>> [path.name for path in sources_of("hinged.experiments.papers.study")]
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
    if module.split(".")[0] != "hinged":
        return None
    place = ROOT.joinpath(*module.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
