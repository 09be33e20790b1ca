"""Changes are noticed: told by the server, found by looking, and after the server was away."""

import threading
import time
from contextlib import contextmanager
from itertools import islice, pairwise

import pytest
from tests.mail.imap.dovecot import PASSWORD, Dovecot
from tests.mail.imap.letters import deliver

from hinged.mail.sources.imap import open_imap, waiting
from hinged.mail.sources.imap.waiting import idle
from hinged.mail.sources.source import UnreachableError


@contextmanager
def meanwhile(do, after=0.4):
    """Do something while the test waits."""
    thread = threading.Timer(after, do)
    thread.start()
    yield
    thread.join()


def look_at_all(source):
    for folder in source.folders():
        source.places(folder.name)


def is_told(source):
    """Return True if a change is noticed before the address's own interval of 60 seconds would look for it."""
    return source.wait(20)


def test_quiet_is_quiet(opened, other):
    deliver(other, "INBOX", 1)
    source = opened()
    look_at_all(source)
    began = time.monotonic()
    assert not source.wait(0.5)
    assert time.monotonic() - began > 0.4  # load can only make it longer


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2"])
def test_a_new_message_in_the_inbox_is_told_at_once(opened, other, host):
    source = opened(host)
    look_at_all(source)
    with meanwhile(lambda: deliver(other, "INBOX", 1)):
        assert is_told(source)
    look_at_all(source)
    assert len(source.places("INBOX")) == 1


def test_what_is_filed_elsewhere_is_told_at_once_where_the_server_can(opened, other):
    other.create_folder("Work")
    source = opened()
    look_at_all(source)
    with meanwhile(lambda: deliver(other, "Work", 1)):
        assert is_told(source)


@pytest.mark.parametrize("host", ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
def test_what_is_filed_elsewhere_is_found_by_looking_where_it_cannot(opened, other, host):
    other.create_folder("Work")
    source = opened(host, "&poll=1")
    look_at_all(source)
    with meanwhile(lambda: deliver(other, "Work", 1)):
        assert is_told(source)


def test_a_new_folder_is_a_change_and_a_flag_is_none(opened, other):
    deliver(other, "INBOX", 1)
    source = opened("127.0.0.2", "&poll=1")
    look_at_all(source)
    other.select_folder("INBOX")
    with meanwhile(lambda: other.add_flags([1], [b"\\Seen"]), after=0.1):
        assert not source.wait(1.1)
    with meanwhile(lambda: other.create_folder("Work")):
        assert is_told(source)


def test_what_changed_since_the_last_look_is_told_without_waiting(opened, other):
    source = opened()
    look_at_all(source)
    deliver(other, "Sent", 1)
    assert is_told(source)


def test_what_happens_between_a_look_and_the_wait_is_noticed(opened, other):
    other.create_folder("Work")
    source = opened()
    look_at_all(source)
    client, seen = source._client, source._listed.states["INBOX"]
    assert client.ask_for_news()
    assert not idle(client, "INBOX", 0.1, seen)
    client.choose("Work")
    deliver(other, "INBOX", 1)  # opening the inbox would find it there, and the server would not tell of it
    assert idle(client, "INBOX", 20, seen)
    seen = client.choose("INBOX")
    deliver(other, "Work", 1)
    time.sleep(0.7)  # the server may tell of it with its next answer, or while idle
    assert idle(client, "INBOX", 20, seen)


def test_a_server_killed_while_we_wait_is_found_again(monkeypatch):
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", PASSWORD)
    server = Dovecot()
    try:
        user = server.new_user()
        source = open_imap(server.url(user))
        look_at_all(source)
        with meanwhile(server.kill), pytest.raises(UnreachableError):  # the connection is lost, and another refused
            source.wait(20)
        with pytest.raises(UnreachableError):
            source.folders()
        server.start()
        client = server.client(user)
        deliver(client, "INBOX", 1)
        client.shutdown()
        assert is_told(source)
        look_at_all(source)
        assert len(source.places("INBOX")) == 1
        server.kill()
        server.start()
        assert not source.wait(0.2)  # away and back between two waits: it was looked, and nothing differs
        assert next(source._pauses) <= 1, "all went well, so the next pause is short again"
        source.close()
    finally:
        server.close()


def test_after_a_sleep_of_the_machine_the_server_is_asked_anew(opened, other, monkeypatch):
    """The clock on the wall jumps; a machine cannot be sent to sleep here."""
    monkeypatch.setattr(waiting, "STEP", 0.05)
    source = opened()
    look_at_all(source)
    before, ahead = source._client, []
    with monkeypatch.context() as patch:
        patch.setattr(waiting.time, "time", lambda now=time.time: now() + sum(ahead))
        setting = threading.Timer(0.5, lambda: ahead.append(3600))
        setting.start()
        assert source.wait(20), "what happened meanwhile is looked at"
        setting.join()
    assert source._client is not before
    assert not source.wait(0.2), "one sleep, one new connection"


def test_pauses_grow_while_a_server_is_away(monkeypatch):
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", PASSWORD)
    server = Dovecot()
    try:
        source = open_imap(server.url(server.new_user()))
        server.kill()
        with pytest.raises(UnreachableError):
            source.wait(60)
        began = time.monotonic()
        with pytest.raises(UnreachableError):
            source.wait(60)
        assert time.monotonic() - began > 0.7  # load can only make it longer
        lengths = list(islice(source._pauses, 9))
        assert all(longer > shorter for shorter, longer in pairwise(lengths[:5]))
        assert all(45 <= length <= 60 for length in lengths[5:])
    finally:
        server.close()
