"""The site, opened in a real browser: `bash .ci/docs` builds it first. GLASSWOOD_SITE names another folder.

Each page is opened in one scheme of colours, at two widths; `pytest -m slow tests/project/test_site.py` opens it in the
other one.
"""

from __future__ import annotations

import os
import re
import shutil
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(os.environ.get("GLASSWOOD_SITE") or Path(__file__).resolve().parents[2] / "build" / "site")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTHS = {"light": (1280, 390), "dark": (390, 1280)}  # the first is the one that a page is loaded at
SHOTS = os.environ.get("GLASSWOOD_SITE_SHOTS")  # a folder for screenshots
PAGES = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html") if "_static" not in path.parts)
REFERENCE = [page for page in PAGES if page.startswith("api/generated")]
LOOKED_AT = [page for page in PAGES if page not in REFERENCE] + REFERENCE[:3]  # the other ones look the same

pytestmark = pytest.mark.skipif(not PAGES, reason="the site is not built: bash .ci/docs")


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def address():
    """A server of the site: browsers refuse some requests of pages that are opened as files."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def window(request, browser):
    """A window with a colour scheme, what pages ask for in it, and what they complain about."""
    context = browser.new_context(color_scheme=request.param)
    page, requests, complaints = context.new_page(), [], []
    page.on("request", lambda asked: requests.append(asked.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda failed: complaints.append(failed.url))
    yield page, request.param, requests, complaints
    context.close()


def looks():
    """All pages in both schemes of colours; in the short form, every third page, in one of them."""
    for place, scheme in enumerate(["light", "dark"]):
        for number, name in enumerate(LOOKED_AT):
            yield pytest.param(scheme, name, marks=[] if number % 6 == 3 * place else pytest.mark.slow)


@pytest.mark.parametrize(("window", "name"), list(looks()), indirect=["window"])
def test_a_page_fits_its_window_and_is_accessible(window, address, name):
    page, scheme, requests, complaints = window
    requests.clear()
    complaints.clear()
    for width in WIDTHS[scheme]:
        page.set_viewport_size({"width": width, "height": 900})
        first = width == WIDTHS[scheme][0]
        if first:
            page.goto(f"{address}/{name}")
            page.wait_for_selector("h1")
        if SHOTS:
            page.screenshot(path=Path(SHOTS) / f"{name.replace('/', '_')}-{width}-{scheme}.png", full_page=True)
        seen, needed = page.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollWidth]")
        assert needed <= seen, f"the page scrolls to the side at {width} pixels"
        if first:
            assert serious_findings(page) == []
    assert complaints == []
    assert [url for url in requests if not url.startswith((address, "data:"))] == []


def serious_findings(page):
    """Return what axe-core finds, which is injected here, is no part of the page, and requests nothing."""
    axe = pytest.importorskip("axe_playwright_python")
    page.evaluate(resources.files(axe).joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run({preload: false})).violations")
    return [
        (finding["id"], [node["html"][:200] for node in finding["nodes"][:3]])
        for finding in found
        if finding["impact"] in ("serious", "critical")
    ]


def test_all_links_within_the_site_lead_somewhere():
    targets = {page: set(re.findall(r'\bid="([^"]+)"', (SITE / page).read_text(encoding="utf-8"))) for page in PAGES}
    broken = []
    for page in PAGES:
        text = (SITE / page).read_text(encoding="utf-8")
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            parts = urlsplit(link.replace("&amp;", "&"))
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            path = (SITE / page).parent / unquote(parts.path) if parts.path else SITE / page
            place = os.path.relpath(path.resolve(), SITE.resolve())
            missing = not path.exists() or (
                parts.fragment and place in targets and unquote(parts.fragment) not in targets[place]
            )
            if missing:
                broken.append((page, link))
    assert broken == []


def test_no_page_loads_anything_from_elsewhere():
    for page in PAGES:
        text = (SITE / page).read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(?:https?:)?//[^"]*"', text), page


def test_the_search_finds_a_word(browser, address):
    page = browser.new_page()
    page.goto(f"{address}/search.html?q=joint")
    page.wait_for_selector("#search-results li", timeout=20_000)
    assert page.locator("#search-results li").count() >= 3
    page.close()


def test_pictures_have_texts():
    for page in PAGES:
        for image in re.findall(r"<img [^>]*>", (SITE / page).read_text(encoding="utf-8")):
            preview = "_thumb." in image  # beside a link with a text
            assert re.search(r'alt="[^"]*"' if preview else r'alt="[^"]+"', image), (page, image)
