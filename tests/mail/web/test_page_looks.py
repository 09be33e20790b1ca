"""What the page and the reports look like: nothing is cut off or out of reach, in every direction of writing."""

import pytest
from tests.mail.web.site import left

from hinged.bounds.drawing import about
from hinged.evaluate.svg import confusion_squares
from hinged.mail import open_source, replay
from hinged.mail.replay_page import write_replay

#: Elements whose text is taller than they are, and names of folders that are not shown in full.
CUT = """() => [...document.querySelectorAll('.row .who, .row .what, .chip .leaf, .chip .path, .silent')]
    .filter(one => one.scrollHeight > one.clientHeight || (one.matches('.leaf') && one.scrollWidth > one.clientWidth))
    .map(one => one.textContent)"""
MESSAGE = (
    'From: "דנה לוי" <dana@example.com>\nSubject: חשבונית 260\u202e gpj.exe\nMessage-ID: <rtl@example.com>\n'
    "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
    "שלום, מצורפת החשבונית.\n" + "Best regards from a long message.\n" * 400
)


@pytest.fixture
def deep(mailbox):
    """Folders whose names begin alike, and a long message in Hebrew."""
    for path in mailbox.mail.glob(".[A-Z]*"):
        path.rename(path.with_name(f".Clients and partners.Northern region.{path.name.rpartition('.')[2]}"))
    (mailbox.mail / "new" / "2900000001.rtl.host").write_bytes(MESSAGE.encode())
    assert len(open_source(mailbox.mail).folders()) == 6
    return mailbox.serve()


def test_names_of_folders_and_lines_are_not_cut(deep, opened):
    for width in (1280, 820, 390):
        page = opened(deep, width, 800)
        page.wait_for_selector(".chip.best")
        assert page.evaluate(CUT) == [], width
        if width == 390:
            page.click("[data-view=settings]")
            page.wait_for_selector("#pin-folder option", state="attached")
            assert page.evaluate("document.querySelector('#pin-form button').getClientRects()[0].height") < 48
            assert page.evaluate("document.querySelector('#pin-who').clientWidth") > 250


def test_on_a_phone_filing_is_in_reach_and_back_stays_in_the_page(deep, opened):
    page = opened(deep, 390, 800)
    page.locator(".row .who").first.click()
    page.wait_for_selector("#why .body")
    assert page.evaluate("document.querySelector('#why').scrollHeight > 5000")
    for chip in page.locator("#why-bar .chip").all():
        box = chip.bounding_box()
        assert 0 < box["y"] < box["y"] + box["height"] <= 800
    assert page.evaluate(CUT) == []
    page.go_back()
    page.wait_for_selector("#inbox", state="visible")
    page.click("[data-view=folders]")
    page.wait_for_selector("#folders tbody tr")
    page.go_back()
    page.wait_for_selector("#inbox", state="visible")
    page.locator(".row .who").first.click()
    page.click("#why-bar .chip.best")
    left(page, 30)
    page.wait_for_selector("#inbox", state="visible")


def test_each_text_has_its_own_direction(deep, opened):
    page = opened(deep)
    page.wait_for_selector("#why .body")
    direction = "(one) => getComputedStyle(one).direction"
    for what in (".row[aria-current] .who", ".row[aria-current] .what", "#why h2"):
        assert page.locator(what).first.evaluate(direction) == "rtl", what
        assert "\u202e" not in page.locator(what).first.inner_text()
    assert page.locator(".row .what").nth(1).evaluate(direction) == "ltr"
    assert page.locator("#why .body").evaluate("(one) => getComputedStyle(one).unicodeBidi") == "plaintext"


def test_rows_that_have_not_come_yet_are_hinted_at(site, opened):
    page = opened(site)
    page.route("**/api/inbox*", lambda route: None)  # the server takes its time
    page.goto(page.url)
    page.wait_for_selector(".skeleton")
    assert page.locator(".row").count() == 0


def test_a_report_can_be_read_on_a_phone(mailbox, chromium, tmp_path):
    mailbox.serve()
    write_replay(tmp_path / "replay.html", replay(open_source(mailbox.mail)), "demo")
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    page.goto(f"file://{tmp_path}/replay.html")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    name = page.locator("tbody th").first
    page.locator(".wide").first.evaluate("(one) => { one.scrollLeft = 300 }")
    assert name.bounding_box()["x"] >= 0  # the folder stays beside its numbers
    assert name.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    page.close()


def test_a_matrix_names_its_columns_and_a_bound_its_worth():
    drawn = confusion_squares(["Work/Tax", "Home"], {("Work/Tax", "Home"): 1})
    assert drawn.count(">Work/Tax</text>") == drawn.count(">Home</text>") == 2
    assert "vacuous" in about(100.0, "PA theorem 4", 100)
    assert "vacuous" not in about(99.0, "PA theorem 4", 100)
