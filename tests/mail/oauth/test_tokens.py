"""Access tokens are renewed in time, refresh tokens lie in the keyring alone, and several users of one do no harm."""

import threading
import time

import pytest
from tests.mail.oauth.authority import browse

from hinged.mail.oauth import tokens
from hinged.mail.oauth.clients import client_of
from hinged.mail.oauth.loopback import sign_in
from hinged.mail.oauth.tokens import SERVICE, SignedOutError, access_token, hold, keep, renewed
from hinged.mail.sources.source import SourceError, UnreachableError

ME = "jane@localhost"


@pytest.fixture
def signed_in(authority, home, ring):
    """The keyring of a user who has signed in, in another process."""
    home.write_text(authority.settings())
    hold(ME, sign_in(client_of("localhost"), "jane", browse))
    assert keep(ME)
    tokens._HELD.clear()
    authority.asked.clear()
    return ring


def token():
    return access_token(ME, "localhost")


@pytest.fixture
def clock(monkeypatch):
    """Sets the clock on the wall ahead, or back, by so many seconds in all."""
    moved = [0.0]
    monkeypatch.setattr(tokens.time, "time", lambda now=time.time: now() + moved[0])
    return lambda seconds: moved.__setitem__(0, float(seconds))


def test_without_a_client_or_without_signing_in_there_is_no_token(home, ring, authority):
    assert token() is None
    home.write_text(authority.settings())
    assert token() is None
    assert authority.asked == []


def test_a_token_is_kept_in_memory_and_renewed_before_it_expires(signed_in, authority, clock):
    first = token()
    assert [token() for _ in range(3)] == [first] * 3
    clock(0.89 * 3600)
    assert token() == first
    clock(0.91 * 3600)
    assert token() != first
    assert authority.renewals() == 2
    clock(-1e9)  # set back: the token seems to last for ever; the mail server tells when it does not
    last = token()
    assert authority.renewals() == 2
    assert renewed(ME, "localhost", last) != last
    assert authority.renewals() == 3


@pytest.mark.parametrize("lasts", [None, "soon", -5, 1e300, "3600"])
def test_a_strange_time_to_live_is_lived_with(signed_in, authority, lasts):
    authority.lasts = lasts
    assert token()
    assert token()
    assert authority.renewals() == (2 if lasts == -5 else 1)


def test_only_the_refresh_token_is_stored_and_only_in_the_keyring(signed_in, authority, tmp_path):
    for _ in range(2):
        assert renewed(ME, "localhost", token())
    ((name, stored),) = signed_in.items()
    assert name == (SERVICE, ME)
    assert stored in authority.refreshing, "the newest one: earlier ones are no longer taken"
    assert list(authority.refreshing) == [stored]
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"refresh." not in path.read_bytes()
            assert b"access." not in path.read_bytes()


def test_a_locked_keyring_costs_nothing_while_the_process_runs(signed_in, authority):
    signed_in["locked"] = "yes"
    before = signed_in[SERVICE, ME]
    first = token()
    assert signed_in[SERVICE, ME] == before, "which the server takes no longer"
    second = renewed(ME, "localhost", first)
    assert second not in (None, first)
    del signed_in["locked"]
    renewed(ME, "localhost", second)
    assert signed_in[SERVICE, ME] in authority.refreshing


def test_many_connections_at_once_renew_once(signed_in, authority):
    found = []
    threads = [threading.Thread(target=lambda: found.append(token())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert authority.renewals() == 1


def test_several_that_were_rejected_with_the_same_token_renew_once(signed_in, authority):
    rejected = token()
    assert renewed(ME, "localhost", rejected) == renewed(ME, "localhost", rejected)
    assert authority.renewals() == 2


def test_another_process_that_has_renewed_the_refresh_token_meanwhile_does_no_harm(signed_in, authority, monkeypatch):
    stale = signed_in[SERVICE, ME]
    assert token()  # the other process; the token that this one has read is no longer taken
    tokens._HELD.clear()
    read, given = tokens.read_secret, iter([stale])
    monkeypatch.setattr(tokens, "read_secret", lambda *name: next(given, None) or read(*name))
    assert token()
    assert authority.renewals() == 3


def test_a_revoked_token_is_one_sentence_and_is_not_tried_for_ever(signed_in, authority):
    authority.refreshing.clear()
    with pytest.raises(SignedOutError, match="invalid_grant, Token has been expired or revoked"):
        token()
    assert authority.renewals() == 1


def test_what_may_pass_by_itself_is_no_reason_to_sign_in_again(signed_in, authority, home):
    authority.spoilt["token"] = [(500, {}, ""), (200, {}, "<html>"), (400, {}, '{"error": "temporarily_unavailable"}')]
    for kind in (UnreachableError, UnreachableError, SourceError):
        with pytest.raises(kind) as raised:
            token()
        assert not isinstance(raised.value, SignedOutError)
    good = home.read_text()
    home.write_text(good.replace("client_id", "client"))
    with pytest.raises(SourceError, match="no key 'client' for a client"):
        token()
    home.write_text(good)
    assert token()
