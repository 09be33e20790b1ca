"""The commands of the mail assistant, on a generated Maildir."""

import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import datetime
from email.utils import formatdate
from pathlib import Path

import pytest
from tests.cli.conftest import is_one_sentence
from tests.mail.letters import letter, make_maildir, some_filed

import hinged
from hinged.cli.mail.group import COMMANDS
from hinged.mail import Assistant, Filed, Place, read_message
from hinged.mail.web.page_state import load_page_state, save_page_state


@pytest.fixture(scope="module")
def mailbox(tmp_path_factory):
    """A generated mailbox, not to be changed."""
    from hinged.mail import write_demo

    root = tmp_path_factory.mktemp("mail") / "box"
    write_demo(root, 150, 5)
    return root


@pytest.fixture
def mail(call, tmp_path, monkeypatch):
    """Call a command of the assistant, whose state lies in the test's own folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return lambda *arguments, **more: call("mail", *arguments, **more)


@pytest.fixture
def small(tmp_path):
    """Two folders that are easily told apart, and an inbox."""
    filed = {
        "INBOX": [letter("tax form", "ann@example.com", name="new")],
        "Work": [letter("tax form", "ann@example.com", name=f"w{i}") for i in range(15)],
        "Home": [letter("cake", "bob@example.org", name=f"h{i}") for i in range(15)],
    }
    return make_maildir(tmp_path / "small", filed)


def test_replay_shows_hits_and_writes_a_report(mail, mailbox, tmp_path):
    code, out, err = mail("replay", mailbox, "--report", tmp_path / "r.html")
    assert (code, err) == (0, "")
    assert "120 messages in 5 folders" in out
    assert "in one of the first three" in out
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<svg" in page
    assert "How much of it is wrong" in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?https?:""", page)
    largest = json.loads(mail("replay", mailbox, "--json")[1])["by_folder"][0]
    result = json.loads(mail("replay", mailbox, "--json", "--exclude", largest["folder"])[1])
    assert result["messages"] == 120 - largest["messages"]
    assert 0 < result["top1"] <= result["top3"] <= 1
    assert [one["right"] for one in result["filing"]] == [0.9, 0.95, 0.99]
    for one in result["filing"]:
        filed, wrong = (sum(part[what] for part in one["over_time"]) for what in ("filed", "wrong"))
        assert one["filed"] == pytest.approx(filed / result["messages"])
        assert one["was_right"] == (pytest.approx(1 - wrong / filed) if filed else None)
    assert sum(one["messages"] for one in result["by_folder"]) == result["messages"]
    assert not (tmp_path / "data").exists(), "a replay keeps nothing"


def test_from_learning_to_undo(mail, small):
    code, out, _ = mail("learn", small)
    assert code == 0
    assert "30 messages learnt of 2 folders" in out
    assert json.loads(mail("learn", small, "--json")[1])["read"] == 0
    (said,) = json.loads(mail("suggest", small, "--json")[1])
    assert said["folders"][0]["folder"] == "Work"
    assert "it is from ann@example.com" in said["folders"][0]["reasons"]
    assert "tax form" in mail("suggest", small)[1]
    assert "Work scores" in mail("explain", small)[1]
    assert json.loads(mail("explain", small, "--for", "Home", "--message", "<new>", "--json")[1])["folder"] == "Home"
    certain = ("--min-confidence", "0.5")
    assert "1 message would be moved" in mail("file", small, *certain)[1]
    assert json.loads(mail("file", small, *certain, "--apply", "--json")[1])[0]["moved"]
    assert json.loads(mail("status", small, "--json")[1])["moves_to_undo"] == 1
    assert json.loads(mail("learn", small, "--json")[1])["learnt"] == 0
    assert "1 message moved back" in mail("undo", small)[1]
    assert len(json.loads(mail("suggest", small, "--json")[1])) == 1


