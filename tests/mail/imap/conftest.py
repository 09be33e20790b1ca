"""A server for all tests of a process, and for each test somebody with an empty mailbox."""

import pytest
from tests import needs
from tests.cli.conftest import call  # noqa: F401
from tests.mail.imap.dovecot import PASSWORD, Dovecot
from tests.mail.imap.naming import NameServer

from hinged.mail.sources.imap import open_imap


@pytest.fixture(scope="session")
def server():
    running = Dovecot()
    yield running
    running.close()


@pytest.fixture
def user(server, monkeypatch):
    for name in ("PASSWORD", "PASSWORD_COMMAND", "TOKEN_COMMAND"):
        monkeypatch.delenv(f"HINGED_MAIL_{name}", raising=False)
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", PASSWORD)
    return server.new_user()


@pytest.fixture
def names(monkeypatch):
    """A name server that this process asks; it knows no names yet."""
    resolver = needs.module("dns.resolver", "the extra mail")
    running = NameServer()
    asking = resolver.Resolver(configure=False)
    asking.nameservers, asking.port = ["127.0.0.1"], running.port
    monkeypatch.setattr(resolver, "default_resolver", asking)
    yield running
    running.close()


@pytest.fixture
def other(server, user):
    """The user's other mail program."""
    client = server.client(user)
    yield client
    client.shutdown()


@pytest.fixture
def opened(server, user):
    """Opens the user's mail as the assistant does; `host` picks how much the server can do."""
    sources = []

    def source(host="localhost", options=""):
        sources.append(open_imap(server.url(user, host, options)))
        return sources[-1]

    yield source
    for one in sources:
        one.close()
