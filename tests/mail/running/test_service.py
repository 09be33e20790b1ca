"""The assistant as a service: what the manager is given, and what it is told to do."""

import configparser
import json
import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import call, is_one_sentence  # noqa: F401

from hinged.mail.config import add
from hinged.mail.running.service import GAVE_UP, launchd, systemd, unit_text

COMMAND = ["/opt/a b/py$thon", "-m", "hinged", 'sa"y', "back\\slash", "100%"]

#: Stands for systemctl, which cannot run where systemd does not: writes down what it is told.
STAND_IN = """#!/bin/sh
echo "$@" >> {told}
case "$2" in is-active) test -e {folder}/on;; restart) touch {folder}/on;; disable) rm -f {folder}/on;; esac
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "HINGED_MAIL_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def told(home, monkeypatch):
    """What systemctl was told; it is on the path."""
    programs = home / "bin"
    programs.mkdir()
    (programs / "systemctl").write_text(STAND_IN.format(told=home / "told", folder=home))
    (programs / "systemctl").chmod(0o755)
    (programs / "journalctl").write_text('#!/bin/sh\necho "$@"\n')
    (programs / "journalctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return lambda: (home / "told").read_text().splitlines()


def test_the_unit_says_what_is_started_and_when_again(home):
    text = unit_text(COMMAND, {"PATH": '/bin:/a "b" 5%', "XDG_DATA_HOME": "/d"})
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str
    unit.read_string(text)
    assert "%" not in text.replace("%%", "")
    words = shlex.split(unit["Service"]["ExecStart"])
    assert [word.replace("$$", "$").replace("%%", "%") for word in words] == COMMAND
    lines = [line.partition("=")[2] for line in text.splitlines() if line.startswith("Environment=")]
    assert [shlex.split(line)[0].replace("%%", "%") for line in lines] == ['PATH=/bin:/a "b" 5%', "XDG_DATA_HOME=/d"]
    assert str(GAVE_UP) in unit["Service"]["RestartPreventExitStatus"].split()
    assert unit["Install"]["WantedBy"] == "default.target"
    if shutil.which("systemd-analyze"):
        path = home / "hinged-mail.service"
        path.write_text(unit_text([sys.executable, *COMMAND[1:], "$HOME"], {"PATH": "/bin:100%"}))
        done = subprocess.run(["systemd-analyze", "verify", "--user", path], capture_output=True, text=True)
        assert "hinged-mail" not in done.stderr, done.stderr
    with pytest.raises(ValueError, match="control characters"):
        unit_text(["a\nb"], {})


def test_launchd_gets_the_same(home):
    manager = launchd(home)
    content = plistlib.loads(manager.text(COMMAND, {"PATH": "/bin"}).encode())
    assert (content["ProgramArguments"], content["EnvironmentVariables"]) == (COMMAND, {"PATH": "/bin"})
    assert manager.path == home / "Library" / "LaunchAgents" / f"{content['Label']}.plist"
    assert manager.start[0][-1] == str(manager.path)
    assert content["StandardErrorPath"] in manager.logs(5, True)


def test_it_is_installed_shown_and_removed(home, told, call, monkeypatch):  # noqa: F811
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", "secret")
    monkeypatch.setenv("HINGED_MAIL_PASSWORD_COMMAND", "pass show mail")
    assert "there is no account" in call("mail", "service", "install")[2]
    add("home", {"source": "/mail"})
    unit = home / ".config" / "systemd" / "user" / "hinged-mail.service"
    code, out, err = call("mail", "service", "status")
    assert (code, out, err) == (1, "The service is not installed.\n", "")
    code, out, err = call("mail", "service", "install")
    assert (code, str(unit) in out) == (0, True)
    assert "does not get HINGED_MAIL_PASSWORD" in err
    assert "secret" not in unit.read_text()
    assert "pass show mail" in unit.read_text()
    assert [line for line in told() if "show-environment" not in line and "is-active" not in line] == [
        "--user daemon-reload", "--user enable hinged-mail.service", "--user restart hinged-mail.service",
    ]  # fmt: skip
    assert call("mail", "service", "install", "--print")[1] == unit.read_text()
    code, out, _ = call("mail", "service", "status", "--json")
    assert (code, json.loads(out)) == (0, {"installed": True, "running": True, "path": str(unit)})
    assert call("mail", "service", "logs", "--lines", "7")[0] == 0
    assert call("mail", "service", "uninstall")[0] == 0
    assert told()[-1] == "--user disable --now hinged-mail.service"
    assert not unit.exists()
    assert call("mail", "service", "uninstall")[0] == 1


def test_what_the_manager_refuses_is_told(home, told, call):  # noqa: F811
    add("home", {"source": "/mail"})
    (home / "bin" / "systemctl").write_text('#!/bin/sh\ntest "$2" != enable || { echo no room. >&2; exit 1; }\n')
    code, out, err = call("mail", "service", "install")
    assert (code, out) == (1, "")
    assert err == "hinged: systemctl --user enable hinged-mail.service failed: no room.\n"


def test_without_a_manager_one_sentence_says_what_to_do(home, call, monkeypatch):  # noqa: F811
    add("home", {"source": "/mail"})
    monkeypatch.setenv("PATH", str(home))
    for command in ("install", "status", "logs", "uninstall"):
        code, out, err = call("mail", "service", command)
        assert (code, out) == (1, "")
        assert is_one_sentence(err)
        assert "--print" in err
    code, out, _ = call("mail", "service", "install", "--print")
    assert code == 0
    assert f'ExecStart="{sys.executable}" "-m" "hinged" "mail" "run"' in out
    assert systemd(Path.home()).path == home / ".config" / "systemd" / "user" / "hinged-mail.service"
