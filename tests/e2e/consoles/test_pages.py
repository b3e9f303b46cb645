"""What all pages of the app share, in a real browser."""

from __future__ import annotations

import threading

import pytest
from playwright.sync_api import expect
from tests.e2e.consoles.conftest import DIRECTIVES, HOSTILE, NARROW, QUESTIONS, Tab, picture
from tests.e2e.looks import fits
from tests.site import Request, Response, running_site

pytestmark = pytest.mark.slow


def test_an_address_where_nothing_is_shows_the_way_back(tab: Tab) -> None:
    page = tab.open("/nowhere")
    expect(page.locator("main")).to_contain_text("There is no such page")
    picture(page, "nowhere")

    page.get_by_role("link", name="Go to the library").click()
    expect(page.get_by_role("heading", name="This page needs your key")).to_be_visible()
    tab.problems.clear()


def test_a_question_with_a_key_leads_to_the_quote_in_its_page(tab: Tab) -> None:
    page = tab.open("/", key=tab.served.ann)
    page.get_by_label("Your question").fill("What does the grey heron eat?")
    page.get_by_label("Your question").press("Enter")
    expect(page.locator("mark").first).to_contain_text("heron")

    page.locator("ol.cards a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{HOSTILE} – Herons")
    expect(page.locator("mark").first).to_be_in_viewport()
    page.locator("summary", has_text="Links").click()
    page.locator(".about-page a:visible", has_text="Owls").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Owls")
    expect(page).to_have_title("Owls · Citewell")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{HOSTILE} – Herons")
    expect(page).to_have_title(f"{HOSTILE} – Herons · Citewell")


def test_a_page_that_cannot_be_had_says_why_and_where_to_go(tab: Tab) -> None:
    page = tab.open("/read/999", key=tab.served.ann)
    expect(page.get_by_role("heading", name="This page is not in the library")).to_be_visible()

    page.get_by_label("Search the library").fill("What does the grey heron eat?")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("heading", name="Ask the library")).to_be_visible()
    tab.problems.clear()


def test_nothing_sticks_out_on_a_narrow_screen(tab: Tab) -> None:
    page = tab.page
    page.set_viewport_size(NARROW)
    page.emulate_media(color_scheme="dark")
    waiting = tab.served.start(
        "ask_user", {"question": "Long? " + "x" * 200}, key=f"a:{'b' * 60}@{tab.served.ben}"
    )
    tab.open(QUESTIONS, key=tab.served.ben)
    card = page.locator("[data-list=pending] > li")
    expect(card).to_have_count(1)
    assert fits(page)
    picture(page, "questions-narrow")
    card.get_by_label("Your answer").fill("ok")
    card.get_by_role("button", name="Send the answer").click()
    waiting.result(60)
    consoles = ("/mcp/console/usage", "/mcp/console/calls", "/mcp/debug?endpoint=/mcp")
    for path in ("/", "/library", DIRECTIVES, *consoles):
        tab.open(path)
        expect(page.locator("main h1")).to_be_visible()
        if "debug" in path:
            expect(page.locator("#fields label").first).to_be_visible()
        assert fits(page), path
        picture(page, f"{path.partition('?')[0].rpartition('/')[2] or 'ask'}-narrow")


def test_a_page_that_is_brought_is_read_from_its_beginning(tab: Tab) -> None:
    page = tab.open("/library/pages", key=tab.served.ann)
    page.set_viewport_size({"width": 600, "height": 240})
    expect(page.locator(".site-row")).to_have_count(2)
    page.get_by_role("link", name="Owls").focus()
    assert page.evaluate("scrollY") > 0

    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Owls")
    expect(page.locator("main")).to_be_focused()
    assert page.evaluate("scrollY") == 0


def test_the_keyboard_reaches_everything(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ben)
    page.get_by_label("New directive").fill("Reach me")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("[data-list=pending] > li")).not_to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", name="Directives")).to_be_visible()
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim().slice(0, 20)"))

    assert reached[0] == "Skip to the content"
    assert {"Ask", "Questions", "Add", "Delete waiting and d"} <= set(reached)


def test_work_that_is_watched_with_a_key_leaves_the_page_around_it(tab: Tab) -> None:
    is_open = threading.Event()

    def wait_to_answer(request: Request) -> Response:
        is_open.wait(60)
        body = b"<title>Terns</title><main><h1>Terns</h1><p>They dive.</p></main>"
        return Response(body=body, headers={"Content-Type": "text/html"})

    with running_site({"/terns": wait_to_answer}) as site:
        page = tab.open("/library", key=tab.served.ann)
        page.get_by_text("Add a page or a site").click()
        page.get_by_label("URL").first.fill(site.url("/terns"))
        page.get_by_role("button", name="Add", exact=True).click()
        with page.expect_response("**/library/work?of=*"):
            expect(page.locator("#work")).to_contain_text("Reading")

        expect(page.locator("main#content h1")).to_have_text(site.url("/terns"))
        is_open.set()
        expect(page.locator("main#content h1")).to_have_text("Terns")
        expect(page.locator("#work")).to_be_empty()


def test_work_that_is_cancelled_leaves_one_page(tab: Tab) -> None:
    page = tab.open("/library", key=tab.served.root)
    page.get_by_text("Add a page or a site").click()
    page.get_by_label("URL").first.fill("http://127.0.0.1:9/nothing")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Cancel").click()

    expect(page.get_by_role("button", name="Continue reading")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.locator("#work")).to_have_count(1)
