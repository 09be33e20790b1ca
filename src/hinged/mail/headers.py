"""Header fields as text: encoded words, bytes of any charset, addresses, Message-IDs, dates; nothing raises."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header
from email.utils import mktime_tz, parsedate_tz

__all__ = ["addresses_in", "decoded", "ids_in", "moment", "topic_of"]

LONGEST = 4000  # characters of a field that are read: some have thousands of recipients
BETWEEN_ADDRESSES = re.compile(r"[\s<>,;:\"()\[\]]+")
ID = re.compile(r"<([^<>\s]{1,998})>")
REPLY = re.compile(r"(?:\s*(?:re|aw|fw|fwd|wg|sv|vs|rv|tr|ref|antw|odp|r|i)\s*(?:\[\d+\])?\s*:)+", re.IGNORECASE)
EARLIEST, LATEST = 0.0, 4102444800.0  # 1970 to 2100: other dates are taken to be wrong


def decoded(value: str) -> str:
    """Decode a field: =?encoded words?=, bytes beyond ASCII as UTF-8 or Latin-1, on one line.

    Examples
    --------
    >>> decoded("=?utf-8?q?Caf=C3=A9?= at\\r\\n noon"), decoded("=?what?x?!?=")
    ('Café at noon', '=?what?x?!?=')
    """
    value = readable(value[:LONGEST])
    if "=?" in value:
        with suppress(MessageError, ValueError, LookupError):  # an invalid encoded word stays as it is
            value = "".join(
                piece if isinstance(piece, str) else text_of_bytes(piece, charset)
                for piece, charset in decode_header(value)
            )
    return " ".join(value.split())


def readable(value: str) -> str:
    """Decode text whose bytes beyond ASCII a parser kept as surrogates."""
    if value.isascii():
        return value
    return text_of_bytes(value.encode("utf-8", "surrogateescape"), None)


def text_of_bytes(data: bytes, charset: str | None) -> str:
    """Decode bytes in a charset, else in UTF-8, else in Latin-1, which accepts everything.

    Examples
    --------
    >>> text_of_bytes(b"caf\\xe9", "utf-8"), text_of_bytes(b"caf\\xc3\\xa9", "no-such-charset")
    ('café', 'café')
    """
    for name in (charset, "utf-8"):
        if name and name.lower() not in ("unknown-8bit", "idna", "punycode"):  # the latter two take quadratic time
            try:
                text = data.decode(name)
            except (LookupError, ValueError, TypeError):  # TypeError: a codec that gives no text, such as base64
                continue
            if isinstance(text, str) and _is_whole(text):
                return text
    return data.decode("latin-1")


def _is_whole(text: str) -> bool:
    """Return True if the text contains no lone surrogate, which some charsets allow."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def addresses_in(value: str) -> tuple[str, ...]:
    """Return the addresses of a field in lower case, each once.

    Examples
    --------
    >>> addresses_in('"Ann, A." <Ann@Example.com>, bob@example.org (Bob)')
    ('ann@example.com', 'bob@example.org')
    """
    words = (word.rstrip("@").lower() for word in BETWEEN_ADDRESSES.split(value) if "@" in word)
    return tuple(dict.fromkeys(word for word in words if word.rfind("@") > 0))


def ids_in(value: str) -> tuple[str, ...]:
    """Return the Message-IDs of a field such as References, in order.

    Examples
    --------
    >>> ids_in("<a@x> <b@y>\\r\\n <a@x>")
    ('a@x', 'b@y')
    """
    return tuple(dict.fromkeys(map(plain_id, ID.findall(value))))


def plain_id(name: str) -> str:
    """Return a Message-ID with a question mark for each byte beyond ASCII, which no valid one has.

    Examples
    --------
    >>> plain_id("caf\\udce9@x")
    'caf?@x'
    """
    return name.encode("ascii", "replace").decode()


def topic_of(subject: str) -> str:
    """Return a subject without prefixes such as "Re:" and "Fwd:": what the messages of a thread share.

    Examples
    --------
    >>> topic_of("Re: AW: [2] tax  form"), topic_of("Fwd: Re:")
    ('[2] tax form', '')
    """
    found = REPLY.match(subject)
    return " ".join(subject[found.end() if found else 0 :].lower().split())


def moment(values: Iterable[str]) -> float | None:
    """Return the first valid date among fields (in a Received field after the last semicolon), as seconds since 1970.

    Examples
    --------
    >>> moment(["no date", "from a by b; Thu, 1 Jan 1970 01:00:10 +0100"])
    10.0
    """
    for value in values:
        try:
            parts = parsedate_tz(value.rpartition(";")[2][:100])
            seconds = None if parts is None else float(mktime_tz(parts))
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
        if seconds is not None and EARLIEST <= seconds <= LATEST:
            return seconds
    return None
