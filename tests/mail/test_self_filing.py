"""Filing by itself on a Maildir: what is moved, what never is, what is recorded of it, and how it is taken back."""

import json
import shutil
import time
from datetime import date
from email import message_from_bytes

import pytest
from tests.cli.conftest import call  # noqa: F401
from tests.mail.letters import letter, make_maildir

from hinged.mail import Assistant, Place, SelfFiling, SourceError, look, open_source, read_message, undo, write_demo
from hinged.mail.digest import digest
from hinged.mail.filed import GONE, KEPT, MOVED, OPEN, UNDONE
from hinged.mail.promise import ALARM, FEW, MOST, START, Promise, evidence
from hinged.mail.self_filing import LEFT_ALONE, file_by_promise
from hinged.mail.watching import MessageFiled, MessageLearnt, PromiseBroken, Suggested, Watcher


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A generated mailbox that was learnt, and the files that are yet to arrive."""
    folder = tmp_path_factory.mktemp("filing")
    write_demo(folder / "mail", messages=260, folders=4)
    (folder / "later").mkdir()
    for path in sorted((folder / "mail" / "cur").iterdir()) + sorted((folder / "mail" / "new").iterdir()):
        path.rename(folder / "later" / path.name)
    with Assistant(folder / "state", fsync=False) as assistant:
        look(assistant, open_source(folder / "mail"))
    return folder


class Account:
    """A user's mail, an assistant that files by itself, and what it told."""

    def __init__(self, folder, right=0.75):
        self.folder, self.right, self.review = folder, right, None
        self.later = sorted((folder / "later").iterdir())
        self.start()

    def start(self):
        self.assistant, self.source, self.told = (
            Assistant(self.folder / "state", fsync=False),
            open_source(self.folder / "mail"),
            [],
        )
        filing = SelfFiling(self.assistant, self.source, self.right, self.review)
        self.watcher = Watcher(self.assistant, self.source, "INBOX", self.told.append, filing=filing)
        self.turn()

    def restart(self):
        self.assistant.close()
        self.start()

    def turn(self):
        self.told.clear()
        self.watcher.turn()
        return list(self.told)

    def arrive(self, n=1):
        """Deliver messages, and let the assistant look at them."""
        for _ in range(n):
            path = self.later.pop(0)
            shutil.move(path, self.folder / "mail" / "new" / path.name)
        return self.turn()

    def put(self, raw, folder="INBOX"):
        self.source.deliver(folder, raw)
        return self.turn()

    def user_moves(self, move, folder):
        """Move a message that the assistant filed, as another program does."""
        other = open_source(self.folder / "mail")
        other.folders()
        (place,) = [place for place in other.places(move.target) if place.key == move.place]
        other.move(place, folder)
        return self.turn()

    def filed(self):
        return self.assistant.log.entries()

    def lies(self, message):
        """The folders in which a message lies."""
        source = open_source(self.folder / "mail")
        return [
            one.name
            for one in source.folders()
            for _, raw in source.read(source.places(one.name))
            if read_message(raw).id == message
        ]


@pytest.fixture
def account(demo, tmp_path):
    shutil.copytree(demo, tmp_path / "account")
    one = Account(tmp_path / "account")
    yield one
    one.assistant.close()


def test_what_is_sure_enough_is_moved_as_it_arrives_and_the_rest_waits(account):
    told = account.arrive(20)
    filed = [one for one in told if isinstance(one, MessageFiled)]
    waiting = [one for one in told if isinstance(one, Suggested)]
    assert len(filed) + len(waiting) == 20
    assert len(filed) >= 10
    for one in filed:
        assert account.lies(one.message.id) == [one.suggestion.best]
    for one in waiting:
        assert account.lies(one.message.id) == ["INBOX"]
    entries = account.filed()
    assert [(one.move.message, one.move.target) for one in entries] == [
        (f.message.id, f.suggestion.best) for f in filed
    ]
    assert all(one.promised and one.fate == OPEN and abs(one.at - time.time()) < 60 for one in entries)
    assert [one.sure for one in entries] == [one.suggestion.confidence for one in filed]
    assert account.assistant.log.promise() == Promise(0.75, START + len(filed) * 0.25)
    assert account.turn() == [], "its own moves are not learnt, and nothing gets a second suggestion"


