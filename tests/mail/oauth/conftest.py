"""An authorisation server, the user's file with a client for it, and a keyring."""

from pathlib import Path

import pytest
from tests import needs
from tests.mail.oauth.authority import Authority

from hinged.mail.config import config_path
from hinged.mail.oauth import tokens


@pytest.fixture
def authority():
    running = Authority()
    yield running
    running.close()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The folders of a user who has no file yet; returns its path."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = Path(config_path())
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def ring(monkeypatch):
    """A keyring in memory, as (service, name) -> secret; `locked` in it makes it refuse to store."""
    keyring = needs.module("keyring", "the extra keyring")
    kept = {}

    class Memory(keyring.backend.KeyringBackend):
        priority = 1

        def get_password(self, service, username):
            return kept.get((service, username))

        def set_password(self, service, username, password):
            if "locked" in kept:
                raise keyring.errors.KeyringLocked("it is locked")
            kept[service, username] = password

    before = keyring.get_keyring()
    keyring.set_keyring(Memory())
    monkeypatch.setattr(tokens, "_HELD", {})  # as in a new process
    yield kept
    keyring.set_keyring(before)
