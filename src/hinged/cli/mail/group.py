"""`hinged mail`: the commands of the mail assistant."""

from __future__ import annotations

import typer

from hinged.cli.mail.accept import accept
from hinged.cli.mail.accounts import MailCommand
from hinged.cli.mail.changes import exclude, forget, include, merge, off, on, pin, rename, reset, unpin
from hinged.cli.mail.config import config
from hinged.cli.mail.demo import demo
from hinged.cli.mail.explain import explain
from hinged.cli.mail.export import export
from hinged.cli.mail.file import file, undo
from hinged.cli.mail.learn import learn
from hinged.cli.mail.log import log
from hinged.cli.mail.login import login
from hinged.cli.mail.replay import replay
from hinged.cli.mail.run import run
from hinged.cli.mail.serve import serve
from hinged.cli.mail.service import service
from hinged.cli.mail.setup import setup
from hinged.cli.mail.sieve import sieve
from hinged.cli.mail.status import status
from hinged.cli.mail.suggest import suggest
from hinged.cli.mail.triage import triage
from hinged.cli.mail.watch import watch
from hinged.cli.tables import emit

__all__ = ["COMMANDS", "mail"]

COMMANDS = {
    command.__name__: command
    for command in (
        setup, login, replay, serve, run, learn, suggest, accept, triage, watch, explain, file, log, undo, pin, unpin,
        exclude, include, forget, rename, merge, off, on, status, export, sieve, reset, demo,
    )
}  # fmt: skip

mail = typer.Typer(name="mail", rich_markup_mode=None)
for name, command in COMMANDS.items():
    mail.command(name, cls=MailCommand)(command)
mail.add_typer(config)
mail.add_typer(service)


@mail.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Suggest folders for mail, learnt from where you file it.

    Begin with replay: it shows how well the assistant would have suggested your folders, and changes nothing; or with
    setup, which connects an account in a few questions. Every command has its own help, and nearly every one --json.

    Example: hinged mail replay ~/Maildir
    """
    if context.invoked_subcommand is None:
        emit(context.get_help())
