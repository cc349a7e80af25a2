"""A real browser, where there is one: Chromium without a window, and an ear for errors and requests."""

from __future__ import annotations

import shutil
from importlib import resources

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


class Visit:
    """Opens pages, and keeps what they asked for and complained about."""

    def __init__(self, context):
        self.page = context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, path):
        self.page.goto(path.resolve().as_uri())
        self.page.wait_for_selector("h1")
        return self.page

    def accessibility(self):
        """Return the serious findings of axe-core, which is injected here and is no part of the page."""
        self.page.evaluate(resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        found = self.page.evaluate("async () => (await axe.run()).violations")
        return [
            (finding["id"], [node["html"][:200] for node in finding["nodes"][:3]])
            for finding in found
            if finding["impact"] in ("serious", "critical")
        ]


@pytest.fixture(scope="module")
def browser():
    """One Chromium with a profile of its own, in a temporary folder."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    sync_api = pytest.importorskip("playwright.sync_api")
    pytest.importorskip("axe_playwright_python")
    with sync_api.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser):
    """A function that opens a window of a width and a colour scheme, which shares nothing with others."""
    contexts = []

    def start(width=1280, scheme="light"):
        contexts.append(browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}))
        return Visit(contexts[-1])

    yield start
    for context in contexts:
        context.close()
