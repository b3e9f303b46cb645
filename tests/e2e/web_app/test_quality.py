"""What every page keeps to: light, still, for everyone, and readable without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.looks import fits
from tests.e2e.web_app.conftest import Tab
from tests.e2e.web_app.pictures import addresses
from tests.e2e.web_app.scene import HOSTILE, Scene

pytestmark = pytest.mark.slow

MAX_BYTES = 60_000
"""As they are sent: 38 to 49 kB, of 150 kB at most."""
MAX_SHIFT = 0.01
# What was found so far gives way to the answer.
MAX_SHIFT_OF_AN_ANSWER = 0.05
# What the browser measures as cumulative layout shift.
WATCH_SHIFTS = (
    "window.shift = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) "
    "window.shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });"
)

# What a server answers once the inspector is connected to it is not part of the page.
COUNT_BYTES = (
    "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
    ".filter((entry) => entry.initiatorType !== 'fetch')"
    ".reduce((sum, entry) => sum + entry.encodedBodySize, 0)"
)


def test_pages_are_light_and_stay_where_they_are(browser: Browser, scene: Scene) -> None:
    for name, address in addresses(scene).items():
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.add_init_script(WATCH_SHIFTS)

        page.goto(f"{scene.url}{address}")
        page.wait_for_load_state("load")
        page.evaluate("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")

        sent = page.evaluate(COUNT_BYTES)
        assert 20_000 < sent < MAX_BYTES, f"{name}: {sent} bytes"
        if name == "connected":
            expect(page.locator("#fields label").first).to_be_visible()
        # The way to a quote moves the page.
        if name != "quote":
            assert page.evaluate("window.shift") < MAX_SHIFT, name
        context.close()


def test_an_answer_comes_without_moving_the_page(browser: Browser, scene: Scene) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(WATCH_SHIFTS)

    page.goto(f"{scene.url}{addresses(scene)['found']}")
    card = page.locator(".quote-card").first
    expect(card).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")

    assert page.evaluate("window.shift") < MAX_SHIFT_OF_AN_ANSWER
    host = scene.site.url("/").partition("://")[2].rstrip("/")
    expect(card.get_by_role("link", name=f"{host}/handbook")).to_be_visible()
    context.close()


def test_pages_are_for_everyone(tab: Tab) -> None:
    for name, address in addresses(tab.scene).items():
        tab.page.set_viewport_size({"width": 1280, "height": 900})
        tab.open(address)
        expect(tab.page.locator("main h1")).to_be_visible()
        if name == "connected":
            expect(tab.page.locator("#fields label").first).to_be_visible()
        tab.check_looks()
        # Half of a common screen is what it shows at a zoom of 200 %.
        tab.page.set_viewport_size({"width": 640, "height": 450})
        assert fits(tab.page), name
    # The page that does not exist is reported by the browser.
    tab.problems.clear()


def test_what_is_only_read_needs_no_scripts(browser: Browser, scene: Scene) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    known = addresses(scene)
    for name in ("ask", "found", "reader", "library", "website", "pages", "usage", "calls"):
        page.goto(f"{scene.url}{known[name]}")
        expect(page.locator("main h1")).to_be_visible()
        expect(page.locator("[data-needs-script]:visible")).to_have_count(0)
    page.goto(f"{scene.url}{known['found']}")
    expect(page.locator(".quote-card").first).to_contain_text("fish")
    page.goto(f"{scene.url}/library/pages?filter=owl")
    expect(page.locator(".site-row")).to_have_count(1)
    context.close()


def test_pages_are_filtered_and_sorted(tab: Tab) -> None:
    page = tab.open("/library/pages")
    rows = page.locator(".site-row .site-name a")
    expect(rows).to_have_text([f"{HOSTILE} – Hostile", "Owls", "The heron handbook"])

    page.get_by_label("Sort by").select_option("-title")
    expect(rows).to_have_text(["The heron handbook", "Owls", f"{HOSTILE} – Hostile"])
    page.get_by_label("Sort by").select_option("-size")
    expect(rows.first).to_have_text("The heron handbook")
    page.get_by_label("Filter by title or URL").fill("nothing like it")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", name="No pages")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="All pages").last.click()
    expect(rows).to_have_count(3)
