"""The desk behind the page: filing teaches, undoing takes it back to the last bit, other programs' filing is seen."""

import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest

from hinged.journal import JournalError
from hinged.mail import Assistant, SourceError, look, open_source, write_demo
from hinged.mail.replaying import replay_journal
from hinged.mail.suggestion import ranked
from hinged.mail.web.desk import Desk
from hinged.mail.web.serving import PageServer


@pytest.fixture
def mail(tmp_path):
    write_demo(tmp_path / "mail", messages=160, folders=5)
    return tmp_path / "mail"


@pytest.fixture
def desk(mail, tmp_path):
    with Assistant(tmp_path / "state", fsync=False) as assistant:
        desk = Desk(open_source(mail), assistant)
        desk.refresh()
        yield desk


def keys(desk):
    return [row["key"] for row in desk.rows(0, 100)["rows"]]


def test_filing_moves_the_message_teaches_and_counts(desk):
    first = desk.rows(0, 1)["rows"][0]
    before = desk.state()["learnt"]
    told = desk.file(first["key"], first["folders"][1]["name"])
    assert (told["rank"], told["left"], told["learnt"]) == (2, 29, before + 1)
    assert first["key"] not in keys(desk)
    assert first["key"] in [place.key for place in desk.source.places(first["folders"][1]["name"])]
    curve = desk.hits.curve()
    assert (curve["filed"], curve["first"], curve["top3"]) == (1, 0, 1)
    assert desk.refresh()["learnt"] == 0  # its own move is learnt once


def test_filing_lists_no_folder_so_that_a_large_inbox_costs_no_more(desk, monkeypatch):
    listed = []
    places = desk.source.places
    monkeypatch.setattr(desk.source, "places", lambda folder: listed.append(folder) or places(folder))
    for row in desk.rows(0, 3)["rows"]:
        desk.message(row["key"])
        desk.file(row["key"], row["folders"][0]["name"])
    assert listed == []
    desk.refresh()
    assert listed


def test_undo_brings_back_the_message_and_the_very_weights(desk):
    rows, probe = desk.rows(0, 3)["rows"], {"subject": "invoice for hosting", "from": "accounts"}
    folder = rows[0]["folders"][2]["name"]
    desk.file(rows[1]["key"], rows[1]["folders"][0]["name"])
    before = desk.assistant.model.decision_function([probe])
    desk.file(rows[0]["key"], folder)
    assert not np.array_equal(desk.assistant.model.decision_function([probe]), before)
    told = desk.undo()
    assert (told["folder"], told["left"]) == (folder, 29)
    np.testing.assert_array_equal(desk.assistant.model.decision_function([probe]), before)
    assert told["key"] in keys(desk)
    assert desk.refresh()["learnt"] == 0
    desk.undo()
    assert desk.hits.curve()["filed"] == 0
    with pytest.raises(ValueError, match="there is nothing to undo"):
        desk.undo()
    assert desk.file(told["key"], folder)["learnt"] == told["learnt"]  # once more, and learnt once more


@contextmanager
def no_room_for(what, desk):
    """A disk that is full when the journal does this."""
    run = desk.assistant.kept.journal.run
    run(f"CREATE TEMP TRIGGER full BEFORE {what} BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END")
    with pytest.raises(JournalError, match="no room left"):
        yield
    run("DROP TRIGGER full")


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize(
    ("filing", "undoing"),
    [
        (None, "INSERT ON events"),
        (None, "DELETE ON mail_places"),
        (None, "DELETE ON mail_hits"),
        ("INSERT ON events", None),
        ("INSERT ON mail_hits", None),
    ],
)
def test_what_failed_halfway_can_be_undone(filing, undoing, looks, desk):
    row, probe = desk.rows(0, 1)["rows"][0], {"subject": "invoice for hosting", "from": "accounts"}
    before = desk.assistant.model.decision_function([probe])
    with no_room_for(filing, desk) if filing else nullcontext():
        desk.file(row["key"], row["folders"][2]["name"])
    if undoing:
        with no_room_for(undoing, desk):
            desk.undo()
    if looks:
        desk.refresh()
    assert desk.undo()["key"] in keys(desk)
    np.testing.assert_array_equal(desk.assistant.model.decision_function([probe]), before)
    assert (desk.steps, desk.hits.curve()["filed"], desk.refresh()["learnt"]) == ([], 0, 0)


