"""The keyring of the system, where secrets are kept, if there is one."""

from __future__ import annotations

from typing import Any

__all__ = ["KeyringMissingError", "read_secret", "store_secret"]


class KeyringMissingError(Exception):
    """There is no keyring on this machine, or it is locked or refuses."""


def read_secret(service: str, name: str) -> str | None:
    """Return a secret; None if the keyring has none of this name."""
    return _ask("get_password", service, name)


def store_secret(service: str, name: str, text: str) -> None:
    """Keep a secret, in place of an earlier one of this name."""
    _ask("set_password", service, name, text)


def _ask(what: str, *given: str) -> Any:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ModuleNotFoundError:
        raise KeyringMissingError('the package keyring is missing; pip install "hinged[keyring]" has it') from None
    try:
        return getattr(keyring, what)(*given)
    except KeyringError as error:
        raise KeyringMissingError(" ".join(str(error).split()) or type(error).__name__) from None
