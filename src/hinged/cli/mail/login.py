"""`hinged mail login`: sign in to mail by OAuth2."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.mail.opening import Account
from hinged.cli.options import flag
from hinged.cli.tables import bold, say

if TYPE_CHECKING:
    from hinged.mail.oauth.clients import Client
    from hinged.mail.sources.imap.account import Address

__all__ = ["login", "offer_client", "sign_in"]

HELP = "docs/mail_oauth.md"
WINDOWS = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}
DEVICE = "Allow access on another device, by typing a short code there."


def login(
    source: Account,
    *,
    device: Annotated[bool, flag("--device", DEVICE)] = False,
) -> None:
    """Sign in to mail by OAuth2, as Gmail and Microsoft demand it.

    Opens a page of the provider in the browser, and waits until you have allowed access there. What comes of it, a
    refresh token, is stored in the keyring and nowhere else, once the mail server has accepted it. Needs a client id
    of your own in the file of hinged mail config.

    Example: hinged mail login imaps://jane@imap.gmail.com/
    """
    from hinged.mail.oauth.clients import client_of, known_client_of
    from hinged.mail.sources.imap.account import read_address

    where = read_address(source)
    client = client_of(where.host)
    if client is None:
        from hinged.mail.config import config_path

        name = known_client_of(where.host) or "NAME"
        raise ValueError(
            f"there is no client of OAuth2 for {where.host} in {config_path()}; add [oauth.{name}] with client_id, as "
            f"{HELP} says."
        )
    sign_in(where, client, device)
    say(f"Signed in as {where.user}. The refresh token is in the keyring.")


def sign_in(where: Address, client: Client, device: bool) -> None:
    """Let the user sign in; store the refresh token as soon as the mail server has accepted the account's name."""
    from hinged.mail.keyring import KeyringMissingError, read_secret
    from hinged.mail.oauth import tokens
    from hinged.mail.oauth.device import sign_in_elsewhere
    from hinged.mail.oauth.loopback import sign_in as sign_in_here
    from hinged.mail.sources.imap import try_secret
    from hinged.mail.sources.imap.account import SIGNED_IN, Secret
    from hinged.mail.sources.source import RejectedError

    account = str(where)
    try:
        read_secret(tokens.SERVICE, account)
    except KeyringMissingError as problem:
        raise ValueError(f"refresh tokens are kept in a keyring, and there is none here: {problem}.") from None
    found = sign_in_elsewhere(client, _show_code) if device else sign_in_here(client, where.user, _show_page)
    if not found.refresh:
        raise ValueError(f"{client.server} gave no refresh token; check the scope of [oauth.{client.name}].")
    try:
        try_secret(where, Secret("token", found.access, SIGNED_IN))
    except RejectedError as problem:
        raise ValueError(f"{str(problem).rstrip('.')}; sign in as {where.user}, and nobody else.") from None
    tokens.hold(account, found)
    if not tokens.keep(account):
        raise ValueError("the keyring did not take the refresh token; unlock it, and sign in again.")


def _show_page(address: str) -> None:
    """Show the address of the page, and open it where there are windows: a browser in the terminal would take it."""
    say("Allow access on this page:")
    say(address)
    if sys.platform in ("darwin", "win32") or WINDOWS & os.environ.keys():
        import webbrowser

        webbrowser.open(address)


def _show_code(page: str, code: str) -> None:
    say(f"Open {page} on any device, and type {bold(code)} there.")


def offer_client(host: str) -> Client | None:
    """Return the client for a mail server; ask for it where the server is known to take tokens."""
    from hinged.mail import config
    from hinged.mail.oauth.clients import client_of, known_client_of

    client, name = client_of(host), known_client_of(host)
    if client is not None or name is None:
        return client
    given = typer.prompt(f"Your client id of OAuth2 ({HELP}); empty for a password", default="", show_default=False)
    if not given:
        return None
    secret = typer.prompt("Its client secret, if it has one", default="", show_default=False)
    config.add(name, {"client_id": given} | ({"client_secret": secret} if secret else {}), "oauth")
    return client_of(host)
