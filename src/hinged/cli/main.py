"""The `hinged` command: parses, calls a command, and turns what went wrong into one sentence."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from hinged.cli.convert import convert
from hinged.cli.demo import demo
from hinged.cli.evaluate import evaluate
from hinged.cli.explain import explain
from hinged.cli.help import Command
from hinged.cli.inspect import inspect
from hinged.cli.learn import learn
from hinged.cli.mail.group import COMMANDS as MAIL
from hinged.cli.mail.group import mail
from hinged.cli.predict import predict
from hinged.cli.reproduce import reproduce
from hinged.cli.serve import serve
from hinged.cli.tables import emit, take_any_text
from hinged.cli.warm_up import warm_up
from hinged.mail.sources.source import SourceError

__all__ = ["app", "main"]

app = typer.Typer(
    name="hinged",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
COMMANDS = {
    command.__name__.replace("_", "-"): command
    for command in (learn, predict, evaluate, explain, inspect, convert, reproduce, serve, demo, warm_up)
}
for name, command in COMMANDS.items():
    app.command(name, cls=Command)(command)
app.add_typer(mail)


def _show_version(wanted: bool) -> None:
    if wanted:
        from hinged import __version__

        emit(f"hinged {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Online learning for predictions that hang together.

    Example: hinged learn mail.jsonl --model mail.hinged
    """
    if context.invoked_subcommand is None:
        emit(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 when all went well, 2 for a wrong option, 1 for anything else.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the program; by default what it was started with.
    """
    take_any_text()
    try:
        code = app(None if arguments is None else list(arguments), prog_name="hinged", standalone_mode=False)
    except typer.Abort:
        code = 130
    except OSError as error:
        code = _complain(f"{error.filename}: {error.strerror}." if error.strerror and error.filename else str(error))
    except (ImportError, TypeError, ValueError, SourceError) as error:
        code = _complain(str(error))
    except Exception as error:
        if not hasattr(error, "format_message"):  # only the parser's own errors have it; a bug keeps its traceback
            raise
        code = _complain(_usage(error, arguments), getattr(error, "exit_code", 2))
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: Any, arguments: Sequence[str] | None) -> str:
    """What was wrong with the options, and whose help to read."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    which = f"hinged {given[0]}" if given and given[0] in (*COMMANDS, "mail") else "hinged"
    if which == "hinged mail" and len(given) > 1 and given[1] in MAIL:
        which += f" {given[1]}"
    sentence = error.format_message().removeprefix("Invalid value: ").replace("Value error, ", "").rstrip(".")
    return f"{sentence}{' See' if sentence.endswith('?') else '; see'} {which} --help."


def _complain(sentence: str, code: int = 1) -> int:
    emit(f"hinged: {' '.join(sentence.split())}", err=True)
    return code