def test_the_log_says_what_became_of_what_was_filed(mail, small, monkeypatch):
    mail("learn", small)
    assert "0 messages filed" in mail("log", small)[1]
    mail("file", small, "--min-confidence", "0.5", "--apply")
    (entry,) = json.loads(mail("log", small, "--json")[1])
    assert (entry["message"], entry["origin"], entry["folder"]) == ("new", "INBOX", "Work")
    assert (entry["fate"], entry["promised"], entry["number"]) == ("there", False, 1)
    assert 0.5 < entry["confidence"] < 1
    for since, times in (("2001-01-01", 1), ("2999-01-01", 0)):
        assert len(json.loads(mail("log", small, "--json", "--since", since)[1])) == times
    assert mail("log", small, "--digest", "--day", "2001-01-01")[1].startswith("From: hinged")
    assert "nothing was filed then" in mail("log", small, "--deliver", "--day", "2001-01-01")[1]
    assert "is in INBOX" in mail("log", small, "--deliver")[1]
    assert "delivered before" in mail("log", small, "--deliver")[1]
    (digest,) = (small / "new").iterdir()
    assert b"tax form (ann@example.com)" in digest.read_bytes()
    (path,) = (path for path in (small / ".Work" / "cur").iterdir() if b"<new>" in path.read_bytes())
    path.rename(small / ".Home" / "cur" / path.name)
    assert json.loads(mail("learn", small, "--json")[1])["learnt"] == 1
    assert json.loads(mail("log", small, "--json")[1])[0]["became"] == "moved to Home"
    monkeypatch.setenv("COLUMNS", "60")
    assert "1 message filed, 1 of them wrong" in mail("log", small)[1]
    assert max(map(len, mail("log", small)[1].splitlines())) <= 60
    assert json.loads(mail("undo", small, "--message", "<new>", "--json")[1])["not_found"] == ["tax form"]


def test_watching_tells_of_filing_for_people_and_for_programs(capsys):
    from hinged.cli.mail import events as told
    from hinged.mail.filed import PromiseBroken
    from hinged.mail.suggestion import Candidate, Suggestion
    from hinged.mail.watching import MessageFiled

    new = read_message(letter("tax form", name="new"))
    found = Suggestion((Candidate("Work", 1.0),), 0.75)
    events = [MessageFiled(new, Place("INBOX", "7"), found, why) for why in ("", "it is gone.")]
    for event in (*events, PromiseBroken(0.95, 40, 7, 20)):
        told.print_event(event)
        told.print_event_as_json(event)
    out, err = capsys.readouterr()
    people = [line for line in out.splitlines() if not line.startswith("{")]
    programs = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert [" ".join(line.split()) for line in people] == ["filed Work tax form", "failed (it is gone.) Work tax form"]
    assert [one["event"] for one in programs] == ["filed", "filed", "broken"]
    assert [one["failed"] for one in programs[:2]] == ["", "it is gone."]
    assert programs[2] == {"event": "broken", "right": 0.95, "filed": 40, "wrong": 7, "to_wait": 20}
    assert is_one_sentence(err)
    assert "7 of the last 40 messages filed were wrong" in err


def test_suggestions_have_numbers_and_dates_and_can_be_limited(mail, tmp_path):
    now = time.time()
    ages = {"old": 40, "older": 400, "new": 1, "undated": None}
    inbox = [
        letter(f"tax {name}", name=name, **({} if days is None else {"Date": formatdate(now - days * 86_400)}))
        for name, days in ages.items()
    ]
    root = make_maildir(tmp_path / "dated", {"INBOX": inbox, "Work": [letter(name="w")], "Home": [letter(name="h")]})
    mail("learn", root)
    out = mail("suggest", root)[1]
    days = datetime.fromtimestamp(now - 86_400).date().isoformat()
    assert f"3. tax new  from ann@example.com, {days}\n" in out
    assert "4. tax undated  from ann@example.com\n" in out
    listed = json.loads(mail("suggest", root, "--json")[1])
    assert [one["number"] for one in listed] == [1, 2, 3, 4]
    assert listed[3]["date"] is None
    assert abs(datetime.fromisoformat(listed[2]["date"]).timestamp() - (now - 86_400)) < 2

    def messages(*options):
        return [one["message"] for one in json.loads(mail("suggest", root, "--json", *options)[1])]

    assert messages("--since", "60d") == ["old", "new", "undated"]
    assert messages("--since", datetime.fromtimestamp(now - 10 * 86_400).date().isoformat()) == ["new", "undated"]
    assert messages("--limit", "1") == messages("--since", "60d", "--latest", "1") == ["undated"]
    for wrong in ("2026-13-01", "soon", "7", ""):
        code, _, err = mail("suggest", root, "--since", wrong)
        assert (code, "--since takes a date" in err) == (2, True)


