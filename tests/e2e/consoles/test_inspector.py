"""The inspector in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.e2e.consoles.conftest import QUESTIONS, Tab, picture
from tests.e2e.looks import faults_of
from tests.site import running_site

pytestmark = pytest.mark.slow


def test_the_inspector_lists_tools_and_calls_one(tab: Tab) -> None:
    page = tab.open(f"/mcp/debug?token=Bearer%20{tab.served.ann}")
    expect(page.locator("#server")).to_contain_text("citewell")
    assert "token" not in page.url

    page.locator("#list").get_by_role("button", name="search", exact=True).click()
    page.get_by_label("query").fill("What does the grey heron eat?")
    page.get_by_label("top_k").fill("2")
    page.get_by_role("button", name="Call", exact=True).click()

    expect(page.locator("#timing")).to_contain_text("Done after")
    expect(page.locator("#content-text")).to_contain_text("The grey heron eats fish")
    expect(page.locator("#structured")).to_contain_text('"evidence"')
    picture(page, "inspector")


def test_the_inspector_shows_progress_and_cancels(tab: Tab) -> None:
    page = tab.open(f"/mcp/debug?token={tab.served.ben}")
    page.locator("#list").get_by_role("button", name="ask_user").click()
    page.get_by_label("question").fill("Anyone?")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#progress")).to_contain_text("Waiting for the user to answer")

    page.get_by_role("button", name="Cancel").click()

    expect(page.locator("#timing")).to_contain_text("Cancelled after")


def test_the_inspector_asks_for_a_key_when_the_server_does(tab: Tab) -> None:
    page = tab.open("/mcp/debug")
    expect(page.get_by_role("button", name="Connect")).to_be_focused()
    expect(page.locator("#server")).to_be_empty()

    page.keyboard.press("Enter")

    expect(page.locator("#server")).to_contain_text("asks for a key")
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type("cw-wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#server")).to_contain_text("does not accept this key")
    page.get_by_label("Token").fill(tab.served.ann)
    page.keyboard.press("Enter")
    expect(page.locator("#server")).to_contain_text("connected in")


def test_the_inspector_says_what_was_not_taken_and_what_a_blocked_call_means(tab: Tab) -> None:
    page = tab.open("/mcp/debug?endpoint=https://name:word@a.example/mcp")
    expect(page.get_by_role("alert")).to_contain_text("was not taken")
    expect(page.locator("#server")).to_be_empty()
    assert faults_of(page) == []

    with running_site({}) as silent:
        page = tab.open(f"/mcp/debug?endpoint={silent.url('/mcp')}")
        expect(page.locator("#server")).to_contain_text("(CORS)")
        placeholder = "the token of that server, if it asks for one"
        expect(page.get_by_label("Token")).to_have_attribute("placeholder", placeholder)
        page.get_by_label("Endpoint").fill("/mcp")
        expect(page.get_by_label("Token")).to_have_attribute(
            "placeholder", "the key in this browser"
        )
    tab.forgive()


def test_the_inspector_reads_resources_and_gets_prompts(tab: Tab) -> None:
    page = tab.open(f"/mcp/debug?token={tab.served.ann}")
    page.get_by_role("button", name="Prompts").click()
    page.locator("#list button").first.click()
    for field in page.locator("#fields [data-type]").all():
        field.fill("herons")
    page.get_by_role("button", name="Get", exact=True).click()
    expect(page.locator("#timing")).to_contain_text("Done after")
    expect(page.locator("#content-text")).to_contain_text("herons")

    page.get_by_role("button", name="Resources").click()
    page.locator("#list button").filter(has_text="Owls").click()
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.locator("#timing")).to_contain_text("Done after")
    expect(page.locator("#content-text")).not_to_be_empty()


def test_resources_are_grouped_and_say_what_they_are(tab: Tab) -> None:
    page = tab.open(f"/mcp/debug?token={tab.served.ann}")
    page.get_by_role("button", name="Resources").click()
    groups = page.locator("#list .tool-group")
    expect(groups).to_have_text(["Templates", "citewell://page/"])
    owls = page.locator("#list li").filter(has_text="Owls")
    expect(owls).to_contain_text("page")
    expect(owls).not_to_contain_text("⟦")

    page.get_by_label("Filter").fill("owls")
    expect(page.locator("#list button:visible")).to_have_count(1)
    expect(page.locator("#list .tool-group:visible")).to_have_text(["citewell://page/"])
    assert faults_of(page) == []


def test_several_addresses_are_written_one_a_line_and_the_result_comes_into_view(tab: Tab) -> None:
    page = tab.open(f"/mcp/debug?token={tab.served.root}")
    page.set_viewport_size({"width": 900, "height": 500})
    page.locator("#list").get_by_role("button", name="ingest", exact=True).click()
    page.get_by_label("url").fill("http://127.0.0.1:9/a\nhttp://127.0.0.1:9/b\n")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#timing")).to_contain_text("after")

    expect(page.locator("#result-heading")).to_be_focused()
    expect(page.locator("#result-heading")).to_be_in_viewport()
    expect(page.locator("#progress")).to_contain_text("http://127.0.0.1:9/b")
    page.get_by_role("button", name="History 1").click()
    page.locator("#list button").click()
    expect(page.get_by_label("url")).to_have_value("http://127.0.0.1:9/a\nhttp://127.0.0.1:9/b")


def test_a_call_of_the_history_is_sent_again(tab: Tab) -> None:
    page = tab.open(f"/mcp/debug?token={tab.served.ann}")
    page.get_by_label("Filter").fill("search")
    expect(page.locator("#list li:visible").first).to_contain_text("search")
    page.locator("#list").get_by_role("button", name="search", exact=True).click()
    page.get_by_label("query").fill("What does the tawny owl eat?")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#timing")).to_contain_text("Done after")

    page.reload()
    page.get_by_label("Token").fill(tab.served.ann)
    page.get_by_role("button", name="Connect").click()
    page.get_by_role("button", name="History 1").click()
    page.locator("#list button").click()
    expect(page.get_by_label("query")).to_have_value("What does the tawny owl eat?")
    page.get_by_role("button", name="Send again").click()

    expect(page.locator("#content-text")).to_contain_text("mice")
    expect(page.locator("#list button")).to_have_count(2)
    expect(page.locator("#list [aria-current]")).to_have_count(1)
    expect(page.get_by_role("button", name="History 2")).to_be_visible()
    assert faults_of(page) == []


def test_what_may_be_null_is_left_out_and_not_offered_as_a_word(tab: Tab) -> None:
    page = tab.open(f"/mcp/debug?token={tab.served.root}")
    expect(page.locator("#list button").first).to_be_visible()
    offered = set()
    for item in page.locator("#list button").all():
        item.click()
        offered |= set(page.locator("#fields option").all_text_contents())

    assert "null" not in offered


def test_the_endpoint_of_the_address_is_connected_to_without_the_kept_key(tab: Tab) -> None:
    with running_site({}) as elsewhere:
        page = tab.open(QUESTIONS, key=tab.served.ann)
        expect(page.get_by_role("heading", name="Questions")).to_be_visible()
        tab.open(f"/mcp/debug?endpoint={tab.served.url}/mcp")
        expect(page.locator("#server")).to_contain_text("connected in")

        tab.open(f"/mcp/debug?endpoint={elsewhere.url('/mcp')}")
        expect(page.locator("#server")).to_contain_text("Cannot connect")
        assert elsewhere.requests
        assert all("authorization" not in request.headers for request in elsewhere.requests)
        tab.forgive()
