"""The question box in a real browser."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Route, expect
from tests.e2e.web_app.conftest import Tab
from tests.e2e.web_app.scene import Scene
from tests.site import Response

pytestmark = pytest.mark.slow


def test_a_question_is_answered_by_quotes_that_lead_into_their_page(tab: Tab) -> None:
    page = tab.open("/")
    page.get_by_label("Your question").fill("What does the grey heron eat?")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="This quote probably answers it")).to_be_focused()
    card = page.locator(".quote-card").first
    expect(card.locator("mark").first).to_contain_text("The grey heron eats fish")
    expect(card.locator("mark.answer")).to_have_text(
        "The grey heron eats fish, frogs and small mammals."
    )
    expect(card.locator("mark b").first).to_have_text("grey")
    assert page.url.endswith("/?q=What+does+the+grey+heron+eat%3F")
    tab.check_looks()

    card.get_by_role("link", name="The heron handbook").click()
    expect(page.locator("mark").first).to_be_in_viewport()
    tab.check_looks()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator(".bar-title")).to_be_in_viewport()
    expect(page.locator(".bar-title")).to_have_css("visibility", "visible")
    page.get_by_role("link", name="Back to the answers").click()
    expect(page.locator(".quote-card").first).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="The heron handbook")).to_be_visible()


def test_an_address_with_a_question_shows_its_frame_and_searches_from_there(tab: Tab) -> None:
    page = tab.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/ask", hold)
    page.goto(f"{tab.scene.url}/?q=What+does+the+grey+heron+eat%3F")

    expect(page.get_by_label("Your question")).to_have_value("What does the grey heron eat?")
    expect(page.locator("[data-step]")).to_have_text("Asking…")
    tab.check_looks()

    held[0].continue_()
    expect(page.locator(".quote-card").first).to_be_visible()
    expect(page.locator("#progress")).to_be_hidden()


def test_an_answer_is_copied_in_every_form(tab: Tab) -> None:
    page = tab.open("/?q=What+does+the+grey+heron+eat%3F")
    copied = {}
    for name in ("Brief for a model", "Markdown", "BibTeX", "CSL-JSON"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator("#message")).to_have_text("Copied.")
        copied[name] = page.evaluate("navigator.clipboard.readText()")

    assert "[SOURCES]" in copied["Brief for a model"]
    assert copied["Markdown"].startswith("> ")
    assert copied["BibTeX"].startswith("@misc{")
    assert json.loads(copied["CSL-JSON"])[0]["type"] == "webpage"


def test_pages_are_fetched_live_with_progress_and_shown_as_a_tree(tab: Tab) -> None:
    site = tab.scene.site
    site.pages["/storks"] = (
        '<title>Storks</title><main><h1>Storks</h1><p>About storks. Read <a href="/storks/nests">how '
        "storks build nests</a> on chimneys.</p></main>"
    )
    site.pages["/storks/nests"] = Response(
        body=b"<title>Nests</title><main><h1>Nests</h1><p>Storks build nests of twigs. A nest of a "
        b"stork weighs up to a ton.</p></main>",
        headers={"Content-Type": "text/html"},
        wait_seconds=1,
    )
    page = tab.open("/")
    page.get_by_text("Ask particular pages").click()
    page.get_by_label("URLs, one per line").fill(site.url("/storks"))
    page.get_by_label("Your question").fill("How much does the nest of a stork weigh?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("[data-steps] li").first).to_be_visible()

    expect(page.locator(".quote-card mark").first).to_be_visible()
    page.locator(".followed summary").first.click()
    tree = page.locator(".followed").first
    expect(tree.locator("li li")).to_contain_text("/storks/nests")
    tab.check_looks()


def test_what_no_page_answers_is_said_with_what_was_checked(tab: Tab) -> None:
    page = tab.open("/")
    page.get_by_text("Ask particular pages").click()
    page.get_by_label("URLs, one per line").fill(tab.scene.site.url("/owls"))
    page.get_by_label("Your question").fill("Which licence does the kernel module need?")
    page.get_by_role("button", name="Ask", exact=True).click()

    expect(page.locator("#found-heading")).to_contain_text("Nothing")
    expect(page.locator("#found")).to_contain_text("The nearest pages")
    tab.check_looks()


def test_a_question_can_be_stopped_and_a_failure_says_why(tab: Tab) -> None:
    site = tab.scene.site
    site.pages["/slow"] = Response(body=b"late", wait_seconds=5)
    page = tab.open("/")
    page.get_by_text("Ask particular pages").click()
    page.get_by_label("URLs, one per line").fill(site.url("/slow"))
    page.get_by_label("Your question").fill("Will it come?")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("[data-step]")).to_have_text("Stopped.")
    # What was read stays in sight, and the question can be changed at once.
    expect(page.locator("[data-steps] li").first).to_be_visible()
    expect(page.get_by_label("Your question")).to_be_focused()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()

    page.get_by_label("URLs, one per line").fill("ftp://nowhere.example/")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#urls-problem")).to_contain_text("is not an http or https URL.")
    expect(page.get_by_label("URLs, one per line")).to_be_focused()
    expect(page.locator("#message")).to_be_hidden()
    tab.check_looks()


def test_a_search_works_without_scripts(browser: Browser, scene: Scene) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(scene.url)
    page.get_by_label("Your question").fill("What does the grey heron eat?")
    page.get_by_role("button", name="Ask", exact=True).click()

    expect(page.locator(".quote-card mark").first).to_be_visible()
    context.close()
