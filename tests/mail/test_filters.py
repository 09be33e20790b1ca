"""The recipes of docs/mail_filters.md for procmail, Sieve and pipes, each run by the real program."""

import re
import signal
import sys
from email.utils import formatdate
from pathlib import Path

import pytest
from tests import needs
from tests.cli.conftest import call  # noqa: F401
from tests.mail.imap.program import Program
from tests.mail.letters import letter, make_maildir
from tests.mail.pigeonhole import Home

from hinged.mail import Assistant, look, open_source

PAGE = Path(__file__).parents[2] / "docs" / "mail_filters.md"
HINGED = f'#!/bin/sh\nexec "{sys.executable}" -c "from hinged.cli.start import main; main()" "$@"\n'
TAX, CAKE = letter("tax form", name="new"), letter("cake", "bob@example.org", "of apples", "newer")
NEITHER = letter("a cake form", "eve@example.net", "tax of apples is due", "newest")
WHERE = [(TAX, "Work.Tax"), (CAKE, "Home"), (NEITHER, "INBOX")]


def recipes(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def home():
    """A home whose mail is learnt, an assistant that runs, and the scripts of the page."""
    one = Home()
    filed = {"INBOX": [], "Work/Tax": [], "Home": []}
    for i, when in enumerate(formatdate(1.7e9 + 3600 * number) for number in range(60)):
        filed["Work/Tax"].append(letter("tax form", name=f"w{i}", Date=when))
        filed["Home"].append(letter("cake", "bob@example.org", "of apples", f"h{i}", Date=when))
    make_maildir(one.mail, filed)
    for name, script in zip(("hinged-folder", "hinged-deliver"), recipes("sh"), strict=True):
        (one.bin / name).write_text(script)
        (one.bin / name).chmod(0o755)
    (one.bin / "hinged").write_text(HINGED)
    (one.bin / "hinged").chmod(0o755)
    state = one.path / ".local" / "share" / "hinged" / "mail" / "home"
    with Assistant(state) as assistant:
        look(assistant, open_source(one.mail))
    with Program(one.mail, "--state", state, command="run") as program:
        program.says("answered at once", "err")
        one.own()
        yield one
        assert program.stop(signal.SIGINT) == 130
    one.close()


@pytest.fixture(autouse=True)
def is_empty(home):
    """Nothing is left by the test before."""
    home.arrived()


def test_a_message_on_standard_input_gets_the_name_of_its_folder_alone(home):
    assert [home.call(home.bin / "hinged-folder", raw=raw).stdout for raw, _ in WHERE] == [b"Work.Tax", b"Home", b""]
    state = home.path / ".local" / "share" / "hinged" / "mail" / "home"
    done = home.call(home.bin / "hinged", "mail", "suggest", "-", "--best", "--state", state, raw=TAX)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Work/Tax\n", b"")
    done = home.call(home.bin / "hinged", "mail", "suggest", "-", "--best", "--json", "--state", state, raw=TAX)
    assert (done.returncode, done.stdout) == (2, b"")


def test_procmail_files_by_its_recipe(home):
    (recipe,) = recipes("procmail")
    (home.path / "rc").write_text(f"SHELL=/bin/sh\nMAILDIR=$HOME/mail\nDEFAULT=$HOME/mail/\n{recipe}")
    home.own()
    for raw, folder in WHERE:
        words = (needs.program("procmail", "procmail"), f"HOME={home.path}", "./rc")
        done = home.call(*words, raw=raw, down=False)  # which takes away the privileges of those that it runs for
        assert (done.returncode, done.stderr) == (0, b"")
        assert home.arrived() == [folder]


def test_sieve_asks_for_each_message(home):
    script = recipes("sieve")[-1]
    assert home.compiles(script) == ""
    for raw, folder in WHERE:
        assert home.deliver(raw) == [folder], (home.path / "log").read_text()
    home.script.unlink()
    (home.path / "filter.svbin").unlink()


def test_a_pipe_delivers(home):
    deliver = home.bin / "hinged-deliver"
    config = home.path / "dovecot.conf"
    deliver.write_text(deliver.read_text().replace("dovecot-lda ", f"dovecot-lda -c {config} "))
    for raw, folder in WHERE:
        assert home.call(deliver, raw=raw).returncode == 0
        assert home.arrived() == [folder]
    (home.bin / "hinged").chmod(0o644)
    assert home.call(deliver, raw=TAX).returncode == 0
    assert home.arrived() == ["INBOX"], "whatever fails, the message arrives"
    (home.bin / "hinged").chmod(0o755)
