"""Keys and what they used, in a real browser."""

from __future__ import annotations

import httpx2
import pytest
from playwright.sync_api import Dialog, expect
from tests.e2e.consoles.conftest import DIRECTIVES, Tab, picture, run_apart
from tests.e2e.looks import faults_of
from tests.site import wait_until

KEYS = "/mcp/console/keys"

pytestmark = pytest.mark.slow


def test_two_keys_see_only_their_own_and_a_key_can_be_cleared(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.ann)
    page.get_by_label("New directive").fill("For Ann's agent")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("[data-list=pending] > li")).to_have_count(1)

    page.get_by_text("Your key").first.click()
    page.get_by_role("button", name="Clear the key").click()
    expect(page.get_by_role("heading", name="This page needs your key")).to_be_visible()
    assert page.evaluate("localStorage.getItem('citewell.key')") is None
    page.locator("main [name=key]").fill("cw-wrong")
    page.locator("main").get_by_role("button", name="Use this key").click()
    expect(page.get_by_text("refused the key")).to_be_visible()
    page.locator("main [name=key]").fill(tab.served.ben)
    page.locator("main").get_by_role("button", name="Use this key").click()

    expect(page.get_by_role("heading", name="Directives")).to_be_visible()
    expect(page.get_by_text("For Ann's agent")).to_have_count(0)
    assert tab.served.call("get_user_request", {}, key=tab.served.ben) == {"status": "empty"}
    assert tab.served.ann not in page.url + page.content()
    tab.served.call("get_user_request", {}, key=tab.served.ann)


def test_a_key_that_is_revoked_while_a_page_is_open_is_asked_for_again(tab: Tab) -> None:
    page = tab.open(DIRECTIVES, key=tab.served.guest)
    expect(page.get_by_role("heading", name="Directives")).to_be_visible()
    headers = {"Authorization": f"Bearer {tab.served.guest}"}

    run_apart(tab.served.revoke, "guest").result(60)
    wait_until(
        lambda: httpx2.get(f"{tab.served.url}/mcp", headers=headers, timeout=60).status_code == 401
    )
    # As the page does when it hears of a change.
    page.evaluate("document.dispatchEvent(new Event('desk-changed'))")

    expect(page.get_by_text("refused the key")).to_be_visible()
    tab.problems.clear()


def test_usage_is_shown_by_tool_and_downloaded(tab: Tab) -> None:
    tab.served.call("status", {}, key=tab.served.ben)
    page = tab.open("/mcp/console/usage", key=tab.served.ben)
    by_tool = page.get_by_role("table", name="By tool").get_by_role("row", name="status")
    by_key = page.get_by_role("table", name="By key").get_by_role("row", name="ben")
    expect(by_tool).to_have_count(1)
    expect(by_key).to_have_count(1)
    assert faults_of(page) == []
    expect(page.get_by_text("ann")).to_have_count(0)
    picture(page, "usage")

    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()

    text = download.value.path().read_text(encoding="utf-8")
    assert text.startswith("month,owner,")
    assert "status" in text


