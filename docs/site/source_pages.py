"""Pages with the sources that the reference links to, a place for each line."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

__all__ = ["line_of", "write"]

SRC = Path(__file__).resolve().parents[2] / "src"
STYLES = ("a11y-high-contrast-light", "a11y-high-contrast-dark")
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{path}</title>
<link rel="stylesheet" href="{up}_static/source.css">
<header><a href="{up}index.html">hinged</a></header>
<main><h1>src/hinged/{path}</h1>
{code}</main>
</html>
"""


def line_of(module: str, name: str) -> tuple[str, int] | None:
    """Return the file in src/hinged of a public name, and the line where it begins; None if it has neither.

    >>> line_of("hinged", "Classifier.fit")[0]
    'estimators/row_learner.py'
    """
    thing: object = import_module(module)
    for part in name.split("."):
        thing = inspect.getattr_static(thing, part, None) if inspect.isclass(thing) else getattr(thing, part, None)
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__
    if isinstance(thing, property):
        thing = thing.fget
    try:
        path = Path(inspect.getsourcefile(inspect.unwrap(thing)) or "")  # type: ignore[arg-type]
        line = inspect.getsourcelines(inspect.unwrap(thing))[1]  # type: ignore[arg-type]
    except TypeError:
        return None
    return (path.relative_to(SRC / "hinged").as_posix(), line) if path.is_relative_to(SRC) else None


def write(site: Path, paths: set[str]) -> None:
    """Write the pages of these files of src/hinged into the folder `source` of a site."""
    light, dark = (HtmlFormatter(style=style).get_style_defs(".highlight") for style in STYLES)
    look = (Path(__file__).parent / "source.css").read_text(encoding="utf-8")
    css = f"{light}\n{look}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    (site / "_static" / "source.css").write_text(css, encoding="utf-8")
    drawn = HtmlFormatter(linenos="inline", lineanchors="line", anchorlinenos=True)
    for path in sorted(paths):
        code = highlight((SRC / "hinged" / path).read_text(encoding="utf-8"), PythonLexer(), drawn)
        there = site / "source" / f"{path}.html"
        there.parent.mkdir(parents=True, exist_ok=True)
        text = PAGE.format(path=path, up="../" * (path.count("/") + 1), code=code)
        there.write_text(text, encoding="utf-8")
