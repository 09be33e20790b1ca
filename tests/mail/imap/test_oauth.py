"""Mail behind OAuth2: a real server of mail that checks tokens, and an authorisation server that gives them."""

import json
import shlex
import socket
import sys
import time
from pathlib import Path
from queue import SimpleQueue

import pytest
from tests.cli.conftest import is_one_sentence
from tests.cli.terminals import Terminal
from tests.mail.imap.letters import deliver, numbers_in
from tests.mail.imap.test_setup import at_home  # noqa: F401
from tests.mail.oauth.authority import Authority, browse
from tests.mail.oauth.conftest import home, ring  # noqa: F401

from hinged.mail.oauth import device, tokens
from hinged.mail.oauth.clients import client_of
from hinged.mail.oauth.loopback import sign_in
from hinged.mail.oauth.tokens import SERVICE, hold, keep
from hinged.mail.running import accounts
from hinged.mail.running.accounts import Account, RunningAccount
from hinged.mail.sources.imap import open_imap
from hinged.mail.sources.source import UnreachableError

CLICK = """#!{python}
import sys, urllib.request
urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open(sys.argv[1]).read()
"""


@pytest.fixture
def authority(server, user):
    running = Authority(server.token)
    running.user = user
    yield running
    running.close()


@pytest.fixture
def account(authority, user, home, ring, monkeypatch):  # noqa: F811
    """The name of an account that has signed in, and has no password."""
    monkeypatch.delenv("HINGED_MAIL_PASSWORD")
    home.write_text(authority.settings())
    name = f"{user}@localhost"
    hold(name, sign_in(client_of("localhost"), user, browse))
    assert keep(name)
    return name


def test_mail_is_read_with_a_token(server, account, user, opened, other):
    deliver(other, "INBOX", 1)
    assert len(opened().places("INBOX")) == 1


def test_a_token_that_expires_in_the_middle_is_renewed_and_nothing_is_done_twice(
    server, account, authority, user, opened, other
):
    other.create_folder("Work")
    deliver(other, "INBOX", 1, 2)
    tokens._HELD.clear()  # as in a new process
    authority.token_for = lambda user: server.token(user, lasts=1)  # while it promises an hour
    source = opened()
    over = int(time.time()) + 2.02
    first, second = source.places("INBOX")
    authority.token_for = server.token
    time.sleep(max(0.0, over - time.time()))
    source._client.shutdown()  # the server has closed the connection
    renewals = authority.renewals()
    source.move(second, "Work")
    assert authority.renewals() == renewals + 1
    source._client.shutdown()
    source.folders()
    assert source.places("INBOX") == [first]
    assert authority.renewals() == renewals + 1, "the new one is used while it lasts"
    assert (numbers_in(other, "INBOX"), numbers_in(other, "Work")) == ([1], [2])