def test_the_form_for_the_key_is_ready_and_its_menu_closes(tab: Tab) -> None:
    page = tab.open(DIRECTIVES)
    expect(page.locator("main [name=key]")).to_be_focused()

    menu = page.locator(".key-menu")
    page.get_by_text("Your key").first.click()
    expect(menu).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(menu.locator("summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(menu).to_have_attribute("open", "")
    page.get_by_role("heading", level=1).click()
    expect(menu).not_to_have_attribute("open", "")


def test_an_admin_makes_a_key_that_is_shown_once_rotates_and_revokes_it(tab: Tab) -> None:
    page = tab.open(KEYS, key=tab.served.root)
    page.get_by_text("Create a key", exact=True).click()
    page.get_by_label("Name").fill("carol@docs 2")
    page.get_by_label("Scope").select_option("read")
    page.get_by_label("Units per month").fill("500")
    page.get_by_label("Expires after (days)").fill("30")
    page.get_by_role("button", name="Create the key").click()
    first = page.locator("#new-token").inner_text()
    row = page.locator(".site-row").filter(has_text="carol@docs 2")
    expect(row).to_contain_text("0 of 500 units this month")
    expect(row).to_contain_text("no calls yet")
    assert faults_of(page) == []
    picture(page, "keys")
    assert tab.served.call("status", {}, key=first)

    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    page.get_by_role("banner").get_by_role("link", name="Library").click(no_wait_after=True)
    wait_until(lambda: asked == ["beforeunload"])
    expect(page.locator("#new-token")).to_have_text(first)
    page.reload()
    expect(page.locator("#new-token")).to_have_count(0)
    expect(row).to_contain_text("last used")
    assert first not in page.content()
    wide = page.viewport_size
    for width in (320, 375, 600, 760, 800):
        page.set_viewport_size({"width": width, "height": 800})
        for asked_for in ("Rotate…", "Revoke…"):
            row.get_by_text(asked_for).click()
            box = row.locator("details[open] > form").bounding_box()
            assert box is not None
            assert 0 <= box["x"] <= width - box["width"], (asked_for, width, box)
            assert faults_of(page) == []
            page.keyboard.press("Escape")
    assert wide is not None
    page.set_viewport_size(wide)
    row.get_by_text("Rotate…").click()
    row.get_by_label("The old key works for (hours)").fill("0")
    row.get_by_role("button", name="Make a new key").click()
    second = page.locator("#new-token").inner_text()
    assert tab.served.call("status", {}, key=second)

    live = row.filter(has_text="Revoke…")
    live.get_by_text("Revoke…").click()
    live.get_by_role("button", name="Revoke it").click()
    expect(live).to_have_count(0)
    headers = {"Authorization": f"Bearer {second}"}
    wait_until(
        lambda: httpx2.get(f"{tab.served.url}/mcp", headers=headers, timeout=60).status_code == 401
    )


def test_keys_are_for_admins_and_the_log_shows_what_failed(tab: Tab) -> None:
    assert "error" in tab.served.call("search", {"query": ""}, key=tab.served.ben)
    page = tab.open("/mcp/console/calls?failed=1", key=tab.served.ben)
    expect(page.locator("tbody tr").first).to_contain_text("search")
    expect(page.locator("tbody tr").first).to_contain_text("INVALID_ARGUMENT")
    expect(page.locator("tbody tr .why").first).to_contain_text("query")
    expect(page.get_by_role("link", name="Keys")).to_have_count(0)
    assert faults_of(page) == []

    page.goto(f"{tab.served.url}{KEYS}")
    expect(page.get_by_text("Keys are for administrators.")).to_be_visible()
    tab.forgive()


def test_a_key_that_is_shown_once_outlives_a_refused_name_and_is_used_after_a_rotation(
    tab: Tab,
) -> None:
    page = tab.open(KEYS, key=tab.served.root)
    page.get_by_text("Create a key", exact=True).click()
    page.get_by_label("Name").fill("dora")
    page.get_by_label("Scope").select_option("admin")
    page.get_by_role("button", name="Create the key").click()
    token = page.locator("#new-token").inner_text()
    page.get_by_text("Create a key", exact=True).click()
    page.get_by_label("Name").fill("dora")
    page.get_by_label("Units per month").fill("77")
    page.get_by_role("button", name="Create the key").click()
    expect(page.locator("#message")).to_contain_text("There is a live key called 'dora' already.")
    expect(page.locator("#new-token")).to_have_text(token)
    expect(page.get_by_label("Units per month")).to_have_value("77")
    tab.forgive()

    row = page.locator(".site-row").filter(has_text="dora")
    row.get_by_text("Rotate…").click()
    row.get_by_label("The old key works for (hours)").fill("0")
    row.get_by_role("button", name="Make a new key").click()
    expect(page.locator("#new-token")).not_to_have_text(token)
    page.get_by_role("button", name="Use it in this browser").click()
    expect(row.filter(has_text="used in this browser")).to_have_count(1)
    page.goto(f"{tab.served.url}{KEYS}/dora/rotate")
    expect(row.filter(has_text="used in this browser")).to_have_count(1)
