"""`hinged mail watch` beside the other commands and the page: each works, and reaches it at once."""

import json
import time

import pytest
from tests.journal.models import same
from tests.mail.imap.letters import deliver, file_away, letter, numbers_in
from tests.mail.imap.program import Program
from tests.mail.letters import make_maildir

from hinged.estimators.text import TextClassifier
from hinged.journal.learning import learn_again
from hinged.mail import Assistant, open_source, read_message
from hinged.mail.web.desk import Desk

WORK = {"subject": "tax form", "words": "the tax form is due", "From": "ann@example.com"}
HOME = {"subject": "cake", "words": "a cake in the oven", "From": "bob@example.org"}


class InMaildir:
    """Somebody who files mail in a Maildir by another program."""

    def __init__(self, root):
        self.root = self.source = root
        make_maildir(root, {"INBOX": [], "Work": [], "Home": []})

    def deliver(self, folder, *numbers, **headers):
        for number in numbers:
            place = self.root if folder == "INBOX" else self.root / f".{folder}"
            (place / "tmp" / f"{number}.host").write_bytes(letter(number, **headers))
            (place / "tmp" / f"{number}.host").rename(place / "new" / f"{number}.host")

    def file(self, number, folder):
        (self.root / "new" / f"{number}.host").rename(self.root / f".{folder}" / "new" / f"{number}.host")

    def numbers_in(self, folder):
        source = open_source(self.root)
        return sorted(int(read_message(raw).id.split("@")[0]) for _, raw in source.read(source.places(folder)))


class OnServer:
    """Somebody who files mail on a server by another program."""

    def __init__(self, source, client):
        self.source, self.client = source, client
        for name in ("Work", "Home"):
            client.create_folder(name)

    def deliver(self, folder, *numbers, **headers):
        deliver(self.client, folder, *numbers, **headers)

    def file(self, number, folder):
        file_away(self.client, number, folder)

    def numbers_in(self, folder):
        return sorted(numbers_in(self.client, folder))


@pytest.fixture(params=["Maildir", "Dovecot"])
def somebody(request, tmp_path):
    if request.param == "Maildir":
        return InMaildir(tmp_path / "mail")
    server, user, other = (request.getfixturevalue(name) for name in ("server", "user", "other"))
    return OnServer(server.url(user), other)


def test_all_commands_and_the_page_work_beside_watch_and_reach_it(call, somebody, tmp_path):
    source, state = somebody.source, tmp_path / "state"

    def run(command, *arguments):
        code, out, err = call("mail", command, source, *arguments, "--state", state, "--json")
        assert code == 0, err
        return json.loads(out)

    somebody.deliver("Work", *range(1, 31, 2), **WORK)
    somebody.deliver("Home", *range(2, 31, 2), **HOME)
    assert run("learn")["learnt"] == 30
    with Program(source, "--state", state, "--json") as watching:
        watching.says("watching", "err")

        def suggested(number):
            return json.loads(watching.says(f'"message": "{number}@example.org"'))

        with Assistant(state, read_only=True) as looking:
            while "INBOX" not in looking.kept.journal.get("watched", []):  # it has not had its first turn
                time.sleep(0.02)
        somebody.deliver("INBOX", 41, **WORK)
        assert suggested(41)["folders"][0]["folder"] == "Work"
        run("pin", "ann@example.com", "Home")
        somebody.deliver("INBOX", 42, **WORK)
        assert (suggested(42)["folders"][0]["folder"], suggested(42)["pinned"]) == ("Home", True)
        run("unpin", "ann@example.com")
        run("exclude", "Work")
        somebody.deliver("INBOX", 43, **WORK)
        assert "fewer than two folders" in suggested(43)["silent"]
        run("include", "Work")

        assert [one["moved"] for one in run("file", "--min-confidence", "0.3")] == [False] * 3
        moved = run("file", "--min-confidence", "0.3", "--apply")
        assert [one["moved"] for one in moved] == [True] * 3
        assert somebody.numbers_in("INBOX") == []
        assert len(run("undo")["put_back"]) == 3
        assert somebody.numbers_in("INBOX") == [41, 42, 43]

        somebody.file(41, "Work")  # both see it, and one of them learns it
        run("learn")
        with Assistant(state) as assistant:
            mail = open_source(source)
            page = Desk(mail, assistant)
            page.refresh()
            assert page.file(page.rows(0, 9)["rows"][0]["key"], "Work")["left"] == 1
            mail.close()
        somebody.deliver("INBOX", 44, **HOME)
        assert suggested(44)["folders"][0]["folder"] == "Home"
        with Assistant(state) as assistant:
            events = list(assistant.kept.journal.examples())
            assert len(events) == len({event.key for event in events}) == 32, "nothing is learnt twice"
            anew = TextClassifier()
            learn_again(anew, events)
            assert same(assistant.model, anew)

        run("off")
        somebody.deliver("INBOX", 45, **WORK)
        time.sleep(1.5)
        assert not any("45@example.org" in line for line in watching.lines["out"]), "off reaches it"
        run("on")
        somebody.deliver("INBOX", 46, **WORK)
        assert suggested(46)["folders"][0]["folder"] == suggested(45)["folders"][0]["folder"] == "Work"
        learnt = [json.loads(line)["message"] for line in watching.lines["out"] if '"learnt"' in line]
        assert {*learnt} <= {"41@example.org", "43@example.org"}, "what was filed, where it came before the others"

        run("reset", "--yes")
        somebody.deliver("INBOX", 47, **WORK)
        assert watching.ends() == 1
        assert "was erased or replaced by another process" in watching.lines["err"][-1]
    assert not (state / "journal.sqlite").exists()
