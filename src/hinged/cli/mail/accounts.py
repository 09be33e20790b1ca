"""`--account NAME`, which stands for the source and the state folder of an account in the user's file."""

from __future__ import annotations

from copy import copy
from typing import Annotated, Any

import typer

from hinged.cli.help import Command
from hinged.cli.options import option

__all__ = ["MailCommand"]

OPTION, SOURCE = "--account", "SOURCE"
HELP = "An account of hinged mail config, in place of SOURCE."


def _account(account: Annotated[str | None, option("NAME", HELP, OPTION)] = None) -> None:
    """Declare the option, which `MailCommand` adds to commands and takes away before their functions are called."""


_declaring = typer.Typer(add_completion=False)
_declaring.command()(_account)
ACCOUNT: Any = typer.main.get_command(_declaring).params[0]
ACCOUNT.expose_value = False


class MailCommand(Command):
    """A command that takes `--account NAME` in place of its source, or beside `-`, which has no account by itself."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.takes_account = bool(self.params) and self.params[0].metavar in (SOURCE, f"[{SOURCE}]")
        if self.takes_account:
            self.params.append(copy(ACCOUNT))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the account's source and state in place of its name."""
        if self.takes_account and not {"--help", "-h"} & set(args):
            args = with_source(args, takes_state=any("--state" in one.opts for one in self.params))
        return super().parse_args(ctx, args)


def with_source(args: list[str], takes_state: bool = True) -> list[str]:
    """Return arguments in which the account's name is replaced by what it stands for.

    Examples
    --------
    >>> with_source(["mail", "--latest", "5"])
    ['mail', '--latest', '5']
    """
    left, names = list[str](), list[str]()
    words = iter(args)
    for word in words:
        if word == OPTION:
            names.append(next(words, ""))
        elif word.startswith(f"{OPTION}="):
            names.append(word.partition("=")[2])
        else:
            left.append(word)
    if not names:
        return args
    if len(names) > 1 or not names[0]:
        raise typer.BadParameter(f"{OPTION} names one account; got {', '.join(names) or 'no name'}")
    from hinged.mail.config import settings_of, source_of, state_of

    settings = settings_of(names[0])
    piped = "-" in left
    if takes_state and (piped or "state" in settings) and not any(word.split("=")[0] == "--state" for word in left):
        left += ["--state", state_of(settings)]
    return left if piped else [source_of(settings), *left]
