"""The assistant as a service of the user: the unit for systemd, the property list for launchd, and who runs them."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["GAVE_UP", "PASSED_ON", "Manager", "launchd", "manager_here", "plist_text", "systemd", "unit_text"]

UNIT, LABEL = "hinged-mail.service", "hinged.mail"
PATIENCE = 60.0  # seconds that the manager has to do what it is told
#: Variables that the service gets from the shell it is installed from. Passwords are no part of them.
PASSED_ON = (
    "PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HINGED_MAIL_PASSWORD_COMMAND", "HINGED_MAIL_TOKEN_COMMAND",
)  # fmt: skip
GAVE_UP = 78  # exit code of `hinged mail run` when no account is left to watch
UNIT_TEXT = """[Unit]
Description=Folders for mail, suggested by hinged

[Service]
ExecStart={command}
{environment}UMask=0077
NoNewPrivileges=yes
Restart=on-failure
RestartSec=60
RestartPreventExitStatus=2 {gave_up}
SuccessExitStatus=143

[Install]
WantedBy=default.target
"""


def unit_text(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the unit for systemd.

    It is started again a minute after a failure, but not if no account is left to watch: trying a rejected password
    again and again could lock the account.

    Examples
    --------
    >>> print(unit_text(["/opt/a b/python", "-m", "hinged"], {"PATH": "/bin:100%"}).splitlines()[5])
    Environment="PATH=/bin:100%%"
    """
    quoted = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in environment.items())
    # `$` would begin a variable in a command only
    words = " ".join(_quoted(word).replace("$", "$$") for word in command)
    return UNIT_TEXT.format(command=words, environment=quoted, gave_up=GAVE_UP)


def _quoted(word: str) -> str:
    """Quote a word as systemd reads it."""
    if any(ord(one) < 32 or ord(one) == 127 for one in word):
        raise ValueError(f"a service cannot be given {word!r}, which contains control characters.")
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def plist_text(command: Sequence[str], environment: Mapping[str, str], log: str) -> str:
    """Return the property list for launchd; it starts the program again only after a crash."""
    content = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"Crashed": True},
        "ThrottleInterval": 60,
        "Umask": 0o077,
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    return plistlib.dumps(content).decode("utf-8")


class Manager(NamedTuple):
    """A program that runs services of the user.

    Attributes
    ----------
    name : what it is called
    path : the file that describes our service
    text : function of a command and its environment that returns the content of that file
    ask : a command that succeeds if the manager runs for this user
    start, stop : commands that enable and start, or stop and disable, the service
    look : a command that succeeds if the service runs
    logs : function of a number of lines, and of whether to follow, that returns the command that prints the log
    """

    name: str
    path: Path
    text: Callable[[Sequence[str], Mapping[str, str]], str]
    ask: list[str]
    start: list[list[str]]
    stop: list[list[str]]
    look: list[str]
    logs: Callable[[int, bool], list[str]]

    def runs_here(self) -> bool:
        """Return True if this manager runs for this user."""
        return shutil.which(self.ask[0]) is not None and _call(self.ask).returncode == 0

    def is_running(self) -> bool:
        """Return True if the service runs."""
        return _call(self.look).returncode == 0

    def install(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Write the file, and start the service now and at each login."""
        text = self.text(command, environment)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text, "utf-8")
        for words in self.start:
            self._do(words)

    def uninstall(self) -> None:
        """Stop the service and remove the file."""
        for words in self.stop:
            self._do(words)
        self.path.unlink(missing_ok=True)

    def print_logs(self, lines: int, follow: bool) -> int:
        """Print the last lines of the log, and new ones if asked to; return the exit code."""
        return subprocess.run(self.logs(lines, follow), check=False).returncode

    def _do(self, words: list[str]) -> None:
        done = _call(words)
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split()) or f"it ended with {done.returncode}"
            raise OSError(f"{' '.join(words)} failed: {said.rstrip('.')}.")


def _call(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE)


def systemd(home: Path) -> Manager:
    """Return the user's systemd."""
    control = ["systemctl", "--user"]
    folder = os.environ.get("XDG_CONFIG_HOME", "").strip() or home / ".config"
    return Manager(
        "systemd",
        Path(folder) / "systemd" / "user" / UNIT,
        unit_text,
        ask=[*control, "show-environment"],
        start=[[*control, "daemon-reload"], [*control, "enable", UNIT], [*control, "restart", UNIT]],
        stop=[[*control, "disable", "--now", UNIT]],
        look=[*control, "is-active", "--quiet", UNIT],
        logs=lambda n, follow: ["journalctl", "--user", "--unit", UNIT, "--lines", str(n), *["--follow"] * follow],
    )


def launchd(home: Path) -> Manager:
    """Return the user's launchd."""
    path, log = home / "Library" / "LaunchAgents" / f"{LABEL}.plist", str(home / "Library" / "Logs" / f"{LABEL}.log")
    mine = f"gui/{os.getuid()}"
    return Manager(
        "launchd",
        path,
        lambda command, environment: plist_text(command, environment, log),
        ask=["launchctl", "print", mine],
        start=[["launchctl", "bootstrap", mine, str(path)]],
        stop=[["launchctl", "bootout", f"{mine}/{LABEL}"]],
        look=["launchctl", "print", f"{mine}/{LABEL}"],
        logs=lambda n, follow: ["tail", "-n", str(n), *["-f"] * follow, log],
    )


def manager_here() -> Manager:
    """Return the manager of this system."""
    return (launchd if sys.platform == "darwin" else systemd)(Path.home())
