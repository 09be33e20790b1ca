"""`hinged mail setup` in a real terminal, with a real server."""

import json
import os
from pathlib import Path

import pytest
from platformdirs import user_cache_path
from tests import needs
from tests.cli.conftest import is_one_sentence
from tests.cli.terminals import Terminal
from tests.mail.imap.dovecot import PASSWORD
from tests.mail.imap.letters import deliver

from hinged.mail.sources.imap.providers import provider_of

#: A keyring in a file. It is no module of the tests: keyring would choose it for all of them.
RING = """
import json, os
from pathlib import Path
from keyring.backend import KeyringBackend

class FileRing(KeyringBackend):
    priority = 1

    def _all(self):
        path = Path(os.environ["FILERING"])
        return json.loads(path.read_text()) if path.exists() else {}

    def get_password(self, service, username):
        return self._all().get(f"{service} {username}")

    def set_password(self, service, username, password):
        Path(os.environ["FILERING"]).write_text(json.dumps({**self._all(), f"{service} {username}": password}))
"""


#: What a program does at its start, so that it asks the name server of the test.
ASKING = """
import dns.resolver
dns.resolver.default_resolver = dns.resolver.Resolver(configure=False)
dns.resolver.default_resolver.nameservers, dns.resolver.default_resolver.port = ["127.0.0.1"], {port}
"""


@pytest.fixture
def at_home(tmp_path, names):
    """The settings of a user without accounts, with a keyring and a name server, without a manager of services."""
    needs.module("keyring", "the extra keyring")
    programs = tmp_path / "bin"
    programs.mkdir()
    (tmp_path / "filering.py").write_text(RING)
    (tmp_path / "sitecustomize.py").write_text(ASKING.format(port=names.port))
    return {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(user_cache_path()),  # compiled code is not what changes with a new user
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PATH": str(programs),
        "PYTHONPATH": str(tmp_path),
        "PYTHON_KEYRING_BACKEND": "filering.FileRing",
        "FILERING": str(tmp_path / "ring"),
    }


def said(one, words):
    """Wait for words anywhere in what the terminal was shown."""
    return one.shows(words)


def test_from_an_address_to_an_assistant(server, user, other, at_home, tmp_path, monkeypatch, call):
    monkeypatch.delenv("HINGED_MAIL_PASSWORD")
    for folder, subject in (("Work", "tax form"), ("Play", "chess")):
        other.create_folder(folder)
        numbers = range(1, 16) if folder == "Work" else range(16, 31)
        deliver(other, folder, *numbers, subject=subject, From=f"{folder}@example.com")
    with Terminal("mail", "setup", env=at_home) as one:
        said(one, "Your address:")
        one.types(f"{user}@nowhere.example\n")
        said(one, "Its mail server [imap.nowhere.example]:")
        one.types(f"{server.url(user)}\n")
        said(one, "Password of")
        one.types("wrong\n")
        said(one, "did not accept the password")
        one.types(f"{PASSWORD}\n")
        said(one, "Store the password in the keyring? [Y/n]:")
        one.types("\n")
        said(one, "30 messages learnt of 2 folders.")
        said(one, "in one of the first three.")
        said(one, "hinged mail run starts the assistant.")
        assert one.ends() == 0
        assert PASSWORD not in one.text
    assert json.loads(Path(at_home["FILERING"]).read_text()) == {f"hinged {user}@localhost": PASSWORD}
    for name, value in at_home.items():
        if name.startswith("XDG"):
            monkeypatch.setenv(name, value)
    assert json.loads(call("mail", "config", "show", "--json")[1]) == {"nowhere": {"source": server.url(user)}}
    assert PASSWORD not in (tmp_path / "config" / "hinged" / "mail.toml").read_text()
    assert json.loads(call("mail", "status", "--account", "nowhere", "--json")[1])["messages"] == 30


def test_a_wrong_password_is_asked_for_three_times(server, user, at_home, monkeypatch):
    monkeypatch.delenv("HINGED_MAIL_PASSWORD")
    words = ("mail", "setup", f"{user}@nowhere.example", "--server", server.url(user), "--name", "mine")
    with Terminal(*words, env=at_home) as one:
        for number in range(1, 4):
            while one.text.count("Password of") < number:
                said(one, "Password of")
            one.types("wrong\n")
        assert one.ends() == 1
    with Terminal(*words, env={**at_home, "HINGED_MAIL_PASSWORD": "wrong"}) as one:  # asking would change nothing
        assert one.ends() == 1
        assert one.text.count("did not accept the password") == 1
    assert not os.path.exists(Path(at_home["XDG_CONFIG_HOME"]) / "hinged" / "mail.toml")


def test_providers_are_known_by_their_domains():
    assert provider_of("a@googlemail.com").server == provider_of("a@GMAIL.com").server == "imap.gmail.com"
    assert "app password" in provider_of("a@gmail.com").note
    assert not provider_of("a@example.org").known


def test_without_a_terminal_it_says_what_to_do(call):
    code, out, err = call("mail", "setup", "jane@example.org")
    assert (code, out) == (1, "")
    assert is_one_sentence(err.replace("; without", ", without"))
