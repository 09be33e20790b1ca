"""The page in a real browser: clicks, keys, live updates, themes, a phone, hostile mail, and an accessibility check."""

import json
import os
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests import needs
from tests.mail.web.site import inbox, left, where

from hinged.mail import Assistant, SourceError, open_source
from hinged.mail.sources.folder_names import to_utf7
from hinged.mail.sources.maildir import MaildirSource
from hinged.mail.web.serving import PageServer

#: Where screenshots are left; nowhere unless it is asked for.
SHOTS = os.environ.get("HINGED_SHOTS")

HOSTILE = (
    "<script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    '"><svg onload=window.pwned=1>',
    "javascript:window.pwned=1",
    "<iframe srcdoc='<script>parent.pwned = 1</script>'></iframe>",
    "</title></textarea><script>window.pwned = 1</script>",
    "{{constructor.constructor('window.pwned = 1')()}}",
    "<a href='https://example.com/track' ping='https://example.com/ping'>click</a><base href='https://example.com'>",
    "\u202egnp.exe <style>@import 'https://example.com/x.css'</style>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>",
)


READY = {"inbox": ".chip", "folders": "#folders tbody tr", "settings": "#pin-folder option"}


def test_one_key_files_and_u_takes_it_back(site, opened):
    page = opened(site)
    newest = inbox(site)[-1]
    folder = page.locator(".row[aria-current] .chip.best").get_attribute("data-folder")
    page.keyboard.press("1")
    left(page, 29)
    assert newest in [place.key for place in open_source(site.mail).places(folder)]
    assert page.locator("#said").inner_text() == f"Filed to {folder}: the first suggestion."
    page.keyboard.press("u")
    left(page, 30)
    assert inbox(site)[-1] == newest
    page.wait_for_selector("#undo", state="hidden")


def test_undo_selects_the_message_that_came_back_where_it_was(site, opened):
    page = opened(site)
    for _ in range(4):
        page.keyboard.press("j")
    row = page.locator(".row[aria-current]")
    key = row.get_attribute("data-key")
    page.keyboard.press("1")
    left(page, 29)
    page.keyboard.press("u")
    left(page, 30)
    page.wait_for_selector(f".row[aria-current][data-key='{key}']")
    assert row.get_attribute("aria-posinset") == "5"


def test_keys_pressed_in_haste_are_not_lost(site, opened):
    page = opened(site)
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.keyboard.press("2")
    left(page, 27)
    page.wait_for_selector(".row")
    page.wait_for_selector("#undo")
    assert len(inbox(site)) == 27


def test_keys_after_a_closed_dialog_are_not_lost(site, opened):
    page = opened(site)
    page.keyboard.press("/")
    page.wait_for_selector("#search[open]")
    # In one go, before the browser takes the focus away from the field that it hides.
    page.evaluate("""() => {
        document.querySelector("#search").close();
        for (const key of ["j", "j"]) {
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        }
    }""")
    assert page.locator(".row[aria-current]").get_attribute("aria-posinset") == "3"
    page.keyboard.press("/")
    page.wait_for_selector("#search[open]")


def test_j_and_k_move_and_slash_finds_any_folder(site, opened):
    page = opened(site)
    before = inbox(site)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.wait_for_function("() => document.querySelector('.row[aria-current]').getAttribute('aria-posinset') === '2'")
    assert page.evaluate("document.activeElement.getAttribute('aria-posinset')") == "2"
    page.keyboard.press("/")
    page.wait_for_selector("#search[open]")
    page.keyboard.type("trvl")
    page.keyboard.press("Enter")
    left(page, 29)
    assert before[-2] in [place.key for place in open_source(site.mail).places("Travel")]


def test_enter_counts_while_the_folders_are_still_loading(site, opened):
    page, first = opened(site), inbox(site)[-1]
    # Held back in the page itself, so that no folder can arrive before Enter.
    page.evaluate("""() => {
        const real = window.fetch, held = new Promise((release) => { window.release = release; });
        window.fetch = async (path, ...options) => {
            if (path === "/api/folders") await held;
            return real(path, ...options);
        };
    }""")
    page.keyboard.press("/")
    page.wait_for_selector("#search[open]")
    page.keyboard.type("trvl")
    page.keyboard.press("Enter")
    assert page.locator("#search").is_visible()
    assert len(inbox(site)) == 30
    page.evaluate("() => window.release()")
    left(page, 29)
    assert where(site, first) == "Travel"


def test_a_click_on_a_chip_files_that_message(site, opened):
    page = opened(site)
    key, chip = inbox(site)[-3], page.locator(".row[aria-posinset='3'] .chip").nth(1)
    folder = chip.get_attribute("data-folder")
    chip.click()
    left(page, 29)
    assert key in [place.key for place in open_source(site.mail).places(folder)]


