"""The search of a docs site in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.docs_site.conftest import PREFIX, ROOT, Tab
from tests.e2e.looks import faults_of

from citewell.core.words import words
from citewell.docsite.folder import DocsFolder

pytestmark = pytest.mark.slow


def test_results_appear_while_typing_and_are_reached_by_keyboard(tab: Tab) -> None:
    tab.go("index.html")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("rul")

    options = tab.page.locator(".search-results [role=option]")
    expect(options.first).to_contain_text("Rules")
    tab.page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    assert faults_of(tab.page) == []
    tab.page.keyboard.press("Enter")

    tab.page.wait_for_url(lambda url: "rules.html" in url)
    expect(tab.page.locator("h1").first).to_contain_text("Rules")


def test_escape_closes_the_results_and_nothing_found_is_told(tab: Tab) -> None:
    tab.go("ja/index.html")
    tab.page.locator(tab.box).fill("zzzzqqqqxxxx")
    results = tab.page.locator(".search-results")

    expect(results).to_have_text("No page has these words.")
    tab.page.keyboard.press("Escape")
    expect(results).to_be_hidden()


@pytest.mark.parametrize("key", ["Control+k", "/"])
def test_searching_keeps_the_place_of_the_reader(tab: Tab, key: str) -> None:
    tab.page.set_viewport_size({"width": 1200, "height": 400})
    tab.go("rules.html")
    tab.page.evaluate("scrollTo(0, 300)")
    tab.page.keyboard.press(key)
    expect(tab.page.locator(tab.box)).to_be_focused()
    tab.page.keyboard.type("rules")
    expect(tab.page.locator(".search-results")).to_be_visible()
    tab.page.keyboard.press("Escape")

    assert tab.page.evaluate("scrollY") == 300


def test_whole_words_are_marked_that_begin_as_the_query(tab: Tab) -> None:
    tab.go("index.html")
    tab.page.locator(tab.box).fill("rul")

    marks = tab.page.locator(".search-results mark")
    expect(tab.page.locator(".search-results .hit-title mark").first).to_be_visible()
    expect(marks.first).to_have_text(re.compile(r"^rules?$", re.IGNORECASE))


def test_a_slip_of_the_keyboard_is_forgiven(tab: Tab) -> None:
    tab.go("index.html")
    tab.page.locator(tab.box).fill("instalation")

    first = tab.page.locator(".search-results [role=option]").first
    expect(first).to_contain_text("Install")
    expect(first.locator("mark").first).to_have_text(re.compile("^install", re.IGNORECASE))


def test_a_result_of_a_deeper_page_leads_there(tab: Tab) -> None:
    tab.go("ja/rules.html")
    tab.page.locator(tab.box).fill("python library")
    tab.page.locator(".search-results a").first.click()

    tab.page.wait_for_url(lambda url: f"{PREFIX}/python-library.html" in url)
    expect(tab.page.locator("h1").first).to_contain_text("library")


def test_the_search_page_of_a_static_site_fills_itself(tab: Tab) -> None:
    tab.go("index.html")
    tab.page.locator(tab.box).fill("channels")
    tab.page.keyboard.press("Enter")

    tab.page.wait_for_url(lambda url: url.endswith("search.html?q=channels"))
    expect(tab.page.locator(".result-list a").first).to_contain_text("Channels")


def test_the_browser_finds_the_pages_and_places_that_the_server_does(
    tab: Tab, folder: DocsFolder
) -> None:
    titles = list(folder.titles.values())
    queries = [*titles, "how do I install it", "rule", "instalation", "yaml fil", "ルール", "設定"]
    queries += [
        "send reports to a channel",
        "python",
        "migrating from version 1",
        "the",
        "exit code",
        "bittern",
        "shy stork",
    ]
    tab.go("index.html")
    tab.page.locator(tab.box).fill("python library")
    expect(tab.page.locator(".search-results a").first).to_be_visible()

    found = tab.page.evaluate(
        """(queries) => {
            const ranking = window.docsRanking(window.docsSearchIndex);
            const found = queries.map((query) => ranking.search(query, 5));
            return found.map(({ results, marks }) =>
                [marks, results.map((hit) => [hit.path, hit.section, hit.snippet])]);
        }""",
        queries,
    )

    answers = [folder.search(query, limit=5, as_you_type=True) for query in queries]
    expected = [
        [list(answer.marks), [[hit.path, hit.section, hit.snippet] for hit in answer.hits]]
        for answer in answers
    ]
    assert dict(zip(queries, found, strict=True)) == dict(zip(queries, expected, strict=True))


def test_words_lose_the_same_endings_in_the_browser(tab: Tab) -> None:
    documents = [*(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.html")]
    text = " ".join(path.read_text(encoding="utf-8") for path in documents).lower()
    forms = sorted(set(re.findall("[a-z]+", text)))
    tab.go("index.html")

    stems = tab.page.evaluate("(forms) => forms.map(window.docsStem)", forms)

    assert len(forms) > 1_000
    assert stems == [words(form)[0] for form in forms]


@pytest.mark.parametrize("width", [320, 480, 600])
def test_the_results_of_a_search_fit_a_narrow_screen(tab: Tab, width: int) -> None:
    tab.page.set_viewport_size({"width": width, "height": 700})
    tab.go("index.html")
    tab.page.keyboard.press("Control+k")
    expect(tab.page.get_by_role("combobox")).to_be_focused()
    tab.page.keyboard.type("rul")
    expect(tab.page.get_by_role("option").first).to_be_visible()

    box = tab.page.locator(".search-results").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    # What is typed is not cut off by the title of the site.
    typed = tab.page.get_by_role("combobox").bounding_box()
    assert typed is not None
    assert typed["width"] >= width - 40


def test_search_works_from_a_disk(browser: Browser, exported: Path) -> None:
    page = browser.new_page()
    page.goto((exported / "ja" / "index.html").as_uri())
    page.locator("form[data-search] input").fill("channels")
    page.locator(".search-results a").first.click()

    expect(page.locator("h1").first).to_contain_text("Channels")
    page.close()


def test_the_server_answers_while_typing(browser: Browser, server_url: str) -> None:
    page = browser.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.goto(f"{server_url}ja/rules.html")
    page.locator("form[data-search] input").fill("chann")
    page.locator(".search-results a").first.click()

    expect(page.locator("h1").first).to_contain_text("Channels")
    assert problems == []
    page.close()


def test_the_server_searches_without_scripts(browser: Browser, server_url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server_url}ja/rules.html")
    page.locator("form[data-search] input").fill("channels")
    page.keyboard.press("Enter")
    page.locator(".result-list a").first.click()

    expect(page.locator("h1").first).to_contain_text("Channels")
    context.close()
