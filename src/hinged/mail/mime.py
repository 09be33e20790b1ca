"""The parts of a message, parsed in linear time: mail may be crafted to stall its reader.

Python's email package takes quadratic time for long parameters and for nested parts. This module reads what the
assistant needs of a message, within the limits below.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from urllib.parse import unquote_to_bytes

from hinged.mail.headers import readable, text_of_bytes

__all__ = ["MimePart", "read_part", "text_of_html"]

Fields = dict[str, list[str]]

HEAD, PART_HEAD = 64 * 1024, 4 * 1024  # bytes of header fields that are read, of a message and of a part
MOST_LINES = 2000  # of header fields
LONGEST_PARAMETERS = 2000  # characters
MOST_SECTIONS = 20  # of one parameter (RFC 2231)
MOST_BOUNDARIES = 1000  # lines of a message that look like a boundary

FIELD = re.compile(rb"([\x21-\x39\x3b-\x7e]+):")
BLANK = re.compile(rb"\r?\n\r?\n|\r\r")
PIECE = re.compile(r'(?:[^;"]+|"(?:[^"\\]|\\.)*"?)+', re.DOTALL)
# HTML: each alternative consumes all it has matched, to the end of the text if nothing closes it: time is linear
MARKUP = re.compile(
    r"<!--(?:.*?-->|.*)"
    r"|<(?P<hidden>script|style|title|template)(?![a-z0-9])[^>]*>?(?:.*?</(?P=hidden)[^>]*>?|.*)"
    r"|</?(?P<name>[a-z][a-z0-9]*)[^>]*>?"
    r"|<[!?][^>]*>?",
    re.IGNORECASE | re.DOTALL,
)
HUGE_NUMBER = re.compile(r"&#(?:[0-9]{8}|x[0-9a-f]{8})[0-9a-f]*;?", re.IGNORECASE)  # not a character
WITHIN_WORDS = frozenset(("a", "abbr", "b", "big", "em", "font", "i", "s", "small", "span", "strong", "u", "wbr"))
UUENCODED = ("x-uuencode", "uuencode", "uue", "x-uue")


@dataclass
class ParseBudget:
    """How many parts and boundaries of a message may still be read."""

    parts: int
    boundaries: int = MOST_BOUNDARIES


@dataclass(frozen=True)
class MimePart:
    """Header fields by name in lower case, with bytes beyond ASCII as surrogates, and the content after them."""

    fields: Fields
    content: bytes
    default: str = "text/plain"

    @property
    def kind(self) -> str:
        """The type, such as text/plain."""
        kind = self._type[0]
        return kind if kind.count("/") == 1 else "text/plain" if kind else self.default

    @property
    def name(self) -> str | None:
        """The file name; None if it has none."""
        named = _parameter(self._disposition[1], "filename")
        return _parameter(self._type[1], "name") if named is None else named

    @property
    def is_attached(self) -> bool:
        """True if it is a file, not text to be read."""
        return self.name is not None or self._disposition[0] == "attachment"

    @property
    def charset(self) -> str | None:
        """The declared charset."""
        return _parameter(self._type[1], "charset")

    def data(self) -> bytes:
        """Return the content with its transfer encoding decoded, as far as possible."""
        encoding = self.fields.get("content-transfer-encoding", [""])[0].strip().lower()
        if encoding == "quoted-printable":
            return binascii.a2b_qp(self.content)
        if encoding == "base64":
            return _from_base64(self.content)
        return _from_uu(self.content) if encoding in UUENCODED else self.content

    def parts(self, budget: ParseBudget) -> Iterator[MimePart]:
        """Yield the parts between the boundaries of a multipart; none if there are no boundaries."""
        boundary = _parameter(self._type[1], "boundary")
        default = "message/rfc822" if self.kind == "multipart/digest" else "text/plain"
        if boundary is not None and self.kind.startswith("multipart/"):
            for content in _between(self.content, boundary.rstrip().encode("utf-8", "surrogateescape"), budget):
                if budget.parts <= 0:
                    return
                yield read_part(content, PART_HEAD, default)

    @cached_property
    def _type(self) -> tuple[str, dict[str, str]]:
        return parameters(self.fields.get("content-type", [""])[0])

    @cached_property
    def _disposition(self) -> tuple[str, dict[str, str]]:
        return parameters(self.fields.get("content-disposition", [""])[0])


def read_part(data: bytes, most: int = HEAD, default: str = "text/plain") -> MimePart:
    """Split header fields from content; the first line that is not a field begins the content.

    Examples
    --------
    >>> part = read_part(b"Subject: tax\\n form\\nContent-Type: text/html; charset=utf-8\\n\\n<p>Due")
    >>> part.fields["subject"], part.kind, part.charset, part.content
    (['tax\\n form'], 'text/html', 'utf-8', b'<p>Due')
    """
    fields: dict[str, list[list[str]]] = {}
    last: list[str] | None = None
    at = 0
    for number, line in enumerate(data[:most].splitlines(keepends=True)):
        if at + len(line) == most < len(data) or number == MOST_LINES:  # skip the rest of the fields
            blank = BLANK.search(data, max(0, at - 1))
            return MimePart(_joined(fields), data[blank.end() :] if blank else b"", default)
        found = FIELD.match(line)
        if line[:1] in (b" ", b"\t"):
            if last is not None:
                last.append(line.decode("ascii", "surrogateescape"))
        elif found:
            value = line[found.end() :].decode("ascii", "surrogateescape")
            last = [value.lstrip(" \t")]
            fields.setdefault(found[1].decode().lower(), []).append(last)
        elif not line.startswith((b"From ", b":")):
            at += len(line) if line in (b"\n", b"\r\n", b"\r") else 0
            break
        at += len(line)
    return MimePart(_joined(fields), data[at:], default)


def _joined(fields: dict[str, list[list[str]]]) -> Fields:
    return {name: ["".join(value).rstrip("\r\n") for value in values] for name, values in fields.items()}


def parameters(value: str) -> tuple[str, dict[str, str]]:
    """Return the first word of a field in lower case, and the parameters after it.

    Examples
    --------
    >>> parameters('Text/Plain; charset="utf-8"; name = a.txt; x="')
    ('text/plain', {'charset': 'utf-8', 'name': 'a.txt', 'x': ''})
    """
    found: dict[str, str] = {}
    word, _, rest = readable(value[:LONGEST_PARAMETERS]).partition(";")
    for piece in PIECE.findall(rest):
        name, equals, text = piece.partition("=")
        if equals:
            found.setdefault(name.strip().lower(), _unquoted(text.strip()))
    return word.strip().lower(), found


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    end = len(text) - 1 if len(text) > 1 and text.endswith('"') else len(text)
    return re.sub(r"\\(.)", r"\1", text[1:end], flags=re.DOTALL)


def _parameter(found: dict[str, str], name: str) -> str | None:
    """Return a parameter, joined if it came in sections, decoded if it has its own charset (RFC 2231).

    Examples
    --------
    >>> _parameter({"name*0*": "utf-8''%C3%9C", "name*1": "bersicht"}, "name")
    'Übersicht'
    """
    if name in found:
        return found[name]
    sections = [f"{name}*", *(f"{name}*{i}{star}" for i in range(MOST_SECTIONS) for star in ("", "*"))]
    charset, whole = None, b""
    for section in filter(found.__contains__, sections):
        text = found[section]
        if section.endswith("*"):
            if not whole and text.count("'") >= 2:
                charset, _, text = text.split("'", 2)
            whole += unquote_to_bytes(text)
        else:
            whole += text.encode("utf-8", "replace")
    return text_of_bytes(whole, charset) if whole else None


def _between(content: bytes, boundary: bytes, budget: ParseBudget) -> Iterator[bytes]:
    """Yield what is between the lines of a boundary, and after the last one if it is not closed."""
    begin = -1
    for at, end, closes in _boundaries(content, boundary, budget):
        if begin >= 0:
            yield content[begin : at - 1 if content[at - 1 : at] == b"\r" else at]
        if closes:
            return
        begin = end + 1
    if begin >= 0:
        yield content[begin:]


def _boundaries(content: bytes, boundary: bytes, budget: ParseBudget) -> Iterator[tuple[int, int, bool]]:
    """Yield where the newline before and the one after each line of a boundary are, and True if it is the closing one.

    Lines that only begin like one count against the budget too.
    """
    mark = b"\n--" + boundary
    at = 0 if content.startswith(mark[1:]) else content.find(mark)
    while at >= 0 and budget.boundaries > 0 and boundary:
        budget.boundaries -= 1
        behind = at + len(mark) - (0 if content.startswith(mark, at) else 1)
        end = content.find(b"\n", behind)
        end = len(content) if end < 0 else end
        rest = content[behind : min(end, behind + 100)].strip()
        is_one = rest in (b"", b"--") and end - behind < 100
        if is_one:
            yield at, end, rest == b"--"
        at = content.find(mark, end if is_one else behind)


def _from_base64(content: bytes) -> bytes:
    for padding in (b"", b"=="):
        try:
            return binascii.a2b_base64(content + padding)
        except binascii.Error:
            continue
    return content


def _from_uu(content: bytes) -> bytes:
    lines = content.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith(b"begin ")), len(lines))
    try:
        return b"".join(binascii.a2b_uu(line) for line in lines[begin + 1 :] if line not in (b"end", b"")) or content
    except binascii.Error:
        return content


def text_of_html(html: str) -> str:
    """Return the visible text of HTML; tags separate words, except those that only change their style.

    Examples
    --------
    >>> text_of_html("<p>Tax <b>for</b>m &amp; <style>p {color: red}</style>cake<br>2 < 3")
    ' Tax form & cake 2 < 3'
    """
    return unescape(HUGE_NUMBER.sub("\ufffd", MARKUP.sub(_in_place_of, html)))


def _in_place_of(tag: re.Match[str]) -> str:
    """Return the replacement of a tag: nothing for a comment or within words, else a space."""
    if tag[0].startswith("<!--") or (tag["name"] or "").lower() in WITHIN_WORDS:
        return ""
    return " "
