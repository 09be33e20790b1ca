"""HTML to plain text, in one pass whatever it is given: mail is full of HTML that no parser would accept."""

from __future__ import annotations

import re
from html import unescape

__all__ = ["text_of_html"]

HIDDEN = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "title", "template")}
NAME = re.compile(r"/?([a-zA-Z][a-zA-Z0-9]*)")
WITHIN_WORDS = frozenset(("a", "abbr", "b", "big", "em", "font", "i", "s", "small", "span", "strong", "u", "wbr"))


def text_of_html(html: str) -> str:
    """The words a reader would see; tags part them, except those that only change how a word looks.

    Examples
    --------
    >>> text_of_html("<p>Tax <b>for</b>m &amp; <style>p {color: red}</style>cake<br>2 < 3")
    ' Tax form & cake 2 < 3'
    """
    pieces: list[str] = []
    at = 0
    while (begin := html.find("<", at)) >= 0:
        pieces.append(html[at:begin])
        if html.startswith("<!--", begin):
            at = _after(html, "-->", begin + 4)
            continue
        name = NAME.match(html, begin + 1)
        if name is None and html[begin + 1 : begin + 2] not in ("!", "?"):
            pieces.append("<")
            at = begin + 1
            continue
        at = _after(html, ">", begin + 1)
        tag = "" if name is None else name[1].lower()
        if tag in HIDDEN and html[begin + 1] != "/":
            closing = HIDDEN[tag].search(html, at)
            at = len(html) if closing is None else _after(html, ">", closing.end())
        if tag not in WITHIN_WORDS:
            pieces.append(" ")
    pieces.append(html[at:])
    return unescape("".join(pieces))


def _after(html: str, mark: str, begin: int) -> int:
    """The place behind the next mark; the end where there is none."""
    found = html.find(mark, begin)
    return len(html) if found < 0 else found + len(mark)