def test_a_message_of_the_last_list_is_accepted_and_taken_back(mail, small):
    assert "begin with: hinged mail suggest" in mail("accept", "1")[2]
    for i in range(2, 4):
        (small / "cur" / f"200{i}.more:2,").write_bytes(letter(f"cake {i}", "bob@example.org", name=f"m{i}"))
    make_maildir(small, {"Empty": []})
    mail("learn", small)
    assert "3. cake 3" in mail("suggest", small)[1]
    listed = json.loads(mail("suggest", small, "--json")[1])
    best, second = listed[2]["folders"][0]["folder"], listed[1]["folders"][1]["folder"]
    assert mail("accept", "3")[1] == f"cake 3 moved to {best}; accept --undo takes it back.\n"
    assert json.loads(mail("accept", "2", "2", "--json")[1]) == {"subject": "cake 2", "folder": second, "undone": False}
    assert mail("accept", "1", "Empty")[0] == 0
    for name, folder in (("m3", best), ("m2", second), ("new", "Empty")):
        found = [path.read_bytes() for path in (small / f".{folder}" / "cur").iterdir()]
        assert any(f"<{name}>".encode() in raw for raw in found)
    assert json.loads(mail("learn", small, "--json")[1])["learnt"] == 0, "they are learnt already"
    assert json.loads(mail("status", small, "--json")[1])["messages"] == 33
    for words, said in (
        (("3",), "no longer in INBOX"), (("4",), "messages 1 to 3"), (("0",), "messages 1 to 3"),
        (("2", "3"), "folders 1 to 2"), ((), "use --undo"), (("1", "--undo"), "use --undo"),
    ):  # fmt: skip
        code, out, err = mail("accept", *words)
        assert (code in (1, 2), out) == (True, "")
        assert said in err
    assert mail("accept", "--undo")[1] == "tax form moved back.\n"
    assert "no folder" in mail("accept", "1", "Nowhere")[2]
    assert json.loads(mail("accept", "--undo", "--json")[1])["folder"] == second
    assert mail("accept", "--undo")[0] == 0
    assert "nothing was accepted" in mail("accept", "--undo")[2]
    assert json.loads(mail("status", small, "--json")[1])["messages"] == 30, "as if it had never been learnt"
    assert len(list((small / "cur").iterdir())) == 3
    mail("suggest", small)
    mail("accept", "1", "Home")
    (moved,) = [path for path in (small / ".Home" / "cur").iterdir() if b"<new>" in path.read_bytes()]
    moved.rename(small / ".Empty" / "cur" / moved.name)
    assert "moved it since" in mail("accept", "--undo")[2]
    assert mail("reset", small, "--yes")[0] == 0
    assert "begin with: hinged mail suggest" in mail("accept", "1")[2], "subjects are forgotten too"


