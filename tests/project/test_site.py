"""The site, opened in a real browser: `bash .ci/docs` builds it first. GLASSWOOD_SITE names another folder."""

from __future__ import annotations

import os
import re
import shutil
from importlib import resources
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(os.environ.get("GLASSWOOD_SITE") or Path(__file__).resolve().parents[2] / "build" / "site")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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


@pytest.fixture(scope="module", params=[(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")], ids=str)
def view(request, browser):
    """A window of a width and a colour scheme, and what pages complain about in it."""
    width, scheme = request.param
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda failed: complaints.append(failed.url))
    yield page, complaints, f"{width}-{scheme}"
    context.close()


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_fits_its_window_and_is_accessible(view, name):
    page, complaints, kind = view
    complaints.clear()
    requests = []
    page.once("request", lambda request: requests.append(request.url))
    page.goto((SITE / name).as_uri())
    page.wait_for_selector("h1")
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name.replace('/', '_')}-{kind}.png", full_page=True)
    assert complaints == []
    assert all(url.startswith(("file:", "data:")) for url in requests)
    width, needed = page.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollWidth]")
    assert needed <= width, "the page scrolls to the side"
    if kind in ("1280-light", "390-dark"):  # the two extremes
        assert serious_findings(page) == []


def serious_findings(page):
    """Return what axe-core finds, which is injected here and is no part of the page."""
    axe = pytest.importorskip("axe_playwright_python")
    page.evaluate(resources.files(axe).joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations")
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


def test_the_search_finds_a_word(browser):
    page = browser.new_page()
    page.goto(f"{(SITE / 'search.html').as_uri()}?q=joint")
    page.wait_for_selector("#search-results li", timeout=20_000)
    assert page.locator("#search-results li").count() >= 3
    page.close()


def test_pictures_have_texts():
    for page in PAGES:
        for image in re.findall(r"<img [^>]*>", (SITE / page).read_text(encoding="utf-8")):
            assert re.search(r'alt="[^"]+"', image), (page, image)
