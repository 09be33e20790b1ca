"""Pages of the reference that Sphinx fills from docstrings: one for each public module, one for each estimator."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

__all__ = ["write"]

ROOT = Path(__file__).resolve().parents[2]
#: Members that come from these are no news to the reader of a class.
PLAIN = "object, tuple, dict, str, Enum, Exception, BaseException, RuntimeError, OSError, ValueError, TypeError"


def write(folder: Path) -> None:
    """Write python.rst, which leads to all others, into a folder."""
    modules = public_modules()
    lines = [
        *heading("Python, from the code"),
        "Public modules, with the docstrings, types and sources of all that is in them. `[source]` leads to the line.",
        "The `reference by topic </api>` has more examples.".replace("`reference", ":doc:`reference"),
        "",
        *(f":doc:`{module}`\n    {what}\n" for module, what in modules),
        *contents(module for module, _ in modules),
    ]
    (folder / "python.rst").write_text("\n".join(lines), encoding="utf-8")
    seen: dict[int, str] = {}
    for module, _ in modules:
        (folder / f"{module}.rst").write_text("\n".join(module_page(folder, module, seen)), encoding="utf-8")


def public_modules() -> list[tuple[str, str]]:
    """Return the public modules and what they hold, as docs/stability.md lists them."""
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(hinged[.\w]*)` \| (.*) \|$", page, re.MULTILINE)


def module_page(folder: Path, module: str, seen: dict[int, str]) -> list[str]:
    """Return the page of a module. The classes of `hinged` have pages of their own, which are written here too."""
    package = import_module(module)
    names = [name for name in package.__all__ if not inspect.ismodule(getattr(package, name))]
    lines = [*heading(module), *(package.__doc__ or "").strip().splitlines(), "", f".. currentmodule:: {module}", ""]
    if module != "hinged":
        return [*lines, *(line for name in names for line in directive(module, name, getattr(package, name), seen))]
    pages = [f"{module}.{name}" for name in names]
    for name, page in zip(names, pages, strict=True):
        thing = getattr(package, name)
        text = [*heading(page), *overview(page, thing), *directive(module, name, thing, seen)]
        (folder / f"{page}.rst").write_text("\n".join(text), encoding="utf-8")
    entries = [
        f":doc:`{page}`\n    {summary(getattr(package, name))}\n" for name, page in zip(names, pages, strict=True)
    ]
    return [*lines, *entries, *contents(pages)]


def summary(thing: object) -> str:
    """Return the first line of a docstring; a version has none."""
    return (inspect.getdoc(thing) or "").partition("\n")[0] if callable(thing) else "The version, a string."


def directive(module: str, name: str, thing: object, seen: dict[int, str]) -> list[str]:
    """Return the lines by which Sphinx describes a class or function. What two modules hold is described once."""
    home = seen.setdefault(id(thing), f"{module}.{name}")
    if home != f"{module}.{name}":
        return [f".. py:data:: {name}", "", f"   The same as :py:obj:`{home}`.", ""]
    if not callable(thing):
        return [f".. autodata:: {module}.{name}", "   :no-value:", ""]
    if not inspect.isclass(thing):
        return [f".. autofunction:: {module}.{name}", ""]
    options = [":members:", f":inherited-members: {PLAIN}"]
    return [f".. autoclass:: {module}.{name}", *(f"   {option}" for option in options), ""]


def overview(page: str, thing: object) -> list[str]:
    """Return a line with links to the methods of a class, own and inherited."""
    ours = [base for base in getattr(thing, "__mro__", ()) if base.__module__.startswith("hinged")]
    names = {name for base in ours for name, member in vars(base).items() if callable(member)}
    links = [f":py:meth:`~{page}.{name}`" for name in sorted(names) if not name.startswith("_")]
    return [f"Methods: {', '.join(links)}.", ""] if links else []


def heading(title: str) -> list[str]:
    return [title, "=" * len(title), ""]


def contents(names: Iterable[str]) -> list[str]:
    return ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name in names), ""]
