"""A server that goes and comes back: the page says so, loses nothing, and goes on by itself."""

import http.client
import re

import pytest
from tests.mail.web.site import inbox, left, where

from hinged.mail import Assistant
from hinged.mail.web.qr import qr_matrix
from hinged.mail.web.serving import allowed_hosts


def restart(site, **asked):
    site.stop()
    site.assistant = Assistant(site.assistant.state, fsync=False)
    site.serve(**asked)


def test_while_the_server_is_gone_nothing_is_filed_and_then_it_goes_on(site, opened):
    page = opened(site, forgive="ERR_")
    first = inbox(site)[-1]
    site.stop()
    page.keyboard.press("1")  # at once, before the page knows
    page.wait_for_selector("#alarm:visible")
    page.keyboard.press("1")
    page.keyboard.press("u")
    page.wait_for_selector(f".row[data-key='{first}']")
    assert "Nothing is filed until it is back" in page.locator("#alarm-text").inner_text()
    assert page.locator(".row").first.get_attribute("aria-setsize") == "30"
    assert len(inbox(site)) == 30
    site.assistant = Assistant(site.assistant.state, fsync=False)
    site.serve()
    page.wait_for_selector("#alarm", state="hidden")
    page.click(f".row[data-key='{first}'] .chip.best")
    left(page, 29)
    assert where(site, first) != "INBOX"
    site.arrive()  # and news are heard again
    left(page, 30)


def test_the_cookie_outlives_a_restart_and_the_address_does_not(site, opened):
    page = opened(site, forgive="Failed to load resource")
    address, before = site.server.address, site.server.guard
    kept = site.assistant.state / "page.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    restart(site)
    after = site.server.guard
    assert (after.secret, after.cookie, site.server.port) == (
        before.secret,
        before.cookie,
        int(address.split(":")[2].split("/")[0]),
    )
    assert after.token != before.token
    assert page.goto(address).status == 200  # by the cookie: the address itself is worth nothing now
    assert page.context.browser.new_page().goto(address).status == 403
    kept.chmod(0o644)  # others may have read it
    restart(site)
    assert site.server.guard.secret != before.secret
    page.reload()
    assert "open the address that was printed" in page.locator("body").inner_text()
    secret = site.server.guard.secret
    restart(site, sign_out=True)
    assert site.server.guard.secret != secret


def test_the_page_answers_to_the_names_it_is_reached_by(site):
    restart(site, host="0.0.0.0", allow_hosts=["desk.example", "mail.example:444"])
    port = site.server.port
    assert f"://127.0.0.1:{port}" not in site.server.address

    def status(host):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", site.server.address.partition(str(port))[2], headers={"Host": host})
        answer = connection.getresponse()
        said = answer.read().decode()
        connection.close()
        return answer.status, said

    printed = re.match(r"http://(.+?)/\?", site.server.address)[1]
    for name in (printed, f"127.0.0.1:{port}", f"Desk.Example:{port}", "desk.example", "mail.example:444"):
        assert status(name)[0] == 303, name
    for name in ("evil.example", f"evil.example:{port}", "mail.example", f"mail.example:{port}", "127.0.0.1"):
        assert status(name) == (421, f"Host header '{name}' is not allowed; add it with --allow-host.\n")


def test_a_proxy_may_stand_before_it():
    assert "desk.example" in allowed_hosts("127.0.0.1", 8025, ["desk.example"])
    assert "desk.example" not in allowed_hosts("127.0.0.1", 8025)


def correction(words: list[int], extra: int) -> list[int]:
    """Return the Reed-Solomon bytes of a message: the remainder of its polynomial over GF(256).

    Examples
    --------
    >>> correction([32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17], 10)
    [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]
    """
    generator, root = [1], 1
    for _ in range(extra):
        raised, times = [*generator, 0], [0, *(product_of(one, root) for one in generator)]
        generator = [a ^ b for a, b in zip(raised, times, strict=True)]
        root = product_of(root, 2)
    rest = [*words, *[0] * extra]
    for i in range(len(words)):
        factor = rest[i]
        for j, one in enumerate(generator):
            rest[i + j] ^= product_of(one, factor)
    return rest[len(words) :]


def product_of(a: int, b: int) -> int:
    """The product in GF(256), modulo x^8 + x^4 + x^3 + x^2 + 1."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a, b = (a << 1) ^ (0x11D * (a >> 7)), b >> 1
    return product


@pytest.mark.parametrize(
    "text", ["a", "http://192.168.178.100:58000/?token=abcdefghijklmnopqrstuvwxyz-_0123", "x" * 106]
)
def test_a_qr_code_can_be_read(text):
    """Read it as a phone does, by the standard and not by the writer: format, mask, order, correction."""
    matrix = qr_matrix(text.encode())
    size = len(matrix)
    told = [matrix[8][i] for i in (0, 1, 2, 3, 4, 5, 7, 8)] + [matrix[i][8] for i in (7, 5, 4, 3, 2, 1, 0)]
    level_and_mask = int("".join(map(str, map(int, told))), 2) ^ 0b101010000010010
    remainder = level_and_mask
    for i in range(14, 9, -1):
        if remainder >> i & 1:
            remainder ^= 0b10100110111 << (i - 10)
    assert remainder == 0
    assert level_and_mask >> 13 == 0b01  # level L
    mask = [
        lambda r, c: (r + c) % 2, lambda r, c: r % 2, lambda r, c: c % 3, lambda r, c: (r + c) % 3,
        lambda r, c: (r // 2 + c // 3) % 2, lambda r, c: r * c % 2 + r * c % 3,
        lambda r, c: (r * c % 2 + r * c % 3) % 2, lambda r, c: ((r + c) % 2 + r * c % 3) % 2,
    ][level_and_mask >> 10 & 7]  # fmt: skip
    bits, row, column, up = "", size - 1, size - 1, True
    while column > 0:
        for c in (column, column - 1):
            finder = (row < 9 and (c < 9 or c > size - 9)) or (row > size - 9 and c < 9)
            if not (finder or 6 in (row, c) or (size > 21 and max(abs(row - size + 7), abs(c - size + 7)) < 3)):
                bits += str(int(matrix[row][c] != (mask(row, c) == 0)))
        row += -1 if up else 1
        if not 0 <= row < size:
            row, up, column = row + (1 if up else -1), not up, column - 2
            column -= column == 6
    extra = {21: 7, 25: 10, 29: 15, 33: 20, 37: 26}[size]
    words = [int(bits[i : i + 8], 2) for i in range(0, len(bits) // 8 * 8, 8)]
    assert words[-extra:] == correction(words[:-extra], extra)
    assert bits.startswith(f"0100{len(text):08b}")
    assert "".join(chr(int(bits[12 + 8 * i : 20 + 8 * i], 2)) for i in range(len(text))) == text