def test_a_command_that_gives_an_expired_token_is_asked_once_more(server, user, monkeypatch, tmp_path):
    script = (
        f"if test -e asked; then echo {server.token(user)}; else touch asked; echo {server.token(user, lasts=-5)}; fi"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HINGED_MAIL_TOKEN_COMMAND", shlex.join(["sh", "-c", script]))
    source = open_imap(server.url(user))
    assert source.places("INBOX") == []
    source.close()


def test_an_authority_that_is_away_is_waited_for(account, authority, server, user):
    tokens._HELD.clear()
    authority.spoilt["token"] = [(503, {}, "busy")]
    with pytest.raises(UnreachableError, match="did not answer as an authorisation server does"):
        open_imap(server.url(user))
    open_imap(server.url(user)).close()


def test_a_running_assistant_says_how_to_sign_in_again_when_access_is_revoked(
    server, account, authority, user, tmp_path, monkeypatch
):
    told, sources = SimpleQueue(), []
    monkeypatch.setattr(accounts, "open_source", lambda spec: sources.append(open_imap(spec)) or sources[-1])
    one = RunningAccount(Account("home", server.url(user), tmp_path / "state"), lambda _, event: told.put(event))
    one.start()
    end = time.monotonic() + 20
    while not sources or sources[0]._listed is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    authority.refreshing.clear()
    tokens._HELD.clear()  # it has expired
    sources[0]._client.socket().shutdown(socket.SHUT_RDWR)  # the server closes the connection
    sentence = told.get(timeout=20).sentence
    one.close()
    command = f"hinged mail login imaps://{user}@localhost:{server.tls_port}/"
    assert f"{user}@localhost must sign in again: {command} (" in sentence
    assert sentence.endswith("Token has been expired or revoked).")
    assert authority.renewals() == 1


# ------------------------------------------------------------------ signing in
@pytest.fixture
def at_screen(at_home, authority, tmp_path):  # noqa: F811
    """The settings of a user with a browser, in which access is allowed at once, and with a client."""
    click = tmp_path / "click"
    click.write_text(CLICK.format(python=sys.executable))
    click.chmod(0o700)
    file = tmp_path / "config" / "hinged" / "mail.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(authority.settings())
    return at_home | {"BROWSER": str(click)}


def test_a_user_signs_in_on_another_device(server, user, authority, home, ring, call, monkeypatch):  # noqa: F811
    monkeypatch.setattr(device, "SHORTEST", 0.01)
    home.write_text(authority.settings())
    codes = {"device_code": "d", "user_code": "WDJB", "verification_uri": "https://d.example/", "interval": 0}
    authority.devices["d"] = []
    authority.spoilt["device"] = [(200, {}, json.dumps(codes))] * 2
    authority.user = "somebody"
    code, _, err = call("mail", "login", server.url(user), "--device")
    assert (code, is_one_sentence(err)) == (1, True), err
    assert f"did not accept the token of {user} (from OAuth2)" in err
    assert f"sign in as {user}, and nobody else." in err
    assert ring == {}
    authority.user = user
    code, out, err = call("mail", "login", server.url(user), "--device")
    assert (code, err) == (0, "")
    assert "Open https://d.example/ on any device, and type WDJB there." in out
    assert f"Signed in as {user}." in out
    assert ring[SERVICE, f"{user}@localhost"] in authority.refreshing
    open_imap(server.url(user)).close()


def test_what_lacks_for_signing_in_is_said_before_anybody_is_asked(server, user, authority, home, call, ring):  # noqa: F811
    url = server.url(user)
    code, out, err = call("mail", "login", url)
    assert (code, out, is_one_sentence(err)) == (1, "", True), err
    assert "add [oauth.NAME] with client_id, as docs/mail_oauth.md says" in err
    assert "add [oauth.google]" in call("mail", "login", "imaps://jane@imap.gmail.com/")[2]
    import keyring
    from keyring.backends.fail import Keyring

    home.write_text(authority.settings())
    keyring.set_keyring(Keyring())
    code, out, err = call("mail", "login", url)
    assert (code, out) == (1, "")
    assert "refresh tokens are kept in a keyring, and there is none here" in err
    assert authority.asked == []


def test_setup_signs_in_where_there_is_a_client(server, user, other, authority, at_screen, monkeypatch):
    monkeypatch.delenv("HINGED_MAIL_PASSWORD")
    other.create_folder("Work")
    deliver(other, "Work", 1, 2)
    with Terminal("mail", "setup", f"{user}@here.example", "--server", server.url(user), env=at_screen) as one:
        one.shows(f"{authority.address}/authorize?")  # for those whose browser does not open
        one.shows("2 messages learnt of 1 folder.")
        assert one.ends() == 0
        assert "Password" not in one.text
    ((name, stored),) = json.loads(Path(at_screen["FILERING"]).read_text()).items()
    assert (name, stored in authority.refreshing) == (f"{SERVICE} {user}@localhost", True)
    assert stored not in one.text
