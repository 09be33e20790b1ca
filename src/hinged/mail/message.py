"""A message as the assistant sees it: who, to whom, about what, in which thread; attachments by name and type only."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from email.message import Message as Parsed
from email.parser import BytesParser
from email.policy import compat32
from typing import Any

from hinged.mail.headers import addresses_in, decoded, ids_in, moment, plain_id, text_of_bytes
from hinged.mail.html import text_of_html

__all__ = ["ENOUGH", "Message", "read_message"]

#: Bytes of a message that are looked at. The rest is attachments, or nothing a reader would get to.
ENOUGH = 256 * 1024
MOST_TEXT = 20_000  # characters of the body that count
MOST_HTML = 100_000  # characters of HTML, most of which is markup
MOST_PARTS, MOST_IDS = 100, 20
LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Message:
    """What a message says, as text.

    Attributes
    ----------
    id : its Message-ID without brackets, or a digest where it has none
    date : seconds since 1970, or None where it does not say
    sender, to, cc, subject, list_id, body : text, "" where there is none
    references : names of earlier messages of its thread, the nearest last
    files : names of attachments
    kinds : their types, such as application/pdf
    """

    id: str
    date: float | None
    sender: str
    to: str
    cc: str
    subject: str
    list_id: str
    references: tuple[str, ...]
    body: str
    files: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def address(self) -> str:
        """The sender's address in lower case, "" where there is none."""
        return next(iter(addresses_in(self.sender)), "")


def read_message(raw: bytes) -> Message:
    """Read a message, however broken; never raises.

    Examples
    --------
    >>> message = read_message(b"From: Ann <ann@example.com>\\nSubject: =?utf-8?q?Caf=C3=A9?=\\n\\nAt noon?\\n")
    >>> message.address, message.subject, message.body
    ('ann@example.com', 'Café', 'At noon?\\n')
    >>> read_message(b"\\x00\\xff").body
    '\\x00ÿ'
    """
    raw = bytes(raw[:ENOUGH])
    try:
        # not policy.default, whose parser of addresses takes long for a long list and raises on some that are broken
        parsed = BytesParser(policy=compat32).parsebytes(raw)
        fields = _fields(parsed)
        body, files, kinds = _content(parsed)
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError):  # what broken MIME does to the parser
        head, _, rest = raw.partition(b"\n\n")
        fields, body, files, kinds = _plain_fields(head), text_of_bytes(rest[:MOST_TEXT], None), (), ()

    def field(name: str) -> str:
        return decoded(fields.get(name, [""])[0])

    references = ids_in(" ".join([*fields.get("references", [])[:1], *fields.get("in-reply-to", [])[:1]]))
    subject = field("subject")
    return Message(
        id=_id(fields, body),
        date=moment([*fields.get("date", []), *fields.get("received", [])]),
        sender=field("from") or field("sender"),
        to=field("to"),
        cc=field("cc"),
        subject=subject,
        list_id=field("list-id"),
        references=references[-MOST_IDS:],
        body=body,
        files=files,
        kinds=kinds,
    )


def _fields(parsed: Parsed) -> dict[str, list[str]]:
    """Values by name in lower case, bytes beyond ASCII still smuggled in."""
    fields: dict[str, list[str]] = {}
    for name, value in parsed.raw_items():
        fields.setdefault(name.lower(), []).append(str(value))
    return fields


def _plain_fields(head: bytes) -> dict[str, list[str]]:
    """Fields read line by line, where nothing better can be had."""
    fields: dict[str, list[str]] = {}
    for line in head.decode("ascii", "surrogateescape").splitlines():
        name, colon, value = line.partition(":")
        if colon and name and not name[0].isspace():
            fields.setdefault(name.lower(), []).append(value.strip())
    return fields


def _id(fields: dict[str, list[str]], body: str) -> str:
    """The Message-ID, or a digest of what stays the same when a message is moved or copied."""
    value = fields.get("message-id", [""])[0]
    found = ids_in(value) or tuple(value.strip(" <>\t").split()[:1])
    if found and len(found[0]) <= LONGEST_ID:
        return plain_id(found[0])
    told = [field for name in ("message-id", "date", "from", "to", "subject") for field in fields.get(name, [""])]
    return "digest:" + hashlib.sha256("\0".join([*told, body]).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _content(parsed: Parsed) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The text of a message, and names and types of its attachments."""
    files: list[str] = []
    kinds: list[str] = []
    left = MOST_PARTS

    def text_of(part: Parsed) -> str:
        nonlocal left
        left -= 1
        kind = part.get_content_type()
        name = part.get_filename()
        attached = name is not None or part.get_content_disposition() == "attachment"
        inside: Any = part.get_payload()
        if isinstance(inside, list) and kind.startswith("multipart/") and not attached:
            texts = [(piece.get_content_type(), text_of(piece)) for piece in inside if left > 0]
            if kind == "multipart/alternative":  # several versions of one text, plain first where there is one
                versions = sorted(texts, key=lambda version: version[0] != "text/plain")
                return next((text for _, text in versions if text.strip()), "")
            return "\n".join(text for _, text in texts if text)
        if attached or kind not in ("text/plain", "text/html"):
            if name:
                files.append(decoded(str(name))[:LONGEST_ID])
            kinds.append(decoded(kind)[:LONGEST_ID])
            return ""
        return _text(part, kind)

    return text_of(parsed)[:MOST_TEXT], tuple(files), tuple(kinds)


def _text(part: Parsed, kind: str) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    text = text_of_bytes(data[: 4 * MOST_HTML], part.get_content_charset())
    return text_of_html(text[:MOST_HTML]) if kind == "text/html" else text[:MOST_TEXT]
