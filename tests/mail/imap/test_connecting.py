"""Ways to the server that are private or refused, and one clear sentence for each way that fails."""

import shlex
import socket
import ssl
import subprocess
import sys

import pytest
from tests import needs
from tests.mail.imap.dovecot import PASSWORD, Dovecot, free_ports
from tests.mail.imap.letters import deliver

from hinged.mail.sources.imap import open_imap
from hinged.mail.sources.imap.account import Secret, read_address
from hinged.mail.sources.imap.client import about_login
from hinged.mail.sources.source import RejectedError, SourceError, UnreachableError


@pytest.fixture(scope="module")
def expired():
    server = Dovecot(certificate="expired")
    yield server
    server.close()


def complaint_about(url):
    with pytest.raises(SourceError) as raised:
        open_imap(url)
    sentence = str(raised.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def printing(text):
    return shlex.join([sys.executable, "-c", f"print({text!r}); print('a second line')"])


# ------------------------------------------------------------------ ways that lead there
def test_starttls_comes_before_the_password(server, user, other):
    deliver(other, "INBOX", 1)
    source = open_imap(f"imap://{user}@localhost:{server.port}/?ca={server.ca}")
    assert isinstance(source._client.socket(), ssl.SSLSocket)
    assert len(source.places("INBOX")) == 1
    source.close()


def has_inbox(source):
    """Return True if the source answers for its user; closes it."""
    names = [folder.name for folder in source.folders()]
    source.close()
    return "INBOX" in names


def test_the_password_comes_from_a_command(server, user, monkeypatch):
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", "wrong")  # a command is asked first
    monkeypatch.setenv("HINGED_MAIL_PASSWORD_COMMAND", printing(PASSWORD))
    assert has_inbox(open_imap(server.url(user)))


def test_the_password_comes_from_the_keyring(server, user, monkeypatch):
    keyring = needs.module("keyring", "the extra keyring")

    class Chain(keyring.backend.KeyringBackend):
        priority = 1

        def get_password(self, service, username):
            return PASSWORD if (service, username) == ("hinged", f"{user}@localhost") else None

        def set_password(self, service, username, password):
            raise NotImplementedError

    before = keyring.get_keyring()
    keyring.set_keyring(Chain())
    try:
        monkeypatch.delenv("HINGED_MAIL_PASSWORD")
        assert has_inbox(open_imap(server.url(user)))
    finally:
        keyring.set_keyring(before)


@pytest.mark.parametrize("mechanism", ["OAUTHBEARER", "XOAUTH2"])
def test_a_token_comes_from_a_command(server, user, other, mechanism, monkeypatch):
    deliver(other, "INBOX", 1)
    monkeypatch.setenv("HINGED_MAIL_TOKEN_COMMAND", printing(server.token(user)))
    if mechanism == "XOAUTH2":
        from hinged.mail.sources.imap.client import ImapConnection

        told = ImapConnection.can
        monkeypatch.setattr(
            ImapConnection, "can", lambda self, *asked: "AUTH=OAUTHBEARER" not in asked and told(self, *asked)
        )
    source = open_imap(server.url(user))
    assert len(source.places("INBOX")) == 1
    source.close()


def test_the_password_is_asked_for_at_a_terminal(user):
    ask = (
        "import os; os.environ.pop('HINGED_MAIL_PASSWORD')\n"
        "from hinged.mail.sources.imap import account as c; c._from_keyring = lambda address: None\n"
        f"print(c.find_secret(c.read_address('imaps://{user}@localhost/')).text[::-1])"
    )
    spawn = "import pty, sys; pty.spawn([sys.executable, '-c', sys.argv[1]])"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", spawn, ask], stdin=pipe, stdout=pipe) as program:
        said = b""
        while not said.endswith(b": "):
            said += program.stdout.read(1)
        program.stdin.write(PASSWORD.encode() + b"\n")
        program.stdin.flush()
        answer = program.stdout.read().decode()
    assert said.decode().strip() == f"Password of {user}@localhost:"
    assert answer.split() == PASSWORD[::-1].split()  # and the password is not shown while it is typed


# ------------------------------------------------------------------ ways that do not
def test_a_wrong_password_is_said_with_its_origin(server, user, monkeypatch):
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", "wröng")
    sentence = complaint_about(server.url(user))
    assert sentence.startswith(f"localhost did not accept the password of {user} (from HINGED_MAIL_PASSWORD)")
    assert "wröng" not in sentence


def test_a_token_that_is_not_accepted_is_said(server, user, monkeypatch):
    monkeypatch.setenv("HINGED_MAIL_TOKEN_COMMAND", printing(server.token(user, key=b"another")))
    assert f"did not accept the token of {user}" in complaint_about(server.url(user))


def test_a_password_with_a_line_break_is_not_sent(server, user, monkeypatch):
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", "x\r\nA LOGOUT")
    assert "contains line breaks" in complaint_about(server.url(user))


@pytest.mark.parametrize(("command", "said"), [
    ("false", "failed with exit code 1: false"),
    ("true", "printed nothing: true"),
    ("no-such-program-at-all", "cannot be run: no-such-program-at-all: No such file"),
    ("'unfinished", "is not a command"),
    ("", "is not a command"),
])  # fmt: skip
def test_a_command_that_gives_no_password_is_named(server, user, command, said, monkeypatch):
    monkeypatch.setenv("HINGED_MAIL_PASSWORD_COMMAND", command)
    assert said in complaint_about(server.url(user))


def test_without_a_password_the_ways_to_give_one_are_named(server, user, monkeypatch):
    monkeypatch.delenv("HINGED_MAIL_PASSWORD")
    assert f"keyring set hinged {user}@localhost" in complaint_about(server.url(user))


def test_an_unknown_server_is_said(user):
    assert "the host mail.invalid was not found" in complaint_about(f"imaps://{user}@mail.invalid/")


def test_a_port_where_nothing_listens_is_said(user):
    (port,) = free_ports(1)
    assert f"nothing listens at localhost:{port}" in complaint_about(f"imaps://{user}@localhost:{port}/")


def test_an_expired_certificate_is_said(expired, user):
    sentence = complaint_about(f"imaps://{user}@localhost:{expired.tls_port}/?ca={expired.home / 'expired.pem'}")
    assert "certificate of localhost has expired" in sentence


def test_a_certificate_that_nobody_vouches_for_is_said(server, user):
    for url in (f"imaps://{user}@localhost:{server.tls_port}/", f"imap://{user}@localhost:{server.port}/"):
        assert "not signed by an authority that this machine trusts" in complaint_about(url)


def test_a_certificate_for_another_name_is_said(server, user):
    sentence = complaint_about(f"imaps://{user}@127.0.0.9:{server.tls_port}/?ca={server.ca}")
    assert "nothing listens" in sentence or "is for another name" in sentence


def test_a_port_that_does_not_speak_tls_is_said(server, user):
    assert "does not speak TLS as expected" in complaint_about(f"imaps://{user}@localhost:{server.port}/")


def test_a_server_that_says_nothing_is_left_after_a_while(user):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"imaps://{user}@localhost:{silent.getsockname()[1]}/?timeout=1"
        assert "did not answer within 1 s" in complaint_about(url)


def test_nothing_private_is_sent_where_encryption_is_not_offered(user):
    server = Dovecot(ssl="no", disable_plaintext_auth="no")
    try:
        assert "offers no encryption" in complaint_about(f"imap://{user}@localhost:{server.port}/")
    finally:
        server.close()


def test_only_what_may_pass_by_itself_is_worth_trying_again(server, user, monkeypatch):
    (port,) = free_ports(1)
    with pytest.raises(UnreachableError):
        open_imap(f"imaps://{user}@localhost:{port}/")
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", "wrong")
    with pytest.raises(SourceError) as raised:
        open_imap(server.url(user))
    assert not isinstance(raised.value, UnreachableError)


@pytest.mark.parametrize(("spec", "said"), [
    ("imaps://jane:secret@example.org/", "an address must not contain a password"),
    ("imaps://jane:secret@example.org:port/", "…@example.org:port/ is not the address of a mailbox"),
    ("imaps://example.org/", "lacks the user or the server"),
    ("imaps://jane@/", "lacks the user or the server"),
    ("imaps://jane@example.org/INBOX", "names a folder"),
    ("imaps://jane@example.org/?insecure", "write it imap://…?insecure"),
    ("imap://jane@example.org/?insecure", "insecure is for a server on this machine only; got example.org"),
    ("imap://jane@localhost/?insecure=yes", "without a value"),
    ("imaps://jane@example.org/?pol=3", "has an option 'pol'; there are ca, poll"),
    ("imaps://jane@example.org/?poll=0", "from 1 to 1500; got poll=0"),
    ("imaps://jane@example.org/?timeout=soon", "got timeout=soon"),
    ("imaps://jane@example.org/?ca=/no/such/file.pem", "there is no file /no/such/file.pem"),
])  # fmt: skip
def test_an_address_that_cannot_be_meant_is_refused(spec, said):
    with pytest.raises(ValueError) as raised:
        read_address(spec)
    assert said in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(("said", "may_pass"), [
    ("[UNAVAILABLE] Maximum number of connections from user+IP exceeded", True),
    ("[LIMIT] LOGIN Rate limit hit", True),
    ("[ALERT] Too many simultaneous connections. (Failure)", True),
    ("[AUTHENTICATIONFAILED] Invalid credentials (Failure)", False),
    ("LOGIN failed", False),
])  # fmt: skip
def test_a_server_that_throttles_is_no_wrong_password(said, may_pass):
    """What providers say; the account would be given up for a password that is right."""
    address = read_address("imaps://jane@imap.example.org/")
    error = about_login(address, Secret("password", "x", "a test"), Exception(said))
    assert isinstance(error, UnreachableError) == may_pass
    assert isinstance(error, RejectedError) != may_pass
