"""The account of a mailbox: its address, and its password or token, which no file of ours ever holds."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from hinged.http.local import is_local
from hinged.mail.sources.source import SourceError

__all__ = ["Address", "Secret", "find_secret", "read_address"]

EXAMPLE = "imaps://jane@imap.example.org/"
PORTS = {"imaps": 993, "imap": 143}
TOKEN_COMMAND = "HINGED_MAIL_TOKEN_COMMAND"
PASSWORD_COMMAND = "HINGED_MAIL_PASSWORD_COMMAND"
PASSWORD = "HINGED_MAIL_PASSWORD"
SERVICE = "hinged"
PATIENCE = 120.0  # seconds; a command may ask for a passphrase


@dataclass(frozen=True)
class Address:
    """The address of a mailbox.

    `encryption` is "tls" (from the first byte), "starttls" (before anything private is sent) or "none", which is
    allowed for a server on this machine only. `ca` is a file of certificates to trust instead of the system's.
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
        Reserved characters are percent-encoded, as in any URL; the `@` of a user's name may stay.

    Returns
    -------
    Address

    Raises
    ------
    ValueError
        If it cannot be parsed, contains a password, or asks for an unencrypted connection through a network.

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
    user = _user(spec, parts)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    encryption = _encryption(spec, parts.scheme, host, options.pop("insecure", None))
    ca = options.pop("ca", None)
    seconds = {name: _seconds(name, options.pop(name, "60")) for name in ("poll", "timeout")}
    if options:
        raise ValueError(f"{spec} has an option {next(iter(options))!r}; there are ca, poll, timeout and insecure.")
    return Address(user, host, port, encryption, _certificates(spec, ca), **seconds)


def _user(spec: str, parts: SplitResult) -> str:
    """Return the user of an address; one with a password or a folder, or without a user or a server, is refused."""
    if parts.password is not None:
        raise ValueError(
            "an address must not contain a password, because other users of this machine could read it there; "
            "docs/mail_imap.md names four better places for it."
        )
    if not parts.username or not parts.hostname:
        raise ValueError(f"{spec} lacks the user or the server; write it like {EXAMPLE}.")
    if parts.path.strip("/") or parts.fragment:
        raise ValueError(f"{spec} names a folder; omit it, because folders are named by options.")
    return unquote(parts.username)


def _certificates(spec: str, ca: str | None) -> Path | None:
    if ca is not None and not Path(ca).is_file():
        raise ValueError(f"there is no file {ca} of certificates to trust, which {spec} asks for.")
    return None if ca is None else Path(ca)


def _encryption(spec: str, scheme: str, host: str, insecure: str | None) -> str:
    if insecure is None:
        return "tls" if scheme == "imaps" else "starttls"
    if scheme == "imaps" or insecure:
        raise ValueError(f"{spec} asks for an unencrypted connection; write it imap://…?insecure, without a value.")
    if not is_local(host):
        raise ValueError(
            f"insecure is for a server on this machine only; got {host}. Omit ?insecure, so that the password and the "
            "mail are encrypted."
        )
    return "none"


def _seconds(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 1500:  # a server may hang up after 30 minutes of silence
        raise ValueError(f"{name} is a number of seconds from 1 to 1500; got {name}={text}.")
    return value


def _shown(spec: str) -> str:
    """Return the address without what may be a password."""
    before, at, after = spec.rpartition("@")
    scheme = before.partition("://")[0]
    return f"{scheme}://…@{after}" if at else spec


@dataclass(frozen=True)
class Secret:
    """A password or a token (`kind`); `origin` says where it came from, for error messages."""

    kind: str
    text: str
    origin: str

    def __repr__(self) -> str:
        return f"Secret({self.kind} from {self.origin})"


def find_secret(address: Address, environment: Mapping[str, str] | None = None) -> Secret:
    """Return the secret from the first of these that has one: token command, password command, environment, keyring,
    terminal.

    Parameters
    ----------
    address : Address
    environment : mapping, optional
        Environment variables; those of the process by default.

    Returns
    -------
    Secret

    Raises
    ------
    SourceError
        If a command fails, or no secret was found.
    """
    environment = os.environ if environment is None else environment
    for kind, name in (("token", TOKEN_COMMAND), ("password", PASSWORD_COMMAND)):
        if name in environment:
            return Secret(kind, _run(environment[name], name), name)
    if PASSWORD in environment:
        return Secret("password", environment[PASSWORD], PASSWORD)
    kept = _from_keyring(address)
    if kept is not None:
        return Secret("password", kept, "the keyring")
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        from getpass import getpass

        return Secret("password", getpass(f"Password of {address}: "), "the terminal")
    raise SourceError(
        f"no password for {address} was found; set {PASSWORD_COMMAND}, {TOKEN_COMMAND} or {PASSWORD}, "
        f"or keep one in the keyring with: keyring set {SERVICE} {address}."
    )


def _run(command: str, name: str) -> str:
    """Return the first line that a command prints; its stderr goes to the terminal, since it may ask something."""
    try:
        words = shlex.split(command)
        done = subprocess.run(words, stdout=subprocess.PIPE, check=False, timeout=PATIENCE)
    except (ValueError, IndexError):
        raise SourceError(f"{name} is not a command: {command!r}.") from None
    except OSError as error:
        raise SourceError(f"the command of {name} cannot be run: {words[0]}: {error.strerror}.") from None
    except subprocess.TimeoutExpired:
        raise SourceError(f"the command of {name} did not finish within {PATIENCE:.0f} s.") from None
    lines = done.stdout.decode(errors="replace").splitlines()
    if done.returncode or not lines or not lines[0]:
        how = f"failed with exit code {done.returncode}" if done.returncode else "printed nothing"
        raise SourceError(f"the command of {name} {how}: {words[0]}; run it by hand to see why.")
    return lines[0]


def _from_keyring(address: Address) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ModuleNotFoundError:
        return None
    try:
        return keyring.get_password(SERVICE, str(address))
    except KeyringError:  # none on this machine, or locked
        return None
