"""One message that cannot be read is skipped, named and counted, and costs no other message anything."""

import os
from dataclasses import replace

import pytest
from tests.mail.letters import letter, make_maildir, message

from hinged.mail import Assistant, Filed, Place, Thresholds, Watcher, file_mail, look, open_source, read_message, replay
from hinged.mail.features import fields_of
from hinged.mail.web.desk import Desk

CAFE = "In-Reply-To: <café@x>\nReferences: <thé@y> <café@x>\nContent-Type: appliçation/pdf\n".encode("latin-1")
WORK, HOME = ("tax form", "ann@example.com"), ("cake", "bob@example.org")


@pytest.fixture
def root(tmp_path):
    """Two folders and an inbox; one message of each has bytes beyond ASCII where no such bytes may be."""
    return make_maildir(tmp_path / "mail", {
        "INBOX": [CAFE + letter(*WORK, name="i0"), letter(*WORK, name="i1")],
        "Work": [CAFE + letter(*WORK, name="w0"), *(letter(*WORK, name=f"w{i}") for i in range(1, 12))],
        "Home": [letter(*HOME, name=f"h{i}") for i in range(12)],
    })  # fmt: skip


def damage(place):
    """Put things that are no messages into a Maildir; return how they are called."""
    os.mkfifo(place / "cur" / "1.fifo")
    (place / "cur" / "2.folder").mkdir()
    (place / "cur" / "3.loop").symlink_to("3.loop")
    (place / "cur" / "4.gone").symlink_to("nowhere")
    return ["1.fifo", "2.folder", "3.loop", "4.gone"]


def keys_of(skipped):
    return sorted(one.place.key for one in skipped)


def test_bytes_beyond_ascii_in_a_thread_cost_nothing(root, tmp_path):
    source = open_source(root)
    with Assistant(tmp_path / "state", thresholds=Thresholds(messages=4)) as one:
        assert look(one, source)[1:] == (24, 24, {}, ())
        assert [p.message.id for p in file_mail(one, source, "INBOX")] == ["i0", "i1"]
        one.learn([Filed(read_message("Message-ID: <café@x>\n\n".encode("latin-1")), "Home")])
        reply = read_message(CAFE + letter("other", "zoe@example.net", name="r"))
        number = int(fields_of(reply, one.memory)["thread"].split()[0][1:])
        assert one.memory.name_of(number) == "Home", "it finds the message that it answers"


def test_what_is_no_message_is_skipped_named_and_counted(root, tmp_path):
    source = open_source(root)
    with Assistant(tmp_path / "state", thresholds=Thresholds(messages=4)) as one:
        names = damage(root / ".Work")
        seen = look(one, source)
        assert (seen.learnt, keys_of(seen.skipped)) == (24, names)
        assert keys_of(look(one, source).skipped) == names, "they are tried again by the next look"
        assert keys_of(replay(source).skipped) == names
        damage(root)
        skipped = []
        assert len(file_mail(one, source, "INBOX", skip=skipped.append)) == 2
        assert keys_of(skipped) == names
        told = []
        watcher = Watcher(one, source, "INBOX", told.append)
        watcher.turn()
        (root / "new" / "9.late").write_bytes(letter(*WORK, name="late"))
        (root / "new" / "9.pipe").mkdir()
        watcher.turn()
        watcher.turn()
        kinds = [type(event).__name__ for event in told]
        assert kinds.count("Suggested") == 1
        assert kinds.count("Skipped") == len(names) + 1, "each once: the folder's, and the new one of the inbox"
        desk = Desk(source, one)
        assert desk.refresh()["skipped"] == len(names)
        rows = {row["key"]: row for row in desk.rows(0, 50)["rows"]}
        assert rows["1.fifo"]["snippet"] == "it is not a regular file"
        assert sum(bool(row["folders"]) for row in rows.values()) == 3
        assert "cannot be read" in desk.message("1.fifo")["gone"]


