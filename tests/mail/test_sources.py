"""Maildir, Maildir++, trees of Maildirs, mbox files and standard input."""

import io
import mailbox
import os
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from imapclient import imap_utf7
from tests.mail.letters import letter, make_maildir

from hinged.mail import Assistant, Folder, Place, SourceError, look, open_source, read_message, replay
from hinged.mail.message import ENOUGH
from hinged.mail.reading import Skipped
from hinged.mail.sources.folder_names import from_utf7, to_utf7
from hinged.mail.sources.maildir import MaildirSource
from hinged.mail.sources.mbox import MboxSource
from hinged.mail.watching import MessageLearnt, Watcher


def subjects(source, folder):
    return [read_message(raw).subject for _, raw in source.read(source.places(folder))]


def test_a_maildir_with_folders_beside_the_inbox(tmp_path):
    make_maildir(
        tmp_path, {"INBOX": [letter("a")], "Work/Tax": [letter("b"), letter("c")], "Sent": [], "B&APw-cher": []}
    )
    source = open_source(tmp_path)
    assert isinstance(source, MaildirSource)
    assert source.folders() == [
        Folder("Bücher"), Folder("INBOX", "inbox"), Folder("Sent", "sent"), Folder("Work/Tax"),
    ]  # fmt: skip
    assert subjects(source, "Work/Tax") == ["b", "c"]
    assert subjects(source, "Bücher") == []


def test_a_maildir_that_the_standard_library_wrote(tmp_path):
    box = mailbox.Maildir(tmp_path / "mail")
    box.add(letter("first"))
    folder = box.add_folder("Work.Tax")
    folder.add(letter("second"))
    source = open_source(tmp_path / "mail")
    assert [one.name for one in source.folders()] == ["INBOX", "Work/Tax"]
    moved = source.move(source.places("INBOX")[0], "Work/Tax")
    assert sorted(one["Subject"] for one in folder) == ["first", "second"]
    assert [place for place, _ in source.read([moved])] == [moved]


def test_a_tree_of_maildirs(tmp_path):
    for name in ("Work/Tax", "Home"):
        make_maildir(tmp_path / name, {"INBOX": [letter(name)]})
    source = open_source(tmp_path)
    assert [one.name for one in source.folders()] == ["Home", "Work/Tax"]
    assert subjects(source, "Work/Tax") == ["Work/Tax"]


def test_flags_that_change_do_not_change_the_key(tmp_path):
    make_maildir(tmp_path, {"INBOX": [letter()], "Work": []})
    source = open_source(tmp_path)
    (place,) = source.places("INBOX")
    (file,) = (tmp_path / "cur").iterdir()
    file.rename(file.with_name(place.key + ":2,FRS"))
    assert source.places("INBOX") == [place]
    moved = source.move(place, "Work")
    assert [one.name for one in (tmp_path / ".Work" / "cur").iterdir()] == [f"{moved.key}:2,FRS"]
    assert list(source.read([place])) == []
    with pytest.raises(SourceError, match="no longer in INBOX"):
        source.move(place, "Work")
    with pytest.raises(SourceError, match="no folder 'Nowhere'"):
        source.move(moved, "Nowhere")


def test_a_move_that_was_made_but_not_flushed_is_no_failure(tmp_path):
    resource = pytest.importorskip("resource")
    source = open_source(make_maildir(tmp_path / "mail", {"INBOX": [letter()], "Work": []}))
    (place,) = source.places("INBOX")
    source.folders()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))  # no folder can be opened, files can be renamed
    try:
        moved = source.move(place, "Work")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert source.places("Work") == [moved]
    assert source.places("INBOX") == []


def test_reading_a_maildir_changes_nothing(tmp_path):
    make_maildir(tmp_path, {"INBOX": [letter("a"), letter("b")]})
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    source = open_source(tmp_path)
    list(source.read(source.places("INBOX")))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_waiting_ends_when_a_message_comes(tmp_path):
    make_maildir(tmp_path, {"INBOX": []})
    source = open_source(tmp_path)
    assert not source.wait(0.01)
    time.sleep(0.02)
    (tmp_path / "new" / "5.x").write_bytes(letter())
    assert source.wait(5)
    assert not source.wait(0.01)