def test_a_message_that_lies_in_a_folder_already_is_not_filed_by_itself(account):
    account.source.create("Copies")
    copies = account.folder / "mail" / ".Copies" / "cur"
    for path in list((account.folder / "mail").glob(".*/cur/*")):  # much of the mail lies there as well
        if path.name[9] in "02468" and path.parent != copies:
            shutil.copy(path, copies / path.name)
    for path in account.later[:8]:
        shutil.copy(path, copies / path.name)
    account.turn()
    told = account.arrive(8)
    assert not [one for one in told if isinstance(one, MessageFiled)]
    assert all(one.suggestion.further for one in told if isinstance(one, Suggested) and one.suggestion.best)
    assert sum(one.suggestion.best is not None for one in told if isinstance(one, Suggested)) >= 3
    assert {
        tuple(account.lies(read_message(one.read_bytes()).id)) for one in (account.folder / "mail/new").iterdir()
    } == {("Copies", "INBOX")}


def test_what_the_user_moves_back_is_wrong_and_never_moved_again(account):
    account.arrive(5)
    entry, saved = account.filed()[0], account.assistant.log.promise().saved
    told = account.user_moves(entry.move, "INBOX")
    assert [type(one) for one in told] == [Suggested], "it waits now"
    assert account.filed()[0].fate == MOVED
    assert account.assistant.log.what_became(account.filed()[0]) == "moved back"
    assert account.assistant.log.promise().saved == saved - 1
    for _ in range(2):
        account.restart()
        assert account.lies(entry.move.message) == ["INBOX"]
    other = open_source(account.folder / "mail")
    (place,) = [place for place in other.places("INBOX") if place.key == entry.move.place]
    now = other.move(place, entry.move.target)
    told = account.turn()
    assert [(one.message.id, one.folder) for one in told] == [(entry.move.message, entry.move.target)], "it is learnt"
    other.move(now, "INBOX")
    (path,) = [path for path in (account.folder / "mail").glob("*/*") if now.key in path.name]
    path.rename(path.with_name("9" + path.name))  # the same message under another key
    assert account.turn() == []
    assert account.lies(entry.move.message) == ["INBOX"]
    assert account.assistant.log.promise().saved == saved - 1, "it counts once"


def test_what_the_user_had_filed_and_puts_back_is_not_filed(account):
    raw = account.later[0].read_bytes()
    sure = account.arrive()
    assert [type(one) for one in sure] == [MessageFiled], "so it would be filed"
    another = raw.replace(b"Message-ID: <", b"Message-ID: <9")
    folder = sure[0].suggestion.best
    assert [type(one) for one in account.put(another, folder)] == [MessageLearnt]
    other = open_source(account.folder / "mail")
    (place,) = [place for place, found in other.read(other.places(folder)) if found == another]
    other.move(place, "INBOX")
    assert [type(one) for one in account.turn()] == [Suggested]


def test_what_the_user_moves_on_is_wrong_and_learnt(account):
    account.arrive(5)
    entry = account.filed()[0]
    elsewhere = next(name for name in account.assistant.folders() if name != entry.move.target)
    told = account.user_moves(entry.move, elsewhere)
    assert [(type(one), one.folder) for one in told] == [(MessageLearnt, elsewhere)]
    assert account.filed()[0].fate == MOVED
    assert account.assistant.log.what_became(account.filed()[0]) == f"moved to {elsewhere}"
    assert account.lies(entry.move.message) == [elsewhere]
    saved, other = account.assistant.log.promise().saved, open_source(account.folder / "mail")
    other.folders()
    other.move(next(place for place in other.places(elsewhere) if place.key == entry.move.place), "INBOX")
    account.turn()
    assert account.assistant.log.promise().saved == saved, "one message is one mistake, wherever it goes"
    assert undo(account.assistant, account.source, [entry.move.number]).lost == [entry.move.subject]
    assert account.lies(entry.move.message) == ["INBOX"]