def test_a_message_that_the_journal_refuses_is_skipped(tmp_path):
    """Text with half a character reaches the assistant from a program that makes messages itself."""
    half = replace(message(name="half"), references=("\ud800",))
    skipped = []
    with Assistant(tmp_path / "state") as one:
        filed = [Filed(message(name="a"), "Work"), Filed(half, "Work"), Filed(message(name="b"), "Home")]
        assert one.learn(filed, skipped.append) == 2
        assert [str(item).partition(":")[0] for item in skipped] == ["half in Work"]
        with pytest.raises(UnicodeEncodeError):
            one.learn([Filed(half, "Home")])


def test_a_lesson_that_was_refused_leaves_no_place_and_no_topic(tmp_path):
    """So the next look tries the message again."""
    place, skipped = Place("Work", "7"), []
    refused = replace(message("tax", name="a"), body=object())
    with Assistant(tmp_path / "state", fsync=False) as one:
        one.learn([Filed(message("tax", name="a"), "Home", Place("Home", "6"))])
        topics = one.kept.journal.ask("SELECT topic, seq FROM mail_threads")
        assert one.learn([Filed(refused, "Work", place)], skipped.append) == 0
        assert [item.place for item in skipped] == [place]
        assert one.memory.unknown("Work", [place]) == [place]
        assert one.kept.journal.ask("SELECT topic, seq FROM mail_threads") == topics
        assert one.learn([Filed(message("tax", name="a"), "Work", place)]) == 1
        assert one.memory.unknown("Work", [place]) == []


def test_names_that_are_not_utf_8(tmp_path):
    root = make_maildir(tmp_path / "mail", {"INBOX": [], "B&APw-cher": [letter(name="a")]})
    for folder, key in ((b".B\xfccher", b"7.k\xe4se:2,S"), (b".Caf\xe9", b"8.t\xe9:2,S")):
        place = os.path.join(os.fsencode(root), folder)
        for part in (b"cur", b"new", b"tmp"):
            os.makedirs(os.path.join(place, part))
        with open(os.path.join(place, b"cur", key), "wb") as file:
            file.write(letter(name=key.decode("latin-1")))
    source = open_source(root)
    assert [folder.name for folder in source.folders()] == [".B\\xfccher", "Bücher", "Café", "INBOX"]
    with Assistant(tmp_path / "state") as one:
        assert look(one, source)[:3] == (3, 3, 3)
        assert look(one, source).read == 0
        (place,) = source.places("Café")
        assert place.key == "8.t\\xe9"
        moved = source.move(place, "Bücher")
        assert [found for found, _ in source.read([moved])] == [moved]
        assert look(one, source).learnt == 1


def test_links_to_folders_above_and_folders_that_are_damaged(tmp_path):
    root = make_maildir(tmp_path / "mail" / "Work", {"INBOX": [letter()]}).parent
    (root / "Work" / "back").symlink_to(root)
    (root / "Work" / "self").symlink_to(".")
    assert [folder.name for folder in open_source(root).folders()] == ["Work"]


def test_a_damaged_mbox_is_named(tmp_path):
    (tmp_path / "Work").write_bytes(b"From a\n" + letter(name="a"))
    (tmp_path / "Home").write_bytes(b"\x00\x00\x00\x00" + letter(name="b"))
    (tmp_path / "B\udcfccher").write_bytes(b"From a\n" + letter(name="c"))
    (tmp_path / "Work.msf").write_bytes(b"index")
    source = open_source(tmp_path)
    with Assistant(tmp_path / "state", fsync=False) as one:
        seen = look(one, source)
        assert seen.learnt == 2
        (skipped,) = [one for one in seen.skipped if one.place.folder == "Home"]
        assert "the folder Home" in str(skipped)
        assert "is not an mbox file" in skipped.why
        assert sorted(one.kept.labels()) == ["Bücher", "Work"]
    assert [s.place.folder for s in replay(source).skipped if "state" not in s.place.folder] == ["Home"]
