"""Pages of a docs site in a real browser: colours, narrow screens, code, diagrams."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, expect
from tests.e2e.docs_site.conftest import PREFIX, Tab, served
from tests.e2e.looks import faults_of, fits
from tests.site import Site, running_site, wait_until

from citewell.docsite.folder import DocsFolder
from citewell.docsite.site.export import export_site

pytestmark = pytest.mark.slow


def test_colours_switch_and_the_choice_is_kept(tab: Tab) -> None:
    def background() -> str:
        return str(tab.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    tab.go("index.html")
    light = background()
    tab.page.get_by_label("Dark colours").click()
    dark = background()
    tab.go("rules.html")
    kept = background()
    tab.page.get_by_label("Dark colours").click()

    assert (light, dark, kept) == ("rgb(255, 255, 255)", "rgb(19, 24, 30)", dark)
    assert background() == light
    assert tab.page.evaluate("localStorage.getItem('docs-theme')") is None


def test_the_colours_of_the_system_are_followed(tab: Tab) -> None:
    tab.page.emulate_media(color_scheme="dark")
    tab.go("index.html")

    color = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert color == "rgb(19, 24, 30)"


@pytest.mark.parametrize("width", [320, 900])
def test_no_page_scrolls_sideways(tab: Tab, folder: DocsFolder, width: int) -> None:
    tab.page.set_viewport_size({"width": width, "height": 800})
    # Images of these pages do not exist, which a browser complains of.
    for path in set(folder.paths) - {"hostile.md", "marks.md"}:
        tab.go(path.removesuffix(".md") + ".html")
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_a_table_that_is_wider_than_a_phone_shows_it_and_keeps_commands_whole(tab: Tab) -> None:
    tab.page.set_viewport_size({"width": 320, "height": 800})
    tab.go("wide.html")
    table = tab.page.locator(".table-scroll").first

    assert table.evaluate("(part) => part.scrollWidth > part.clientWidth")
    assert "linear-gradient" in table.evaluate("(part) => getComputedStyle(part).backgroundImage")
    assert table.locator("code").first.evaluate("(code) => code.getClientRects().length") == 1


@pytest.mark.parametrize("way", ["link", "button", "escape", "outside"])
def test_the_menu_of_a_narrow_screen_opens_and_closes(tab: Tab, way: str) -> None:
    tab.page.set_viewport_size({"width": 390, "height": 800})
    tab.go("index.html")
    menu, button = tab.page.locator(".sidebar"), tab.page.get_by_role("button", name="Menu")

    expect(menu).to_be_hidden()
    expect(button).to_have_attribute("aria-expanded", "false")
    button.click()
    expect(menu).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    # What lies below does not count while it is inert.
    hidden = ("landmark-one-main", "page-has-heading-one")
    assert [fault for fault in faults_of(tab.page) if not fault.startswith(hidden)] == []
    # The keyboard does not reach what lies below.
    assert tab.page.locator("main").evaluate("(part) => part.inert")
    # However far the menu is scrolled.
    menu.evaluate("(panel) => panel.scrollTo(0, panel.scrollHeight)")
    expect(tab.page.get_by_text("Close the menu")).to_be_in_viewport()
    if way == "link":
        tab.page.get_by_text("Close the menu").click()
    elif way == "button":
        button.click()
    elif way == "escape":
        tab.page.keyboard.press("Escape")
    else:
        tab.page.mouse.click(380, 700)

    expect(menu).to_be_hidden()
    expect(button).to_have_attribute("aria-expanded", "false")
    assert tab.page.url.endswith("/index.html")
    assert not tab.page.locator("main").evaluate("(part) => part.inert")


def test_the_menu_that_escape_closes_keeps_the_place_of_the_reader(tab: Tab) -> None:
    tab.page.set_viewport_size({"width": 390, "height": 400})
    tab.go("rules.html")
    tab.page.evaluate("scrollTo(0, 300)")
    tab.page.get_by_role("button", name="Menu").click()
    expect(tab.page.locator(".sidebar")).to_be_visible()
    tab.page.keyboard.press("Escape")

    expect(tab.page.get_by_role("button", name="Menu")).to_be_focused()
    assert tab.page.evaluate("scrollY") == 300


def test_the_menu_of_a_narrow_screen_works_without_scripts(browser: Browser, site: Site) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(site.url(f"{PREFIX}/index.html"))
    page.get_by_role("link", name="Menu").click()
    expect(page.locator(".sidebar")).to_be_visible()
    page.get_by_text("Close the menu").click()

    expect(page.locator(".sidebar")).to_be_hidden()
    context.close()


def test_only_the_tabs_of_a_set_take_turns(tab: Tab) -> None:
    tab.go("tabs.html")
    rows = tab.page.locator(".tab-row")

    assert [row.inner_text().split() for row in rows.all()] == [
        ["Linux", "macOS"],
        ["One", "Two"],
        ["js", "b.ts"],
    ]
    rows.nth(0).get_by_text("macOS").click()
    expect(tab.page.get_by_text("brew install heron")).to_be_visible()
    expect(tab.page.get_by_text("apt install heron")).to_be_hidden()
    # The page's author has chosen the second.
    expect(tab.page.get_by_text("The second way")).to_be_visible()
    assert faults_of(tab.page) == []


def test_the_outline_follows_and_the_skip_link_comes_first(tab: Tab) -> None:
    tab.go("wide.html")
    tab.page.keyboard.press("Tab")

    assert tab.page.evaluate("document.activeElement.textContent") == "Skip to the text"
    expect(tab.page.locator(".outline [aria-current]")).to_have_text("One")


def test_paper_shows_the_text_only(tab: Tab) -> None:
    tab.go("wide.html")
    tab.page.emulate_media(media="print")

    for selector in (".header", ".sidebar", ".outline", ".page-end"):
        expect(tab.page.locator(selector)).to_be_hidden()
    expect(tab.page.locator("h1").first).to_be_visible()


def test_code_is_copied(tab: Tab) -> None:
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.go("wide.html")
    tab.page.locator(".code").first.hover()
    tab.page.locator(".copy").first.click()

    expect(tab.page.locator(".copy").first).to_have_text("Copied")
    copied = tab.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("value = function_with_a_long_name(")


def test_the_site_can_be_read_without_scripts(browser: Browser, site: Site) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url(f"{PREFIX}/index.html"))
    page.locator(".sidebar a", has_text="Rules").first.click()

    expect(page.locator("h1").first).to_contain_text("Rules")
    expect(page.locator("[data-theme-switch]")).to_be_hidden()
    context.close()


def test_hostile_markdown_runs_nothing_even_without_a_policy(
    browser: Browser, exported: Path
) -> None:
    with running_site(served(exported, {})) as bare:
        page = browser.new_page()
        dialogs: list[str] = []

        def dismiss(dialog: Dialog) -> None:
            dialogs.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", dismiss)
        page.goto(bare.url(f"{PREFIX}/hostile.html"))
        for summary in page.locator(".content summary").all():
            summary.click()

        assert dialogs == []
        assert page.locator(".content :is(script, iframe, svg, form, style)").count() == 0
        assert page.evaluate("getComputedStyle(document.body).display") == "block"
        page.close()


def test_the_server_suggests_pages_for_a_wrong_address(browser: Browser, server_url: str) -> None:
    page = browser.new_page()
    answer = page.goto(f"{server_url}ja/chanels.html")
    page.locator(".content a", has_text="Channels").click()

    assert answer is not None
    assert answer.status == 404
    expect(page.locator("h1").first).to_contain_text("Channels")
    page.close()


def test_a_diagram_is_drawn_and_only_its_page_loads_mermaid(
    browser: Browser, server_url: str
) -> None:
    page = browser.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))

    page.goto(f"{server_url}/diagram.html")
    expect(page.locator(".diagram.drawn svg")).to_be_visible()
    expect(page.locator(".diagram svg")).to_contain_text("Publish")
    light = page.locator(".diagram svg").inner_html()
    page.get_by_role("button", name="Dark colours").click()
    wait_until(lambda: page.locator(".diagram svg").inner_html() != light)
    assert faults_of(page) == []
    assert fits(page)

    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(f"{server_url}/wide.html")
    assert not [url for url in loaded if "mermaid" in url]
    assert problems == []
    page.close()


def test_mermaid_is_loaded_when_a_diagram_comes_near_and_nothing_moves(tab: Tab) -> None:
    loaded: list[str] = []
    tab.page.on("request", lambda request: loaded.append(request.url))
    tab.go("far/diagram.html")
    below = tab.page.get_by_text("After the diagram")
    tab.page.wait_for_load_state("networkidle")
    assert not [url for url in loaded if "mermaid" in url]

    before = below.evaluate("(part) => part.getBoundingClientRect().top + scrollY")
    tab.page.locator("pre.diagram").scroll_into_view_if_needed()
    expect(tab.page.locator(".diagram.drawn svg")).to_be_visible()
    assert below.evaluate("(part) => part.getBoundingClientRect().top + scrollY") == before


def test_a_diagram_that_cannot_be_drawn_says_so_above_its_source(tab: Tab) -> None:
    tab.go("broken/diagram.html")

    note = "This diagram cannot be drawn. Look at line 2 of its source:"
    expect(tab.page.locator(".diagram-fault")).to_have_text(note)
    expect(tab.page.locator("pre.diagram")).to_contain_text("A -->")
    tab.page.get_by_label("Dark colours").click()
    expect(tab.page.locator(".diagram-fault")).to_have_count(1)
    assert faults_of(tab.page) == []


def test_a_diagram_without_scripts_is_its_source(browser: Browser, server_url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server_url}/diagram.html")
    expect(page.locator("pre.diagram")).to_contain_text("Observer")
    context.close()


def test_the_menu_of_a_phone_opens_at_the_current_page(browser: Browser, tmp_path: Path) -> None:
    root, out = tmp_path / "docs", tmp_path / "out"
    root.mkdir()
    for number in range(60):
        (root / f"page{number:02}.md").write_text(f"# Page {number}\n", encoding="utf-8")
    export_site(DocsFolder.open(root), out)
    page = browser.new_page(viewport={"width": 320, "height": 600})
    page.goto((out / "page55.html").as_uri())

    page.get_by_role("button", name="Menu").click()

    expect(page.locator(".sidebar [aria-current]")).to_be_in_viewport()
    page.close()
