"""Pins: senders, domains and lists whose mail the user wants in one folder."""

from __future__ import annotations

from collections.abc import Mapping

from hinged.mail.headers import addresses_in
from hinged.mail.message import Message

__all__ = ["pin_for", "who_is"]


def who_is(text: str) -> str:
    """Return the address in a text, or the text itself: a domain or a list.

    Examples
    --------
    >>> who_is("Ann <Ann@Example.com>"), who_is(" @Example.com")
    ('ann@example.com', '@example.com')
    """
    return next(iter(addresses_in(text)), text.strip().lower())


def pin_for(message: Message, pins: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the pin that applies to a message, and its folder: of the sender, the list, or the sender's domain."""
    address = message.address
    for who in (address, message.list_id.lower(), f"@{address.rpartition('@')[2]}"):
        for name in (who, *addresses_in(who)):
            if name and name in pins:
                return name, pins[name]
    return None
