"""The documentation site: its links, what it loads, and whether it can be used by everyone."""

import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests import needs
from tests.mail.web.site import chromium  # noqa: F401
from tests.public_api import lines as public_names

from hinged.service.routes import ENDPOINTS

ROOT = Path(__file__).resolve().parents[1]
#: The front page, wide tables, code with a picture, the reference from the code.
KINDS = ("index", "multilabel", "confidence", "reference/hinged.costs")
SIZES = {"wide": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    needs.module("furo", 'pip install ".[site]"')
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "site" / "build.py", folder], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given["id"]} if "id" in given else set()
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        loaded = given.get("src") or (given.get("href") if tag == "link" else None)
        if loaded and not loaded.startswith("data:"):
            self.loads.append(loaded)


@cache
def read(path):
    return Page(path.read_text(encoding="utf-8"))


def pages(site):
    return sorted(site.rglob("*.html"))


def test_every_link_and_anchor_leads_somewhere(site):
    lost = []
    for path in pages(site):
        page = read(path)
        for target in [*page.links, *page.loads]:
            parts = urlsplit(target)
            if parts.scheme:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not there.is_file() or (there.suffix == ".html" and place not in read(there).places):
                lost.append((path.name, target))
    assert lost == []


def test_nothing_is_loaded_from_elsewhere(site):
    for path in pages(site):
        assert [target for target in read(path).loads if urlsplit(target).scheme or target.startswith("//")] == []
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"url\(\s*[\"']?(https?:)?//|@import", text), path


def test_the_sidebar_of_every_page_lists_all_pages_of_the_repository(site):
    sources = {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")}
    listed = {urlsplit(target).path for target in read(site / "index.html").links}
    for source in sources - {ROOT / "README.md"}:
        name = source.relative_to(ROOT).with_suffix(".html").as_posix()
        name = name.removeprefix("docs/") if "/" in name else f"project/{name.lower()}"
        assert name in listed, f"docs/site/navigation.py lacks {source.relative_to(ROOT)}"


def test_the_reference_has_every_public_name_with_its_source(site):
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (site / "reference").glob("*.html")}
    everything = "".join(pages.values())
    lacking, owner = [], ""
    for line in public_names():
        if line.startswith("$"):
            options = re.findall(r"--[\w-]+", line)
            lacking += [option for option in options if f">{option}<" not in pages["commands"]]
        elif line.startswith("  "):
            method = re.match(r"  (\w+)\(", line)
            if method and f'.{owner.rpartition(".")[2]}.{method[1]}"' not in everything:
                lacking.append(f"{owner}.{method[1]}")
        else:
            owner = re.match(r"(class )?([\w.]+)", line)[2]
            if f'id="{owner}"' not in everything:
                lacking.append(owner)
    assert lacking == []
    signatures = re.findall(r'<dt class="sig sig-object py" id="(hinged[^"]*)">(.*?)</dt>', everything, re.DOTALL)
    assert len(signatures) > 300
    assert [name for name, text in signatures if "(</span>" in text and "#line-" not in text] == []


def test_the_reference_has_every_request_of_the_service(site):
    page = re.sub("<[^>]*>", "", (site / "reference" / "http.html").read_text(encoding="utf-8"))
    for endpoint in ENDPOINTS:
        assert f"{endpoint.method} {endpoint.path}" in page


@pytest.mark.parametrize("module", ["navigation", "source_pages", "tables"])
def test_examples_in_the_scripts_of_the_site_run(module):
    script = f"{module}.py"
    done = subprocess.run([sys.executable, "-m", "doctest", script], cwd=ROOT / "docs" / "site", capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize(("size", "theme"), [("wide", "light"), ("wide", "dark"), ("phone", "dark")])
def test_it_can_be_used_by_everyone(site, chromium, theme, size):  # noqa: F811
    axe = needs.module("axe_playwright_python.sync_playwright", "pip install axe-playwright-python").Axe()
    width, height = SIZES[size]
    context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    for kind in KINDS:
        page.goto((site / f"{kind}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (kind, "scrolls sideways")
        found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"], one["nodes"][0]["failureSummary"]) for one in found] == [], kind
    context.close()
    assert [url for url in asked if not url.startswith("file:")] == []


def test_blocks_of_code_stand_out_and_figures_keep_their_units(site, chromium):  # noqa: F811
    page = chromium.new_page(color_scheme="light")
    page.goto((site / "index.html").as_uri())
    colour = "where => getComputedStyle(document.querySelector(where)).backgroundColor.match(/[0-9]+/g).map(Number)"
    behind, block = (page.evaluate(colour, where) for where in ("body", "pre"))
    assert max(abs(a - b) for a, b in zip(behind, block, strict=True)) > 8
    assert not re.search(r"\d (%|µs)", page.locator("article").inner_text())
    page.close()


def test_words_of_a_page_are_found(site, chromium):  # noqa: F811
    page = chromium.new_page()
    page.goto((site / "search.html").as_uri() + "?q=certificate")
    page.wait_for_selector("#search-results li a[href*='maths.html']")
    page.close()


def test_the_colours_can_be_chosen(site, chromium):  # noqa: F811
    page = chromium.new_page(color_scheme="light")
    page.goto((site / "index.html").as_uri())
    colour = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(colour)
    page.locator(".theme-toggle").locator("visible=true").first.click()
    assert page.evaluate(colour) != before
    page.close()