def test_wishes_and_edits(mail, small, tmp_path):
    mail("learn", small)
    assert mail("pin", small, "ann@example.com", "Home")[1] == "Mail from ann@example.com goes to Home.\n"
    assert json.loads(mail("suggest", small, "--json")[1])[0]["pinned"]
    assert "a pin decides" in mail("explain", small)[1]
    assert json.loads(mail("unpin", small, "ann@example.com", "--json")[1]) == {"unpinned": "ann@example.com"}
    assert mail("off", small)[0] == 0
    assert "is off" in mail("learn", small)[2]
    assert json.loads(mail("suggest", small, "--json")[1])[0]["silent"] == "the assistant is switched off"
    assert mail("on", small)[0] == 0
    assert mail("exclude", small, "Home")[0] == mail("include", small, "Home")[0] == 0
    assert mail("rename", small, "Work", "Office")[1] == "Work was renamed to Office.\n"
    assert mail("merge", small, "Office", "Home")[0] == 0
    assert json.loads(mail("status", small, "--json")[1])["folders"] == ["Home"]
    assert "1 folder can be suggested" in mail("status", small)[1]
    assert mail("export", small, tmp_path / "m.jsonl")[0] == mail("export", small, tmp_path / "m.hinged")[0] == 0
    assert len((tmp_path / "m.jsonl").read_text("utf-8").splitlines()) == 30
    assert hinged.load(tmp_path / "m.hinged").classes_.tolist() == ["Home"]
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("m.*")} == {0o600}
    assert mail("forget", small, "Home")[0] == 0
    assert "0 folders would be forgotten" in mail("reset", small)[1]
    assert json.loads(mail("reset", small, "--yes", "--json")[1])["reset"]
    assert "nothing was learnt" in mail("status", small)[2]


def test_a_message_in_a_pipe(mail, small, tmp_path):
    state = ("--state", tmp_path / "state")
    for i in range(12):
        assert mail("learn", "-", "--into", "Work", *state, stdin=letter("tax", name=f"a{i}").decode())[0] == 0
        mail("learn", "-", "--into", "Home", *state, stdin=letter("cake", "b@c.de", name=f"b{i}").decode())
    (said,) = json.loads(mail("suggest", "-", *state, "--json", stdin=letter("tax", name="new").decode())[1])
    assert said["folders"][0]["folder"] == "Work"
    assert is_one_sentence(mail("suggest", "-", *state, stdin="")[2])
    assert "--state" in mail("suggest", "-", stdin="x")[2]
    assert "--into" in mail("learn", "-", *state, stdin="x")[2]


@pytest.mark.parametrize(("arguments", "said"), [
    (("suggest", "{small}"), "nothing was learnt"),
    (("replay", "{tmp}/nowhere"), "no mail at"),
    (("replay", "{tmp}/file"), "not an mbox file"),
    (("suggest", "{small}", "--folder", "Nowhere"), "no folder 'Nowhere'"),
    (("explain", "{small}", "--message", "no-such"), "no message no-such"),
    (("explain", "{small}", "--for", "Nowhere"), "nothing was learnt of a folder 'Nowhere'"),
    (("forget", "{small}", "Nowhere"), "nothing was learnt of a folder 'Nowhere'"),
    (("unpin", "{small}", "nobody"), "no pin for 'nobody'"),
    (("include", "{small}", "Work"), "not excluded"),
    (("export", "{small}", "{tmp}/out.txt"), "must end in"),
    (("file", "{small}", "--right", "3/4", "--min-gap", "0.5"), "--right decides what is sure enough"),
    (("file", "{small}", "--right", "often"), "is a share; got 'often'"),
    (("sieve", "-", "--state", "{tmp}/data"), "name its mail in place of -"),
    (("sieve", "{small}", "--right", "2"), "nobody can promise to be right always"),
    (("sieve", "{small}", "--into", "{tmp}/no/a.sieve"), "no folder"),
    (("suggest", "{small}", "--best", "--json"), "--best prints names alone"),
    (("export", "{small}", "{tmp}/file"), "must end in"),
    (("export", "{small}", "{tmp}/no/out.jsonl"), "no folder"),
    (("replay", "{small}", "--report", "{tmp}/no/out.html"), "no folder"),
    (("demo", "{small}"), "not empty"),
    (("undo", "{small}", "--day", "tomorrow"), "a date such as 2026-11-19"),
    (("undo", "{small}", "--day", "2026-11-19", "--all"), "exclude each other"),
    (("undo", "{small}", "--message", "7"), "hinged mail log lists it"),
    (("log", "{small}", "--since", "2026-13-01"), "a date such as 2026-11-19"),
    (("log", "{small}", "--digest", "--since", "2026-11-19"), "use --day"),
    (("log", "{small}", "--day", "2026-11-19"), "use --since"),
    (("watch", "{small}", "--right", "always"), "19/20"),
    (("watch", "{small}", "--review", "Later"), "--review is for what --right leaves"),
    (("replay", "{small}", "--right", "20/20"), "nobody can promise"),
    (("suggest",), "SOURCE"),
    (("teleport",), "teleport"),
    (("suggest", "{small}", "--colour"), "hinged mail suggest --help"),
])  # fmt: skip
def test_what_is_wrong_gets_one_sentence(mail, small, tmp_path, arguments, said):
    (tmp_path / "file").write_bytes(b"no mail")
    if said != "nothing was learnt":
        mail("learn", small)
    code, out, err = mail(*(argument.format(small=small, tmp=tmp_path) for argument in arguments))
    assert code in (1, 2)
    assert out == ""
    assert is_one_sentence(err), err
    assert said in err