def test_what_another_program_files_disappears_by_itself(site, opened):
    page = opened(site)
    other = open_source(site.mail)
    learnt = site.server.desk.state()["learnt"]
    for place in other.places("INBOX")[-2:]:
        other.move(place, "Travel")
    left(page, 28)
    assert site.server.desk.state()["learnt"] == learnt + 2


def test_a_message_that_is_gone_is_no_error(site, opened):
    page = opened(site)
    del site.server.desk._places[inbox(site)[-2]]  # as when another program moved it a moment ago
    page.keyboard.press("j")
    page.wait_for_function("() => document.querySelector('#why').textContent.includes('no longer in INBOX')")


def test_folders_and_wishes(site, opened):
    page = opened(site)
    page.keyboard.press("1")
    left(page, 29)
    page.keyboard.press("g")
    page.wait_for_selector("#folders tbody tr")
    page.wait_for_selector("svg.curve path.first")
    assert page.locator("#folders tbody tr").count() == 5
    page.wait_for_function("() => document.querySelector('#folders').innerText.includes('replayed')")
    page.wait_for_function("() => document.querySelector('#curve-words').innerText.includes('Replayed, of ')")
    assert "Of 1 filed here, the right folder was first for 1" in page.locator("#curve-words").inner_text()
    page.click("[data-view=settings]")
    page.fill("#pin-who", "@foodbank.example")
    page.select_option("#pin-folder", "Travel")
    page.click("#pin-form button")
    page.wait_for_selector("#pins li")
    assert site.assistant.pins() == {"@foodbank.example": "Travel"}
    page.click("#on")
    page.wait_for_function("() => !document.querySelector('#on').checked")
    page.click("[data-view=inbox]")
    page.wait_for_selector("#note:not([hidden])")
    assert site.assistant.is_off


def test_news_leaves_a_form_alone(site, opened):
    page = opened(site)
    page.click("[data-view=settings]")
    page.wait_for_selector("#pin-folder option", state="attached")
    page.fill("#pin-who", "ann@example.com")
    page.select_option("#pin-folder", "Travel")
    page.select_option("#exclude-folder", "Finance/Taxes")
    other = open_source(site.mail)
    page.evaluate("document.querySelector('#pin-folder option').id = 'old'")
    other.move(other.places("INBOX")[-1], other.create("Another"))
    page.wait_for_selector("#old", state="detached")  # the view was drawn anew
    assert page.input_value("#pin-who") == "ann@example.com"
    assert page.input_value("#pin-folder") == "Travel"
    assert page.input_value("#exclude-folder") == "Finance/Taxes"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_can_be_used_by_everyone_at_every_width(site, opened, theme):
    axe = needs.module("axe_playwright_python.sync_playwright", "pip install axe-playwright-python").Axe()
    for name, width in (("wide", 1280), ("tablet", 820), ("phone", 390)):
        page = opened(site, width, 800, theme)
        page.wait_for_selector(".chip")
        views = ("inbox", "folders", "settings") if name != "tablet" else ("inbox",)
        for view in views:
            page.click(f"[data-view={view}]")
            page.wait_for_selector(READY[view], state="attached")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, view)
            found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
            found = [one for one in found if one["impact"] in ("serious", "critical")]
            serious = [(one["id"], one["nodes"][0]["html"], one["nodes"][0]["failureSummary"]) for one in found]
            assert serious == [], (name, view, theme)
            if SHOTS:
                page.screenshot(path=f"{SHOTS}/{theme}-{name}-{view}.png")


def test_on_a_phone_a_message_fills_the_screen_and_goes_back(site, opened):
    page = opened(site, 390, 800)
    assert not page.locator("#why").is_visible()
    page.locator(".row .who").first.click()
    page.wait_for_selector("#why .reason")
    assert not page.locator("#inbox").is_visible()
    page.click(".back")
    page.wait_for_selector(".row")
    page.locator(".row .who").first.click()
    page.wait_for_selector("#why .reason.best .button")
    page.locator("#why .reason.best .button").click()
    left(page, 29)
    page.wait_for_selector("#inbox", state="visible")


