"""`hinged mail watch` as users run it: started, stopped, killed, and wrongly called."""

import json
import signal

import pytest
from tests.cli.conftest import is_one_sentence
from tests.killing import KILLS, told_by
from tests.mail.imap.dovecot import PASSWORD, Dovecot, free_ports
from tests.mail.imap.letters import deliver, file_away
from tests.mail.imap.program import Program
from tests.mail.letters import letter, make_maildir

from hinged.mail import Assistant, Thresholds, open_source
from hinged.mail.watching import MessageLearnt, Suggested, Watcher


def test_a_server_that_comes_back_is_watched_on_and_nothing_is_learnt_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("HINGED_MAIL_PASSWORD", PASSWORD)
    server = Dovecot()
    try:
        user = server.new_user()
        other = server.client(user)
        other.create_folder("Work")
        deliver(other, "Work", 1, 2)
        deliver(other, "INBOX", 3, 4)
        with Program(server.url(user), "--state", tmp_path / "state", "--json") as program:
            program.says("2@example.org")
            file_away(other, 3, "Work")
            program.says("3@example.org")
            server.kill()  # while the program waits
            program.says('"away"')
            server.start()
            other.shutdown()
            other = server.client(user)
            file_away(other, 4, "Work")
            program.says("4@example.org")
            program.says('"back"')
            deliver(other, "INBOX", 5)
            assert json.loads(program.says("5@example.org"))["silent"].startswith("too little is learnt yet")
            assert program.stop(signal.SIGINT) == 130
            assert program.lines["err"][-1] == "hinged: stopping; what has been learnt is kept."
        events = [json.loads(line) for line in program.lines["out"]]
        learnt = [(e["message"], e["folder"]) for e in events if e["event"] == "learnt"]
        assert sorted(learnt) == [(f"{n}@example.org", "Work") for n in (1, 2, 3, 4)]
        other.shutdown()
    finally:
        server.close()


@pytest.mark.parametrize("command", ["watch", "run"])
def test_watching_survives_kills(tmp_path, command):
    result = told_by("tests.mail.imap.watch_kills", tmp_path, command)
    assert result.pop("learnt") > KILLS / 2
    assert result.pop("acknowledged") > KILLS / 2
    assert result == {
        "lost": [], "missing": [], "too often": 0, "mail as the user left it": True, "code": 143, "complaints": 0,
    }  # fmt: skip


def test_a_maildir_can_be_watched_too(tmp_path):
    filed = {"INBOX": [], "Work": [letter(name=f"w{i}") for i in range(3)], "Home": []}
    root = make_maildir(tmp_path / "mail", filed)
    told = []
    with Assistant(tmp_path / "state", thresholds=Thresholds(messages=3)) as assistant:
        watcher = Watcher(assistant, open_source(root), "INBOX", told.append)
        moments = watcher.moments()
        next(moments)
        watcher.turn()
        (root / "new" / "1.new.host").write_bytes(letter(name="new"))
        next(moments)
        watcher.turn()
        (root / "new" / "1.new.host").rename(root / ".Home" / "cur" / "1.new.host:2,S")
        next(moments)
        watcher.turn()
    assert [(e.message.id, e.folder) for e in told if isinstance(e, MessageLearnt)][3:] == [("new", "Home")]
    assert [e.message.id for e in told if isinstance(e, Suggested)] == ["new"]


# ------------------------------------------------------------------ what cannot be
@pytest.mark.parametrize("wrong", ["password", "host", "port", "certificate", "folder", "address"])
def test_what_is_wrong_is_said_in_one_sentence(call, server, user, tmp_path, wrong, monkeypatch):
    (port,) = free_ports(1)
    urls = {
        "host": "imaps://jane@mail.invalid/",
        "port": f"imaps://jane@localhost:{port}/",
        "certificate": f"imaps://jane@localhost:{server.tls_port}/",
        "address": "imaps://jane:secret@localhost/",
    }
    if wrong == "password":
        monkeypatch.setenv("HINGED_MAIL_PASSWORD", "wrong")
    options = ["--folder", "Wrok"] if wrong == "folder" else []
    code, out, err = call("mail", "watch", urls.get(wrong, server.url(user)), "--state", tmp_path / "state", *options)
    assert (code, out) == (1, "")
    assert is_one_sentence(err)
    assert "secret" not in err


def test_standard_input_cannot_be_watched(call):
    code, out, err = call("mail", "watch", "-")
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
