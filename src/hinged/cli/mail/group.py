"""`hinged mail`: the commands of the mail assistant."""

from __future__ import annotations

import typer

from hinged.cli.help import Command
from hinged.cli.mail.changes import exclude, forget, include, merge, off, on, pin, rename, reset, unpin
from hinged.cli.mail.demo import demo
from hinged.cli.mail.explain import explain
from hinged.cli.mail.export import export
from hinged.cli.mail.file import file, undo
from hinged.cli.mail.learn import learn
from hinged.cli.mail.replay import replay
from hinged.cli.mail.serve import serve
from hinged.cli.mail.status import status
from hinged.cli.mail.suggest import suggest
from hinged.cli.mail.watch import watch
from hinged.cli.tables import emit

__all__ = ["COMMANDS", "mail"]

COMMANDS = {
    command.__name__: command
    for command in (
        replay, serve, learn, suggest, watch, explain, file, undo, pin, unpin, exclude, include, forget, rename, merge,
        off, on, status, export, reset, demo,
    )
}  # fmt: skip

mail = typer.Typer(name="mail", rich_markup_mode=None)
for name, command in COMMANDS.items():
    mail.command(name, cls=Command)(command)


@mail.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Suggest folders for mail, learnt from where you file it.

    Begin with replay: it shows how well the assistant would have suggested your folders, and changes nothing. Every
    command has its own help, and --json.

    Example: hinged mail replay ~/Maildir
    """
    if context.invoked_subcommand is None:
        emit(context.get_help())
