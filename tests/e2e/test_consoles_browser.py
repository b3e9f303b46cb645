"""The consoles in a real browser, against a real server that real MCP clients call."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.sync_api import (
    APIResponse,
    Browser,
    Page,
    Route,
    ViewportSize,
    expect,
    sync_playwright,
)
from tests.e2e.processes import http_server
from tests.site import running_site, wait_until

from citewell.access.keys import KeyTerms, create_key, revoke_key
from citewell.core.ids import content_hash
from citewell.people.desk import Desk, Party
from citewell.store.open import open_store

pytestmark = pytest.mark.slow

Result = TypeVar("Result")

THREADS = ThreadPoolExecutor(max_workers=8)

QUESTIONS = "/mcp/tools/ask_user"
DIRECTIVES = "/mcp/tools/get_user_requests"
NARROW: ViewportSize = {"width": 360, "height": 740}
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
SITE = {
    "/herons": f"<title>Herons</title><main><h1>{HOSTILE.replace('<', '&lt;')}</h1><p>The grey "
    'heron eats fish and stands still for hours. See <a href="/owls">owls</a>.</p></main>',
    "/owls": "<title>Owls</title><main><h1>Owls</h1><p>The tawny owl eats mice at night. "
    'Unlike <a href="/herons">herons</a>.</p></main>',
}


@dataclass(frozen=True, kw_only=True)
class Served:
    """A running server and the keys of two people."""

    url: str
    hasty_url: str
    """Another server on the same database, where agents do not wait long for an answer."""
    ann: str
    ben: str
    guest: str
    """A key that one test revokes."""
    database: str

    def call(self, tool: str, arguments: dict[str, object], *, key: str) -> dict[str, Any]:
        """Return the structured result of a call by a real client."""
        return self.start(tool, arguments, key=key).result(30)

    def start(self, tool: str, arguments: dict[str, object], *, key: str) -> Future[dict[str, Any]]:
        """Call in the background, as an agent that waits does."""
        return run_apart(self._call, tool, arguments, key)

    async def revoke(self, name: str) -> None:
        """Revoke a key, as `citewell keys` does."""
        store = await open_store(self.database)
        await revoke_key(store.access, name)
        await store.aclose()

    async def _call(self, tool: str, arguments: dict[str, object], key: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http)) as client,
        ):
            result = await client.call_tool(tool, arguments)
        return dict(result.structured_content or {})


def run_apart(work: Callable[..., Awaitable[Result]], *arguments: object) -> Future[Result]:
    """Run `work` in a thread of its own: the browser has an event loop in this one."""
    return THREADS.submit(anyio.run, work, *arguments)


@dataclass(kw_only=True)
class Tab:
    """A tab of the browser, and what it complained of."""

    page: Page
    served: Served
    problems: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def open(self, path: str, *, key: str | None = None) -> Page:
        """Go to a page, with a key if there is none in the browser yet."""
        self.page.goto(f"{self.served.url}{path}")
        if key is not None:
            self.page.locator("main [name=key]").fill(key)
            self.page.locator("main").get_by_role("button", name="Use this key").click()
        return self.page


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("consoles")
    database = f"sqlite:///{folder}/pages.db"

    async def make_keys() -> list[str]:
        store = await open_store(database)
        names = ("ann", "ben", "guest")
        made = [await create_key(store.access, name, KeyTerms()) for name in names]
        await store.aclose()
        return [key.token for key in made]

    ann, ben, guest = run_apart(make_keys).result(30)
    with (
        running_site(SITE) as site,
        http_server(
            folder,
            CITEWELL_EMBEDDER="none",
            CITEWELL_MCP_TOOLSETS="default,people",
            CITEWELL_PEOPLE_ANSWER_TIMEOUT_SECONDS="60",
        ) as server,
        http_server(
            folder, CITEWELL_EMBEDDER="none", CITEWELL_PEOPLE_ANSWER_TIMEOUT_SECONDS="0.3"
        ) as hasty,
    ):
        running = Served(
            url=server.url,
            hasty_url=hasty.url,
            ann=ann,
            ben=ben,
            guest=guest,
            database=database,
        )
        urls = [site.url("/herons"), site.url("/owls")]
        assert "error" not in running.call("ingest", {"url": urls}, key=ann)
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def tab(browser: Browser, served: Served) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    context.set_default_timeout(8_000)
    opened = Tab(page=context.new_page(), served=served)
    opened.page.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.page.on(
        "console",
        lambda message: (
            opened.problems.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    opened.page.on(
        "request",
        lambda request: (
            None if request.url.startswith(served.url) else opened.outside.append(request.url)
        ),
    )
    yield opened
    context.close()
    # Before a key is known a page may be refused; the browser reports that as an error of ours.
    told = [problem for problem in opened.problems if "401 (Unauthorized)" not in problem]
    assert (told, opened.outside) == ([], [])


def fits(page: Page) -> bool:
    """Tell whether nothing sticks out to the side."""
    return bool(
        page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    )


def picture(page: Page, name: str) -> None:
    """Keep a picture of the page for someone to look at, where CITEWELL_PICTURES says."""
    if folder := os.environ.get("CITEWELL_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_an_answer_in_the_console_is_the_result_of_the_waiting_call(tab: Tab) -> None:
    page = tab.open(QUESTIONS, key=tab.served.ann)
    expect(page.get_by_role("heading", name="Questions")).to_be_visible()
    expect(page.locator("[data-list=pending] > li")).to_have_count(0)

    waiting = tab.served.start(
        "ask_user", {"question": f"Deploy? {HOSTILE}"}, key=f"ann:helper@{tab.served.ann}"
    )
    card = page.locator("[data-list=pending] > li")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("from helper")
    expect(page).to_have_title("(1) Questions · Citewell")
    card.get_by_label("Your answer").fill("Yes.\nAt 18:00 <b>UTC</b>.")
    card.get_by_label("Your answer").press("Control+Enter")

    result = waiting.result(10)
    assert result["answer"] == "Yes.\nAt 18:00 <b>UTC</b>."
    expect(card).to_have_count(0)
    history = page.locator("[data-list=history] > li").first
    expect(history).to_contain_text("answered")
    expect(history).to_contain_text("At 18:00 <b>UTC</b>.")
    expect(page).to_have_title("Questions · Citewell")


def test_a_half_written_answer_survives_the_next_question(tab: Tab) -> None:
    page = tab.open(QUESTIONS, key=tab.served.ann)
    cards = page.locator("[data-list=pending] > li")
    first = tab.served.start("ask_user", {"question": "First?"}, key=tab.served.ann)
    expect(cards).to_have_count(1)
    cards.get_by_label("Your answer").fill("half wri")
    second = tab.served.start("ask_user", {"question": "Second?"}, key=tab.served.ann)
    expect(cards).to_have_count(2)

    picture(page, "questions")
    expect(cards.first.get_by_label("Your answer")).to_have_value("half wri")
    expect(cards.first.get_by_label("Your answer")).to_be_focused()
    for card, answer in ((cards.last, "two"), (cards.first, "one")):
        card.get_by_label("Your answer").fill(answer)
        card.get_by_role("button", name="Send the answer").click()
        expect(card.filter(has_text=answer)).to_have_count(0)
    assert (first.result(10)["answer"], second.result(10)["answer"]) == ("one", "two")


def test_an_older_reading_of_the_list_does_not_hide_a_newer_question(tab: Tab) -> None:
    page = tab.open(QUESTIONS, key=tab.served.ann)
    cards = page.locator("[data-list=pending] > li")
    expect(page.get_by_role("heading", name="Questions")).to_be_visible()
    held: list[tuple[Route, APIResponse]] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))

    page.route(f"**{QUESTIONS}", hold_the_first)
    with page.expect_request(f"**{QUESTIONS}"):
        page.evaluate("document.dispatchEvent(new Event('desk-changed'))")
    waiting = tab.served.start("ask_user", {"question": "Newer?"}, key=tab.served.ann)
    listed = f"{tab.served.url}{QUESTIONS}/api/requests"
    headers = {"Authorization": f"Bearer {tab.served.ann}"}
    wait_until(lambda: bool(httpx2.get(listed, headers=headers).json()["pending"]))
    # Its handlers run only while the browser is asked for something.
    wait_until(lambda: bool(page.title() and held))
    route, old = held[0]
    with page.expect_response(f"**{QUESTIONS}"):
        route.fulfill(response=old)

    expect(cards).to_have_count(1)
    cards.get_by_label("Your answer").fill("ok")
    cards.get_by_role("button", name="Send the answer").click()
    assert waiting.result(10)["answer"] == "ok"


def test_a_late_answer_goes_with_the_next_call_and_is_shown_as_such(tab: Tab) -> None:
    served = tab.served
    hasty = replace(served, url=served.hasty_url)
    expired = hasty.call("ask_user", {"question": "Too slow?"}, key=served.ann)
    assert expired["error"]["message"] == "timeout waiting for user response"
    page = tab.open(QUESTIONS, key=served.ann)
    card = page.locator("[data-list=history] > li").filter(has_text="Too slow?")
    expect(card).to_contain_text("expired")

    card.get_by_text("Answer all the same").click()
    card.get_by_label("Your answer").fill("Better late")
    card.get_by_role("button", name="Send the late answer").click()
    expect(card).to_contain_text("goes with the agent’s next call")
    next_call = served.call("status", {}, key=served.ann)
    after = served.call("status", {}, key=served.ann)

    assert [late["answer"] for late in next_call["late_answers"]] == ["Better late"]
    assert "late_answers" not in after
    expect(card).to_contain_text("answered late, delivered")


def test_a_question_whose_asker_is_gone_is_shown_as_expired_when_its_time_is_over(tab: Tab) -> None:
    async def ask_and_die() -> None:
        store = await open_store(tab.served.database)
        desk = Desk(store.people, answer_timeout_seconds=3)
        await desk.ask("Is anyone there?", Party(owner=content_hash(tab.served.ben)))
        await store.aclose()

    page = tab.open(QUESTIONS, key=tab.served.ben)
    expect(page.get_by_role("heading", name="Questions")).to_be_visible()
    run_apart(ask_and_die).result(10)
    expect(page.locator("[data-list=pending]")).to_contain_text("Is anyone there?")

    expect(page.locator("[data-list=history]")).to_contain_text("Is anyone there?")
    expect(page.locator("[data-list=history] .state").first).to_have_text("expired")
    picture(page, "expired")


def test_an_address_where_nothing_is_shows_the_way_back(tab: Tab) -> None:
    page = tab.open("/nowhere")
    expect(page.locator("main")).to_contain_text("There is nothing at this address.")
    picture(page, "nowhere")

    page.get_by_role("link", name="Back to the start").click()
    expect(page.get_by_role("heading", name="This page needs your key")).to_be_visible()
    tab.problems.clear()


def test_directives_move_through_both_columns_and_are_deleted(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ann)
    pending, consumed = (
        page.locator(f"[data-list={name}] > li") for name in ("pending", "consumed")
    )
    for content, task in (("Tidy up", ""), ("Ship it", "release"), (HOSTILE, "")):
        page.get_by_label("New directive").fill(content)
        page.get_by_label("Task").fill(task)
        page.get_by_role("button", name="Queue it").click()
        expect(pending.filter(has_text=content)).to_have_count(1)
        expect(page.get_by_label("New directive")).to_have_value("")
    expect(pending.first).to_contain_text(HOSTILE)

    taken = tab.served.call("get_user_request", {"task_id": "release"}, key=tab.served.ann)
    assert taken["content"] == "Ship it"
    expect(consumed).to_have_count(1)
    expect(consumed).to_contain_text("task release")
    picture(page, "directives")
    expect(pending).to_have_count(2)

    pending.filter(has_text="Tidy up").get_by_role("button", name="Delete").click()
    expect(pending).to_have_count(1)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete all").click()
    expect(pending).to_have_count(0)
    expect(consumed).to_have_count(0)
    assert tab.served.call("get_user_request", {}, key=tab.served.ann) == {"status": "empty"}


def test_a_form_that_is_sent_twice_by_a_hasty_hand_counts_once(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ben)
    page.get_by_label("New directive").fill("Once")
    page.get_by_role("button", name="Queue it").dblclick()
    expect(page.locator("[data-list=pending] > li")).to_have_count(1)
    expect(page.get_by_label("New directive")).to_have_value("")

    assert tab.served.call("get_user_request", {}, key=tab.served.ben)["content"] == "Once"
    assert tab.served.call("get_user_request", {}, key=tab.served.ben) == {"status": "empty"}

    waiting = tab.served.start("ask_user", {"question": "Twice?"}, key=tab.served.ben)
    tab.open(QUESTIONS)
    card = page.locator("[data-list=pending] > li")
    card.get_by_label("Your answer").fill("No, once")
    card.get_by_role("button", name="Send the answer").dblclick()
    expect(card).to_have_count(0)
    assert waiting.result(10)["answer"] == "No, once"
    expect(page.locator("#message")).to_be_hidden()


def test_two_keys_see_only_their_own_and_a_key_can_be_cleared(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ann)
    page.get_by_label("New directive").fill("For Ann's agent")
    page.get_by_role("button", name="Queue it").click()
    expect(page.locator("[data-list=pending] > li")).to_have_count(1)

    page.get_by_text(re.compile("^Key")).click()
    page.get_by_role("button", name="Clear the key").click()
    expect(page.get_by_role("heading", name="This page needs your key")).to_be_visible()
    assert page.evaluate("localStorage.getItem('citewell.key')") is None
    page.locator("main [name=key]").fill("cw-wrong")
    page.locator("main").get_by_role("button", name="Use this key").click()
    expect(page.get_by_text("does not accept the key")).to_be_visible()
    page.locator("main [name=key]").fill(tab.served.ben)
    page.locator("main").get_by_role("button", name="Use this key").click()

    expect(page.get_by_role("heading", name="Directives")).to_be_visible()
    expect(page.get_by_text("For Ann's agent")).to_have_count(0)
    assert tab.served.call("get_user_request", {}, key=tab.served.ben) == {"status": "empty"}
    assert tab.served.ann not in page.url + page.content()
    tab.served.call("get_user_request", {}, key=tab.served.ann)


def test_the_inspector_lists_tools_and_calls_one(tab: Tab) -> None:
    page = tab.open(f"/mcp/debug?token=Bearer%20{tab.served.ann}")
    expect(page.locator("#server")).to_contain_text("citewell")
    assert "token" not in page.url

    page.locator("#tools").get_by_role("button", name="search", exact=True).click()
    page.get_by_label("query").fill("What does the grey heron eat?")
    page.get_by_label("top_k").fill("2")
    page.get_by_role("button", name="Call", exact=True).click()

    expect(page.locator("#timing")).to_contain_text("Done after")
    expect(page.locator("#content-text")).to_contain_text("The grey heron eats fish")
    expect(page.locator("#structured")).to_contain_text('"evidence"')
    picture(page, "inspector")


def test_the_inspector_shows_progress_and_cancels(tab: Tab) -> None:
    page = tab.open(f"/mcp/debug?token={tab.served.ben}")
    page.locator("#tools").get_by_role("button", name="ask_user").click()
    page.get_by_label("question").fill("Anyone?")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#progress")).to_contain_text("Waiting for the user to answer")

    page.get_by_role("button", name="Cancel").click()

    expect(page.locator("#timing")).to_contain_text("Cancelled after")


def test_the_inspector_sends_the_kept_key_to_no_other_server(tab: Tab) -> None:
    with running_site({}) as elsewhere:
        page = tab.open(QUESTIONS, key=tab.served.ann)
        expect(page.get_by_role("heading", name="Questions")).to_be_visible()
        tab.open(f"/mcp/debug?endpoint={elsewhere.url('/mcp')}")
        expect(page.get_by_label("Endpoint")).to_have_value(elsewhere.url("/mcp"))
        assert elsewhere.requests == []

        page.get_by_label("Endpoint").fill("http://127.0.0.1:9/mcp")
        page.get_by_role("button", name="Connect").click()
        page.wait_for_url(re.compile(r"endpoint=http%3A%2F%2F127\.0\.0\.1%3A9%2Fmcp"))
        expect(page.get_by_label("Endpoint")).to_have_value("http://127.0.0.1:9/mcp")


def test_a_question_with_a_key_leads_to_the_quote_in_its_page(tab: Tab) -> None:
    page = tab.open("/", key=tab.served.ann)
    page.get_by_role("searchbox").fill("What does the grey heron eat?")
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator("mark").first).to_contain_text("heron")

    page.locator("ol.cards a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    expect(page.locator("mark").first).to_be_in_viewport()
    page.locator("summary", has_text="Links").click()
    page.locator(".about-page a", has_text="Owls").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Owls")
    expect(page).to_have_title("Owls · Citewell")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    expect(page).to_have_title(f"{HOSTILE} · Citewell")


def test_a_page_that_cannot_be_had_says_why_and_where_to_go(tab: Tab) -> None:
    page = tab.open("/read/999", key=tab.served.ann)
    expect(page.get_by_role("heading", name="That did not work")).to_be_visible()
    expect(page.locator("main")).to_contain_text("There is no such page.")

    page.get_by_role("link", name="Back to the start").click()
    expect(page.get_by_role("heading", name="What do the pages say?")).to_be_visible()
    tab.problems.clear()


def test_a_key_that_is_revoked_while_a_page_is_open_is_asked_for_again(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.guest)
    expect(page.get_by_role("heading", name="Directives")).to_be_visible()
    headers = {"Authorization": f"Bearer {tab.served.guest}"}

    run_apart(tab.served.revoke, "guest").result(10)
    wait_until(lambda: httpx2.get(f"{tab.served.url}/mcp", headers=headers).status_code == 401)
    # As the page does when it hears of a change.
    page.evaluate("document.dispatchEvent(new Event('desk-changed'))")

    expect(page.get_by_text("does not accept the key")).to_be_visible()
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
    waiting.result(10)
    for path in ("/", "/library", DIRECTIVES, "/mcp/console/usage", "/mcp/debug"):
        tab.open(path)
        expect(page.locator("main h1")).to_be_visible()
        if path == "/mcp/debug":
            expect(page.locator("#fields label").first).to_be_visible()
        assert fits(page), path
        picture(page, f"{path.rpartition('/')[2] or 'explorer'}-narrow")


def test_usage_is_shown_by_tool_and_downloaded(tab: Tab) -> None:
    tab.served.call("status", {}, key=tab.served.ben)
    page = tab.open("/mcp/console/usage", key=tab.served.ben)
    row = page.locator("tbody tr").filter(has_text="status")
    expect(row.first).to_contain_text("ben")
    expect(page.get_by_text("ann")).to_have_count(0)
    picture(page, "usage")

    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()

    text = download.value.path().read_text(encoding="utf-8")
    assert text.startswith("month,owner,")
    assert "status" in text


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


def test_the_form_for_the_key_is_ready_and_its_menu_closes(tab: Tab) -> None:
    page = tab.open(DIRECTIVES)
    expect(page.locator("main [name=key]")).to_be_focused()

    menu = page.locator(".key-menu")
    page.get_by_text("Key", exact=True).click()
    expect(menu).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(menu.locator("summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(menu).to_have_attribute("open", "")
    page.get_by_role("heading", level=1).click()
    expect(menu).not_to_have_attribute("open", "")


def test_the_keyboard_reaches_everything(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ben)
    expect(page.get_by_role("heading", name="Directives")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Directives")).to_be_visible()
    reached = []
    for _ in range(18):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim().slice(0, 20)"))

    assert reached[0] == "Skip to the content"
    assert {"Ask", "Questions", "Queue it", "Delete all"} <= set(reached)
