"""Screenshots of the mail page in Chromium."""

import shutil
import tempfile
import threading
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from hinged.mail import Assistant, open_source, write_demo
from hinged.mail.web.serving import PageServer

IMAGES = Path(__file__).parent / "images"
SHOTS = (
    ("wide", 1280, 800, "light"),
    ("wide", 1280, 800, "dark"),
    ("phone", 390, 780, "dark"),
)


def screens() -> None:
    """Serve a generated mailbox, file some messages, take screenshots."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise FileNotFoundError("there is no chromium here to take pictures with")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        mail = Path(folder) / "mail"
        write_demo(mail, end=time.time())
        with Assistant(Path(folder) / "state", fsync=False) as assistant:
            server = PageServer(lambda: open_source(mail), assistant)
            thread = threading.Thread(target=server.run)
            thread.start()
            browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for name, width, height, theme in SHOTS:
                context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
                page = context.new_page()
                page.goto(server.address)
                page.wait_for_selector("#why .reason", state="attached")
                page.screenshot(path=IMAGES / f"page_{name}_{theme}.png")
                if (name, theme) == ("wide", "light"):
                    for _ in range(8):
                        page.keyboard.press("1")
                    page.keyboard.press("g")
                    page.wait_for_selector("svg.curve path.first")
                    page.wait_for_timeout(1000)
                    page.screenshot(path=IMAGES / "page_folders.png")
                context.close()
            browser.close()
            server.stop()
            thread.join()
