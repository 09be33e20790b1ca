"""Filing by itself on a server: messages are moved as they arrive, undone, listed, and never moved twice."""

import json
import signal

import pytest
from tests.killing import KILLS, told_by
from tests.mail.imap.cutting import Cutter
from tests.mail.imap.letters import deliver, file_away, numbers_in
from tests.mail.imap.program import Program
from tests.mail.test_kills import check_filing

from hinged.mail import Assistant, SelfFiling, Watcher, look, undo
from hinged.mail.filed import MOVED, OPEN
from hinged.mail.sources.imap import open_imap
from hinged.mail.watching import Away, Back, MessageFiled, MessageLearnt, Suggested

LEARNT = 110


@pytest.fixture
def state(opened, other, tmp_path):
    """A mailbox of two folders, and an assistant that has learnt their messages and knows the empty inbox."""
    for name in ("Work", "Play"):
        other.create_folder(name)
    deliver(other, "Work", *range(1, LEARNT, 2), subject="tax form")
    deliver(other, "Play", *range(2, LEARNT, 2), subject="chess", words="a game of chess", From="bob@example.com")
    with Assistant(tmp_path / "state", fsync=False) as assistant:
        look(assistant, opened())
        Watcher(assistant, opened(), "INBOX", [].append).turn()
    return tmp_path / "state"


def watching(state, source, told):
    """An assistant that files by itself, and its watcher."""
    assistant = Assistant(state, fsync=False)
    filing = SelfFiling(assistant, source, 0.75)
    return assistant, Watcher(assistant, source, "INBOX", told.append, keywords=True, filing=filing)


def test_new_messages_are_filed_and_one_that_is_moved_back_stays(state, opened, other):
    told = []
    assistant, watcher = watching(state, opened(), told)
    deliver(other, "INBOX", 200, 202, 204, subject="tax form")
    watcher.turn()
    assert [type(one) for one in told] == [MessageFiled] * 3
    assert numbers_in(other, "INBOX") == []
    assert numbers_in(other, "Work")[-3:] == [200, 202, 204]
    file_away(other, 202, "INBOX", source="Work")
    told.clear()
    watcher.turn()
    assert [(type(one), one.suggestion.best) for one in told] == [(Suggested, "Work")]
    other.select_folder("INBOX")
    (flags,) = other.get_flags(other.search()).values()
    assert b"hinged-Work" in flags, "it waits, with its suggestion as a keyword"
    assert [one.fate for one in assistant.log.entries()] == [OPEN, MOVED, OPEN]
    assistant.close()
    told.clear()
    source = opened()
    assistant, watcher = watching(state, source, told)
    watcher.turn()
    assert told == []
    assert numbers_in(other, "INBOX") == [202]
    assert undo(assistant, source, [one.move.number for one in assistant.log.entries()]).back == ["tax form"] * 2
    watcher.turn()
    assert sorted(numbers_in(other, "INBOX")) == [200, 202, 204]
    assistant.close()


def test_what_waits_lies_in_the_review_folder_with_its_suggestion_as_a_keyword(state, opened, other):
    told, source = [], opened()
    assistant = Assistant(state, fsync=False)
    filing = SelfFiling(assistant, source, 0.999, "Review")
    assistant.pin("anna@example.org", "Work")
    watcher = Watcher(assistant, source, "INBOX", told.append, keywords=True, filing=filing)
    deliver(other, "INBOX", 200, subject="tax form")
    deliver(other, "INBOX", 201, subject="gravel", words="a chess tax of gravel", From="eve@example.net")
    watcher.turn()
    assert [type(one) for one in told] == [MessageFiled, Suggested]
    assert (numbers_in(other, "INBOX"), numbers_in(other, "Review")) == ([], [201])
    other.select_folder("Review", readonly=True)
    (flags,) = other.get_flags(other.search()).values()
    assert f"hinged-{told[1].suggestion.best}".encode() in flags
    told.clear()
    file_away(other, 201, "Play", source="Review")
    watcher.turn()
    assert [(type(one), one.folder) for one in told] == [(MessageLearnt, "Play")]
    other.select_folder("Play", readonly=True)
    assert not any(flag.startswith(b"hinged-") for flags in other.get_flags(other.search()).values() for flag in flags)
    assistant.close()


