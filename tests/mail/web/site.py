"""A mailbox with its page, and the browser that opens it."""

import threading
from pathlib import Path

import pytest
from tests import needs

from hinged.mail import Assistant, open_source, write_demo
from hinged.mail.web.serving import PageServer

__all__ = ["Site", "chromium", "inbox", "left", "mailbox", "opened", "site", "where"]


@pytest.fixture(scope="session")
def chromium():
    playwright = needs.module("playwright.sync_api", "pip install playwright")
    path = needs.program("chromium", "chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=str(path), args=["--no-sandbox"])
        yield browser
        browser.close()


class Site:
    """A mailbox, its assistant and a server of its page, for one test."""

    def __init__(self, folder: Path, messages: int = 160) -> None:
        self.mail = folder / "mail"
        write_demo(self.mail, messages=messages, folders=5)
        self.assistant = Assistant(folder / "state", fsync=False)

    def serve(self, **asked: object) -> "Site":
        self.server = PageServer(lambda: open_source(self.mail), self.assistant, **asked)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        return self

    def arrive(self, subject: str = "news") -> None:
        """Let a message come from outside, newer than all others."""
        self.came = getattr(self, "came", 0) + 1
        text = f"From: new@example.com\nSubject: {subject} {self.came}\nMessage-ID: <{self.came}@new>\n\nhello\n"
        (self.mail / "new" / f"29{self.came:08d}.new.host").write_text(text)

    def stop(self) -> None:
        self.server.stop()
        self.thread.join(20)
        self.assistant.close()
        assert not self.thread.is_alive()


@pytest.fixture
def mailbox(tmp_path, request):
    """A site that is not served yet; a parameter says how many messages it has."""
    site = Site(tmp_path, getattr(request, "param", 160))
    yield site
    site.stop()


@pytest.fixture
def site(mailbox):
    return mailbox.serve()


@pytest.fixture
def opened(chromium):
    """A function that opens a page and checks at the end that the browser had nothing to complain about."""
    contexts, complaints = [], []

    def open_page(site, width=1280, height=800, theme="light", touch=False, forgive="nothing"):
        shape = {"viewport": {"width": width, "height": height}, "color_scheme": theme, "has_touch": touch}
        context = chromium.new_context(**shape)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda told: complaints.append(told.text) if forgive not in told.text else None)
        page.on("pageerror", lambda told: complaints.append(str(told)))
        page.on("dialog", lambda told: complaints.append(f"dialog {told.message}"))
        page.on("request", lambda asked: complaints.append(asked.url) if "127.0.0.1" not in asked.url else None)
        page.goto(site.server.address)
        page.wait_for_selector(".row")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def inbox(site):
    return [place.key for place in open_source(site.mail).places("INBOX")]


def left(page, count):
    page.wait_for_function("n => document.querySelector('#left').textContent === String(n)", arg=count)


def where(site, key):
    """The folder that holds a message now."""
    source = open_source(site.mail)
    return next(one.name for one in source.folders() if key in [place.key for place in source.places(one.name)])
