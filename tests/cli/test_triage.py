"""`hinged mail triage` in a real terminal."""

import json
import signal

import pytest
from tests.cli.conftest import is_one_sentence
from tests.cli.terminals import Terminal
from tests.mail.letters import letter, make_maildir

from hinged.mail import Assistant, look, open_source

LONG = "word " * 60


@pytest.fixture(scope="module")
def mailbox(tmp_path_factory):
    """An inbox of five messages, and the state of an assistant that knows three folders."""
    folder = tmp_path_factory.mktemp("triage")
    subjects = [("tax form", "ann"), ("cake", "bob"), ("tax return", "ann"), (f"cake {LONG}", "bob"), ("chess", "eve")]
    filed = {
        "INBOX": [letter(what, f"{who}@example.com", LONG, f"n{i}") for i, (what, who) in enumerate(subjects)],
        "Work/Taxes": [letter("tax form", "ann@example.com", name=f"w{i}") for i in range(12)],
        "Home": [letter("cake", "bob@example.com", name=f"h{i}") for i in range(12)],
        "Play": [letter("chess", "eve@example.com", name=f"p{i}") for i in range(12)],
    }
    root = make_maildir(folder / "mail", filed)
    with Assistant(folder / "state") as assistant:
        look(assistant, open_source(root))
    return folder


def names_in(root, folder):
    raw = [path.read_text() for path in (root / f".{folder.replace('/', '.')}" / "cur").iterdir()]
    return {one.partition("Message-ID: <")[2].partition(">")[0] for one in raw}


def test_every_key_does_what_the_help_says(mailbox):
    root, state = mailbox / "mail", mailbox / "state"
    with Terminal("mail", "triage", root, "--state", state, columns=70) as one:
        page = one.shows("INBOX: 1 of 5")
        assert "chess" in page
        assert "1  Play" in page
        assert max(map(len, page.splitlines())) <= 70
        one.types("?")
        assert "it is from eve@example.com" in one.shows("+")
        one.types("1")
        one.shows("filed in Play; u undoes that")
        assert "n4" in names_in(root, "Play")
        one.types(" ")
        assert "tax return" in one.shows("2 of 4")
        one.types("\x1b[A")
        one.shows("1 of 4")
        one.types("u")
        page = one.shows("taken back from Play")
        assert "chess" in page
        assert "n4" not in names_in(root, "Play")
        one.types("u")
        one.shows("there is nothing to undo")
        one.types("/")
        one.shows("> Home")
        one.types("tax")
        assert "Home" not in one.shows("> Work/Taxes")
        one.types("\t")
        one.shows("folder: Work/Taxes")
        one.types("\r")
        one.shows("filed in Work/Taxes")
        assert "n4" in names_in(root, "Work/Taxes")
        one.types("/")
        one.shows("folder:")
        one.types("\x1b[B\x1b")
        one.shows("1 of 4")
        one.types("/Neww\x7f\r")
        one.shows("filed in New;")
        assert names_in(root, "New") == {"n3"}
        one.types("    ")
        one.shows("There is no other message in INBOX; 3 left.")
        one.resize(40, 20)
        one.types("\x1b[A")
        page = one.shows("3 of 3")
        assert max(map(len, page.splitlines())) <= 40
        assert "q quit" not in page
        one.resize(120, 20)
        one.shows("q quit")
        one.types("q")
        assert one.ends() == 0
        assert "2 messages filed, 3 left in INBOX." in one.text
        assert one.text.rstrip().endswith("INBOX.")
    with Assistant(state, read_only=True) as assistant:
        found = {(event.key, event.label) for event in assistant.kept.journal.examples()}
    assert {("n4", "Work/Taxes"), ("n3", "New")} <= found
    assert ("n4", "Play") not in found


@pytest.mark.parametrize("end", ["\x03", signal.SIGTERM])
def test_however_it_ends_the_terminal_is_as_it_was(mailbox, end):
    with Terminal("mail", "triage", mailbox / "mail", "--state", mailbox / "state", "--json") as one:
        one.shows("INBOX: 1 of")
        if isinstance(end, str):
            one.types(end)
        else:
            one.process.send_signal(end)
        code = one.ends()
        assert code == (0 if isinstance(end, str) else 143)
        assert "\x1b[?25h\x1b[?1049l" in one.text
        if code == 0:
            assert json.loads(one.text[one.text.index("1049l") + 5 :])["filed"] == 0


def test_without_a_terminal_it_says_so(call, mailbox):
    code, out, err = call("mail", "triage", mailbox / "mail", "--state", mailbox / "state")
    assert (code, out) == (1, "")
    assert is_one_sentence(err.replace("; hinged", ", hinged"))