@pytest.mark.parametrize("made", [True, False])
def test_a_connection_lost_in_a_move_leaves_one_message_in_one_place(server, user, other, state, made):
    told = []
    deliver(other, "INBOX", 200, 202, subject="tax form")
    with Cutter("127.0.0.1", server.port, b"UID MOVE", answered=made, for_good=True) as way:
        source = open_imap(f"imap://{user}@127.0.0.1:{way.port}/?insecure&timeout=5")
        assistant, watcher = watching(state, source, told)
        watcher.turn()
        assert [type(one) for one in told] == [Away]
        source.close()
    told.clear()
    source = open_imap(server.url(user))
    watcher.source = watcher.filing.source = watcher._view._source = source
    watcher.turn()
    assert [type(one) for one in told if not isinstance(one, Suggested)] == [MessageFiled, Back]
    places = {name: numbers_in(other, name) for name in ("INBOX", "Work", "Play")}
    where = [name for name, numbers in places.items() for number in numbers if number == 200]
    assert where == (["Work"] if made else ["INBOX"]), "one that was not moved waits"
    assert places["Work"].count(202) == 1
    entries = assistant.log.entries()
    assert [one.move.message for one in entries if one.fate == OPEN] == ["200@example.org"] * made + ["202@example.org"]
    assert all(one.move.place is not None for one in entries if one.fate == OPEN)
    assistant.close()
    source.close()


def test_filing_by_itself_on_a_server_survives_kills(tmp_path):
    check_filing(told_by("tests.mail.filing_kills", tmp_path, "dovecot", times=KILLS // 2))


def test_the_commands_file_list_digest_and_undo(call, server, user, other, state):
    url, where = server.url(user), ("--state", str(state))
    with Program(url, *where, "--right", "3/4", "--json") as program:
        program.says("or are filed", "err")
        deliver(other, "INBOX", 200, subject="tax form")
        assert json.loads(program.says('"filed"'))["failed"] == ""
        assert program.stop(signal.SIGTERM) == 128 + signal.SIGTERM
    (entry,) = json.loads(call("mail", "log", url, *where, "--json")[1])
    assert (entry["message"], entry["folder"], entry["fate"]) == ("200@example.org", "Work", "there")
    assert "1 message filed, none of them wrong" in call("mail", "log", url, *where)[1]
    digest = call("mail", "log", url, *where, "--digest")[1]
    assert f"--message {entry['number']}" in digest
    assert json.loads(call("mail", "log", url, *where, "--deliver", "--json")[1])["delivered"]
    assert not json.loads(call("mail", "log", url, *where, "--deliver", "--json")[1])["delivered"], "once a day"
    other.select_folder("INBOX", readonly=True)
    (delivered,) = other.fetch(other.search(), ["BODY.PEEK[]"]).values()
    assert b"".join(delivered[b"BODY[]"].split()) == b"".join(digest.encode().split())
    assert json.loads(call("mail", "status", url, *where, "--json")[1])["filing"] == {
        "right": 0.75, "filed": 1, "wrong": 0, "paused_for": 0, "alarm": None,
    }  # fmt: skip
    assert json.loads(call("mail", "undo", url, *where, "--all", "--json")[1])["put_back"] == ["tax form"]
    assert numbers_in(other, "INBOX", ["HEADER", "Message-ID", "200@example.org"]) == [200]
    assert "#1" in call("mail", "log", url, *where)[1]
    assert json.loads(call("mail", "log", url, *where, "--json")[1])[0]["fate"] == "undone"
    assert "hinged mail log lists it" in call("mail", "undo", url, *where, "--all")[2]
