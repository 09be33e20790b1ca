"""`hinged mail service`: the assistant as a service that starts at login."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.help import Command
from hinged.cli.mail.showing import tell
from hinged.cli.options import AsJson, flag, option
from hinged.cli.tables import emit, say

if TYPE_CHECKING:
    from hinged.mail.running.service import Manager

__all__ = ["service"]

service = typer.Typer(name="service", rich_markup_mode=None)


@service.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Start the assistant at login, and keep it running.

    Example: hinged mail service install
    """
    if context.invoked_subcommand is None:
        emit(context.get_help())


@service.command("install", cls=Command)
def install(
    *,
    show: Annotated[bool, flag("--print", "Print the unit, and change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run hinged mail run for all accounts of hinged mail config, from now on and at each login.

    Writes a user unit of systemd, or a property list of launchd, and starts it. It gets PATH and the variables that
    name commands and folders from this shell, but no password: keep that in the keyring, or name a command that prints
    it.

    Example: hinged mail service install
    """
    from hinged.mail.config import config_path, load
    from hinged.mail.running.service import PASSED_ON, manager_here

    manager = manager_here()
    command = [sys.executable, "-m", "hinged", "mail", "run"]
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    if show:
        say(manager.text(command, environment).rstrip("\n"))
        return
    if not load():
        raise ValueError(f"there is no account in {config_path()}; add one with: hinged mail config add NAME SOURCE.")
    _check(manager)
    manager.install(command, environment)
    if "HINGED_MAIL_PASSWORD" in os.environ:
        emit("hinged: the service does not get HINGED_MAIL_PASSWORD, because its file is no place for it.", err=True)
    tell(f"The assistant runs, and starts at login ({manager.path}).", as_json, installed=str(manager.path))


def _check(manager: Manager) -> None:
    """Refuse what needs a manager that does not run."""
    if not manager.runs_here():
        raise OSError(
            f"{manager.name} does not run for this user here, so there is no service; hinged mail run does the same by "
            "hand, and hinged mail service install --print prints the unit."
        )


@service.command("status", cls=Command)
def status(*, as_json: AsJson = False) -> None:
    """Show whether the service is installed and runs; the exit code is 1 if it does not.

    Example: hinged mail service status
    """
    from hinged.mail.running.service import manager_here

    manager = manager_here()
    _check(manager)
    installed, running = manager.path.exists(), manager.is_running()
    sentence = "The service is not installed."
    if installed:
        sentence = f"The service is installed and {'runs' if running else 'does not run'} ({manager.path})."
    tell(sentence, as_json, installed=installed, running=running, path=str(manager.path))
    raise typer.Exit(0 if running else 1)


@service.command("logs", cls=Command)
def logs(
    *,
    lines: Annotated[int, option("N", "How many lines.", min=1)] = 50,
    follow: Annotated[bool, flag("--follow", "Go on with new lines until Ctrl-C.")] = False,
) -> None:
    """Print what the service has printed.

    Example: hinged mail service logs --follow
    """
    from hinged.mail.running.service import manager_here

    manager = manager_here()
    _check(manager)
    sys.stdout.flush()
    raise typer.Exit(manager.print_logs(lines, follow))


@service.command("uninstall", cls=Command)
def uninstall(*, as_json: AsJson = False) -> None:
    """Stop the service and remove it; what was learnt and the accounts stay.

    Example: hinged mail service uninstall
    """
    from hinged.mail.running.service import manager_here

    manager = manager_here()
    _check(manager)
    if not manager.path.exists():
        raise ValueError(f"the service is not installed: there is no {manager.path}.")
    manager.uninstall()
    tell(f"The service is gone ({manager.path}).", as_json, uninstalled=str(manager.path))