@pytest.mark.parametrize("mailbox", [12], indirect=True)
def test_a_new_user_can_file_by_touch_and_make_a_folder(site, opened):
    page = opened(site, 390, 800, touch=True, forgive="409 (Conflict)")
    first, second, *_ = reversed(inbox(site))
    assert page.locator(".row .chip:not(.other)").count() == 0
    page.locator(".row .chip.other").first.tap()
    page.wait_for_selector("#search-list .anew, #search-list li[aria-disabled]")
    page.fill("#search-text", "Club / Chess & Go")
    page.get_by_role("option", name="Make folder Club/Chess & Go").tap()
    left(page, 11)
    assert where(site, first) == "Club/Chess & Go"
    page.locator(".row .who").first.tap()
    page.wait_for_selector("#why .body")
    page.locator("#why-bar .other").tap()
    page.get_by_role("option", name="Club/Chess & Go").tap()
    left(page, 10)
    assert where(site, second) == "Club/Chess & Go"
    page.locator(".row .chip.other").first.tap()
    page.fill("#search-text", "a.b")
    page.get_by_role("option", name="Make folder a.b").tap()
    page.wait_for_selector("#alarm:visible")
    said = page.locator("#alarm-text").inner_text()
    assert said.startswith("Not filed: ")
    assert "cannot be called 'a.b'" in said
    page.wait_for_selector(".row[aria-setsize='10']")
    assert len(inbox(site)) == 10


def test_hostile_mail_is_shown_as_text(mailbox, opened):
    site = mailbox
    name = "<img src=x onerror=window.pwned=1>"
    hostile = site.mail / f".{to_utf7(name).replace('/', '|').replace('.', '|')}"
    for part in ("cur", "new", "tmp"):
        (hostile / part).mkdir(parents=True)
    for i, text in enumerate(HOSTILE):
        raw = (
            f'From: "{text}" <x{i}@example.com>\nTo: {text}\nSubject: {text}\nMessage-ID: <hostile-{i}@example.com>\n'
            f"List-Id: {text}\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
            f"--b\nContent-Type: text/{'html' if i % 2 else 'plain'}\n\n{text} hello\n"
            f'--b\nContent-Type: application/pdf\nContent-Disposition: attachment; filename="{text}.pdf"\n\nx\n--b--\n'
        ).encode()
        where = site.mail if i < 8 else hostile
        (where / "new" / f"19{i:08d}.hostile.host").write_bytes(raw)
    site.serve()
    page = opened(site)
    for _ in HOSTILE[:8]:
        page.wait_for_selector("#why .body")
        page.keyboard.press("/")
        page.wait_for_selector("#search-list li")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
    page.keyboard.press("g")
    page.wait_for_selector("#folders tbody tr")
    assert "<img src=x" in page.locator("#folders").inner_text()
    page.keyboard.press("g")
    page.wait_for_selector(".row")
    assert "<script>" in page.locator("#inbox").inner_text()
    assert page.evaluate("window.pwned === undefined && document.scripts.length === 1")
    assert page.evaluate("document.querySelectorAll('iframe, object, #why a, #inbox a').length") == 0


def test_ten_thousand_messages_cost_no_more_than_ten(mailbox, opened):
    site = mailbox
    for i in range(10_000):
        text = f"From: a{i}@example.com\nSubject: message {i}\nMessage-ID: <{i}@many>\n\nhello\n"
        (site.mail / "new" / f"20{i:08d}.many.host").write_text(text)
    site.serve()
    page = opened(site)
    left(page, 10_030)
    assert page.locator(".row").count() < 40
    page.evaluate("document.querySelector('#inbox').scrollTop = 1e9")
    page.wait_for_selector(".row[aria-posinset='10030']")
    assert page.locator(".row").count() < 40


# ------------------------------------------------------------------ who may ask
def ask(site, path, *, cookie=True, host=None, body=None, headers=None):
    request = urllib.request.Request(f"http://127.0.0.1:{site.server.port}{path}", data=body)
    guard = site.server.guard
    if cookie:
        request.add_header("Cookie", f"{guard.cookie}={guard.secret if cookie is True else cookie}")
    for name, value in {**({"Host": host} if host else {}), **(headers or {})}.items():
        request.add_header(name, value)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read(), answer.headers


