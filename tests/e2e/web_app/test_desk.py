"""The desk in a real browser."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect
from tests.e2e.web_app.conftest import Tab
from tests.site import wait_until

pytestmark = pytest.mark.slow


def test_a_question_is_markdown_with_safe_links_a_countdown_and_can_be_declined(tab: Tab) -> None:
    page = tab.open("/mcp/tools/ask_user")
    expect(page.locator("#message")).to_be_hidden()
    question = (
        "Deploy **now**?\n\n- [the plan](https://plan.example/)\n- [bad](javascript:alert(1))"
    )
    with ThreadPoolExecutor(1) as agent:
        waiting = agent.submit(tab.scene.call, "ask_user", question=question)
        card = page.locator("[data-list=pending] > li")
        expect(card.locator("strong")).to_have_text("now")
        expect(card.get_by_role("link", name="the plan")).to_have_attribute(
            "href", "https://plan.example/"
        )
        expect(card.get_by_role("link")).to_have_count(1)
        expect(card.locator("[data-countdown]")).to_contain_text("left")
        tab.check_looks()

        page.set_viewport_size({"width": 390, "height": 800})
        expect(card.get_by_text("Ctrl+Enter sends")).to_be_hidden()
        box = card.get_by_role("button", name="Send the answer").bounding_box()
        assert box is not None
        assert box["height"] >= 44
        card.get_by_role("button", name="I will not answer").click()
        declined = waiting.result(60)
        assert "will not answer" in declined["answer"]
        assert declined["declined"] is True

    expect(page.locator("[data-list=history] > li")).to_have_count(1)
    expect(page.locator("[data-list=history] .state").first).to_have_text("declined")
    page.get_by_label("Search the history").fill("nothing like it")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="No question matches")).to_be_visible()
    page.get_by_label("Search the history").fill("deploy")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("[data-list=history] > li")).to_have_count(1)
    tab.check_looks()


def test_new_questions_are_notified_on_request(tab: Tab) -> None:
    tab.page.context.grant_permissions(["notifications"])
    tab.page.add_init_script(
        "window.shown = []; window.Notification = class { static permission = 'granted'; "
        "static requestPermission() { return Promise.resolve('granted'); } "
        "constructor(title, options) { window.shown.push([title, options.body]); } };"
    )
    page = tab.open("/mcp/tools/ask_user")
    page.get_by_role("button", name="Notify me of new questions").click()
    expect(page.get_by_role("button", name="Notify me of new questions")).to_have_attribute(
        "aria-pressed", "true"
    )
    with ThreadPoolExecutor(1) as agent:
        waiting = agent.submit(tab.scene.call, "ask_user", question="Are you there?")
        wait_until(lambda: bool(page.evaluate("window.shown.length")))
        assert page.evaluate("window.shown[0]") == ["A question is waiting", "Are you there?"]
        page.get_by_role("button", name="I will not answer").click()
        waiting.result(60)
