"""The `hinged` program: parse the arguments, run a command, report an error as one sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn

import typer

from hinged.cli.convert import convert
from hinged.cli.demo import demo
from hinged.cli.evaluate import evaluate
from hinged.cli.explain import explain
from hinged.cli.help import Command
from hinged.cli.inspect import inspect
from hinged.cli.learn import learn
from hinged.cli.mail.group import mail
from hinged.cli.predict import predict
from hinged.cli.scale import scale
from hinged.cli.serve import serve
from hinged.cli.tables import emit
from hinged.cli.terminal import take_any_text
from hinged.cli.warm_up import warm_up
from hinged.mail.sources.source import SourceError

__all__ = ["app", "exit_code_of", "main", "run_command"]

app = typer.Typer(
    name="hinged",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (learn, predict, evaluate, explain, inspect, convert, serve, demo, warm_up):
    app.command(command.__name__.replace("_", "-"), cls=Command)(command)
app.add_typer(mail)
app.add_typer(scale)


@app.command(hidden=True, cls=Command, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def reproduce() -> None:
    """Say how to run the studies of the papers.

    Example: python -m studies pa-noise
    """
    raise ValueError(
        "hinged reproduce has moved: run python -m studies, or make reproduce, in a checkout of the source."
    )


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
    """Online classification and label ranking.

    Example: hinged learn mail.jsonl --model mail.hinged
    """
    if context.invoked_subcommand is None:
        emit(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the `hinged` program and exit: 0 on success, 2 for a wrong option, 1 for any other error.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the program; those of the process by default.
    """
    run_command(app, "hinged", arguments)


def run_command(program: typer.Typer, name: str, arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a program and exit; expected errors become one sentence on stderr, a bug keeps its traceback."""
    take_any_text()
    sys.exit(exit_code_of(program, name, None if arguments is None else list(arguments)))


def exit_code_of(program: Callable[..., Any], name: str, arguments: list[str] | None) -> int:
    """Run a program and return its exit code; expected errors become one sentence on stderr."""
    try:
        code = program(arguments, prog_name=name, standalone_mode=False)
    except typer.Abort:
        code = 130
    except (OSError, ImportError, TypeError, ValueError, SourceError) as error:
        code = _complain(_sentence(error))
    except Exception as error:
        if not hasattr(error, "format_message"):  # only the parser's own errors have it
            raise
        code = _complain(_usage(error, name), getattr(error, "exit_code", 2))
    return code if isinstance(code, int) else 0


def _sentence(error: Exception) -> str:
    """What an expected error says; one of the system is put as the file and what is wrong with it."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    return str(error)


def _usage(error: Any, name: str) -> str:
    """What was wrong with the options, and whose help to read."""
    context = getattr(error, "ctx", None)
    which = name if context is None else context.command_path
    sentence = error.format_message().removeprefix("Invalid value: ").replace("Value error, ", "").rstrip(".")
    return f"{sentence}{' See' if sentence.endswith('?') else '; see'} {which} --help."


def _complain(sentence: str, code: int = 1) -> int:
    emit(f"hinged: {' '.join(sentence.split())}", err=True)
    return code
