"""A message that the server cannot give is skipped, named and counted, and costs no other message anything."""

import json
import re

import pytest
from tests.mail.imap.letters import deliver, uid_of
from tests.mail.imap.spoiling import TOLD, Spoiler, cannot_give

from hinged.mail import Assistant, Place, Watcher, look
from hinged.mail.reading import Skipped
from hinged.mail.sources.imap import open_imap
from hinged.mail.watching import Suggested
from hinged.mail.web.desk import Desk


def fill(other):
    for name in ("Work", "Play"):
        other.create_folder(name)
    deliver(other, "Work", 1, 3, 5, 7, subject="tax form")
    deliver(other, "Play", 2, 4, 6, 8, subject="chess", words="a game of chess", From="bob@example.com")


@pytest.mark.parametrize("how", TOLD)
def test_a_server_that_cannot_give_one_message_gives_the_others(server, user, other, tmp_path, how):
    fill(other)
    bad = uid_of(other, "Work", 3)
    with Spoiler("127.0.0.1", server.port, cannot_give(bad, how)) as way:
        source = open_imap(f"imap://{user}@127.0.0.1:{way.port}/?insecure&timeout=5")
        work = source.places("Work")
        with Assistant(tmp_path, fsync=False) as assistant:
            seen = look(assistant, source)
            skipped = {one.place: one.why for one in seen.skipped}
            # both folders number their messages alike, so that it cannot give the second of either
            assert list(skipped) == [source.places("Play")[1], work[1]]
            assert all(skipped.values())
            assert seen.learnt == 6
        source.close()


@pytest.mark.parametrize("answer", [b"%s NO it is damaged\r\n", b"* OK [UIDVALIDITY x]\r\n%s OK done\r\n"])
def test_a_folder_that_the_server_cannot_open_costs_no_other(server, user, other, tmp_path, answer):
    fill(other)

    def spoil(line):
        return (b"", answer % line.split()[0]) if b"EXAMINE" in line and b"Play" in line else None

    with Spoiler("127.0.0.1", server.port, spoil) as way, Assistant(tmp_path, fsync=False) as assistant:
        source = open_imap(f"imap://{user}@127.0.0.1:{way.port}/?insecure&timeout=5")
        seen = look(assistant, source)
        assert (seen.learnt, [one.place for one in seen.skipped]) == (4, [Place("Play", "")])
        source.close()


def test_a_file_that_dovecot_cannot_read_is_skipped_by_every_command(call, server, user, other, tmp_path):
    """Dovecot hangs up at such a message, each time."""
    fill(other)
    deliver(other, "INBOX", 10, 11, 12, subject="tax form")
    mail = server.home / "mail" / user / "Maildir"
    for folder, number in ((mail / ".Work", 3), (mail, 11)):
        (path,) = (p for p in folder.glob("[cn]*/*") if f"<{number}@example.org>".encode() in p.read_bytes())
        path.write_bytes(b"cut")  # also where root runs the tests: its size is in its name
    source = server.url(user)

    def run(command, *options):
        code, out, err = call("mail", command, source, *options, "--json", *([] if command == "replay" else state))
        assert code == 0, err
        return json.loads(out), re.findall(r"skipped (\S+) in (\w+): (.+)\.$", err, re.MULTILINE)

    state = ["--state", tmp_path / "state"]
    for command, learnt in (("replay", 7), ("learn", 7)):
        told, ((key, folder, why),) = run(command)
        assert told["messages" if command == "replay" else "learnt"] == learnt
        assert [(one["folder"], one["place"]) for one in told["skipped"]] == [("Work", key)]
        assert (folder, "lost" in why) == ("Work", True)
    call("mail", "pin", source, "anna@example.org", "Work", *state)
    for command in ("suggest", "file"):
        told, ((bad, _, why),) = run(command)
        assert [one["message"] for one in told] == ["10@example.org", "12@example.org", ""]
        assert [bool(one["skipped"]) for one in told] == [False, False, True]
        assert (told[2]["place"], told[2]["skipped"], told[2]["folders"]) == (bad, why, [])
        assert len({tuple(sorted(one)) for one in told}) == 1, "all have the same fields"
    told, ((_, _, why),) = run("explain", "--message", "12@example.org")
    assert told["skipped"] == [{"folder": "INBOX", "place": bad, "why": why}]
    with Assistant(tmp_path / "state") as assistant:
        source, told = open_imap(source), []
        watcher = Watcher(assistant, source, "INBOX", told.append)
        watcher.turn()
        deliver(other, "INBOX", 13, subject="tax form")
        watcher.turn()
        assert [type(one) for one in told] == [Skipped, Suggested]
        desk = Desk(source, assistant)
        desk.refresh()
        assert [row["from"] for row in desk.rows(0, 9)["rows"] if not row["folders"]] == [bad]
        source.close()
