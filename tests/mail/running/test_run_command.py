"""`hinged mail run` as users run it: other commands ask it, and print what they would print alone."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from tests.cli.conftest import call, is_one_sentence, pipe_in  # noqa: F401
from tests.mail.imap.program import Program
from tests.mail.letters import letter, make_maildir

from hinged.cli.asking import ask
from hinged.mail import state_folder


@pytest.fixture(autouse=True, scope="module")
def own_data_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


NEW = letter("tax form", "ann@example.com", name="piped").decode()


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """A mailbox and the state of an assistant that has learnt it, not to be changed."""
    from hinged.cli.main import main

    root = tmp_path_factory.mktemp("learnt")
    filed = {
        "INBOX": [letter("tax form", "ann@example.com", name=name) for name in ("new", "newer")],
        "Work": [letter("tax form", "ann@example.com", name=f"w{i}") for i in range(15)],
        "Home": [letter("cake", "bob@example.org", name=f"h{i}") for i in range(15)],
    }
    make_maildir(root / "mail", filed)
    with pytest.raises(SystemExit):
        main(["mail", "learn", str(root / "mail"), "--state", str(root / "state")])
    return root


@pytest.fixture
def here(learnt, tmp_path, monkeypatch):
    """A copy of it in the current folder."""
    shutil.copytree(learnt, tmp_path / "ours")
    monkeypatch.chdir(tmp_path / "ours")
    return tmp_path / "ours"


def running(*arguments, **more):
    return Program(*arguments, command="run", **more)


@pytest.fixture(scope="module")
def shared(learnt, tmp_path_factory):
    """An assistant that runs in the folder that is returned, for tests that leave it running."""
    folder = tmp_path_factory.mktemp("shared") / "ours"
    shutil.copytree(learnt, folder)
    with running("mail", "--state", "state", "--json", "--page", cwd=folder) as program:
        program.says("answered at once", "err")
        yield folder, program
        assert program.stop(signal.SIGINT) == 130


@pytest.fixture
def run(shared, monkeypatch):
    """That assistant; its folder is the current one."""
    folder, program = shared
    monkeypatch.chdir(folder)
    return program


@pytest.fixture
def via(capsys, monkeypatch):
    """Do a command by asking a running assistant, as `hinged mail` does."""

    def asked(*arguments, stdin=None):
        if stdin is not None:
            pipe_in(stdin, monkeypatch)
        code = ask(["mail", *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return asked


STATE = ("--state", "state")
#: Commands in order, with what is piped in: each acts on what those before it have done.
COMMANDS = [
    (("learn", "mail"), None),
    (("suggest", "mail"), None),
    (("suggest", "mail", "--json", "--latest", "1"), None),
    (("suggest", "-"), NEW),
    (("suggest", "-", "--json", "--top", "1"), NEW),
    (("suggest", "-"), ""),
    (("suggest", "mail", "--min-confidence", "0.9999999"), None),
    (("suggest", "mail", "--folder", "Nowhere"), None),
    (("suggest", "mail", "--colour"), None),
    (("suggest", "--top", "1", "mail"), None),
    (("suggest",), None),
    (("explain", "mail"), None),
    (("explain", "mail", "--for", "Home", "--message", "<new>", "--json"), None),
    (("explain", "mail", "--message", "no-such"), None),
    (("explain", "-", "--for", "Work"), NEW),
    (("pin", "mail", "ann@example.com", "Home"), None),
    (("pin", "mail", "ann@example.com", "Nowhere"), None),
    (("pin", "mail", "eve@example.com", "Lists/Chess", "--make", "--json"), None),
    (("suggest", "mail", "--json"), None),
    (("unpin", "mail", "ann@example.com"), None),
    (("unpin", "mail", "ann@example.com"), None),
    (("exclude", "mail", "Work"), None),
    (("suggest", "mail"), None),
    (("include", "mail", "Work", "--json"), None),
    (("learn", "-", "--into", "Work"), NEW),
    (("learn", "-"), NEW),
    (("file", "mail", "--min-confidence", "0.3"), None),
    (("file", "mail", "--min-confidence", "0.3", "--apply", "--json"), None),
    (("status", "mail"), None),
    (("undo", "mail"), None),
    (("undo", "mail", "--json"), None),
    (("off", "mail"), None),
    (("suggest", "mail"), None),
    (("learn", "mail"), None),
    (("on", "mail", "--json"), None),
    (("rename", "mail", "Work", "Office"), None),
    (("merge", "mail", "Office", "Home"), None),
    (("forget", "mail", "Nowhere"), None),
    (("forget", "mail", "Home"), None),
]


def test_every_command_prints_the_same_to_the_letter(call, via, here, tmp_path, monkeypatch):  # noqa: F811
    """Both begin with the same mail and state, and write the same."""
    alone, asked = [], []
    shutil.copytree(here, tmp_path / "alone")
    monkeypatch.setenv("COLUMNS", "97")
    with running("mail", "--state", "state", env={**os.environ, "COLUMNS": "50"}) as program:
        program.says("answered at once", "err")
        for words, stdin in COMMANDS:
            asked.append((words, *via(*words, *STATE, stdin=stdin)))
        monkeypatch.chdir(tmp_path / "alone")
        for words, stdin in COMMANDS:
            alone.append((words, *call("mail", *words, *STATE, stdin=stdin)))
    for one, other in zip(asked, alone, strict=True):
        assert sized(one) == sized(other)
    codes = [code for _, code, _, _ in asked]
    assert None not in codes, "none was left to the client"
    assert {0, 1, 2} == set(codes)
    assert max(len(line) for _, _, out, _ in asked for line in out.splitlines() if not line.startswith(" ")) <= 97


def sized(result):
    """A result without the size of the journal: a file that is still open has a log beside it."""
    words, code, out, err = result
    return words, code, re.sub(r"[\d.]+ kB", "", out), err


def test_a_terminal_of_the_client_gets_colours_and_its_own_encoding(run):
    program = "import sys; sys.stdout.isatty = lambda: True; from hinged.cli.start import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "mail", "suggest", "mail", *STATE],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert b"\x1b[1mtax form\x1b[0m" in done.stdout
    assert "…".encode() not in done.stdout


def test_a_message_of_the_last_list_is_accepted_by_the_assistant(run, via):
    assert "2. tax form" in via("suggest", "mail", *STATE)[1]
    assert via("accept", "2") == (0, "tax form moved to Work; accept --undo takes it back.\n", "")
    assert via("accept", "--undo") == (0, "tax form moved back.\n", "")
    assert via("accept", "7")[0] == 1


def test_what_is_not_for_this_assistant_is_done_by_the_client(run, via, call):  # noqa: F811
    make_maildir(Path("other"), {"INBOX": [], "Work": [letter(name="o")]})
    for command in (("learn", "other", *STATE), ("suggest", "-", "--state", "elsewhere"), ("replay", "mail"),
                    ("suggest", "mail", *STATE, "--help"), ("status", "mail")):  # fmt: skip
        assert via(*command, stdin=NEW) == (None, "", "")
        assert sys.stdin.read() == NEW, "nothing was taken from standard input"
    assert call("mail", "learn", "other", *STATE)[0] == 0


def test_the_source_alone_finds_the_assistant(learnt, here, via, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    damaged = state_folder(str(make_maildir(here / "bad", {"INBOX": []})))
    damaged.mkdir(parents=True)
    (damaged / "journal.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 20)
    with running("bad", "mail") as program:
        assert "is not a valid journal" in program.says("bad is not run", "err")  # the other one is
        program.says("answered at once", "err")
        program.says("learnt")
        assert "is on" in via("status", "mail")[1]
        assert "is on" in via("status", here / "mail" / ".." / "mail")[1]
        monkeypatch.chdir(here / "mail")
        assert json.loads(via("status", ".", "--json")[1])["on"]


def test_a_second_one_is_refused_and_a_killed_one_leaves_nothing_in_the_way(via, call, here):  # noqa: F811
    with running("mail", *STATE) as first:
        first.says("answered at once", "err")
        code, out, err = call("mail", "run", "mail", *STATE)
        assert (code, out) == (1, "")
        assert f"as process {first.process.pid}; the mail commands reach it." in err
        assert via("pin", "mail", "ann@example.com", "Home", *STATE)[0] == 0
        assert first.stop(signal.SIGKILL) == -signal.SIGKILL
    assert (here / "state" / "socket").exists()
    assert via("status", "mail", *STATE) == (None, "", "")
    with running("mail", *STATE) as again:
        again.says("answered at once", "err")
        assert json.loads(via("status", "mail", *STATE, "--json")[1])["pins"] == {"ann@example.com": "Home"}
        assert again.stop(signal.SIGTERM) == 143
        assert again.lines["err"][-1] == "hinged: stopping; what has been learnt is kept."
    assert not (here / "state" / "socket").exists()


def test_commands_and_watching_work_at_the_same_time(run, via):
    """Clients ask and change settings while messages are filed; nothing fails, and every message is learnt once."""
    wrong = []

    def client(number):
        for turn in range(4):
            pin = ("pin", "mail", f"{number}-{turn}@example.com", "Home")
            for words in (("suggest", "-"), ("status", "mail"), pin):
                command = [sys.executable, "-m", "hinged", "mail", *words, *STATE]
                done = subprocess.run(command, input=NEW.encode(), capture_output=True)
                if done.returncode or done.stderr:
                    wrong.append((words, done.stderr))

    clients = [threading.Thread(target=client, args=(number,)) for number in range(4)]
    for thread in clients:
        thread.start()
    for number in range(20):
        path = Path("mail") / ".Work" / "cur" / f"{5000 + number}.more.host:2,S"
        path.write_bytes(letter("tax form", "ann@example.com", name=f"more{number}"))
    for thread in clients:
        thread.join()
    run.says("learnt")
    assert wrong == []
    about = json.loads(via("learn", "mail", *STATE, "--json")[1])
    assert about["skipped"] == []
    about = json.loads(via("status", "mail", *STATE, "--json")[1])
    assert (about["messages"], len(about["pins"])) == (50, 16)


def test_the_page_is_served_by_the_same_process(run, via):
    address = json.loads(run.says('"page"'))["address"]
    home, _, token = address.partition("?token=")
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.open(f"{home}?token={token}").close()

    def inbox():
        with opener.open(f"{home}api/inbox") as answer:
            return json.load(answer)

    end = time.monotonic() + 30
    while inbox()["total"] is None and time.monotonic() < end:
        time.sleep(0.05)
    assert inbox()["rows"][0]["folders"][0]["name"] == "Work"
    assert via("pin", "mail", "ann@example.com", "Home", *STATE)[0] == 0
    assert inbox()["rows"][0]["folders"] == [{"name": "Home", "score": 0.0}]
    assert via("unpin", "mail", "ann@example.com", *STATE)[0] == 0


def test_a_full_disk_stops_nothing_that_only_reads_and_is_tried_again(run, via):
    path = Path("mail") / ".Home" / "cur" / "5000.more.host:2,S"
    limit_files(run, 4096)
    path.write_bytes(letter("cake", name="more"))
    assert "nothing that was acknowledged is lost" in json.loads(run.says('"away"'))["sentence"]
    code, out, err = via("pin", "mail", "ann@example.com", "Home", *STATE)
    assert (code, out) == (1, "")
    assert "nothing that was acknowledged is lost" in err
    assert "Work" in via("suggest", "-", *STATE, stdin=NEW)[1]
    limit_files(run, resource.RLIM_INFINITY)
    run.says('"back"')
    assert via("explain", "mail", "--folder", "Home", "--message", "more", *STATE)[0] == 0
    assert "ann@example.com" not in json.loads(via("status", "mail", *STATE, "--json")[1])["pins"]


def limit_files(program, size):
    """Let the process write no file beyond a size."""
    resource.prlimit(program.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_reset_while_it_runs_begins_anew(run, via, call):  # noqa: F811
    assert via("pin", "mail", "ann@example.com", "Home", *STATE)[0] == 0
    assert call("mail", "reset", "mail", "--yes", *STATE)[0] == 0
    assert via("learn", "mail", *STATE)[0] == 0
    assert "is on" in via("status", "mail", *STATE)[1]
    about = json.loads(via("status", "mail", *STATE, "--json")[1])
    assert (about["messages"] >= 30, about["pins"]) == (True, {})


@pytest.mark.parametrize(("arguments", "said"), [
    (("-",), "cannot be watched"),
    (("mail", "other", "--state", "state"), "name one SOURCE"),
])  # fmt: skip
def test_what_cannot_be_run_gets_one_sentence(call, here, arguments, said):  # noqa: F811
    code, out, err = call("mail", "run", *arguments)
    assert (code, out) == (2, "")
    assert is_one_sentence(err), err
    assert said in err