def test_undo_takes_back_a_filing_that_another_program_learnt_first(desk, mail, tmp_path):
    row, probe = desk.rows(0, 1)["rows"][0], {"subject": "invoice for hosting", "from": "accounts"}
    before, move = desk.assistant.model.decision_function([probe]), desk.source.move

    def move_and_look(place, folder):
        now = move(place, folder)
        with Assistant(tmp_path / "state", fsync=False) as beside:
            assert look(beside, open_source(mail)).learnt == 1
        return now

    desk.source.move = move_and_look
    desk.file(row["key"], row["folders"][2]["name"])
    desk.source.move = move
    desk.undo()
    np.testing.assert_array_equal(desk.assistant.model.decision_function([probe]), before)
    assert desk.refresh()["learnt"] == 0


def test_a_message_that_another_program_moved_does_not_hold_up_earlier_undos(desk, mail):
    rows = desk.rows(0, 3)["rows"]
    for row in rows:
        desk.file(row["key"], row["folders"][0]["name"])
    folder = rows[2]["folders"][0]["name"]
    (place,) = (place for place in desk.source.places(folder) if place.key == rows[2]["key"])
    elsewhere = next(one["name"] for one in desk.folders()["folders"] if one["name"] != folder)
    open_source(mail).move(place, elsewhere)
    with pytest.raises(SourceError, match=f"another program moved it out of {folder}.*the next undo takes back"):
        desk.undo()
    assert desk.state()["undo"] == rows[1]["folders"][0]["name"]
    assert desk.undo()["key"] == rows[1]["key"]
    inbox = mail / "cur"
    inbox.rename(mail / "away")  # where the message came from cannot be written
    with pytest.raises(SourceError, match="could not be moved"):
        desk.undo()
    with pytest.raises(SourceError, match=r"stays in .*; the next undo takes back"):
        desk.undo()
    (mail / "away").rename(inbox)
    with pytest.raises(ValueError, match="there is nothing to undo"):
        desk.undo()


def test_what_another_program_files_is_learnt(desk, mail):
    other = open_source(mail)
    row = desk.rows(0, 1)["rows"][0]
    other.move(other.places("INBOX")[-1], "Travel")
    told = desk.refresh()
    assert told == {"changed": True, "learnt": 1, "inbox": 29, "skipped": 0}
    assert row["key"] not in keys(desk)
    with pytest.raises(SourceError, match="no longer in INBOX"):
        desk.file(row["key"], "Travel")
    assert not desk.refresh()["changed"]


def test_the_reasons_speak_for_and_against(desk):
    told = desk.message(desk.rows(0, 1)["rows"][0]["key"])
    best = told["folders"][0]
    assert best["for"]
    assert all(share > 0 for _, share in best["for"])
    assert all(share < 0 for folder in told["folders"] for _, share in folder["against"])
    quoted = [words.split('"')[1] for folder in told["folders"] for words, _ in folder["for"] if '"' in words]
    assert quoted
    assert not {"the", "is", "you", "your", "dear", "thanks", "hi"} & set(quoted)


def test_wishes_are_kept(desk, tmp_path):
    desk.change("pin", ["Ann <ann@example.com>", "Travel"])
    desk.change("confidence", 0.5)
    assert desk.change("exclude", "Finance/Taxes") == {
        "on": True,
        "confidence": 0.5,
        "excluded": ["Finance/Taxes"],
        "pins": [{"who": "ann@example.com", "folder": "Travel"}],
    }
    desk.change("on", False)
    assert desk.rows(0, 1)["off"]
    desk.assistant.close()
    with Assistant(tmp_path / "state") as again:
        assert (again.thresholds.confidence, again.is_off, again.excluded) == (0.5, True, ("Finance/Taxes",))


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("on", "yes"),
        ("confidence", 2),
        ("confidence", None),
        ("pin", ["a@b.c"]),
        ("pin", ["a@b.c", "Nowhere"]),
        ("rule", 1),
    ],
)
def test_wishes_that_make_no_sense_are_refused(desk, what, value):
    before = desk.settings()
    with pytest.raises(ValueError):
        desk.change(what, value)
    assert desk.settings() == before


