"""Questions of agents, answered in a real browser."""

from __future__ import annotations

from dataclasses import replace

import httpx2
import pytest
from playwright.sync_api import APIResponse, Route, expect
from tests.e2e.consoles.conftest import HOSTILE, QUESTIONS, Tab, picture, run_apart
from tests.e2e.looks import faults_of
from tests.site import wait_until

from citewell.core.ids import content_hash
from citewell.people.desk import Desk, Party
from citewell.store.open import open_store

pytestmark = pytest.mark.slow


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

    result = waiting.result(60)
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
    assert (first.result(60)["answer"], second.result(10)["answer"]) == ("one", "two")


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
    wait_until(lambda: bool(httpx2.get(listed, headers=headers, timeout=60).json()["pending"]))
    # Its handlers run only while the browser is asked for something.
    wait_until(lambda: bool(page.title() and held))
    route, old = held[0]
    with page.expect_response(f"**{QUESTIONS}"):
        route.fulfill(response=old)

    expect(cards).to_have_count(1)
    cards.get_by_label("Your answer").fill("ok")
    cards.get_by_role("button", name="Send the answer").click()
    assert waiting.result(60)["answer"] == "ok"


def test_a_late_answer_goes_with_the_next_call_and_is_shown_as_such(tab: Tab) -> None:
    served = tab.served
    hasty = replace(served, url=served.hasty_url)
    expired = hasty.call("ask_user", {"question": "Too slow?"}, key=served.ann)
    assert expired["error"]["message"] == "timeout waiting for user response"
    page = tab.open(QUESTIONS, key=served.ann)
    card = page.locator("[data-list=history] > li").filter(has_text="Too slow?")
    expect(card).to_contain_text("expired")

    card.get_by_text("Answer anyway").click()
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
    run_apart(ask_and_die).result(60)
    expect(page.locator("[data-list=pending]")).to_contain_text("Is anyone there?")

    expect(page.locator("[data-list=history]")).to_contain_text("Is anyone there?")
    expect(page.locator("[data-list=history] .state").first).to_have_text("expired")
    picture(page, "expired")


def test_an_offered_reply_is_one_click(tab: Tab) -> None:
    question: dict[str, object] = {"question": "Which release?", "replies": ["2.1", "3.0"]}
    waiting = tab.served.start("ask_user", question, key=tab.served.ben)
    page = tab.open(QUESTIONS, key=tab.served.ben)
    offered = page.get_by_role("group", name="Offered answers")
    expect(offered.get_by_role("button")).to_have_text(["2.1", "3.0"])
    assert faults_of(page) == []

    offered.get_by_role("button", name="3.0").click()

    assert waiting.result(30)["answer"] == "3.0"
    expect(page.locator("[data-list=history] .answer").first).to_have_text("3.0")
