"""The assistant's own moves on a server: made, not taken for the user's, and undone."""

import pytest
from tests.mail.imap.cutting import Cutter
from tests.mail.imap.dovecot import PASSWORD
from tests.mail.imap.letters import deliver, file_away, numbers_in
from tests.mail.imap.spoiling import Spoiler

from hinged.mail import Assistant, Thresholds, file_mail, look, undo
from hinged.mail.sources.imap import open_imap


def fill(other):
    for name in ("Work", "Play"):
        other.create_folder(name)
    deliver(other, "Work", 1, 3, 5, subject="tax form")
    deliver(other, "Play", 2, 4, 6, subject="chess", words="a game of chess", From="bob@example.com")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.4"])  # all that the server can, and next to nothing
def test_moves_of_its_own_teach_nothing_and_can_be_undone(opened, other, tmp_path, host):
    fill(other)
    source = opened(host)
    with Assistant(tmp_path, thresholds=Thresholds(messages=6)) as assistant:
        assert look(assistant, source).learnt == 6
        deliver(other, "INBOX", 10, 11, subject="tax form")
        source.folders()
        moved = file_mail(assistant, source, "INBOX", apply=True)
        assert [one.suggestion.best for one in moved] == ["Work", "Work"]
        assert numbers_in(other, "INBOX", "UNDELETED") == []
        assert numbers_in(other, "Work") == [1, 3, 5, 10, 11]
        assert look(assistant, source).learnt == 0
        assert undo(assistant, source) == (["tax form", "tax form"], [], [])
        assert sorted(numbers_in(other, "INBOX", "UNDELETED")) == [10, 11]
        assert numbers_in(other, "Work", "UNDELETED") == [1, 3, 5]
        assert look(assistant, source).learnt == 0


@pytest.mark.parametrize(("then", "made"), [("away", True), ("another password", True), ("away", False)])
def test_a_move_whose_answer_is_lost_is_no_feedback_and_can_be_undone(
    server, user, other, opened, tmp_path, monkeypatch, then, made
):
    fill(other)
    with Assistant(tmp_path, thresholds=Thresholds(messages=6)) as assistant:
        look(assistant, opened())
        deliver(other, "INBOX", 10, 11, subject="tax form")
        with Cutter("127.0.0.1", server.port, b"UID MOVE", answered=made, for_good=then == "away") as way:
            source = open_imap(f"imap://{user}@127.0.0.1:{way.port}/?insecure&timeout=5")
            if then == "another password":
                monkeypatch.setenv("HINGED_MAIL_PASSWORD", "wrong")
            (tried,) = file_mail(assistant, source, "INBOX", apply=True)  # the second is not tried
            source.close()
        assert (tried.moved, tried.failed != "") == (False, True)
        assert numbers_in(other, "Work") == [1, 3, 5] + [10] * made
        monkeypatch.setenv("HINGED_MAIL_PASSWORD", PASSWORD)
        source = opened()
        assert look(assistant, source).learnt == 0
        assert undo(assistant, source) == (["tax form"] * made, [], [])
        assert sorted(numbers_in(other, "INBOX")) == [10, 11]
        file_away(other, 10, "Work")
        assert look(assistant, source).learnt == 1


def test_a_move_whose_answers_nobody_can_read_is_no_feedback_and_can_be_undone(server, user, other, opened, tmp_path):
    fill(other)
    moves = []

    def spoil(line):
        if b"UID MOVE" in line and not moves:
            moves.append(line)
            return line, None
        if b"UID SEARCH UID" in line and moves:  # where does the message lie now?
            return b"", b"* SEARCH nowhere\r\n%s OK done\r\n" % line.split()[0]
        return None

    with Assistant(tmp_path, thresholds=Thresholds(messages=6)) as assistant:
        look(assistant, opened())
        deliver(other, "INBOX", 10, 11, subject="tax form")
        with Spoiler("127.0.0.1", server.port, spoil) as way:
            source = open_imap(f"imap://{user}@127.0.0.1:{way.port}/?insecure&timeout=5")
            first, second = file_mail(assistant, source, "INBOX", apply=True)
            source.close()
        assert "response that cannot be parsed" in first.failed
        assert (first.moved, second.moved) == (False, True), "one never costs another"
        assert numbers_in(other, "Work") == [1, 3, 5, 10, 11]
        source = opened()
        assert look(assistant, source).learnt == 0
        assert undo(assistant, source) == (["tax form", "tax form"], [], [])
        assert sorted(numbers_in(other, "INBOX")) == [10, 11]