def test_only_the_page_itself_may_ask(site):
    ours = {"X-Hinged": "1"}
    before = inbox(site)
    body = json.dumps({"key": before[-1], "folder": "Travel"}).encode()
    assert ask(site, "/api/inbox", cookie=False)[0] == 403
    assert ask(site, "/api/inbox", cookie="wrong")[0] == 403
    assert ask(site, "/?token=wrong", cookie=False)[0] == 403
    assert ask(site, "/api/inbox", host="evil.example")[0] == 421
    assert ask(site, "/api/file", body=body)[0] == 403
    assert ask(site, "/api/file", body=body, headers={**ours, "Origin": "http://evil.example"})[0] == 403
    assert ask(site, "/api/file", body=body, headers={**ours, "Sec-Fetch-Site": "cross-site"})[0] == 403
    assert inbox(site) == before
    status, _, headers = ask(site, "/")
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert ask(site, "/api/file", body=body, headers=ours)[0] == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/api/inbox?start=x", None, 400, "start must be an integer"),
        ("/api/message?key=none", None, 200, "no longer in INBOX"),
        ("/api/file", b"{", 400, "not JSON"),
        ("/api/file", b"[]", 400, "a JSON object"),
        ("/api/file", b"[" * 50_000, 400, "not JSON"),
        ("/api/file", b'{"key": ' + b"[" * 900 + b"]" * 900 + b"}", 400, "key must be a string"),
        ("/api/file", b'{"key": "\\ud800", "folder": "Travel"}', 409, "no longer in INBOX"),
        ("/api/file", b"{}", 400, "key must be a string"),
        ("/api/file", b'{"key": "none", "folder": "Travel"}', 409, "no longer in INBOX"),
        ("/api/file", b" " * 100_000, 413, "at most"),
        ("/api/undo", b"{}", 400, "nothing to undo"),
        ("/api/settings", b'{"what": "rule", "value": 1}', 400, "there is no setting 'rule'"),
        ("/api/settings", b'{"what": "confidence", "value": true}', 400, "there is no setting 'confidence' with"),
        ("/api/settings", b'{"what": "pin", "value": ["\\ud800@b.c", "Travel"]}', 200, "ud800"),
        ("/static/../desk.py", None, 404, ""),
    ],
)
def test_what_makes_no_sense_gets_a_sentence(site, path, body, status, says):
    told, text, _ = ask(site, path, body=body, headers={"X-Hinged": "1"})
    assert (told, says in text.decode()) == (status, True)


@pytest.mark.parametrize("others", ['a={"x":1}', "k@y=1", "=", "x", 'a="b;c', "hinged-0=1; a=é"])
def test_cookies_of_other_programs_do_no_harm(site, others):
    guard = site.server.guard
    for text in (f"{others}; {guard.cookie}={guard.secret}", f"{guard.cookie}={guard.secret}; {others}"):
        request = urllib.request.Request(f"http://127.0.0.1:{site.server.port}/api/settings")
        request.add_header("Cookie", text.encode("latin-1"))
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert answer.status == 200
    assert ask(site, "/api/settings", cookie=False, headers={"Cookie": others})[0] == 403


def test_a_code_opens_the_page_once(site, chromium):
    address = site.server.address_once()
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(".row")
    assert page.url == f"http://127.0.0.1:{site.server.port}/"
    assert page.goto(address).status == 200  # which knows the cookie by now
    context.close()
    path = address.partition(str(site.server.port))[2]
    assert ask(site, path, cookie=False)[0] == 403


class Gated(MaildirSource):
    """A Maildir whose messages can be read only when a gate is open."""

    gate = threading.Event()

    def read(self, places):
        for found in super().read(places):
            assert self.gate.wait(60)
            yield found


def test_the_page_shows_how_far_the_first_look_has_come(mailbox, chromium):
    Gated.gate.clear()
    site, shown = mailbox, []
    site.server = PageServer(lambda: Gated(site.mail), site.assistant)
    site.thread = threading.Thread(target=site.server.run, args=(lambda *now: shown.append(now),))
    site.thread.start()
    context = chromium.new_context()
    page = context.new_page()
    page.goto(site.server.address)
    page.wait_for_function("() => document.querySelector('#note').textContent.includes('reading ')")
    assert page.locator("#empty").is_hidden()
    assert json.loads(ask(site, "/api/inbox")[1])["loading"]["what"].startswith("reading ")
    assert not site.server.loaded.is_set()
    Gated.gate.set()
    page.wait_for_selector(".chip")
    assert page.locator("#note").is_hidden()
    assert site.server.loaded.is_set()
    assert any("20 of" in what for what, _, _ in shown)
    assert "learning" in [what for what, _, _ in shown]
    context.close()


def test_a_first_look_that_fails_or_is_stopped_ends_the_server(mailbox, tmp_path):
    Gated.gate.clear()
    mailbox.serve()  # for the fixture, which stops it
    with Assistant(tmp_path / "other", fsync=False) as assistant:
        server = PageServer(lambda: Gated(mailbox.mail), assistant)
        thread = threading.Thread(target=server.run)
        thread.start()
        server.stop()
        Gated.gate.set()
        thread.join(60)
        assert not thread.is_alive()
        assert server.page.failure is None
        server = PageServer(lambda: Broken(mailbox.mail), assistant)
        with ThreadPoolExecutor(1) as worker, pytest.raises(SourceError, match="the disk is gone"):
            worker.submit(server.run).result(60)


class Broken(MaildirSource):
    """A Maildir that is gone when its messages are listed."""

    def places(self, folder):
        raise SourceError("the disk is gone.")
