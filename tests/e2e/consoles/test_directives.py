"""Directives, left and changed in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.e2e.consoles.conftest import DIRECTIVES, HOSTILE, QUESTIONS, Tab, picture
from tests.e2e.looks import faults_of

pytestmark = pytest.mark.slow


def test_directives_move_through_both_columns_and_are_deleted(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ann)
    pending, consumed = (
        page.locator(f"[data-list={name}] > li") for name in ("pending", "consumed")
    )
    for content, task in (("Tidy up", ""), ("Ship it", "release"), (HOSTILE, "")):
        page.get_by_label("New directive").fill(content)
        page.locator("#task").fill(task)
        page.get_by_role("button", name="Add", exact=True).click()
        expect(pending.filter(has_text=content)).to_have_count(1)
        expect(page.get_by_label("New directive")).to_have_value("")
    expect(pending.first).to_contain_text(HOSTILE)

    taken = tab.served.call("get_user_request", {"task_id": "release"}, key=tab.served.ann)
    assert taken["content"] == "Ship it"
    expect(consumed.filter(has_text="Ship it")).to_contain_text("task release")
    picture(page, "directives")
    expect(pending).to_have_count(2)

    pending.filter(has_text="Tidy up").get_by_role("button", name="Delete").click()
    expect(pending).to_have_count(1)
    page.get_by_text("Delete waiting and delivered…").click()
    page.get_by_role("button", name="Delete all directives").click()
    expect(pending).to_have_count(0)
    expect(consumed).to_have_count(0)
    expect(page.get_by_text("Delete waiting and delivered…")).to_be_hidden()
    assert tab.served.call("get_user_request", {}, key=tab.served.ann) == {"status": "empty"}


def test_directives_are_delivered_in_the_order_that_is_shown(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ann)
    pending = page.locator("[data-list=pending] > li")
    for content, is_last in (("Then this", False), ("Last of all", True), ("First this", False)):
        page.get_by_label("New directive").fill(content)
        page.get_by_label("deliver it last").set_checked(is_last)
        page.get_by_role("button", name="Add", exact=True).click()
        expect(pending.filter(has_text=content)).to_have_count(1)

    order = ["First this", "Then this", "Last of all"]
    expect(pending.locator(".words")).to_have_text(order)
    taken = [tab.served.call("get_user_request", {}, key=tab.served.ann) for _ in order]
    assert [directive["content"] for directive in taken] == order


def test_a_form_that_is_sent_twice_by_a_hasty_hand_counts_once(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ben)
    page.get_by_label("New directive").fill("Once")
    page.get_by_role("button", name="Add", exact=True).dblclick()
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
    assert waiting.result(60)["answer"] == "No, once"
    expect(page.locator("#message")).to_have_text("Your answer is sent.")


def test_directives_are_ordered_edited_and_kept_as_templates(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ben)
    pending = page.locator("[data-list=pending] > li")
    for content in ("Third", "Second", "First"):
        page.get_by_label("New directive").fill(content)
        page.get_by_role("button", name="Add", exact=True).click()
        expect(pending.first).to_contain_text(content)
    expect(pending.first.get_by_role("button", name="Deliver earlier: First")).to_be_disabled()

    page.get_by_role("button", name="Deliver earlier: Third").click()
    expect(pending.nth(1)).to_contain_text("Third")
    page.get_by_role("button", name="Deliver earlier: Third").click()
    expect(pending.nth(0)).to_contain_text("Third")
    page.get_by_role("button", name="Deliver later: First").click()
    expect(pending.nth(2)).to_contain_text("First")

    pending.nth(0).get_by_text("Edit", exact=True).click()
    pending.nth(0).get_by_role("textbox", name="Edit: Third").fill("Third, but better")
    pending.nth(0).get_by_role("button", name="Save").click()
    expect(pending.nth(0)).to_contain_text("Third, but better")

    page.get_by_label("New directive").fill("Check the links")
    page.get_by_role("button", name="Keep as a template").click()
    expect(page.get_by_text("Kept as a template.")).to_be_visible()
    expect(page.locator("[data-list=templates] > li")).to_have_count(1)
    expect(page.locator("[data-list=templates] > li")).to_be_visible()
    page.get_by_role("button", name="Edit: Check the links").click()
    expect(page.get_by_label("New directive")).to_have_value("Check the links")
    page.locator("[data-list=templates]").get_by_role("button", name="Add as next").click()
    expect(pending.first).to_contain_text("Check the links")
    assert faults_of(page) == []

    taken = [
        tab.served.call("get_user_request", {}, key=tab.served.ben)["content"] for _ in range(4)
    ]
    assert taken == ["Check the links", "Third, but better", "Second", "First"]
    page.get_by_role("button", name="Delete: Check the links").first.click()
    expect(page.locator("[data-list=templates] > li")).to_have_count(0)


def queue(tab: Tab, *contents: str) -> None:
    """Add directives; the last is delivered first."""
    for content in contents:
        tab.page.get_by_label("New directive").fill(content)
        tab.page.get_by_role("button", name="Add", exact=True).click()
        expect(tab.page.locator("[data-list=pending] > li").first).to_contain_text(content)


def test_a_directive_keeps_the_focus_where_it_moves(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ben)
    pending = page.locator("[data-list=pending] > li")
    queue(tab, "Third", "Second", "First")

    page.get_by_role("button", name="Deliver earlier: Third").focus()
    page.keyboard.press("Enter")
    expect(pending.nth(1)).to_contain_text("Third")
    expect(page.get_by_role("button", name="Deliver earlier: Third")).to_be_focused()
    page.keyboard.press("Enter")
    expect(pending.nth(0)).to_contain_text("Third")
    # The first cannot move up any more, so the next control has the focus.
    expect(page.get_by_role("button", name="Deliver later: Third")).to_be_focused()

    page.get_by_text("Delete waiting and delivered…").click()
    page.get_by_role("button", name="Delete all directives").click()
    expect(pending).to_have_count(0)


def test_a_deleted_directive_comes_back_where_it_was(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ben)
    pending, consumed = (
        page.locator(f"[data-list={name}] > li") for name in ("pending", "consumed")
    )
    queue(tab, "Third", "Second", "First")

    page.get_by_role("button", name="Delete: Second").click()
    expect(pending).to_have_count(2)
    expect(page.locator("#message")).to_contain_text("Deleted: Second")
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    assert faults_of(page) == []
    page.keyboard.press("Enter")
    expect(page.locator("#message")).to_have_text("It is back.")
    expect(pending.locator(".words")).to_have_text(["First", "Second", "Third"])

    assert tab.served.call("get_user_request", {}, key=tab.served.ben)["content"] == "First"
    page.get_by_role("button", name="Delete: First").click()
    expect(consumed).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(consumed.locator(".words")).to_have_text(["First"])
    expect(pending).to_have_count(2)

    page.get_by_text("Delete waiting and delivered…").click()
    page.get_by_role("button", name="Delete all directives").click()
    expect(pending).to_have_count(0)
