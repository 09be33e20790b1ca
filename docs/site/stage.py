"""Lay out the source of the site: the pages as they are in the repository, with links that fit their new places."""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path

from navigation import FRONT, MADE, NAVIGATION, TUTORIAL, entries, page_name
from notebooks import as_markdown

__all__ = ["ROOT", "stage"]

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
TOUR = "a-tour-in-five-minutes"
#: Code and headings, which stay as they are, or the space between a figure and its unit.
UNIT = re.compile(r"(`[^`]*`|^#.*$)|(?<=\d) (?=%|µs\b|ms\b|[kMG]B\b)", re.MULTILINE)


def stage(folder: Path) -> None:
    """Write the pages and pictures of the site into an empty folder."""
    shutil.copytree(ROOT / "docs" / "images", folder / "images")
    front, tour = without_tour((ROOT / FRONT).read_text(encoding="utf-8"))
    write(folder, FRONT, front, "index.md")
    write(folder, FRONT, tour, TUTORIAL)
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.writelines(map(table_of_contents, NAVIGATION))
    for source, _ in entries():
        if source not in MADE:
            write(folder, source, text_of(folder, source), page_name(source))
        if source.endswith(".ipynb"):
            offer(folder, source)


def text_of(folder: Path, source: str) -> str:
    """Return a page of the repository as Markdown."""
    if source.endswith(".ipynb"):
        return as_markdown(ROOT / source, folder / page_name(source))
    return (ROOT / source).read_text(encoding="utf-8")


def offer(folder: Path, notebook: str) -> None:
    """Put a notebook beside its page, with a link to it."""
    page = folder / page_name(notebook)
    shutil.copy(ROOT / notebook, page.parent)
    with page.open("a", encoding="utf-8") as text:
        text.write(f"\n[The notebook]({Path(notebook).name}), to run and change it.\n")


def without_tour(readme: str) -> tuple[str, str]:
    """Return README.md without its tour, and the tour as a page of its own."""
    before, tour, after = re.split(r"^(?=## A tour in five minutes$|## How fast$)", readme, flags=re.MULTILINE)
    return before + after, re.sub(r"^##(#*) ", r"#\1 ", tour, flags=re.MULTILINE)


def table_of_contents(group: str) -> str:
    """Return the directive that puts a group of pages into the sidebar."""
    listed = [entry if isinstance(entry, tuple) else (entry, "") for entry in NAVIGATION[group]]
    names = [(posixpath.splitext(page_name(source))[0], title) for source, title in listed]
    lines = [f"{title} <{name}>" if title else name for name, title in names]
    return "\n".join(["\n```{toctree}", ":hidden:", f":caption: {group}", "", *lines, "```\n"])


def write(folder: Path, source: str, text: str, name: str) -> None:
    """Write one page: links lead to where their targets are in the site, figures keep their units, code stays."""
    parts = FENCE.split(text)
    parts[::2] = [LINK.sub(lambda found: f"]({moved(folder, found[1], source, name)})", part) for part in parts[::2]]
    parts[::2] = [UNIT.sub(lambda found: found[1] or "\N{NO-BREAK SPACE}", part) for part in parts[::2]]
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(parts), encoding="utf-8")


def moved(folder: Path, target: str, source: str, name: str) -> str:
    """Return a link of the page `source` as it must read in the page `name` of the site."""
    if re.match(r"[a-z]+:", target):
        return target
    path, mark, place = target.partition("#")
    there = posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source
    if there == FRONT and place == TOUR:
        there_name, mark, place = TUTORIAL, "", ""
    elif there in {FRONT, *(known for known, _ in entries())} or there.startswith("docs/images/"):
        there_name = page_name(there)
    elif (folder / name).with_name(path).is_file():  # a picture of a notebook
        return target
    else:  # not a page: it is offered as a file
        there_name = there
        (folder / there).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / there, folder / there)
    if there_name == name:
        return mark + place
    return posixpath.relpath(there_name, posixpath.dirname(name) or ".") + mark + place