def test_a_damaged_journal_is_named_exported_and_reset(mail, small, tmp_path):
    state = tmp_path / "state"
    mail("learn", small, "--state", state)
    (state / "snapshot.hinged").unlink(missing_ok=True)
    with closing(sqlite3.connect(state / "journal.sqlite", isolation_level=None)) as database:
        database.execute("UPDATE events SET x = zeroblob(length(x)) WHERE seq = 3")
    said = f"hinged: line 3 of {state / 'journal.sqlite'} is damaged and was left out: its checksum does not match.\n"
    for command in ("learn", "status", "suggest", "explain", "file"):
        code, _, err = mail(command, small, "--state", state)
        assert (code, err) == (0, said), command
    code, out, err = mail("export", small, tmp_path / "out.jsonl", "--state", state, "--json")
    assert (code, err, json.loads(out)["examples"]) == (0, said, 29)
    assert len((tmp_path / "out.jsonl").read_text("utf-8").splitlines()) == 29
    (state / "journal.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 20)
    code, _, err = mail("status", small, "--state", state)
    assert is_one_sentence(err)
    save_page_state(state, load_page_state(state))  # as a page does
    assert mail("reset", small, "--yes", "--state", state)[0] == 0
    assert not list(state.glob("*page.json*"))
    assert mail("learn", small, "--state", state)[0] == 0


def test_what_cannot_be_read_is_named_by_every_command(mail, small):
    (small / ".Work" / "cur" / "5.folder").mkdir()
    code, out, err = mail("learn", small, "--json")
    assert code == 0
    assert json.loads(out)["learnt"] == 30
    assert json.loads(out)["skipped"] == [{"folder": "Work", "place": "5.folder", "why": "it is not a regular file"}]
    assert err == "hinged: skipped 5.folder in Work: it is not a regular file.\n"
    assert mail("replay", small)[2] == err
    assert len(json.loads(mail("replay", small, "--json")[1])["skipped"]) == 1
    (small / "cur" / "9999.folder").mkdir()
    for command in (("suggest",), ("file", "--min-confidence", "0.5"), ("explain",)):
        code, out, err = mail(*command, small, "--json")
        assert code == 0
        assert "new" in out
        assert err == "hinged: skipped 9999.folder in INBOX: it is not a regular file.\n"


def test_commands_work_beside_an_open_assistant_and_reach_it(mail, small, tmp_path):
    from hinged.journal import JournalError
    from hinged.mail import Assistant

    state = ("--state", tmp_path / "state")
    new = read_message(letter("tax form", "ann@example.com", name="newer"))
    with Assistant(tmp_path / "state") as watching:
        assert watching.suggest(new).best is None
        assert mail("learn", small, *state)[0] == 0
        assert watching.suggest(new).best == "Work"
        assert mail("pin", small, "ann@example.com", "Home", *state)[0] == 0
        assert watching.suggest(new).best == "Home"
        assert mail("unpin", small, "ann@example.com", *state)[0] == 0
        assert mail("exclude", small, "Work", *state)[0] == 0
        assert watching.suggest(new).best is None
        assert watching.learn([Filed(new, "Work")]) == 0
        assert mail("include", small, "Work", *state)[0] == 0
        for arguments in ([], ["--apply"]):
            done = mail("file", small, "--min-confidence", "0.5", *state, *arguments, "--json")[1]
            assert [one["message"] for one in json.loads(done)] == ["new"]
        assert len(watching.memory.moves()) == 1
        assert mail("undo", small, *state)[0] == 0
        assert watching.memory.moves() == []
        assert mail("rename", small, "Work", "Office", *state)[0] == 0
        assert watching.folders() == ["Home", "Office"]
        assert mail("off", small, *state)[0] == 0
        assert "switched off" in watching.suggest(new).silent
        assert watching.learn([Filed(new, "Home")]) == 0
        assert mail("on", small, *state)[0] == 0
        assert watching.learn([Filed(new, "Home")]) == 1
        assert mail("reset", small, "--yes", *state)[0] == 0
        for call in (lambda: watching.suggest(new), lambda: watching.pin("bob@example.org", "Home")):
            with pytest.raises(JournalError, match="erased or replaced by another process"):
                call()


def test_folders_deleted_since_the_last_learning_are_not_suggested(mail, small, tmp_path):
    make_maildir(small, {"Play": [letter("chess", "eve@example.net", name=f"p{i}") for i in range(5)]})
    mail("learn", small)
    (small / ".Work").rename(tmp_path / "away")
    (one,) = json.loads(mail("suggest", small, "--json")[1])
    assert [found["folder"] for found in one["folders"]] in ([], ["Home", "Play"], ["Play", "Home"])
    assert json.loads(mail("explain", small, "--json")[1])["folder"] != "Work"
    pipe = mail(
        "suggest", "-", "--state", next((tmp_path / "data").glob("*/mail/*")), "--json", stdin=letter().decode()
    )
    assert "Work" in [found["folder"] for found in json.loads(pipe[1])[0]["folders"]], "a pipe tells nothing of folders"


def test_a_pin_needs_a_folder_that_exists_or_is_to_be_made(mail, small):
    mail("learn", small)
    code, _, err = mail("pin", small, "ann@example.com", "Lists/Chess")
    assert code == 1
    assert err == f"hinged: there is no folder 'Lists/Chess' in {small}; --make creates it.\n"
    assert json.loads(mail("status", small, "--json")[1])["pins"] == {}
    assert mail("pin", small, "ann@example.com", "Lists/Chess", "--make")[0] == 0
    assert (small / ".Lists.Chess" / "cur").is_dir()
    (moved,) = json.loads(mail("file", small, "--apply", "--json")[1])
    assert (moved["folders"][0]["folder"], moved["moved"], moved["failed"]) == ("Lists/Chess", True, "")


def test_filing_goes_on_after_a_move_that_fails_and_names_it(mail, small):
    mail("learn", small)
    for i in range(3):
        (small / "cur" / f"8{i}.more:2,").write_bytes(letter(f"tax form {i}", "ann@example.com", name=f"m{i}"))
    (small / ".Work" / "cur" / "81.more:2,").write_bytes(letter("in the way", name="w"))
    code, out, err = mail("file", small, "--apply", "--min-confidence", "0.3")
    assert code == 1
    assert "3 messages moved; hinged mail undo" in out
    assert "tax form 0" in out
    assert "tax form 1" not in out
    assert "hinged: 'tax form 1' was not moved to Work: Work holds a message 81.more already" in err
    (small / "cur" / "82.more:2,").write_bytes(letter("in the way back", name="b"))
    code, out, err = mail("undo", small)
    assert code == 1
    assert "2 messages moved back" in out
    assert "hinged: 'tax form 2' was not moved back: INBOX holds a message 82.more already" in err
    (small / "cur" / "82.more:2,").unlink()
    facts = json.loads(mail("undo", small, "--json")[1])
    assert facts == {"put_back": ["tax form 2"], "not_found": [], "failed": []}


def test_the_demo_mailbox_names_the_next_commands(mail, tmp_path):
    out = mail("demo", tmp_path / "box", "--messages", "60", "--folders", "3")[1]
    assert "60 messages" in out
    assert "hinged mail replay" in out
    assert (
        json.loads(mail("demo", tmp_path / "other", "--messages", "60", "--folders", "3", "--json")[1])["INBOX"] == 30
    )


def test_no_command_shows_the_help(mail):
    out = mail()[1]
    assert all(name in out for name in COMMANDS)


NASTY = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egpj"


@pytest.fixture
def nasty(tmp_path):
    """Mail whose every field and folder name tries to take over the terminal."""

    def one(name, folder):
        fields = {"List_Id": f"{folder}{NASTY} <list>", "To": f"{NASTY}@b.c"}
        return letter(f"tax {folder}{NASTY}", f"{folder}{NASTY}@example.com", f"due {folder}", name, **fields)

    folders = {f"{folder}{NASTY}": [one(f"{folder}{i}", folder) for i in range(12)] for folder in ("Work", "Home")}
    return make_maildir(tmp_path / "nasty", {"INBOX": [one("new", "Work")], **folders})


COMMANDS_ON_NASTY = [
    ("replay",), ("learn",), ("suggest",), ("explain",), ("explain", "--for", "Nowhere" + NASTY), ("status",),
    ("file", "--min-confidence", "0.1", "--min-gap", "0", "--apply"), ("log",), ("log", "--digest"), ("undo",),
    ("undo", "--message", NASTY), ("log", "--since", NASTY), ("watch", "--right", NASTY), ("pin", NASTY, NASTY),
    ("unpin", NASTY), ("unpin", NASTY), ("exclude", "Old" + NASTY), ("status",), ("include", "Old" + NASTY),
    ("rename", "Nowhere" + NASTY, "b"), ("forget", "Home" + NASTY), ("export", "{tmp}/no" + NASTY + "/a.jsonl"),
    ("reset",),
]  # fmt: skip


def test_nothing_that_is_printed_takes_over_a_terminal(mail, nasty, tmp_path):
    for command, *more in COMMANDS_ON_NASTY:
        code, out, err = mail(command, nasty, *(one.format(tmp=tmp_path) for one in more))
        assert code in (0, 1, 2)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out + err), (command, out, err)


