"""From an address to the server of its mail: a table of large providers, and a guess for all others."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Provider", "known_clients", "provider_of"]


class Provider(NamedTuple):
    """The server of an address; `known` is False if it is a guess, and `note` says what users must know first."""

    server: str
    note: str
    known: bool


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "providers.toml").read_text("utf-8"))


@cache
def _table() -> dict[str, Provider]:
    rows = _file()["provider"]
    return {domain: Provider(row["server"], row.get("note", ""), True) for row in rows for domain in row["domains"]}


def known_clients() -> dict[str, dict[str, str]]:
    """Return what is known of OAuth2 at large providers, by the name of the client in the user's file."""
    return dict(_file()["oauth"])


def provider_of(address: str) -> Provider:
    """Return the server of an address such as jane@example.org.

    Examples
    --------
    >>> provider_of("jane@gmail.com").server, provider_of("jane@Example.ORG")
    ('imap.gmail.com', Provider(server='imap.example.org', note='', known=False))
    """
    domain = address.rpartition("@")[2].strip().lower()
    return _table().get(domain, Provider(f"imap.{domain}", "", False))
