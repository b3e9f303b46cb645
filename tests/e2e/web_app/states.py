"""States of the web app that need more than an address: filled desks, failures, open menus."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from playwright.sync_api import Page, expect
from tests.e2e.browser import PATIENCE_MILLISECONDS
from tests.e2e.web_app.scene import HANDBOOK, Scene

EMPTY = {
    "empty-ask": "/",
    "empty-library": "/library",
    "empty-pages": "/library/pages",
    "empty-questions": "/mcp/tools/ask_user",
    "empty-directives": "/mcp/tools/get_user_requests",
    "empty-citations": "/citations",
    "empty-usage": "/mcp/console/usage",
    "empty-calls": "/mcp/console/calls",
}
"""Pages of a server that has read nothing and was asked nothing."""

Act = Callable[[Page, Scene], None]


def fill_desk(page: Page, scene: Scene, agents: ThreadPoolExecutor) -> list[Future[dict[str, Any]]]:
    """Leave questions that wait, one that was answered, and directives; return the open calls."""
    page.goto(f"{scene.url}/mcp/tools/ask_user")
    answered = agents.submit(scene.call, "ask_user", question="Which marsh is counted first?")
    card = page.locator("[data-list=pending] > li")
    card.get_by_label("Your answer").fill("The fen, then the reed bed.")
    card.get_by_role("button", name="Send the answer").click()
    answered.result(60)
    page.goto(f"{scene.url}/mcp/tools/get_user_requests")
    for content in ("Count the herons again", "Write the report", "Tidy up the tags"):
        page.get_by_label("New directive").fill(content)
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator("[data-list=pending] > li").filter(has_text=content)).to_have_count(1)
    scene.call("get_user_request")
    question = (
        "Deploy the **new survey** tonight?\n\n- 4 marshes\n- [the plan](https://plan.example/)"
    )
    replies = ["Yes, tonight", "Wait until Monday"]
    waiting = agents.submit(scene.call, "ask_user", question=question, replies=replies)
    page.goto(f"{scene.url}/mcp/tools/ask_user")
    expect(card.get_by_role("button", name="Yes, tonight")).to_be_visible()
    return [waiting]


def change_the_handbook(page: Page, scene: Scene) -> None:
    """Change a page of the site and refresh it."""
    page.goto(f"{scene.url}/library")
    page.get_by_role("link", name="The heron handbook").click()
    scene.site.pages["/handbook"] = HANDBOOK.replace("less than a tenth", "about a fifth")
    page.get_by_role("button", name="Refresh now").click()
    expect(page.get_by_role("heading", name="Last check")).to_be_visible(timeout=120_000)


def ask_what_is_not_there(page: Page, scene: Scene) -> None:
    """Ask a question that no page answers."""
    page.goto(f"{scene.url}/?q=Which+port+does+PostgreSQL+listen+on%3F")


def name_pages(page: Page, scene: Scene) -> None:
    """Open the box for particular pages."""
    page.goto(scene.url)
    page.get_by_text("Ask particular pages").click()


def preview_a_site(page: Page, scene: Scene) -> None:
    """Show what a crawl would read."""
    page.goto(f"{scene.url}/library")
    page.get_by_text("Add a page or a site").click()
    page.get_by_label("URL").first.fill(scene.site.url("/"))
    page.get_by_label("The whole site").check()
    page.get_by_text("Scope, tags and schedule").click()
    page.get_by_role("button", name="Preview the crawl").click()
    expect(page.locator(".preview-facts")).to_be_visible()


def add_what_is_missing(page: Page, scene: Scene) -> None:
    """Add a page that the site does not have."""
    page.goto(f"{scene.url}/library")
    if page.locator(".card.failed").count() == 0:
        page.get_by_text("Add a page or a site").click()
        page.get_by_label("URL").first.fill(scene.site.url("/missing"))
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator(".card.failed")).to_be_visible(timeout=60_000)
    page.goto(f"{scene.url}/library")


def open_deletion(page: Page, scene: Scene) -> None:
    """Open the menu that deletes a website."""
    page.goto(f"{scene.url}/library")
    page.get_by_role("link", name="Owls").click()
    page.get_by_text("Delete…").click()


def call_from_inspector(page: Page, scene: Scene) -> None:
    """Call a tool from the inspector."""
    page.goto(f"{scene.url}/mcp/debug?endpoint=/mcp")
    page.locator("#list").get_by_role("button", name="search", exact=True).click()
    page.get_by_label("query").fill("What does the grey heron eat?")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#timing")).to_contain_text("Done after")


def tab_to_a_button(page: Page, scene: Scene) -> None:
    """Move the focus with the keyboard alone."""
    page.goto(f"{scene.url}/library")
    for _ in range(9):
        page.keyboard.press("Tab")


ACTS: dict[str, Act] = {
    "nothing-found": ask_what_is_not_there,
    "particular-pages": name_pages,
    "preview": preview_a_site,
    "failed": add_what_is_missing,
    "deleting": open_deletion,
    "called": call_from_inspector,
    "focus": tab_to_a_button,
}
"""How each state is reached, in a tab of a server that has read pages."""


def make_key(page: Page, scene: Scene) -> None:
    """Create the first key: from then on, the server is locked."""
    page.set_default_timeout(PATIENCE_MILLISECONDS)
    page.goto(f"{scene.url}/mcp/console/keys")
    page.get_by_label("Name").first.fill("team")
    page.get_by_label("Scope").select_option("admin")
    page.get_by_role("button", name="Create the key").click()
    expect(page.get_by_role("button", name="Copy the key")).to_be_visible()