def test_ten_thousand_folders(in_memory):
    for i in range(10_000):
        place = in_memory / f".f{i:05d}"
        for part in (place, place / "cur", place / "new"):
            os.mkdir(part)
    began = time.process_time()
    source = open_source(in_memory)
    assert len(source.folders()) == 10_000
    assert source.places("f09999") == []
    assert time.process_time() - began < 20
    for i in range(2001):
        (in_memory / f".f{i:05d}" / "new" / "1.x").write_bytes(letter(name=str(i)))
    with pytest.raises(SourceError, match="2,001 folders, and the assistant takes at most 2,000"):
        replay(source)
    with Assistant(in_memory / "state") as assistant, pytest.raises(SourceError, match="leave some out"):
        look(assistant, source)


@pytest.fixture
def mbox(tmp_path):
    box = mailbox.mbox(tmp_path / "Work")
    for i in range(3):
        box.add(letter(f"number {i}", body=f"From here on\nit is {i}", name=str(i)))
    box.close()
    return tmp_path / "Work"


def test_an_mbox_file(mbox):
    source = open_source(mbox)
    assert isinstance(source, MboxSource)
    assert source.folders() == [Folder("Work")]
    assert subjects(source, "Work") == ["number 0", "number 1", "number 2"]
    raw = next(source.read(source.places("Work")))[1]
    assert read_message(raw).body.startswith("From here on\nit is 0")
    with pytest.raises(SourceError, match="is only read"):
        source.move(source.places("Work")[0], "Home")


def test_a_folder_of_mbox_files(mbox, tmp_path):
    (tmp_path / "Lists.sbd").mkdir()
    (tmp_path / "Lists.sbd" / "Chess").write_bytes(b"From x\n" + letter("chess"))
    (tmp_path / "Work.msf").write_bytes(b"index")
    (tmp_path / "Trash").write_bytes(b"")
    source = open_source(tmp_path)
    assert source.folders() == [Folder("Lists/Chess"), Folder("Trash", "trash"), Folder("Work")]
    assert subjects(source, "Lists/Chess") == ["chess"]


def test_keys_of_an_mbox_name_no_other_message_later(mbox):
    source = open_source(mbox)
    places = source.places("Work")
    box = mailbox.mbox(mbox)
    box.remove(0)
    box.flush()
    box.close()
    assert list(source.read(places)) == [], "messages that moved have other keys"
    assert subjects(source, "Work") == ["number 1", "number 2"]


def test_a_message_on_standard_input(monkeypatch):
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(letter("piped") + b"x" * 2 * ENOUGH)))
    monkeypatch.setattr(sys, "stdin", stream)
    source = open_source("-")
    ((place, raw),) = source.read(source.places("stdin"))
    assert read_message(raw).subject == "piped"
    with pytest.raises(SourceError, match="cannot be changed"):
        source.move(place, "Work")
    assert not source.wait(0)


@pytest.mark.parametrize(("content", "words"), [
    (None, "the path does not exist"),
    (b"\x00\x01 no mail at all", "not an mbox file"),
    ("folder", "holds neither"),
])  # fmt: skip
def test_what_is_no_mail_is_refused_in_one_sentence(content, words, tmp_path):
    path = tmp_path / "mail"
    if content == "folder":
        path.mkdir()
        (path / "notes.txt").write_text("hello")
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(SourceError, match=words):
        open_source(path)


def test_an_mbox_that_is_damaged_later_is_refused(mbox):
    source = open_source(mbox)
    mbox.write_bytes(b"\x00" * 100)
    with pytest.raises(SourceError, match="not an mbox file"):
        source.places("Work")
    with pytest.raises(SourceError, match="no folder 'Home'"):
        source.places("Home")


def test_marks_are_refused_by_name(tmp_path, mbox):
    for source in (MaildirSource(make_maildir(tmp_path / "m", {"INBOX": []})), MboxSource(mbox)):
        with pytest.raises(SourceError, match=r"keywords|only read"):
            source.mark(Place("INBOX", "1"), ["hinged-Work"])


