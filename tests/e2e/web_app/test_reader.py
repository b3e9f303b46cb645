"""The reader in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.web_app.conftest import Tab
from tests.e2e.web_app.scene import HOSTILE, Scene

pytestmark = pytest.mark.slow


def quote_of(scene: Scene, question: str) -> tuple[int, str]:
    """Return the page and the id of the best quote."""
    found: dict[str, Any] = scene.call("search", query=question)
    evidence = found["evidence"][0]
    source = next(s for s in found["sources"] if s["number"] == evidence["source"])
    return source["source_id"], evidence["id"]


def test_a_permalink_scrolls_to_its_quote_and_marks_it(tab: Tab) -> None:
    source_id, quote_id = quote_of(tab.scene, "What is the default limit of a survey?")
    tab.page.set_viewport_size({"width": 900, "height": 300})
    page = tab.open(f"/read/{source_id}#{quote_id}")

    mark = page.locator(f"[id='{quote_id}']")
    expect(mark).to_be_in_viewport()
    expect(page.locator("mark").first).to_contain_text("default limit of a survey is 6 hours")
    page.get_by_role("button", name="Copy the link").click()
    expect(page.locator("#message")).to_have_text("Copied.")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator("#message")).to_be_in_viewport()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    tab.check_looks()


def test_a_page_is_a_document_with_its_outline_and_code(tab: Tab) -> None:
    source_id, _ = quote_of(tab.scene, "What is the default limit of a survey?")
    page = tab.open(f"/read/{source_id}")

    expect(page.get_by_role("heading", level=1)).to_have_text("The heron handbook")
    expect(page.locator(".document h2")).to_have_text(["Food", "Setting up a survey", "Density"])
    expect(page.locator(".document .code .k").first).to_have_text("for")
    expect(page.locator(".document th").first).to_have_text("Option")
    expect(page.locator(".document math")).to_have_count(1)
    expect(page.locator(".document img")).to_have_count(0)
    page.get_by_label("On this page").get_by_role("link", name="Density").click()
    expect(page.locator(".document h2", has_text="Density")).to_be_in_viewport()

    page.locator(".document").get_by_role("link", name="the owls").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Owls")


def test_a_hostile_page_is_shown_as_its_text(tab: Tab) -> None:
    source_id, quote_id = quote_of(tab.scene, "When does the bittern boom?")
    page = tab.open(f"/read/{source_id}#{quote_id}")

    expect(page.locator("mark").first).to_be_visible()
    expect(page.locator("main")).to_contain_text(HOSTILE)
    expect(page.locator("main")).to_contain_text("<script>alert(1)</script>")
    assert page.locator("main img, main script, main a[href^='javascript']").count() == 0


def test_a_quote_of_an_older_version_is_said_to_be_so(tab: Tab) -> None:
    source_id, quote_id = quote_of(tab.scene, "What does the grey heron eat?")
    number, _, start, end = quote_id.split("-")
    page = tab.open(f"/read/{source_id}#{number}-00000000-{start}-{end}")

    expect(page.get_by_text("has changed since the quote was taken")).to_be_visible()
    tab.check_looks()


def test_a_page_is_read_without_scripts(browser: Browser, scene: Scene) -> None:
    source_id, quote_id = quote_of(scene, "What is the default limit of a survey?")
    context = browser.new_context(java_script_enabled=False, viewport={"width": 900, "height": 300})
    page = context.new_page()
    page.goto(f"{scene.url}/read/{source_id}?quote={quote_id}#{quote_id}")

    expect(page.locator("mark").first).to_be_in_viewport()
    context.close()


def test_a_page_lists_the_answers_that_cited_it(tab: Tab) -> None:
    question = "How many people count at the same time?"
    source_id, _ = quote_of(tab.scene, question)
    page = tab.open(f"/read/{source_id}")

    page.get_by_text("Answers that cited it").click()
    cited = page.locator(".about-page li").filter(has_text=question)
    expect(cited.first).to_be_visible()
    cited.first.get_by_role("link").click()

    expect(page.locator(".document mark, .document .marked-code").first).to_be_visible()


def read_long_page(tab: Tab) -> int:
    """Let the server read a page that is shown in parts, and return its id."""
    sections = "".join(
        f"<h2 id='s{number}'>Section {number}</h2><p>{f'Marsh {number} has herons. ' * 90}</p>"
        for number in range(16)
    )
    tab.scene.site.pages["/long"] = (
        "<title>Long</title><main><h1>Long</h1><p>See <a href='/owls'><code>find_all_owls</code></a>"
        f" first.</p>{sections}</main>"
    )
    ingested = tab.scene.call("ingest", url=[tab.scene.site.url("/long")])
    return int(ingested["pages"][0]["source_id"])


def test_a_long_page_says_at_its_top_that_it_has_parts(tab: Tab) -> None:
    page = tab.open(f"/read/{read_long_page(tab)}")

    parts = page.get_by_role("navigation", name="Parts of this page")
    expect(parts).to_be_in_viewport()
    expect(parts).to_contain_text("shown in 2 parts")
    tab.check_looks()
    parts.get_by_role("link", name="Part 2 of 2").click()
    expect(parts.locator("[aria-current=page]")).to_have_text("2")
    expect(page.locator(".document h2").last).to_have_text("Section 15")


def test_the_outline_follows_the_reader_and_is_closed_on_a_phone(tab: Tab) -> None:
    source_id = read_long_page(tab)
    page = tab.open(f"/read/{source_id}")
    current = page.locator(".outline [aria-current=location]")
    expect(current).to_have_text("Section 0")

    page.locator(".document h2", has_text="Section 3").evaluate(
        "heading => heading.scrollIntoView()"
    )
    expect(current).to_have_text("Section 3")
    expect(current).to_be_in_viewport()

    page.set_viewport_size({"width": 320, "height": 640})
    tab.open(f"/read/{source_id}")
    expect(page.locator(".outline summary")).to_be_visible()
    expect(page.locator(".outline ol")).to_be_hidden()
    page.locator(".outline summary").click()
    expect(page.locator(".outline ol")).to_be_visible()


def test_the_line_below_linked_code_is_below_its_underscores(tab: Tab) -> None:
    page = tab.open(f"/read/{read_long_page(tab)}")
    link = page.locator(".document a", has_text="find_all_owls")

    offset, size = link.evaluate(
        "link => [getComputedStyle(link).textUnderlineOffset, getComputedStyle(link).fontSize]"
    )
    assert float(offset[:-2]) >= 0.3 * float(size[:-2])