def test_what_is_left_alone_for_a_week_is_right_and_what_is_nowhere_is_neither(account, monkeypatch):
    account.arrive(5)
    _, gone, late = account.filed()[:3]
    (path,) = (account.folder / "mail").glob(f"*/*/{gone.move.place}*")
    path.unlink()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 10 * LEFT_ALONE)  # a clock that was set back
    account.turn()
    assert {one.fate for one in account.filed()} == {OPEN}
    monkeypatch.setattr(time, "time", lambda: now + LEFT_ALONE + 60)
    look(account.assistant, account.source)
    assert [one.fate for one in account.filed()][:2] == [KEPT, GONE]
    saved = account.assistant.log.promise().saved
    account.user_moves(late.move, "INBOX")
    assert account.filed()[2].fate == MOVED, "a late correction counts too"
    assert account.assistant.log.promise().saved == saved - 1


def test_undo_takes_back_a_message_and_then_all_and_each_counts_as_wrong(account):
    account.arrive(8)
    first, *others = account.filed()
    saved = account.assistant.log.promise().saved
    assert undo(account.assistant, account.source, [first.move.number]).back == [first.move.subject]
    assert account.lies(first.move.message) == ["INBOX"]
    assert account.turn() == [] or [type(one) for one in account.told] == [Suggested]
    done = undo(account.assistant, account.source, [one.move.number for one in account.filed()])
    assert done.back == [one.move.subject for one in reversed(others)]
    assert {one.fate for one in account.filed()} == {UNDONE}
    assert account.assistant.log.promise().saved <= saved - START
    account.restart()
    assert all(account.lies(one.move.message) == ["INBOX"] for one in account.filed())


def test_nothing_is_filed_into_a_folder_of_few_messages_or_by_an_assistant_that_knows_little(account):
    other = open_source(account.folder / "mail")
    other.create("Chess")
    game = "a rook takes a bishop on the open board"
    for i in range(FEW - 1):
        account.put(letter("chess club", "eve@chess.example", game, f"c{i}"), "Chess")
    told = account.put(letter("chess club", "eve@chess.example", game, "c10"))
    assert [one.suggestion.best for one in told] == ["Chess"]
    assert isinstance(told[0], Suggested)
    assert told[0].suggestion.confidence > 0.75, "the folder is why it waits"
    account.put(letter("chess club", "eve@chess.example", game, "c4"), "Chess")
    (told,) = account.put(letter("chess club", "eve@chess.example", game, "c11"))
    assert isinstance(told, MessageFiled)


def test_an_assistant_that_knows_little_files_nothing(tmp_path):
    folders = {"INBOX": [], "Work": [letter(name=f"w{i}") for i in range(40)]}
    folders["Home"] = [letter("cake", "bob@example.org", "sugar", f"h{i}") for i in range(40)]
    source, told = open_source(make_maildir(tmp_path / "mail", folders)), []
    with Assistant(tmp_path / "state", fsync=False) as one:
        watcher = Watcher(one, source, "INBOX", told.append, filing=SelfFiling(one, source, 0.5))
        watcher.turn()
        source.deliver("INBOX", letter(name="new"))
        told.clear()
        watcher.turn()
    assert [(type(event), event.suggestion.confidence > 0.9) for event in told] == [(Suggested, True)]


def test_a_pin_is_the_users_own_rule_and_needs_no_promise(account):
    account.assistant.pin("boss@example.com", "Finance/Taxes")
    (told,) = account.put(letter("urgent", "boss@example.com", "now", "b1"))
    assert isinstance(told, MessageFiled)
    (entry,) = account.filed()
    assert (entry.move.target, entry.promised, entry.sure) == ("Finance/Taxes", False, None)
    account.user_moves(entry.move, "INBOX")
    assert account.assistant.log.promise() == Promise(0.75), "so a correction is no mistake of the assistant"


