"""Copies of messages in several folders of a server: learnt as sets, by a look and while it watches."""

import pytest
from tests.mail.imap.letters import deliver, numbers_in, uid_of
from tests.mail.imap.test_watching import Told

from hinged.mail import Assistant, Thresholds, file_mail, look, undo
from hinged.mail.watching import MessageLearnt, Watcher


def copy(client, number, folder, source):
    """What a mail program does for a second label: it copies the message."""
    client.copy([uid_of(client, source, number)], folder)


def remove(client, number, folder):
    client.delete_messages([uid_of(client, folder, number)])
    client.expunge()


def learnt_of(told):
    """The folders of each message that was learnt since the last time."""
    events, told.events = told.events, []
    return {e.message.id[0]: " ".join(e.folders) for e in events if isinstance(e, MessageLearnt)}


@pytest.fixture
def filled(other):
    for name in ("Work", "Tax", "Play"):
        other.create_folder(name)
    deliver(other, "Work", 1, 3, 5, subject="tax form")
    deliver(other, "Play", 2, 4, 6, subject="chess", words="a game of chess", From="bob@example.com")
    copy(other, 1, "Tax", "Work")
    return other


def test_watching_follows_labels_that_come_and_go(opened, filled, tmp_path):
    told = Told()
    with Assistant(tmp_path, thresholds=Thresholds(messages=6), fsync=False) as assistant:
        watcher = Watcher(assistant, opened(), "INBOX", told)
        watcher.turn()
        assert learnt_of(told) == {"1": "Tax Work", "2": "Play", "3": "Work", "4": "Play", "5": "Work", "6": "Play"}
        copy(filled, 3, "Tax", "Work")
        watcher.turn()
        assert learnt_of(told) == {"3": "Tax Work"}
        remove(filled, 3, "Work")
        copy(filled, 2, "INBOX", "Play")  # the inbox is no label
        watcher.turn()
        learnt, suggested, _ = told.take()
        assert learnt == [(3, "Tax")]
        assert [number for number, best in suggested if best != "Play"] == [2]
        watcher.turn()
        assert told.take() == ([], [], [])
        assert assistant.memory.sets() == {"1@example.org": ("Tax", "Work")}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.4"])  # all that the server can, and next to nothing
def test_what_is_filed_beside_a_copy_is_no_feedback_and_can_be_undone(opened, filled, tmp_path, host):
    source = opened(host)
    copy(filled, 2, "INBOX", "Play")
    with Assistant(tmp_path, thresholds=Thresholds(messages=6), fsync=False) as assistant:
        assert look(assistant, source)[1:3] == (7, 6)
        assistant.pin("bob@example.com", "Work")
        assert [one.moved for one in file_mail(assistant, source, "INBOX", apply=True)] == [True]
        assert numbers_in(filled, "Work") == [1, 3, 5, 2]
        assert look(assistant, source).learnt == 0
        assert undo(assistant, source).back == ["chess"]
        assert look(assistant, source).learnt == 0
