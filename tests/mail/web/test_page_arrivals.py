"""Mail that comes or goes while the page is used: what is done is done to the message that the user saw."""

from collections import Counter

from tests.mail.web.site import inbox, left, where

from hinged.mail import open_source


def current(page):
    return page.locator(".row[aria-current]").get_attribute("data-key")


def read(page, key):
    """Wait until the panel shows a message."""
    subject = page.locator(f".row[data-key='{key}'] .what .subject").text_content()
    page.wait_for_function("s => document.querySelector('#why h2')?.textContent === s", arg=subject)


def test_mail_that_comes_never_takes_the_place_of_the_message_in_hand(site, opened):
    page = opened(site)
    first, second, third, *_ = reversed(inbox(site))
    page.keyboard.press("/")  # while the search for a folder is open
    page.wait_for_selector("#search[open]")
    site.arrive()
    left(page, 31)
    assert page.locator("#newer").inner_text() == "↑ 1 new message"  # what is in sight stays where it is
    page.keyboard.type("trvl")
    page.keyboard.press("Enter")
    left(page, 30)
    assert where(site, first) == "Travel"
    read(page, second)  # while the message is read
    site.arrive()
    left(page, 31)
    folder = page.locator(".reason.best").get_attribute("aria-label")
    page.click(".reason.best .button")
    left(page, 30)
    assert where(site, second) == folder
    assert current(page) == third  # before a key
    site.arrive()
    left(page, 31)
    folder = page.locator(".row[aria-current] .chip.best").get_attribute("data-folder")
    page.keyboard.press("1")
    left(page, 30)
    assert where(site, third) == folder
    site.arrive()  # before undoing
    left(page, 31)
    page.keyboard.press("u")
    left(page, 32)
    page.wait_for_function("key => document.querySelector('.row[aria-current]')?.dataset.key === key", arg=third)
    assert where(site, third) == "INBOX"
    page.click("[data-view=settings]")  # while a form is filled in
    page.wait_for_selector("#pin-folder option", state="attached")
    page.fill("#pin-who", "@example.com")
    page.select_option("#pin-folder", "Travel")
    with page.expect_response("**/api/settings"):
        site.arrive()
    page.click("#pin-form button")
    page.wait_for_selector("#pins li")
    assert site.assistant.pins() == {"@example.com": "Travel"}


def test_a_message_that_another_program_takes_leaves_nothing_selected(site, opened):
    page = opened(site)
    first, second, *_ = reversed(inbox(site))
    read(page, first)
    other = open_source(site.mail)
    other.move(other.places("INBOX")[-1], "Travel")
    left(page, 29)
    page.keyboard.press("1")  # meant for the first
    page.keyboard.press("/")
    assert not page.locator("#search").is_visible()
    assert "Another program moved this message" in page.locator("#why").inner_text()
    assert page.locator("#why .button:enabled").count() == 0
    page.keyboard.press("j")
    assert current(page) == second
    assert len(inbox(site)) == 29


def test_the_message_open_on_a_phone_stays_open(site, opened):
    page = opened(site, 390, 800)
    first = inbox(site)[-1]
    page.locator(".row .who").first.click()
    page.wait_for_selector("#why .reason")
    subject = page.locator("#why h2").inner_text()
    with page.expect_response("**/api/message*"):
        site.arrive()
    left(page, 31)
    assert page.locator("#why h2").inner_text() == subject
    folder = page.locator("#why-bar .chip.best").get_attribute("data-folder")
    page.click("#why-bar .chip.best")
    left(page, 30)
    assert where(site, first) == folder
    page.wait_for_selector("#inbox", state="visible")


def test_a_key_held_down_asks_once_for_each_page_and_ends_with_its_message(mailbox, opened):
    for i in range(200):
        text = f"From: a{i}@example.com\nSubject: message {i}\nMessage-ID: <{i}@many>\n\nhello\n"
        (mailbox.mail / "new" / f"20{i:08d}.many.host").write_text(text)
    site = mailbox.serve()
    assert site.server.loaded.wait(60)
    page = opened(site)
    # News of the start makes the page load its rows anew, and ask again for those in flight: wait until that is over.
    page.wait_for_function(
        "() => performance.getEntriesByType('resource').every(e => performance.now() - e.responseEnd > 1000)"
    )
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    press = """([key, times]) => {
        for (let i = 0; i < times; i += 1) {
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, repeat: i > 0, bubbles: true }));
        }
    }"""
    page.evaluate(press, ["j", 150])  # further than what was loaded
    page.wait_for_selector(".row[aria-current][aria-posinset='151']")
    assert page.locator(".row[aria-current] .what .subject").inner_text() == "message 49"
    read(page, current(page))
    assert max(Counter(asked).values()) == 1, asked
    assert len(asked) < 20
    before = len(inbox(site))
    page.evaluate(press, ["1", 5])  # a held key files one message, not five
    page.evaluate(press, ["u", 5])
    page.wait_for_selector("#undo", state="hidden")
    page.wait_for_function("n => document.querySelector('#left').textContent === String(n)", arg=before)
    assert page.locator("#alarm").is_hidden()


def test_rows_stand_in_the_order_in_which_they_are_read(site, opened):
    page = opened(site)
    for position in (900, 0, 400):
        page.evaluate("top => { document.querySelector('#inbox').scrollTop = top }", position)
        page.wait_for_function(
            "first => Number(document.querySelector('.row')?.ariaPosInSet) === first",
            arg=max(0, position // 102 - 4) + 1,
        )
        order = page.evaluate("[...document.querySelectorAll('.row')].map(row => Number(row.ariaPosInSet))")
        assert order == sorted(order)