def test_an_assistant_that_knows_little_says_how_much_it_needs(tmp_path):
    write_demo(tmp_path / "mail", messages=38, folders=3)
    with Assistant(tmp_path / "state", fsync=False) as assistant:
        desk = Desk(open_source(tmp_path / "mail"), assistant)
        desk.refresh()
        told = desk.rows(0, 2)
        assert told["needed"] == 12
        assert told["rows"][0]["silent"].startswith("too little is learnt yet")
        assert desk.file(told["rows"][0]["key"], "Projects/Aurora")["rank"] == 0
        counts = desk.hits.curve()
        assert (counts["filed"], counts["first"], counts["silent"]) == (1, 0, 1)
        assert desk.folders()["folders"][0]["silent"] == 1


def test_a_message_can_be_filed_to_a_new_folder(desk, mail):
    row = desk.rows(0, 1)["rows"][0]
    name = desk.make("Büro/Umzug & Möbel")["folder"]
    told = desk.file(row["key"], name)
    assert (told["folder"], told["left"]) == ("Büro/Umzug & Möbel", 29)
    assert (mail / ".B&APw-ro.Umzug &- M&APY-bel" / "cur").is_dir()
    assert name in [one["name"] for one in desk.folders()["folders"]]
    assert [place.key for place in open_source(mail).places(name)] == [row["key"]]
    desk.undo()
    assert desk.refresh()["learnt"] == 0


@pytest.mark.parametrize("name", ["Travel", "travel", "INBOX", "inbox", "Trash", "a.b", "../x", "a//b", "/a", " a",
                                  ".a", "a/cur", "a\nb", "\u202ea", "x" * 300, "é" * 150])  # fmt: skip
def test_a_name_that_cannot_be_a_folder_gets_a_sentence_and_makes_nothing(desk, mail, name):
    before = sorted(mail.iterdir())
    with pytest.raises(SourceError, match=r"exists already|cannot be called|between its levels"):
        desk.make(name)
    assert sorted(mail.iterdir()) == before


def test_a_folder_is_made_as_those_beside_it_are(tmp_path):
    for part in ("cur", "new", "tmp"):
        (tmp_path / "Work" / part).mkdir(parents=True)
    source = open_source(tmp_path)
    assert source.create("Work/Tax v1.2") == "Work/Tax v1.2"
    assert (tmp_path / "Work" / "Tax v1.2" / "new").is_dir()
    assert [one.name for one in source.folders()] == ["Work", "Work/Tax v1.2"]


def test_every_filing_is_counted_and_silence_by_itself(desk):
    desk.change("confidence", 0.9)
    said = []
    for turn in range(12):
        row = desk.rows(0, 1)["rows"][0]
        said.append(row["folders"][0]["name"] if row["folders"] else "")
        desk.file(row["key"], "Travel" if turn % 3 == 0 else said[-1] or "Travel")
    first = sum(name != "" and (turn % 3 != 0 or name == "Travel") for turn, name in enumerate(said))
    counts = desk.hits.curve()
    assert 0 < said.count("") < 12
    assert (counts["filed"], counts["first"], counts["silent"]) == (12, first, said.count(""))
    told = desk.hits.by_folder()
    assert sum(one["recent"] for one in told.values()) == 12
    assert sum(one["silent"] for one in told.values()) == said.count("")
    assert sum(n for one in told.values() for n in one["mistaken"].values()) == 12 - first - said.count("")
    for _ in range(12):
        desk.undo()
    assert desk.hits.curve()["filed"] == 0


