"""HTML to plain text, in one pass whatever it is given: mail is full of HTML that no parser would accept."""

from __future__ import annotations

import re
from html import unescape

__all__ = ["text_of_html"]

# each alternative takes in all it has looked at, to the end of the text where nothing closes it: time is linear
MARKUP = re.compile(
    r"<!--(?:.*?-->|.*)"
    r"|<(?P<hidden>script|style|title|template)(?![a-z0-9])[^>]*>?(?:.*?</(?P=hidden)[^>]*>?|.*)"
    r"|</?(?P<name>[a-z][a-z0-9]*)[^>]*>?"
    r"|<[!?][^>]*>?",
    re.IGNORECASE | re.DOTALL,
)
HUGE_NUMBER = re.compile(r"&#(?:[0-9]{8}|x[0-9a-f]{8})[0-9a-f]*;?", re.IGNORECASE)  # no character has it
WITHIN_WORDS = frozenset(("a", "abbr", "b", "big", "em", "font", "i", "s", "small", "span", "strong", "u", "wbr"))


def text_of_html(html: str) -> str:
    """The words a reader would see; tags part them, except those that only change how a word looks.

    Examples
    --------
    >>> text_of_html("<p>Tax <b>for</b>m &amp; <style>p {color: red}</style>cake<br>2 < 3")
    ' Tax form & cake 2 < 3'
    """
    return unescape(HUGE_NUMBER.sub("\ufffd", MARKUP.sub(_between, html)))


def _between(tag: re.Match[str]) -> str:
    """What takes the place of a tag: nothing for a comment and within words, else a space."""
    if tag[0].startswith("<!--") or (tag["name"] or "").lower() in WITHIN_WORDS:
        return ""
    return " "