def test_thunderbird_s_messages_that_are_away_and_folders_of_its_own_are_left_out(tmp_path):
    def kept(status, name):
        return (
            b"From - Mon\nX-Mozilla-Status: " + status + b"\nX-Mozilla-Status2: 00000000\n" + letter(name=name) + b"\n"
        )

    away = kept(b"0009", "moved away") + kept(b"0001", "there") + kept(b"0008", "deleted") + kept(b"1000", "new")
    body = kept(b"0001", "quoting") + b"X-Mozilla-Status: 0008\n\n"
    (tmp_path / "Work").write_bytes(away + body)
    for name in ("Inbox", "Templates", "Unsent Messages", "Drafts", "Vorlagen"):
        (tmp_path / name).write_bytes(kept(b"0001", name))
    source = open_source(tmp_path)
    uses = {folder.name: folder.use for folder in source.folders()}
    assert uses["Templates"] == "templates"
    assert uses["Unsent Messages"] == "outbox"
    assert [read_message(raw).id for _, raw in source.read(source.places("Work"))] == ["there", "new", "quoting"]
    place = source.places("Work")[0]
    path = tmp_path / "Work"
    path.write_bytes(path.read_bytes().replace(b"Status: 0001\n", b"Status: 0009\n"))
    assert place not in source.places("Work")
    assert list(source.read([place])) == []


def test_thunderbird_s_accounts_have_special_folders_each(tmp_path):
    names = ("Local Folders/Templates", "Local Folders/Work", "Local Folders/Work.sbd/Sent", "pop.example.org/Inbox",
             "pop.example.org/Unsent Messages", "pop.example.org/Trash", "Old/Sent")  # fmt: skip
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"From -\n" + letter())
        if not name.startswith("Old"):
            (tmp_path / f"{name}.msf").write_bytes(b"// index")
    uses = {folder.name: folder.use for folder in open_source(tmp_path).folders()}
    assert uses == {
        "Local Folders/Templates": "templates", "Local Folders/Work": "", "Local Folders/Work/Sent": "", "Old/Sent": "",
        "pop.example.org/Inbox": "inbox", "pop.example.org/Trash": "trash", "pop.example.org/Unsent Messages": "outbox",
    }  # fmt: skip


@pytest.mark.parametrize("flat", [True, False])
def test_a_folder_can_be_made(tmp_path, flat):
    if flat:
        make_maildir(tmp_path, {"INBOX": [letter(name="1")], "Work": []})
    else:
        make_maildir(tmp_path / "Inbox", {"INBOX": [letter(name="1")]})
    source = open_source(tmp_path)
    assert source.create("Büro/Steuern") == "Büro/Steuern"
    assert "Büro/Steuern" in [folder.name for folder in source.folders()]
    assert source.places("Büro/Steuern") == []
    for bad in ("", "a//b", "../b", "a.b/.." if flat else "cur"):
        with pytest.raises(SourceError, match="a folder cannot be called"):
            source.create(bad)


def test_a_maildir_that_vanishes_at_any_moment_stops_nobody(tmp_path):
    """Folders come and go in a thread while others are listed, read and waited for."""
    make_maildir(tmp_path / "mail", {"INBOX": [letter(name="1")], "Stays": [letter(name="2")]})
    make_maildir(tmp_path / "spare", {"Goes": [letter(name="3")]})
    here, away = tmp_path / "mail" / ".Goes", tmp_path / "spare" / ".Goes"
    ending = threading.Event()

    def come_and_go():
        while not ending.is_set():
            away.rename(here)
            here.rename(away)

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        source = open_source(tmp_path / "mail")
        with Assistant(tmp_path / "state", fsync=False) as assistant:
            told = []
            watcher = Watcher(assistant, source, "INBOX", told.append)
            for _ in range(60):
                watcher.turn()
                source.wait(0.0)
    finally:
        ending.set()
        thread.join()
    assert not any(isinstance(event, Skipped) for event in told)
    assert {event.message.id for event in told if isinstance(event, MessageLearnt)} >= {"2"}


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_modified_utf_7_agrees_with_imapclient(name):
    encoded = to_utf7(name)
    assert encoded.encode("ascii") == imap_utf7.encode(name)
    assert from_utf7(encoded) == imap_utf7.decode(encoded.encode()) == name
