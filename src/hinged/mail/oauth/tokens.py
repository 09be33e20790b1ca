"""Tokens of accounts: access tokens in memory, renewed before they expire; refresh tokens in the keyring."""

from __future__ import annotations

import threading
import time

from hinged.mail.config import ConfigError
from hinged.mail.keyring import KeyringMissingError, read_secret, store_secret
from hinged.mail.oauth.clients import Client, client_of
from hinged.mail.oauth.endpoint import RefusedError, Tokens, request_tokens
from hinged.mail.sources.source import RejectedError, SourceError

__all__ = ["SERVICE", "SignedOutError", "access_token", "hold", "keep", "renewed"]

SERVICE = "hinged-oauth2"  # in the keyring, by account
_HELD = dict[str, Tokens]()  # by account; the refresh token is here only until the keyring has it
_LOCKS = dict[str, threading.Lock]()


class SignedOutError(RejectedError):
    """The refresh token was revoked or has expired, so the user has to sign in again."""


def access_token(account: str, server: str) -> str | None:
    """Return an access token for an account at a mail server; None if nobody has signed in to it.

    Raises
    ------
    SignedOutError
        If the refresh token is no longer accepted.
    SourceError
        If no token can be had at the moment.
    """
    try:
        client = client_of(server)
    except ConfigError as problem:
        raise SourceError(str(problem)) from None
    if client is None:
        return None
    with _LOCKS.setdefault(account, threading.Lock()):
        held = _HELD.get(account)
        if held is not None and time.time() < held.until:
            return held.access
        refresh = held.refresh if held is not None and held.refresh else _kept(account)
        if refresh is None:
            return None
        _HELD[account] = _renew(client, account, refresh)
        _keep(account)
        return _HELD[account].access


def renewed(account: str, server: str, rejected: str) -> str | None:
    """Return another access token in place of one that the mail server did not accept."""
    with _LOCKS.setdefault(account, threading.Lock()):
        held = _HELD.get(account)
        if held is not None and held.access == rejected:
            _HELD[account] = held._replace(until=0.0)
    return access_token(account, server)


def hold(account: str, tokens: Tokens) -> None:
    """Use tokens that the user has just signed in for; `keep` stores them for later processes."""
    _HELD[account] = tokens


def keep(account: str) -> bool:
    """Store the refresh token of an account in the keyring; return False if there is none that takes it."""
    with _LOCKS.setdefault(account, threading.Lock()):
        return _keep(account)


def _keep(account: str) -> bool:
    held = _HELD[account]
    if held.refresh:
        try:
            store_secret(SERVICE, account, held.refresh)
        except KeyringMissingError:  # locked for a while, perhaps: the next renewal tries again
            return False
        _HELD[account] = held._replace(refresh="")
    return True


def _kept(account: str) -> str | None:
    try:
        return read_secret(SERVICE, account)
    except KeyringMissingError:
        return None


def _renew(client: Client, account: str, refresh: str) -> Tokens:
    """Ask for another access token; where another process renewed the refresh token meanwhile, with that one."""
    for _ in range(2):
        fields = {"grant_type": "refresh_token", "refresh_token": refresh, **client.credentials}
        try:
            return request_tokens(client.token, fields)
        except RefusedError as problem:
            if problem.code != "invalid_grant":
                raise
            why, newest = str(problem), _kept(account)
            if newest in (None, refresh):
                break
            refresh = newest or refresh
    raise SignedOutError(why)