def every_command(root, folder):
    """Runs of every command that prints what it was given, with names that few encodings have."""
    rows, model, state = folder / "rows….jsonl", folder / "mödel…", ["--state", str(folder / "state…")]
    examples = ({"label": f"日本{i % 2}", "text": f"wörd…{i % 2}"} for i in range(9))
    rows.write_text("".join(json.dumps(one) + "\n" for one in examples), "utf-8")
    of_mail = [
        ("learn",), ("suggest",), ("suggest", "--json"), ("explain",), ("explain", "--json"), ("status",),
        ("status", "--json"), ("pin", "日本", "Work → 日本"), ("exclude", "…"), ("forget", "gone …"),
        ("file",), ("file", "--apply", "--min-confidence", "0.1", "--min-gap", "0"), ("log",), ("log", "--digest"),
        ("undo",),
        ("rename", "Work → 日本", "Büro…"), ("merge", "Büro…", "Home → 日本"), ("export", str(folder / "out….jsonl")),
        ("reset", "--yes"),
    ]  # fmt: skip
    return [
        *(["mail", command, str(root), *more, *state] for command, *more in of_mail),
        ["mail", "replay", str(root)],
        ["mail", "replay", str(root), "--json"],
        ["mail", "demo", str(folder / "démo…"), "--messages", "50"],
        ["learn", str(rows), "--model", str(model)],
        *([name, *more, "--model", str(model)] for name, *more in (
            ("predict", str(rows)), ("predict", str(rows), "--json"), ("explain", "wörd…1"),
            ("explain", "wörd…1", "--json"), ("evaluate", str(rows)),
        )),
        ["inspect", str(model)],
        ["evaluate", str(rows)],
        ["convert", str(rows), str(folder / "out….vw")],
    ]  # fmt: skip


