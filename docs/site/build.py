"""Build the documentation site from the pages of the repository: `python docs/site/build.py FOLDER`.

Nothing in it is loaded from elsewhere, so it can be read from the disk. Any warning is an error: a link that leads
nowhere, a page that the sidebar does not list, markup that cannot be read.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"  # functions are described, not run

import command_reference
import http_reference
import python_reference
from navigation import COMMANDS, HTTP
from sphinx.cmd.build import main as sphinx_build
from stage import stage

HERE = Path(__file__).resolve().parent
#: What the theme leaves to be said to those who use a keyboard or a screen reader.
ACCESSIBLE = (
    ("<pre>", '<pre tabindex="0">'),  # what scrolls sideways takes the focus, so that arrow keys scroll it
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('<th class="head"><p></p></th>', "<td></td>"),
    ('class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    ('<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="On this page">'),
    ('<div id="search-results">', '<h1>Search</h1><div id="search-results">'),
)
#: Parameters below each other, which Sphinx writes as the second halves of a list of definitions.
PARAMETERS = re.compile(r"<dl>\n((?:<dd>.*</dd>\n)+)</dl>")


def each_on_a_line(parameters: str) -> str:
    return parameters.replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")


def build(folder: Path) -> int:
    """Write the site into a folder; return 0 if all is well."""
    with tempfile.TemporaryDirectory(prefix="hinged-site-") as place:
        source = Path(place) / "source"
        source.mkdir()
        stage(source)
        (source / "reference").mkdir()
        python_reference.write(source / "reference")
        command_reference.write(source / COMMANDS)
        http_reference.write(source / HTTP)
        known = str(Path(place) / "doctrees")
        asked = ["-q", "-b", "html", "-W", "--keep-going", "-c", str(HERE), "-d", known, str(source), str(folder)]
        failed = sphinx_build(asked)
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for old, new in ACCESSIBLE:
            text = text.replace(old, new)
        text = PARAMETERS.sub(lambda found: f'<span class="sig-lines">{each_on_a_line(found[1])}</span>', text)
        page.write_text(text, encoding="utf-8")
    return failed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/site/build.py FOLDER")
    sys.exit(build(Path(sys.argv[1]).resolve()))