def test_a_move_that_fails_is_told_and_the_message_waits(account):
    account.assistant.pin("boss@example.com", "Finance/Taxes")
    raw = letter("urgent", "boss@example.com", "now", "b1")
    for folder in (".", ".Finance.Taxes"):
        (account.folder / "mail" / folder / "cur" / "1700000000.same:2,").write_bytes(
            raw.replace(b"b1", folder.encode())
        )
    filed, waiting = account.turn()[-2:]
    assert isinstance(filed, MessageFiled)
    assert "holds a message 1700000000.same already" in filed.failed
    assert isinstance(waiting, Suggested)
    assert account.filed() == []
    assert account.turn() == []


def test_a_switched_off_assistant_files_nothing(account):
    account.assistant.switch(on=False)
    assert account.arrive(3) == []
    assert account.filed() == []


def test_a_broken_promise_is_told_and_filing_pauses_until_enough_has_waited(account, call):  # noqa: F811
    account.arrive(15)
    filed, told = account.filed(), []
    assert len(filed) == 15
    for n, entry in enumerate(filed, start=1):
        assert told == []
        told += [one for one in account.user_moves(entry.move, "INBOX") if isinstance(one, PromiseBroken)]
        if evidence([i <= n for i in range(1, 16)], 0.75) >= ALARM:
            break
    assert 3 + 15 * 0.25 - n == -5.25, "so six mistakes must be lent before one is paid for"
    assert told == [PromiseBroken(0.75, 15, n, 20 * (1 + 2 + 3 + 4 + 5 + 6))]
    assert account.assistant.log.promise().is_paused
    assert account.assistant.log.last_alarm()[1:] == (15, n)
    for arrived in range(1, 11):
        assert [type(one) for one in account.arrive()] == [Suggested], "also what is clear waits"
        assert account.assistant.log.promise().to_wait == 420 - arrived
    account.restart()
    assert account.assistant.log.promise().to_wait == 410
    assert account.assistant.log.news == []
    code, out, _ = call("mail", "status", account.folder / "mail", "--state", account.folder / "state")
    assert code == 0
    assert f"to be right 75 % of the time: {n} of 15 were wrong" in out
    assert f": {n} of the 15 messages filed until then were wrong" in out
    assert "paused until 410 more messages have come" in out
    out = call("mail", "log", account.folder / "mail", "--state", account.folder / "state")[1]
    assert f": {n} of the 15 messages filed until then were wrong" in out
    assert "; paused until 410 more messages have come" in out
    account.right = 0.8
    account.restart()
    assert account.assistant.log.last_alarm() is None


def test_another_promise_begins_anew(account):
    account.arrive(5)
    (old, *_) = account.filed()
    account.right = 0.9
    account.restart()
    assert account.assistant.log.promise() == Promise(0.9)
    account.user_moves(old.move, "INBOX")
    assert account.assistant.log.promise() == Promise(0.9), "earlier messages were filed under the earlier one"
    earlier = account.filed()
    account.arrive(3)
    assert account.assistant.log.promised() == account.filed()[len(earlier) :] != []


def test_forgetting_a_folder_erases_what_was_filed_into_it(account):
    account.arrive(12)
    target = account.filed()[0].move.target
    account.assistant.forget(target)
    assert target not in {one.move.target for one in account.filed()}
    ((rows,),) = account.assistant.kept.journal.ask("SELECT count(*) FROM mail_filed")
    assert rows == len(account.filed())


