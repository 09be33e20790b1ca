"""Folder names as Maildir++ writes them: ASCII, with the rest as &base64 of UTF-16- (RFC 3501, section 5.1.3)."""

from __future__ import annotations

import binascii
import re

__all__ = ["from_utf7", "to_utf7"]

SHIFTED = re.compile(r"&([A-Za-z0-9+,]*)-")
BEYOND = re.compile(r"[^\x20-\x7e]+")


def from_utf7(name: str) -> str:
    """The name in plain text; what is no modified UTF-7 stays as it is.

    Examples
    --------
    >>> from_utf7("B&APw-cher"), from_utf7("A &- B"), from_utf7("a & b")
    ('Bücher', 'A & B', 'a & b')
    """

    def plain(match: re.Match[str]) -> str:
        if not match[1]:
            return "&"
        code = match[1].replace(",", "/")
        try:
            return binascii.a2b_base64(code + "=" * (-len(code) % 4)).decode("utf-16-be")
        except (binascii.Error, ValueError):
            return match[0]

    return SHIFTED.sub(plain, name)


def to_utf7(name: str) -> str:
    """The name in modified UTF-7.

    Examples
    --------
    >>> to_utf7("Bücher"), to_utf7("A & B")
    ('B&APw-cher', 'A &- B')
    """

    def shifted(match: re.Match[str]) -> str:
        code = binascii.b2a_base64(match[0].encode("utf-16-be"), newline=False).decode().rstrip("=")
        return f"&{code.replace('/', ',')}-"

    return BEYOND.sub(shifted, name.replace("&", "&-"))
