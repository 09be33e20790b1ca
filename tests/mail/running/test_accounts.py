"""Accounts of a running assistant, without its socket."""

import time
from contextlib import contextmanager

from tests.mail.letters import letter, make_maildir

from hinged.mail import Assistant, look, open_source, write_demo
from hinged.mail.running.accounts import Account, GaveUp, RunningAccount
from hinged.mail.watching import Away, Back, MessageFiled


@contextmanager
def running(account):
    told = []
    one = RunningAccount(account, lambda account, event: told.append(event))
    one.start()
    try:
        yield one, told
    finally:
        one.close()


def wait_for(kind, told):
    end = time.monotonic() + 20
    while not any(isinstance(event, kind) for event in told):
        assert time.monotonic() < end, told
        time.sleep(0.01)


def test_what_is_refused_is_told_once_and_tried_again(tmp_path):
    root = make_maildir(tmp_path / "mail", {"INBOX": [], "Work": [letter(name="1")]})
    with running(Account("a", str(root), tmp_path / "state", folder="Later")) as (_, told):
        wait_for(Away, told)
        time.sleep(1.2)  # the first pause is a second at most
        assert [event.sentence for event in told] == ["there is no folder 'Later'; there are INBOX, Work."]
        make_maildir(root, {"Later": []})
        wait_for(Back, told)


def test_what_cannot_get_better_is_given_up(tmp_path):
    with running(Account("a", "imaps://nobody", tmp_path / "state")) as (one, told):
        wait_for(GaveUp, told)
        assert "lacks the user or the server" in told[0].sentence
        assert one.assistant().folders() == [], "commands work"


def test_a_connection_for_commands_is_kept_for_a_while(tmp_path, monkeypatch):
    root = make_maildir(tmp_path / "mail", {"INBOX": []})
    with running(Account("a", str(root), tmp_path / "state")) as (one, _):
        with one.mail() as first, one.mail() as second:
            assert second is not first, "one for each command at a time"
        with one.mail() as again:
            assert again in (first, second)
        monkeypatch.setattr("hinged.mail.running.accounts.FRESH", 0.0)
        with one.mail() as other:
            assert other not in (first, second)


def test_it_files_by_itself_where_that_is_promised(tmp_path):
    write_demo(tmp_path / "mail", messages=260, folders=4)
    later = sorted((tmp_path / "mail" / "cur").iterdir()) + sorted((tmp_path / "mail" / "new").iterdir())
    (tmp_path / "later").mkdir()
    later = [path.rename(tmp_path / "later" / path.name) for path in later]
    with Assistant(tmp_path / "state", fsync=False) as assistant:
        look(assistant, open_source(tmp_path / "mail"))
    account = Account("a", str(tmp_path / "mail"), tmp_path / "state", right=0.75, review="Review")
    with running(account) as (one, told):
        time.sleep(0.5)  # what lies in the inbox when it starts is left there
        for path in later:
            path.rename(tmp_path / "mail" / "new" / path.name)
        wait_for(MessageFiled, told)
        filed = next(event for event in told if isinstance(event, MessageFiled))
        assert filed.failed == ""
        assert one.assistant(read_only=True).log.entries()[0].move.message == filed.message.id
        assert filed.suggestion.best in {place.name for place in open_source(tmp_path / "mail").folders()}
