"""`hinged mail setup`: from an address to an assistant that runs, in a few questions."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from hinged.cli.mail.login import offer_client, sign_in
from hinged.cli.mail.showing import tell_skipped
from hinged.cli.options import argument, option
from hinged.cli.progress import bar
from hinged.cli.tables import bold, count, percent, say

if TYPE_CHECKING:
    from hinged.mail import Assistant, Source
    from hinged.mail.sources.imap.discovery import Named

__all__ = ["setup"]

TRIES = 3  # passwords; some servers lock an account after a few more
ELSEWHERE = "HINGED_MAIL_PASSWORD_COMMAND names a command that prints it (docs/mail_imap.md)."


def setup(
    address: Annotated[str | None, argument("[ADDRESS]", "Your address; asked for if left out.")] = None,
    *,
    server: Annotated[str | None, option("HOST", "The mail server, or a whole imaps:// address of it.")] = None,
    name: Annotated[str | None, option("NAME", "The name of the account; made from the address if left out.")] = None,
) -> None:
    """Connect an account: find its server, try it, learn from it, and start at login.

    Asks for what it needs. The password, or what signing in by OAuth2 gives, is stored in the keyring and nowhere
    else, the account in the file of hinged mail config. Nothing is moved; the mail is only read.

    Example: hinged mail setup jane@example.org
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ValueError(
            "setup asks questions and needs a terminal; without one, use hinged mail config add, and then learn."
        )
    from hinged.cli.mail.opening import assistant_of
    from hinged.mail import config
    from hinged.mail.looking import look

    address = address or typer.prompt("Your address")
    if "@" not in address.strip("@"):
        raise typer.BadParameter(f"an address is like jane@example.org; got {address!r}")
    name = name or _name_for(address, list(config.load()))
    spec = _spec(address, server)
    with closing(_connected(spec)) as mail:
        say(f"Connected: {count(len(mail.folders()), 'folder')}.")
        config.add(name, {"source": spec})
        with assistant_of(spec, None) as assistant:
            with bar() as show:
                seen = look(assistant, mail, show)
            tell_skipped(seen.skipped)
            say(f"{bold(count(seen.learnt, 'message'))} learnt of {count(seen.folders, 'folder')}.")
            _show_replay(assistant)
    say(f"The account is called {name} in {config.config_path()}.")
    _offer_service()


def _name_for(address: str, taken: list[str]) -> str:
    """Return a name for an account that is not taken yet."""
    domain = address.rpartition("@")[2]
    word = "".join(one if one.isascii() and one.isalnum() else "-" for one in domain.partition(".")[0]) or "mail"
    names = (word if number == 1 else f"{word}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _spec(address: str, server: str | None) -> str:
    """Return the address of the mailbox, with the server of the provider or the one that the user names."""
    from hinged.mail.sources.imap.providers import provider_of

    provider = provider_of(address)
    scheme = "imaps"
    if server is None and provider.known:
        if provider.note:
            say(provider.note)
        server = provider.server
    elif server is None:
        named = _named(address.rpartition("@")[2])
        guess = provider.server if named is None else named.place
        server = typer.prompt("Its mail server", default=guess)
        scheme = named.scheme if named is not None and server == named.place else scheme
    assert server is not None
    return server if "://" in server else f"{scheme}://{quote(address, safe='@')}@{server}/"


def _named(domain: str) -> Named | None:
    """Return the mail server that DNS names; if it is a stranger to the domain, only if the user knows it."""
    from hinged.mail.sources.imap.discovery import named_server

    say(f"Looking for the mail server of {domain}…")
    named = named_server(domain)
    if named is None or named.within:
        return named
    say(
        f"DNS says that the mail of {domain} is at {named.place}, which does not belong to {domain}. Answers of DNS "
        "can be forged, and that server will get your password."
    )
    return named if typer.confirm(f"Do you know {named.host} as your provider?", default=False) else None


def _connected(spec: str) -> Source:
    """Connect, asking for the password again if it is not accepted; offer to keep it once it is."""
    from hinged.mail.sources.imap.account import is_given, keep, read_address, typed
    from hinged.mail.sources.opening import open_source
    from hinged.mail.sources.source import RejectedError

    where = read_address(spec)
    client = None if is_given() else offer_client(where.host)
    if client is not None:
        sign_in(where, client, device=False)
    for left in reversed(range(TRIES)):
        try:
            source = open_source(spec)
            break
        except RejectedError as problem:
            if "the terminal" not in str(problem) or not left:
                raise
            say(str(problem))
    text = typed(where)
    if text is not None and typer.confirm("Store the password in the keyring?", default=True):
        say("Stored." if keep(where, text) else f"There is no keyring here that takes it. {ELSEWHERE}")
    elif text is not None:
        say(f"It is not stored. {ELSEWHERE}")
    return source


def _show_replay(assistant: Assistant) -> None:
    """Show how well the assistant would have suggested the folders of what it has learnt."""
    from hinged.mail.replaying import replay_journal

    with bar() as show:
        show("trying it on your own mail", 0, 0)
        ranks = [hit.rank for hit in replay_journal(assistant.kept.journal, assistant.thresholds)]
    if ranks:
        first, among = (sum(0 < rank <= top for rank in ranks) / len(ranks) for top in (1, 3))
        say(
            f"Had it suggested folders for them as they came, {percent(first)} would have been in the first, and "
            f"{percent(among)} in one of the first three."
        )


def _offer_service() -> None:
    from hinged.cli.mail.service import install
    from hinged.mail.running.service import manager_here

    if not manager_here().runs_here():
        say("hinged mail run starts the assistant.")
    elif typer.confirm("Start the assistant now and at each login?", default=True):
        install(show=False, as_json=False)
    else:
        say("hinged mail run starts the assistant; hinged mail service install does so at each login.")
