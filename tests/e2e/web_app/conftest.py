"""Tabs of a real browser on a server that has read a small site."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page
from tests.e2e.browser import PATIENCE_MILLISECONDS, note_problems, running_browser
from tests.e2e.looks import faults_of, fits
from tests.e2e.web_app.scene import Scene, running_scene


@dataclass(kw_only=True)
class Tab:
    """A tab of the browser, and what it complained of."""

    page: Page
    scene: Scene
    problems: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a page of the app."""
        self.page.goto(f"{self.scene.url}{path}")
        return self.page

    def faults(self) -> list[str]:
        """Return what axe-core finds in the page, minor findings left out."""
        return faults_of(self.page)

    def check_looks(self) -> None:
        """Check the page for everyone: axe-core in both colours, and nothing sticks out."""
        for scheme in ("dark", "light"):
            self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            assert self.faults() == [], scheme
        for width in (320, 390, 1200):
            self.page.set_viewport_size({"width": width, "height": 800})
            assert fits(self.page), width


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with running_scene(tmp_path_factory.mktemp("web"), "/handbook", "/owls", "/hostile") as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with running_browser() as running:
        yield running


@pytest.fixture
def tab(browser: Browser, scene: Scene) -> Iterator[Tab]:
    context = browser.new_context(
        viewport={"width": 1200, "height": 800}, permissions=["clipboard-read", "clipboard-write"]
    )
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    opened = Tab(page=context.new_page(), scene=scene)
    note_problems(opened.page, opened.problems)
    yield opened
    context.close()
    assert opened.problems == []
