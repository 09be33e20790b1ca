"""The account of a mailbox: its address, and its password or token, which no file of ours ever holds."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from hinged.http.local import is_local
from hinged.mail.keyring import KeyringMissingError, read_secret, store_secret
from hinged.mail.oauth.tokens import SignedOutError, access_token, renewed
from hinged.mail.sources.source import RejectedError, SourceError

__all__ = [
    "SIGNED_IN", "Address", "Secret", "another_token", "find_secret", "forget_typed", "is_given", "keep",
    "read_address", "typed",
]  # fmt: skip

_ASKING, _TYPED = threading.Lock(), dict[str, str]()  # what was typed in the terminal, by account
EXAMPLE = "imaps://jane@imap.example.org/"
PORTS = {"imaps": 993, "imap": 143}
TOKEN_COMMAND = "HINGED_MAIL_TOKEN_COMMAND"
PASSWORD_COMMAND = "HINGED_MAIL_PASSWORD_COMMAND"
PASSWORD = "HINGED_MAIL_PASSWORD"
SERVICE = "hinged"
SIGNED_IN = "OAuth2"
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

    @property
    def spec(self) -> str:
        """What to give to a command to mean this account."""
        scheme = "imaps" if self.encryption == "tls" else "imap"
        port = "" if self.port == PORTS[scheme] else f":{self.port}"
        return f"{scheme}://{quote(self.user, safe='@')}@{self.host}{port}/"


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


def find_secret(address: Address) -> Secret:
    """Return the secret from the first of these that has one: token command, password command, environment, OAuth2,
    keyring, terminal.

    Raises
    ------
    SourceError
        If a command fails, or no secret was found.
    """
    for kind, name in (("token", TOKEN_COMMAND), ("password", PASSWORD_COMMAND)):
        if name in os.environ:
            return Secret(kind, _run(os.environ[name], name), name)
    if PASSWORD in os.environ:
        return Secret("password", os.environ[PASSWORD], PASSWORD)
    token = _ask_for_token(access_token, address)
    if token is not None:
        return Secret("token", token, SIGNED_IN)
    for ask, origin in ((_from_keyring, "the keyring"), (_from_terminal, "the terminal")):
        found = ask(address)
        if found is not None:
            return Secret("password", found, origin)
    raise SourceError(
        f"no password for {address} was found; set {PASSWORD_COMMAND}, {TOKEN_COMMAND} or {PASSWORD}, "
        f"or keep one in the keyring with: keyring set {SERVICE} {address}."
    )


def is_given() -> bool:
    """Return True if the environment has a secret, or a command for one, which comes before all others."""
    return bool({TOKEN_COMMAND, PASSWORD_COMMAND, PASSWORD} & os.environ.keys())


def another_token(address: Address, rejected: Secret) -> Secret | None:
    """Return a new token in place of one that was not accepted, since it may have expired; None if there is none."""
    if rejected.origin == SIGNED_IN:
        text = _ask_for_token(renewed, address, rejected.text)
    elif rejected.origin == TOKEN_COMMAND:
        text = _run(os.environ[TOKEN_COMMAND], TOKEN_COMMAND)
    else:
        return None
    return None if text in (None, rejected.text) else Secret("token", str(text), rejected.origin)


def _ask_for_token(ask: Callable[..., str | None], address: Address, *more: str) -> str | None:
    try:
        return ask(str(address), address.host, *more)
    except SignedOutError as problem:
        why = str(problem).rstrip(".")
        raise RejectedError(f"{address} must sign in again: hinged mail login {address.spec} ({why}).") from None


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


def _from_terminal(address: Address) -> str | None:
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    from getpass import getpass

    with _ASKING:  # another connection of this process may be asking for the same
        if str(address) not in _TYPED:
            _TYPED[str(address)] = getpass(f"Password of {address}: ")
        return _TYPED[str(address)]


def typed(address: Address) -> str | None:
    """Return what was typed in the terminal for an account; None if nothing was."""
    return _TYPED.get(str(address))


def keep(address: Address, text: str) -> bool:
    """Store a password in the keyring; return False if there is no keyring, or it refuses."""
    try:
        store_secret(SERVICE, str(address), text)
    except KeyringMissingError:
        return False
    return True


def forget_typed(address: Address) -> None:
    """Forget what was typed in the terminal, which the server did not accept."""
    _TYPED.pop(str(address), None)


def _from_keyring(address: Address) -> str | None:
    try:
        return read_secret(SERVICE, str(address))
    except KeyringMissingError:
        return None