def test_a_move_that_was_interrupted_is_resolved_whether_it_was_made_or_not(account, monkeypatch):
    """Killed right before the move, and right after it: SystemExit stands for the kill, and nothing is closed."""
    for made in (False, True):

        def killed(place, folder, made=made, move=account.source.move):
            if made:
                move(place, folder)
            raise SystemExit

        monkeypatch.setattr(account.source, "move", killed)
        before = {one.move.number for one in account.filed()}
        saved = account.assistant.log.promise().saved
        with pytest.raises(SystemExit):
            account.arrive(6)
        (entry,) = [one for one in account.filed() if one.move.number not in before]
        assert (entry.fate, entry.move.place) == (OPEN, None)
        account.restart()
        where = entry.move.target if made else "INBOX"
        assert account.lies(entry.move.message) == [where]
        now = {one.move.number: one for one in account.filed()}
        if made:
            assert now[entry.move.number].move.place is not None
            new = len(set(now) - before)
            assert account.assistant.log.promise().saved == saved + new / 4, "it counts for the promise like any other"
            assert undo(account.assistant, account.source, [entry.move.number]).back == [entry.move.subject]
            assert account.lies(entry.move.message) == ["INBOX"]
        else:
            assert entry.move.message not in [one.move.message for one in account.filed() if one.fate == OPEN]
        account.restart()
        assert account.lies(entry.move.message) == ["INBOX"]


def test_an_undo_that_was_interrupted_leaves_a_message_that_was_moved_back(account, monkeypatch):
    account.arrive(5)
    entry, saved = account.filed()[0], account.assistant.log.promise().saved

    def killed(place, folder, move=account.source.move):
        move(place, folder)
        raise SystemExit

    monkeypatch.setattr(account.source, "move", killed)
    with pytest.raises(SystemExit):
        undo(account.assistant, account.source, [entry.move.number])
    account.restart()
    assert account.lies(entry.move.message) == ["INBOX"]
    assert account.filed()[0].fate == MOVED
    assert account.assistant.log.promise().saved == saved - 1
    assert undo(account.assistant, account.source, [entry.move.number]) == ([], [entry.move.subject], [])
    assert account.assistant.log.promise().saved == saved - 1


def test_what_waits_is_put_into_the_review_folder_and_learnt_from_there(account):
    account.review, account.right = "To review", 0.999
    account.restart()
    account.assistant.pin("boss@example.com", "Finance/Taxes")
    told = account.arrive(6) + account.put(letter("urgent", "boss@example.com", "now", "b1"))
    waiting = [one.message.id for one in told if isinstance(one, Suggested)]
    assert (len(told), len(waiting)) == (7, 6)
    assert all(account.lies(name) == ["To review"] for name in waiting)
    assert all(account.lies(one.message.id) == [one.suggestion.best] for one in told if isinstance(one, MessageFiled))
    assert {one.move.target for one in account.filed()} <= set(account.assistant.folders()), "it is not filed there"
    account.restart()
    assert account.turn() == [], "nothing is learnt of it"
    other = open_source(account.folder / "mail")
    other.folders()
    first, second = other.places("To review")[:2]
    target = account.assistant.folders()[0]
    names = [read_message(raw).id for _, raw in other.read([first, second])]
    other.move(first, target)
    other.move(second, "INBOX")
    told = account.turn()
    assert [(one.message.id, one.folder) for one in told if isinstance(one, MessageLearnt)] == [(names[0], target)]
    account.restart()
    assert account.lies(names[1]) == ["INBOX"], "it is put aside once"
    moves = len(account.filed())
    undo(account.assistant, account.source, [one.move.number for one in account.filed()])
    assert len([name for name in waiting if account.lies(name) == ["To review"]]) == len(waiting) - 2
    assert moves == len(account.filed())


def test_a_review_folder_is_for_review_alone(account):
    for name in ("INBOX", account.assistant.folders()[0]):
        with pytest.raises(SourceError, match="for review alone"):
            SelfFiling(account.assistant, account.source, 0.75, name)
    assert account.assistant.excluded == ()
    assert SelfFiling(account.assistant, account.source, 0.75, "To review").review == "To review"
    account.source.create("Waiting")
    assert SelfFiling(account.assistant, account.source, 0.75, "Waiting").review == "Waiting"
    assert account.assistant.excluded == ("To review", "Waiting")


