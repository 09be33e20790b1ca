"""Clients of OAuth2: what the user's file says of them, and what is known of large providers."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from hinged.http.local import is_local
from hinged.mail.config import CLIENT_KEYS, ConfigError, clients, config_path
from hinged.mail.sources.imap.providers import known_clients

__all__ = ["Client", "client_of", "is_private", "known_client_of", "read_client"]

OPTIONAL = ("client_secret", "device", "redirect")
HERE = ("127.0.0.1", "localhost")


class Client(NamedTuple):
    """A client of OAuth2: who asks for tokens, for which mail server, and where.

    Its fields are the keys of its table in the file (`CLIENT_KEYS`); those that may be left out are "" then.
    """

    name: str
    client_id: str
    client_secret: str
    server: str
    scope: str
    authorize: str
    token: str
    device: str
    redirect: str

    @property
    def credentials(self) -> dict[str, str]:
        """What the client shows of itself where tokens are given."""
        return {"client_id": self.client_id} | ({"client_secret": self.client_secret} if self.client_secret else {})


def known_client_of(server: str) -> str | None:
    """Return the name of the client for a mail server that is known to take tokens, whether or not the user has it.

    Examples
    --------
    >>> known_client_of("imap.gmail.com"), known_client_of("imap.example.org")
    ('google', None)
    """
    return next((name for name, known in known_clients().items() if known["server"] == server), None)


def client_of(server: str) -> Client | None:
    """Return the client of the user's file for a mail server; None if there is none.

    Raises
    ------
    ConfigError
        If it lacks a key, an address in it is not encrypted, or the browser would return to another machine.
    """
    known = known_clients()
    for name, settings in clients().items():
        if (known.get(name, {}) | settings).get("server") == server:
            return read_client(name, settings)
    return None


def read_client(name: str, settings: dict[str, str]) -> Client:
    """Return a client of the user's file, complete with what is known of it; `client_of` says what it raises."""
    known, where = known_clients(), f"{config_path()}: [oauth.{name}]"
    settings = known.get(name, {}) | settings
    for key in CLIENT_KEYS:
        if key not in settings and key not in OPTIONAL:
            raise ConfigError(f"{where} lacks the key {key!r}, which is known for {' and '.join(known)} only.")
    for key in ("authorize", "token", "device"):
        if key in settings and not is_private(settings[key]):
            raise ConfigError(f"{where} {key} must be an https:// address; got {settings[key]!r}.")
    if settings.get("redirect", HERE[0]) not in HERE:
        raise ConfigError(f"{where} redirect must be {' or '.join(HERE)}; got {settings['redirect']!r}.")
    return Client(name, **{key: settings.get(key, "") for key in CLIENT_KEYS})


def is_private(address: str) -> bool:
    """Return True if nobody else reads what is sent to an address: with https, or on this machine.

    Examples
    --------
    >>> [is_private(one + "/token") for one in ("https://example.org", "http://127.0.0.1:80", "http://example.org")]
    [True, True, False]
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_local(host)))
