"""A message as the assistant sees it: sender, recipients, subject, thread, text; attachments by name and type only."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from hinged.mail.headers import addresses_in, decoded, ids_in, moment, plain_id, text_of_bytes
from hinged.mail.mime import MimePart, ParseBudget, read_part, text_of_html

__all__ = ["ENOUGH", "Message", "read_message"]

#: Bytes of a message that are read. The rest is attachments, or text that hardly anyone reads.
ENOUGH = 256 * 1024
MOST_TEXT = 20_000  # characters of the body that are used
MOST_HTML = 100_000  # characters of HTML, most of which is markup
MOST_PARTS, DEEPEST = 100, 20  # parts of a message, and levels of nesting
MOST_IDS, MOST_DATES = 20, 10
LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Message:
    """The content of a message, as text.

    Attributes
    ----------
    id : its Message-ID without brackets, or a digest if it has none
    date : seconds since 1970, or None if it has no date
    sender, to, cc, subject, list_id, body : text, "" if missing
    references : Message-IDs of earlier messages of its thread, the nearest last
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
        """The sender's address in lower case, "" if there is none."""
        return next(iter(addresses_in(self.sender)), "")


def read_message(raw: bytes) -> Message:
    """Parse a message, however malformed; never raises, and takes a few milliseconds at most (`hinged.mail.mime`).

    Examples
    --------
    >>> message = read_message(b"From: Ann <ann@example.com>\\nSubject: =?utf-8?q?Caf=C3=A9?=\\n\\nAt noon?\\n")
    >>> message.address, message.subject, message.body
    ('ann@example.com', 'Café', 'At noon?\\n')
    >>> read_message(b"\\x00\\xff").body
    '\\x00ÿ'
    """
    raw = bytes(raw[:ENOUGH])
    whole = read_part(raw if b"\n" in raw else raw.replace(b"\r", b"\n"))
    fields = whole.fields
    body, files, kinds = _content(whole)

    def field(name: str) -> str:
        return decoded(fields.get(name, [""])[0])

    references = ids_in(" ".join([*fields.get("references", [])[:1], *fields.get("in-reply-to", [])[:1]]))
    subject = field("subject")
    return Message(
        id=_id(fields, body),
        date=moment([*fields.get("date", []), *fields.get("received", [])][:MOST_DATES]),
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


def _id(fields: dict[str, list[str]], body: str) -> str:
    """Return the Message-ID, or a digest of what stays the same when a message is moved or copied."""
    value = fields.get("message-id", [""])[0]
    found = ids_in(value) or tuple(value.strip(" <>\t").split()[:1])
    if found and len(found[0]) <= LONGEST_ID:
        return plain_id(found[0])
    told = [field for name in ("message-id", "date", "from", "to", "subject") for field in fields.get(name, [""])]
    return "digest:" + hashlib.sha256("\0".join([*told, body]).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _content(whole: MimePart) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the text of a message, and the names and types of its attachments."""
    files: list[str] = []
    kinds: list[str] = []
    budget, html = ParseBudget(MOST_PARTS), MOST_HTML

    def text_of(part: MimePart, depth: int) -> str:
        nonlocal html
        budget.parts -= 1
        kind, attached = part.kind, part.is_attached
        if depth < DEEPEST and not attached:
            texts = [(piece.kind, text_of(piece, depth + 1)) for piece in part.parts(budget)]
            if texts and kind == "multipart/alternative":  # plain text is preferred
                versions = sorted(texts, key=lambda version: version[0] != "text/plain")
                return next((text for _, text in versions if text.strip()), "")
            if texts:
                return "\n".join(text for _, text in texts if text)
        if attached or kind not in ("text/plain", "text/html"):
            if part.name:
                files.append(decoded(part.name)[:LONGEST_ID])
            kinds.append(kind[:LONGEST_ID])
            return ""
        text = text_of_bytes(part.data()[: 4 * MOST_HTML], part.charset)
        if kind == "text/plain":
            return text[:MOST_TEXT]
        text, html = text[:html], html - min(html, len(text))
        return text_of_html(text)

    return text_of(whole, 0)[:MOST_TEXT], tuple(files), tuple(kinds)