def test_a_replay_of_what_was_learnt_fills_folders_and_confusions(desk):
    journal, limits = desk.assistant.kept.journal, desk.assistant.thresholds
    hits = list(replay_journal(journal, limits))
    learnt = desk.hits.learnt()
    assert len(hits) == sum(learnt.values()) - len(learnt)  # all but the first of each folder
    assert not any(hit.best for hit in hits[: limits.messages - len(learnt) - 1])  # too little was learnt
    told, x = hits[-1], list(journal.examples())[-1]
    desk.assistant.kept.retract(x.key, x.label)  # the assistant as it was before the last message
    assert told == (x.label, *_suggested(desk.assistant, x))
    assert desk.hits.replay() is None
    desk.hits.keep_replay(hits)
    assert desk.hits.replay() == hits
    desk.file(desk.rows(0, 1)["rows"][0]["key"], "Travel")
    for folder in desk.folders()["folders"]:
        here, mine = folder["name"] == "Travel", [hit for hit in hits if hit.folder == folder["name"]]
        assert (folder["recent"], folder["replayed"]) == (min(20, len(mine) + here), min(20 - here, len(mine)))
        old = mine[len(mine) - folder["replayed"] :]
        assert folder["hits"] - sum(hit.rank == 1 for hit in old) in ((0, 1) if here else (0,))
    counts = desk.hits.curve()
    assert (counts["filed"], counts["replayed"]) == (1, len(hits))
    assert counts["replay"]["first"] == sum(hit.rank == 1 for hit in hits)


def _suggested(assistant, event):
    found = ranked(assistant.model, event.x, lambda _: True, assistant.thresholds, 1000)
    folders = [one.folder for one in found.candidates]
    return (folders.index(event.label) + 1 if event.label in folders else 0), found.best or ""


def test_the_page_goes_on_watching_after_its_mail_was_away(tmp_path):
    mail, away = tmp_path / "mail", tmp_path / "away"
    write_demo(mail, 100, 3)
    problems = [None, ValueError("nobody thought of this")]  # at the second opening, by the thread that watches

    def opened():
        problem = problems.pop(0) if problems else None
        if problem is not None:
            raise problem
        return open_source(mail)

    with Assistant(tmp_path / "state", fsync=False) as assistant:
        server = PageServer(opened, assistant)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            assert server.loaded.wait(60)
            before = len(server.desk._places)
            mail.rename(away)
            time.sleep(1.2)  # the page looks twice a second
            first = next(away.glob("cur/*"), None) or next(away.glob("new/*"))
            first.rename(next(away.glob(".*/cur")) / first.name)
            away.rename(mail)
            end = time.monotonic() + 60
            while len(server.desk._places) == before and time.monotonic() < end:
                time.sleep(0.1)
            assert len(server.desk._places) == before - 1
        finally:
            server.stop()
            thread.join(20)


counted: list[str] = []  # what the operating system was asked for, while a test counts
counts_for: list[int] = []  # the thread that is counted for: others may still be ending a test before this one
sys.addaudithook(lambda event, _: counted.append(event) if threading.get_ident() in counts_for else None)


def test_filing_does_no_more_work_in_a_large_inbox(mail, tmp_path):
    """Neither lists the inbox nor reads other messages, however many there are."""
    work = {}
    for more in (0, 600):
        for i in range(more):
            text = f"From: a{i}@example.com\nSubject: message {i}\nMessage-ID: <{i}@many>\n\nhello\n"
            (mail / "new" / f"16{i:08d}.many.host").write_text(text)
        with Assistant(tmp_path / f"state-{more}", fsync=False) as assistant:
            desk = Desk(open_source(mail), assistant)
            desk.refresh()
            key = desk.rows(0, 30)["rows"][3]["key"]
            counted.clear()
            counts_for.append(threading.get_ident())
            desk.file(key, "Travel")
            desk.rows(0, 29)
            counts_for.clear()
            work[more] = Counter(counted)
            desk.undo()
    for event in ("os.rename", "open"):
        assert work[0][event] == work[600][event] > 0
    assert work[600]["os.scandir"] == work[600]["os.listdir"] == 0
