"""The page of the reference with every command, its arguments and options, as the program itself has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from tables import table

from hinged.cli.main import app

__all__ = ["write"]

FRONT = """# The command line, from the commands

Every command with its arguments and options, as `--help` has them. [The command line](../cli.md) explains them, with
output.
"""


def write(path: Path) -> None:
    """Write the page."""
    lines = [FRONT, *described("hinged", typer.main.get_command(app))]
    path.write_text("\n".join(lines), encoding="utf-8")


def described(name: str, command: Any) -> Iterator[str]:
    """Yield the lines about a command and those below it."""
    text, _, example = (command.help or "").partition("Example: ")
    yield f"\n## `{name}`\n\n{text.strip()}\n"
    yield f"```bash\n{example.strip()}\n```\n"
    below = {one: found for one, found in getattr(command, "commands", {}).items() if not found.hidden}
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    if arguments:
        yield table(["argument", "meaning"], [[f"`{one.metavar}`", one.help or ""] for one in arguments])
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    yield table(["option", "meaning"], [[spelling(one), meaning(one)] for one in options])
    if below:
        place = name.replace(" ", "-")
        lead = [
            [f"[`{name} {one}`](#{place}-{one})", (found.help or "").partition("\n")[0]] for one, found in below.items()
        ]
        yield table(["command", "what it does"], lead)
    for one, found in below.items():
        yield from described(f"{name} {one}", found)


def spelling(option: Any) -> str:
    """Return the ways to write an option, with the word for its value."""
    value = "" if option.is_flag else f" {option.metavar or 'TEXT'}"
    return ", ".join(f"`{one}{value}`" for one in [*option.opts, *option.secondary_opts])


def meaning(option: Any) -> str:
    """Return what an option means, and what holds where it is not given."""
    if option.required:
        return f"{option.help} Required."
    known = option.default in (None, False, ()) or "default" in (option.help or "")
    return (option.help or "") + ("" if known else f" Default: `{option.default}`.")
