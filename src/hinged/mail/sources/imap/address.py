"""The address of a mailbox on a server: whose it is, where, and how the way there is kept private."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = ["Address", "read_address"]

EXAMPLE = "imaps://jane@imap.example.org/"
PORTS = {"imaps": 993, "imap": 143}


@dataclass(frozen=True)
class Address:
    """Where mail lies on the network.

    `encryption` is "tls" (from the first byte), "starttls" (before anything private is said) or "none", which only
    a server on this very machine is spoken to with. `ca` is a file of certificates to trust instead of the system's.
    """

    user: str
    host: str
    port: int
    encryption: str
    ca: Path | None = None
    poll: float = 60.0
    timeout: float = 60.0

    def __str__(self) -> str:
        return f"{self.user}@{self.host}"


def read_address(spec: str) -> Address:
    """Read an address such as `imaps://jane@imap.example.org:993/?poll=30`.

    Parameters
    ----------
    spec : str
        Characters that mean something in an address are written %40 and so on; the `@` of a user's name may stay.

    Returns
    -------
    Address

    Raises
    ------
    ValueError
        Where it cannot be read, holds a password, or asks for an unencrypted way through a network.

    Examples
    --------
    >>> read_address("imaps://jane@example.org@imap.example.org/")
    Address(user='jane@example.org', host='imap.example.org', port=993, encryption='tls', ca=None,
            poll=60.0, timeout=60.0)
    >>> read_address("imap://jane@[::1]:1143/?insecure").encryption
    'none'
    """
    try:
        parts = urlsplit(spec)
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    except (KeyError, ValueError):
        raise ValueError(f"{_shown(spec)} is not the address of a mailbox; write it like {EXAMPLE}.") from None
    if parts.password is not None:
        raise ValueError(
            "an address holds no password, because others on this machine could read it there; "
            "docs/mail_imap.md names four better places for it."
        )
    if not parts.username or not host:
        raise ValueError(f"{spec} does not say whose mail on which server; write it like {EXAMPLE}.")
    if parts.path.strip("/") or parts.fragment:
        raise ValueError(f"{spec} names a folder; leave it out, because folders are named by options.")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    encryption = "tls" if parts.scheme == "imaps" else "starttls"
    if "insecure" in options:
        encryption = _unencrypted(spec, parts.scheme, host, options.pop("insecure"))
    ca = options.pop("ca", None)
    seconds = {name: _seconds(name, options.pop(name, "60")) for name in ("poll", "timeout")}
    if options:
        raise ValueError(f"{spec} has an option {next(iter(options))!r}; there are ca, poll, timeout and insecure.")
    if ca is not None and not Path(ca).is_file():
        raise ValueError(f"there is no file {ca} of certificates to trust, which {spec} asks for.")
    return Address(unquote(parts.username), host, port, encryption, None if ca is None else Path(ca), **seconds)


def _unencrypted(spec: str, scheme: str, host: str, value: str) -> str:
    if scheme == "imaps" or value:
        raise ValueError(f"{spec} asks for an unencrypted way; write it imap://…?insecure, without a value.")
    if not _is_this_machine(host):
        raise ValueError(
            f"insecure is for a server on this machine itself; got {host}. Leave ?insecure out, so that nobody "
            "on the way reads the password and the mail."
        )
    return "none"


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _seconds(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 1500:  # a server may hang up after 30 minutes of silence
        raise ValueError(f"{name} is a number of seconds from 1 to 1500; got {name}={text}.")
    return value


def _shown(spec: str) -> str:
    """The address without what may be a password."""
    before, at, after = spec.rpartition("@")
    scheme = before.partition("://")[0]
    return f"{scheme}://…@{after}" if at else spec
