"""Passwords and tokens: from a command, the environment, the keyring, or the terminal; never from a file of ours."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from hinged.mail.sources.imap.address import Address
from hinged.mail.sources.source import SourceError

__all__ = ["Secret", "find_secret"]

TOKEN_COMMAND = "HINGED_MAIL_TOKEN_COMMAND"
PASSWORD_COMMAND = "HINGED_MAIL_PASSWORD_COMMAND"
PASSWORD = "HINGED_MAIL_PASSWORD"
SERVICE = "hinged"
PATIENCE = 120.0  # seconds; a command may have to ask for a passphrase


@dataclass(frozen=True)
class Secret:
    """What proves who we are. `kind` is "password" or "token"; `origin` says where it came from, for complaints."""

    kind: str
    text: str
    origin: str

    def __repr__(self) -> str:
        return f"Secret({self.kind} from {self.origin})"


def find_secret(address: Address, environment: Mapping[str, str] | None = None) -> Secret:
    """Ask the places in turn: token command, password command, environment, keyring, terminal.

    Parameters
    ----------
    address : Address
    environment : mapping, optional
        The process's own by default.

    Returns
    -------
    Secret

    Raises
    ------
    SourceError
        Where a command fails, or no place has any.
    """
    environment = os.environ if environment is None else environment
    if TOKEN_COMMAND in environment:
        return Secret("token", _run(environment[TOKEN_COMMAND], TOKEN_COMMAND), TOKEN_COMMAND)
    if PASSWORD_COMMAND in environment:
        return Secret("password", _run(environment[PASSWORD_COMMAND], PASSWORD_COMMAND), PASSWORD_COMMAND)
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
    """The first line that a command prints. What else it says goes to the terminal, since it may ask something."""
    try:
        words = shlex.split(command)
        done = subprocess.run(words, stdout=subprocess.PIPE, check=False, timeout=PATIENCE)
    except (ValueError, IndexError):
        raise SourceError(f"{name} is not a command: {command!r}.") from None
    except OSError as error:
        raise SourceError(f"the command of {name} cannot be run: {words[0]}: {error.strerror}.") from None
    except subprocess.TimeoutExpired:
        raise SourceError(f"the command of {name} gave no answer within {PATIENCE:.0f} s.") from None
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
