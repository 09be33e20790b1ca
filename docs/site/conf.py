"""Settings of Sphinx for the documentation site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import source_pages
from numpy.typing import ArrayLike, DTypeLike
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

project = "hinged"
html_title = "hinged"
language = "en"
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx.ext.linkcode", "sphinx_copybutton", "mathml"]
html_math_renderer = "mathml"
default_role = "py:obj"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
toc_object_entries = False
maximum_signature_line_length = 88
myst_heading_anchors = 6
smartquotes = False
templates_path: list[str] = []

html_theme = "furo"
html_static_path = [str(Path(__file__).with_name("static"))]
html_css_files = ["site.css"]
html_logo = str(Path(__file__).with_name("static") / "hinge.svg")
html_favicon = str(Path(__file__).with_name("static") / "hinge.svg")
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark-colorblind"
TYPES = {stringify_annotation(ArrayLike, "smart"): "ArrayLike", stringify_annotation(DTypeLike, "smart"): "DTypeLike"}
LINKED: set[str] = set()  # files of the package that the reference links to
html_theme_options: dict[str, Any] = {"top_of_page_buttons": []}


def plain_text(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Bars in a docstring are absolute values, and the pages it names are pages of this site."""
    for number, line in enumerate(lines):
        if not any(mark in line for mark in (">>>", "``", ":math:")):
            line = re.sub(r"\|(\w[^|`]*)\|", r"\|\1\|", line)
        lines[number] = re.sub(r"`?\bdocs/(\w+)\.md\b`?", r":doc:`/\1`", line)


def short_types(
    app: Sphinx, what: str, name: str, thing: object, options: object, arguments: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """NumPy's unions have names."""
    for long, short in TYPES.items():
        arguments = arguments and arguments.replace(long, short)
        result = result and result.replace(long, short)
    return arguments, result


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Return the address of a name's source, relative to the pages of the reference."""
    found = source_pages.line_of(info["module"], info["fullname"])
    if found is None:
        return None
    LINKED.add(found[0])
    return f"../source/{found[0]}.html#line-{found[1]}"


def write_sources(app: Sphinx, problem: Exception | None) -> None:
    source_pages.write(Path(app.outdir), LINKED)


def own_members(app: Sphinx, what: str, name: str, thing: object, skip: bool, options: object) -> bool | None:
    """Fields of named tuples are described with their class."""
    return True if (getattr(thing, "__doc__", None) or "").startswith("Alias for field number") else None


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-signature", short_types)
    app.connect("autodoc-process-docstring", plain_text)
    app.connect("autodoc-skip-member", own_members)
    app.connect("build-finished", write_sources)


suppress_warnings = ["misc.highlighting_failure"]  # the lexer of Sieve knows no extensions; it goes on without them