@pytest.mark.parametrize("made", [False, True])
def test_putting_aside_that_was_interrupted_leaves_the_message_in_one_place(account, monkeypatch, made):
    account.review, account.right = "To review", 0.999
    account.restart()

    def killed(place, folder, move=account.source.move):
        if made:
            move(place, folder)
        raise SystemExit

    monkeypatch.setattr(account.source, "move", killed)
    with pytest.raises(SystemExit):
        account.put(letter("odd", "odd@example.net", "odd only", "odd"))
    account.restart()
    account.restart()
    assert account.lies("odd") == ["To review" if made else "INBOX"]
    assert account.filed() == []


def test_a_digest_lists_what_was_filed_and_cannot_be_forged_by_a_subject(account):
    account.assistant.pin("boss@example.com", "Finance/Taxes")
    account.put(letter("=?utf-8?q?a=0D=0A=0D=0Ab=1b[2J?=", "boss@example.com", "now", "b1"))
    raw = digest(account.filed(), date(2026, 11, 19), "my mail; rm")
    mail = message_from_bytes(raw)
    assert mail["Subject"] == "1 message filed on 2026-11-19"
    body = mail.get_payload(decode=True).decode()
    assert "  #1  pin  a b [2J (boss@example.com)" in body.splitlines()
    assert "hinged mail undo 'my mail; rm' --day 2026-11-19" in body
    again = message_from_bytes(digest([], date(2026, 11, 19), "my mail; rm"))
    assert again["Message-ID"] == mail["Message-ID"]


def test_what_lies_in_the_inbox_is_filed_by_the_promise_as_if_it_arrived(account, demo, tmp_path, call):  # noqa: F811
    shutil.copytree(demo, tmp_path / "other")
    watched = Account(tmp_path / "other")
    watched.arrive(20)
    expected = [(one.move.message, one.move.target) for one in watched.filed()]
    watched.assistant.close()
    assert len(expected) >= 10
    for path in account.later[:20]:
        shutil.move(path, account.folder / "mail" / "new" / path.name)
    assistant, source = account.assistant, account.source
    with assistant.kept.writing():
        assistant.log.promise_to(0.9)
    before = assistant.log.promise()

    def proposals(apply, **more):
        found = file_by_promise(SelfFiling(assistant, source, 0.75, apply=apply), "INBOX", **more)
        return [(one.message.id, one.suggestion.best) for one in found]

    assert proposals(apply=False) == expected
    words = ("mail", "file", account.folder / "mail", "--state", account.folder / "state", "--right", "3/4", "--json")
    code, out, _ = call(*words)
    assert code == 0
    assert [(one["message"], one["folders"][0]["folder"], one["moved"]) for one in json.loads(out)] == [
        (*one, False) for one in expected
    ]
    assert assistant.log.promise() == before, "a dry run records nothing"
    assert assistant.log.entries() == []
    only = expected[0][1]
    assert proposals(apply=False, only=[only]) == [one for one in expected if one[1] == only]
    assert [one["moved"] for one in json.loads(call(*words, "--apply")[1])] == [True] * len(expected)
    assert assistant.log.promise() == Promise(0.75, min(MOST, START + len(expected) * 0.25))
    assert all(one.promised for one in assistant.log.entries())
    assert all(account.lies(message) == [folder] for message, folder in expected)
    entry, saved = assistant.log.entries()[0], assistant.log.promise().saved
    other = open_source(account.folder / "mail")
    other.folders()
    now = other.move(Place(entry.move.target, entry.move.place), "INBOX")
    assert proposals(apply=False) == []
    assert assistant.log.entries()[0].fate == OPEN, "a dry run records nothing, not even a correction"
    assert proposals(apply=True) == []
    assert (assistant.log.entries()[0].fate, assistant.log.promise().saved) == (MOVED, saved - 1)
    other.move(now, entry.move.target)
    assert len(undo(assistant, source).back) == len(expected), "one undo takes back all"
    assert assistant.log.promise().is_paused or len(expected) < START
    waited = assistant.log.promise().waited
    assert proposals(apply=False) == proposals(apply=True) == [], "nothing that was moved back is moved again"
    assert assistant.log.promise().waited == waited, "what stays has come before"
