"""The page's desk, and the page itself, over a real server."""

import json
import threading
import time
import urllib.request

import pytest

from hinged.mail import Assistant, SourceError, open_source
from hinged.mail.demo import letters
from hinged.mail.web.desk import Desk
from hinged.mail.web.serving import PageServer


def there(folder):
    """What the server calls a folder."""
    return folder.replace("/", ".")


@pytest.fixture
def mailbox(server, user, other):
    """Folders of the demo, and five messages in the inbox; the address of it all."""
    made = list(letters(60, 3))
    for folder in sorted({letter.folder for letter in made}):
        other.create_folder(there(folder))
    for i, letter in enumerate(made):
        other.append("INBOX" if i >= 55 else there(letter.folder), letter.raw)
    return server.url(user)


def messages(other, folder):
    return other.select_folder(there(folder), readonly=True)[b"EXISTS"]


def test_filing_and_undoing_move_mail_on_the_server(mailbox, other, tmp_path):
    source = open_source(mailbox)
    with Assistant(tmp_path / "state") as assistant:
        desk = Desk(source, assistant)
        assert desk.refresh() == {"changed": True, "learnt": 55, "inbox": 5, "skipped": 0}
        row = desk.rows(0, 1)["rows"][0]
        folder = row["folders"][0]["name"]
        before = messages(other, folder)
        told = desk.file(row["key"], folder)
        assert (told["rank"], told["left"], messages(other, folder)) == (1, 4, before + 1)
        assert desk.refresh()["learnt"] == 0
        assert desk.undo()["left"] == 5
        assert (messages(other, "INBOX"), messages(other, folder)) == (5, before)
        assert desk.refresh()["learnt"] == 0
        other.select_folder("INBOX")
        other.move(other.search()[-1:], there(folder))
        assert desk.refresh() == {"changed": True, "learnt": 1, "inbox": 4, "skipped": 0}
    source.close()


def test_the_page_sees_what_another_program_files(mailbox, other, tmp_path):
    with Assistant(tmp_path / "state") as assistant:
        server = PageServer(lambda: open_source(mailbox), assistant)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            cookie = {"Cookie": f"{server.guard.cookie}={server.guard.secret}"}
            asked = urllib.request.Request(f"http://127.0.0.1:{server.port}/api/inbox", headers=cookie)

            def total():
                with urllib.request.urlopen(asked, timeout=20) as answer:
                    return json.load(answer)["total"]

            assert server.loaded.wait(60)
            assert total() == 5
            other.select_folder("INBOX")
            other.move(other.search()[:2], there("Finance/Taxes"))
            end = time.monotonic() + 30
            while total() != 3 and time.monotonic() < end:
                time.sleep(0.1)
            assert total() == 3
        finally:
            server.stop()
            thread.join(20)


def test_a_folder_is_made_on_the_server(mailbox, other, tmp_path):
    source = open_source(mailbox)
    with Assistant(tmp_path / "state") as assistant:
        desk = Desk(source, assistant)
        desk.refresh()
        name = desk.make("Büro/Umzug")["folder"]
        assert name == "Büro/Umzug"
        assert desk.file(desk.rows(0, 1)["rows"][0]["key"], name)["left"] == 4
        assert messages(other, name) == 1
        assert name in [one["name"] for one in desk.folders()["folders"]]
        for wrong in ("Büro/Umzug", "INBOX", "a.b", "a//b", "a\nb", "Trash"):
            with pytest.raises(SourceError, match=r"exists already|cannot be called|between its levels"):
                desk.make(wrong)
    source.close()
