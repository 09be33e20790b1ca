"""File and undo: every table that says what is known, and every score, is as before; only the log grows."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mail.letters import letter, make_maildir

from hinged.mail import Assistant, Filed, file_mail, open_source, read_message, undo, write_demo
from hinged.mail.hits import Hit
from hinged.mail.memory import GONE
from hinged.mail.suggestion import Thresholds
from hinged.mail.web.desk import Desk

WORK = ("tax form", "ann@example.com")
LOG = ("events", "mail_moves", "mail_filed", "sqlite_sequence")  # what happened, and how many lines that took


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undo")
    write_demo(folder / "mail", messages=110, folders=4)
    learnt = sorted((folder / "mail" / ".Finance.Invoices" / "cur").iterdir())
    for path in learnt[-2:]:  # what was learnt before lies in the inbox once more
        (folder / "mail" / "cur" / f"2{path.name}").write_bytes(path.read_bytes())
    one = learnt[0]  # it lies in two folders, so that sets are learnt from the beginning
    (folder / "mail" / ".Finance.Taxes" / "cur" / f"0{one.name}").write_bytes(one.read_bytes())
    (folder / "mail" / ".New" / "cur").mkdir(parents=True)
    (folder / "mail" / ".New" / "new").mkdir()
    with Assistant(folder / "state", fsync=False, thresholds=Thresholds(confidence=0.3)) as assistant:
        desk = Desk(open_source(folder / "mail"), assistant)
        desk.refresh()
        yield desk


def known(desk: Desk) -> dict[str, object]:
    """All that is kept beside the log, what would be learnt again, and what is said of every message."""
    journal = desk.assistant.kept.journal
    names = [name for (name,) in journal.ask("SELECT name FROM sqlite_master WHERE type = 'table'") if name not in LOG]
    tables = {name: sorted(journal.ask(f"SELECT * FROM {name}")) for name in names}
    kept = [(one.key, one.label, one.x) for one in journal.examples()]
    files = sorted(str(path) for path in Path(desk.source.root).rglob("*") if path.is_file())
    own = journal.ask("SELECT key, label FROM events WHERE kind = 'moved' AND key IS NOT NULL")
    return {**tables, "kept": kept, "rows": desk.rows(0, 1000), "files": files, "own": own}


@settings(max_examples=max(10, settings.default.max_examples // 10))
@given(filings=st.lists(st.tuples(st.integers(0, 31), st.integers(0, 4)), min_size=1, max_size=3))
def test_filing_and_undoing_leaves_all_as_it_was(desk, filings):
    before = known(desk)
    folders = [one["name"] for one in desk.folders()["folders"]]
    filed = []
    for row, folder in filings:
        keys = [one["key"] for one in desk.rows(0, 1000)["rows"]]
        filed.append(keys[row % len(keys)])
        desk.file(filed[-1], folders[folder])
    for key in reversed(filed):
        told = desk.undo()
        assert told["key"] == key
        assert desk.rows(told["at"], 1)["rows"][0]["key"] == key
    assert known(desk) == before
    assert not desk.refresh()["changed"]
    assert known(desk) == before


def test_what_the_command_line_moves_and_puts_back_leaves_no_trace(desk):
    assistant, source = desk.assistant, desk.source
    message = next(raw for place, raw in source.read(source.places("INBOX")[-1:]))
    before = known(desk)
    for times in (1, 2):
        moved = file_mail(assistant, source, "INBOX", apply=True)
        assert len(moved) > 5
        for _ in range(times - 1):  # the user puts one back before `undo` does
            source.move(source.places(moved[0].suggestion.best)[-1], "INBOX")
        back, lost, failed = undo(assistant, source)
        assert (len(back), len(lost), failed) == (len(moved) - times + 1, times - 1, [])
        desk.refresh()
        assert known(desk) == before
    assert not assistant.knows(read_message(message), "Travel")


def test_an_earlier_filing_by_the_assistant_outlives_the_undo_of_a_later_one(desk):
    assistant, source = desk.assistant, desk.source
    first = file_mail(assistant, source, "INBOX", apply=True)[0]
    target = first.suggestion.best
    source.move(next(place for place in source.places(target) if place.key == first.place.key), "New")
    before = known(desk)
    again = file_mail(assistant, source, "New", apply=True, only=[target])  # one put back to INBOX would stay there
    assert [one.message.id for one in again] == [first.message.id]
    assert undo(assistant, source) == ([first.message.subject], [], [])
    after = known(desk)
    assert all(after[name] == before[name] for name in ("own", "rows", "mail_threads"))
    undo(assistant, source)


def test_what_is_forgotten_leaves_no_subject_and_hides_no_earlier_thread(tmp_path):
    letter = "From: {}@example.com\nSubject: Re: secret plan\nMessage-ID: <{}>\n\nhello\n".format
    with Assistant(tmp_path, fsync=False) as assistant:
        for i, folder in enumerate(("Work", "Home", "Travel")):
            assistant.learn([Filed(read_message(letter(folder, i).encode()), folder)])
        new = read_message(letter("ann", 9).encode())
        assert assistant.memory.name_of(assistant.memory.of_thread(new)[0]) == "Travel"
        assistant.forget("Travel")
        assert assistant.memory.name_of(assistant.memory.of_thread(new)[0]) == "Home"
        assistant.retract(read_message(letter("Home", 1).encode()), "Home")
        assert assistant.memory.name_of(assistant.memory.of_thread(new)[0]) == "Work"
        assistant.forget("Work")
        assert assistant.memory.of_thread(new) == []
    assert b"secret plan" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_topics_of_an_older_journal_are_taken_over(tmp_path):
    raw = b"From: ann@example.com\nSubject: plan\nMessage-ID: <1>\n\nhello\n"
    with Assistant(tmp_path, fsync=False) as assistant:
        assistant.learn([Filed(read_message(raw), "Work")])
        journal = assistant.kept.journal
        with journal.transaction():  # the tables as they were
            journal.run("DROP TABLE mail_threads")
            journal.run("CREATE TABLE mail_topics (topic TEXT PRIMARY KEY, message TEXT) WITHOUT ROWID")
            journal.run("INSERT INTO mail_topics VALUES ('plan', '1')")
    answer = read_message(b"Subject: Re: plan\n\n")
    for read_only in (True, False, True):
        with Assistant(tmp_path, read_only=read_only) as assistant:
            assert len(assistant.memory.of_thread(answer)) == 1
            tables = {name for (name,) in assistant.kept.journal.ask("SELECT name FROM sqlite_master")}
    assert "mail_threads" in tables
    assert "mail_topics" not in tables


def test_a_message_that_cannot_be_put_back_does_not_hold_up_earlier_runs(tmp_path):
    """It is tried again first; where that fails once more, the run before is undone."""
    names = ("a", "b", "c")
    root = make_maildir(tmp_path / "mail", {"INBOX": [letter("tax", name=name) for name in names[:1]], "Work": []})
    source = open_source(root)
    with Assistant(tmp_path / "state", fsync=False) as one:
        one.pin("ann@example.com", "Work")
        for i, name in enumerate(names):  # three runs
            if i:
                (root / "cur" / f"20{i}.host").write_bytes(letter(name, name=name))
            assert [p.moved for p in file_mail(one, source, "INBOX", apply=True)] == [True]
        (last,) = (path for path in (root / ".Work" / "cur").iterdir() if b"<c>" in path.read_bytes())
        content = last.read_bytes()
        last.unlink()
        last.mkdir()  # it cannot be read now
        back, lost, ((subject, why),) = undo(one, source)
        assert (back, lost, subject) == ([], [], "c")
        assert "it is not a regular file" in why
        assert undo(one, source) == (["b"], [], [("c", why)])
        last.rmdir()
        last.write_bytes(content)
        assert undo(one, source) == (["c"], [], []), "what failed comes first, once it can be put back"
        assert undo(one, source) == (["tax"], [], [])
        assert undo(one, source) == ([], [], [])


@pytest.mark.parametrize("how", ["rename", "merge", "forget"])
def test_moves_and_hits_follow_folders(how, tmp_path):
    mail = {"INBOX": [letter(*WORK, name=f"i{i}") for i in range(4)], "Other": [letter(*WORK, name="o")]}
    mail |= {"Work": [letter(*WORK, name=f"w{i}") for i in range(8)]}
    mail |= {"Home": [letter("cake", "bob@example.org", "sugar", f"h{i}") for i in range(8)]}
    source = open_source(make_maildir(tmp_path / "mail", mail))
    with Assistant(tmp_path / "state", thresholds=Thresholds(messages=4), fsync=False) as one:
        desk = Desk(source, one)
        desk.refresh()
        desk.file(desk.rows(0, 1)["rows"][0]["key"], "Work")
        assert [move.suggestion.best for move in file_mail(one, source, "INBOX", apply=True)] == ["Work"] * 3
        (tmp_path / "mail" / "cur" / "2000.host").write_bytes(letter(*WORK, name="late"))
        desk.refresh()
        assert desk.file("2000.host", "Home")["rank"] > 1
        one.hits.keep_replay([Hit("Home", 2, "Work"), Hit("Work", 1, "Work"), Hit("Home", 1, "Home")])
        if how == "forget":
            one.forget("Work")
            assert one.memory.moves() == []
            expected, replayed = [("Home", GONE)], [Hit("Home", 2, GONE), Hit("Home", 1, "Home")]
        else:
            new = {"rename": "Office", "merge": "Home"}[how]
            getattr(one, how)("Work", new)
            assert {(move.origin, move.target) for move in one.memory.moves()} == {("INBOX", new)}
            expected = [(new, new), ("Home", new)]
            replayed = [Hit("Home", 1 if new == "Home" else 2, new), Hit(new, 1, new), Hit("Home", 1, "Home")]
        assert [(hit.folder, hit.best) for hit in one.hits.filed()] == expected
        assert one.hits.replay() == replayed
        assert all(folder not in told["mistaken"] for folder, told in one.hits.by_folder().items())
        assert "Work" not in str(one.hits.by_folder())
    with Assistant(tmp_path / "state") as one:
        assert one.kept.journal.damaged_rows == {}
