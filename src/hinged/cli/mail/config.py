"""`hinged mail config`: the accounts of the user, in one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from hinged.cli.help import Command
from hinged.cli.mail.opening import Keywords
from hinged.cli.mail.showing import tell
from hinged.cli.options import AsJson, argument, flag, option
from hinged.cli.tables import count, emit_json, say, say_table
from hinged.mail.config import KEYS

__all__ = ["config"]

config = typer.Typer(name="config", rich_markup_mode=None)

Name = Annotated[str, argument("NAME", "The name of the account: letters, digits, - and _.")]


def _means(key: str) -> str:
    meaning = KEYS[key][1]
    return f"{meaning[0].upper()}{meaning[1:]}."


@config.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Show and change the file that names your accounts.

    hinged mail run watches all of them; the other commands take --account NAME in place of a source.

    Example: hinged mail config add home imaps://jane@imap.example.org/
    """
    if context.invoked_subcommand is None:
        show(as_json=False)


@config.command("path", cls=Command)
def path(*, as_json: AsJson = False) -> None:
    """Print the path of the file.

    Example: hinged mail config path
    """
    from hinged.mail.config import config_path

    tell(config_path(), as_json, path=config_path())


@config.command("show", cls=Command)
def show(*, as_json: AsJson = False) -> None:
    """Show the accounts.

    Example: hinged mail config show
    """
    from hinged.mail.config import config_path, load

    accounts = load()
    if as_json:
        emit_json(accounts)
    elif not accounts:
        say(f"There are no accounts in {config_path()}; hinged mail config add NAME SOURCE adds one.")
    else:
        rows = [(name, one["source"], ", ".join(_others(one))) for name, one in accounts.items()]
        say_table(("account", "source", "settings"), rows, left=3)


def _others(settings: dict[str, Any]) -> list[str]:
    shown = {key: str(value).lower() if isinstance(value, bool) else value for key, value in settings.items()}
    return [f"{key} {value}" for key, value in shown.items() if key != "source"]


@config.command("check", cls=Command)
def check(*, as_json: AsJson = False) -> None:
    """Check the file, and whether local mail is where it says; nothing is connected to.

    Example: hinged mail config check
    """
    from hinged.mail.config import ConfigError, clients, config_path, load, source_of
    from hinged.mail.oauth.clients import read_client
    from hinged.mail.promise import share_of
    from hinged.mail.sources.imap.account import read_address

    accounts = load()
    for name, settings in accounts.items():
        source = source_of(settings)
        if "://" in source:
            read_address(source)
        elif not os.path.exists(source):
            raise ConfigError(f"{config_path()}: the source of {name} does not exist: {source}.")
        if "right" in settings:
            share_of(settings["right"])
    for name, settings in clients().items():
        read_client(name, settings)
    sentence = f"{config_path()} has {count(len(accounts), 'account')} and no mistakes."
    tell(sentence, as_json, path=config_path(), accounts=sorted(accounts))


@config.command("add", cls=Command)
def add(
    name: Name,
    source: Annotated[
        str, argument("SOURCE", "The mail: a Maildir, an mbox file or a folder of either, or imaps://user@host.")
    ],
    *,
    state: Annotated[Path | None, option("DIR", _means("state"), "--state")] = None,
    folder: Annotated[str | None, option("NAME", _means("folder"), "--folder")] = None,
    keywords: Keywords = False,
    page: Annotated[bool, flag("--page", "Serve the page of this account as well.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add an account.

    Example: hinged mail config add home imaps://jane@imap.example.org/ --keywords
    """
    from hinged.mail import config as file
    from hinged.mail.sources.imap.account import read_address

    if "://" in source:
        read_address(source)  # which refuses a password in it
    else:
        source = os.path.abspath(os.path.expanduser(source))
    settings: dict[str, Any] = {"source": source}
    settings |= {} if state is None else {"state": os.path.abspath(state)}
    settings |= {} if folder is None else {"folder": folder}
    settings |= {key: True for key, wanted in (("keywords", keywords), ("page", page)) if wanted}
    file.add(name, settings)
    tell(f"{name} is in {file.config_path()}.", as_json, added=name, **settings)


@config.command("remove", cls=Command)
def remove(name: Name, *, as_json: AsJson = False) -> None:
    """Remove an account from the file; what was learnt of it stays.

    Example: hinged mail config remove home
    """
    from hinged.mail import config as file

    file.remove(name)
    tell(f"{name} is no longer in {file.config_path()}.", as_json, removed=name)