def test_any_encoding_of_the_output_will_do(tmp_path):
    folders = {
        f"{name} → 日本": [letter(f"tax … {name} 😀", f"{name}@example.com", name=f"{name}{i}") for i in range(12)]
        for name in ("Work", "Home")
    }
    inbox = [letter("tax … Work 😀", "Work@example.com", name="new")]
    runs = every_command(make_maildir(tmp_path / "mäil…", {"INBOX": inbox, **folders}), tmp_path)
    program = (
        "import json, sys; from hinged.cli.main import main\n"
        "for run in json.loads(sys.argv[1]):\n"
        "    try: main(run)\n"
        "    except SystemExit as end: print('ended', end.code, run[:2])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(runs)],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"codec" not in done.stderr
    ended = re.findall(r"^ended (\d+) (.*)$", done.stdout.decode("latin-1"), flags=re.MULTILINE)
    assert len(ended) == len(runs)
    assert [run for code, run in ended if code != "0"] == ["['mail', 'forget']"], "of a folder that is not there"


def test_everything_is_printed_in_one_place():
    """`hinged.cli.tables` cleans what goes to a terminal; the progress bars do so too, by themselves."""
    source = Path(hinged.__file__).parent / "cli"
    printing = re.compile(r"typer\.echo|click\.echo|(?<![\w.])print\(|std(?:out|err)\.write")
    found = {path.name for path in source.rglob("*.py") if printing.search(path.read_text("utf-8"))}
    assert found <= {"tables.py", "progress.py", "demo.py", "asking.py", "keys.py"}
    # keys.py cleans what it prints, asking.py prints what the other process cleaned, demo.py holds a program


def test_suggestions_heed_the_width_of_the_terminal(mail, small, monkeypatch):
    mail("learn", small)
    for columns in (50, 80, 132):
        monkeypatch.setenv("COLUMNS", str(columns))
        for command in (("suggest",), ("file", "--min-confidence", "0.1"), ("explain",)):
            lines = mail(*command, small)[1].splitlines()
            assert max(map(len, lines)) <= columns, (columns, lines)


def test_hints_can_be_pasted_into_a_shell(mail, tmp_path):
    filed = {"Work": [letter("tax", "a@b.c", name=f"w{i}") for i in range(12)]}
    filed["Home"] = [letter("cake", "b@c.d", name=f"h{i}") for i in range(12)]
    root = make_maildir(tmp_path / "my mail; rm", {"INBOX": [letter("tax", "a@b.c", name="new")], **filed})
    mail("learn", root)
    out = mail("file", root, "--min-confidence", "0.1", "--min-gap", "0", "--apply")[1]
    assert shlex.split(re.search(r"hinged mail undo (.*) moves", out)[1]) == [str(root)]
    assert f"hinged mail learn '{tmp_path / 'a demo'}'" in mail("demo", tmp_path / "a demo", "--messages", "60")[1]


def test_forgetting_shows_how_far_it_has_come(tmp_path):
    told = []
    with Assistant(tmp_path, fsync=False) as one:
        one.learn(some_filed(60))
        one.kept.show = lambda *shown: told.append(shown)
        one.forget(one.folders()[0])
    assert told
    assert all(what == "learning again" and 0 <= done <= total for what, done, total in told)
