"""The mail page in Chromium: time to the first suggestion, and from filing a message to the next suggestion."""

import shutil
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from benchmarks.report import Report, Sheet, at_most
from hinged.mail import Assistant, open_source, write_demo
from hinged.mail.web.serving import PageServer

#: Press a key, and wait until the server has learnt it and the row that is selected now shows suggestions again.
FILE = """async () => {
  const before = document.querySelector('#left').textContent, began = performance.now();
  document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '1', bubbles: true}));
  while (document.querySelector('#left').textContent === before || !document.querySelector('.row[aria-current] .chip'))
    await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""


def run(quick: bool) -> Report:
    """Open the page and file messages.

    Parameters
    ----------
    quick : bool
        3 messages in place of 25.
    """
    sheet = Sheet("The page", ["what", "times", "median ms", "slowest ms"])
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".page-bench-") as folder, sync_playwright() as running:
        write_demo(Path(folder) / "mail")
        with Assistant(Path(folder) / "state") as assistant:
            server = PageServer(lambda: open_source(Path(folder) / "mail"), assistant)
            thread = threading.Thread(target=server.run)
            thread.start()
            server.loaded.wait()
            browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            opening, page = [], None
            for _ in range(2 if quick else 6):
                if page is not None:
                    page.close()
                page = browser.new_page()
                began = time.perf_counter()
                page.goto(server.address)
                page.wait_for_selector(".chip")
                opening.append(1000.0 * (time.perf_counter() - began))
            filing = [page.evaluate(FILE) for _ in range(3 if quick else 25)]
            browser.close()
            server.stop()
            thread.join()
    for what, found in (("open, first suggestion visible", opening), ("file by key, next suggestion visible", filing)):
        sheet.rows.append([what, len(found), float(np.median(found)), max(found)])
    return Report(
        "page",
        "the generated mailbox of `hinged mail serve --demo`: 1,470 messages learnt, 30 to file",
        "wall time in headless Chromium on the same machine; a message is moved, written to the journal, fsynced and "
        "learnt, and all suggestions are updated before the next is shown",
        [sheet],
        [
            at_most("opening, median", float(np.median(opening)), 1000.0, "ms"),
            at_most("filing, median", float(np.median(filing)), 100.0, "ms"),
        ],
    )
