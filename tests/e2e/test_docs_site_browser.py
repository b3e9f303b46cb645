"""An exported docs site in a real browser: search, colours, narrow screens, nothing from outside."""

from __future__ import annotations

import mimetypes
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright
from tests.docsite.site.attacks import ATTACKS
from tests.e2e.processes import ServerProcess, environment
from tests.site import Response, Site, running_site, wait_until

from citewell.core.words import words
from citewell.docsite.folder import DocsFolder
from citewell.docsite.site.export import export_site

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent.parent
PREFIX = "/manual"
DOCS_AT = re.compile(rb"pages at (http:\S+)")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
WIDE_PAGE = """\
# Everything that is wide

A_word_without_any_place_to_break_it_which_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on.

| first column | second | third | fourth | fifth | sixth | seventh | eighth | ninth |
|---|---|---|---|---|---|---|---|---|
| `some_long_setting_name` | text | text | text | text | text | text | text | text |

```python title="wide.py"
value = function_with_a_long_name(first_argument=1, second_argument=2, third_argument=3, fourth=4)
```

$$
a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + b_1 + b_2 + b_3 + b_4 + b_5 + b_6 + b_7 + b_8
$$

!!! note
    https://example.org/an/address/that/is/far/too/long/for/a/narrow/screen/and/goes/on/and/on/and/on

## One

## Two
"""


@dataclass(kw_only=True)
class Tab:
    """A tab of the browser, and what it complained of."""

    page: Page
    site: Site
    problems: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        self.page.goto(self.site.url(f"{PREFIX}/{path}"))

    @property
    def box(self) -> str:
        return "form[data-search] input"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DocsFolder:
    root = tmp_path_factory.mktemp("source") / "docs"
    shutil.copytree(ROOT / "examples" / "docs", root)
    (root / "wide.md").write_text(WIDE_PAGE, encoding="utf-8")
    (root / "hostile.md").write_text("\n\n".join(ATTACKS), encoding="utf-8")
    return DocsFolder.open(root)


@pytest.fixture(scope="module")
def exported(folder: DocsFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "out"
    export_site(folder, out)
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def server_url(folder: DocsFolder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where `citewell docs` serves the folder."""
    home = tmp_path_factory.mktemp("home")
    process = subprocess.Popen(
        [sys.executable, "-m", "citewell", "docs", str(folder.root), "--port", "0"],
        env=environment(home, CITEWELL_DOCS_CACHE_ROOT=str(home / "cache")),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with process:
        server = ServerProcess(process)
        try:
            wait_until(lambda: DOCS_AT.search(server.log) is not None, seconds=60)
            found = DOCS_AT.search(server.log)
            assert found is not None
            yield found[1].decode()
            assert server.stop() == 0
        finally:
            process.kill()


def served(folder: Path, headers: dict[str, str]) -> dict[str, Response]:
    """The files of a folder as pages of a site that has no logic of its own."""
    pages = {}
    for file in folder.rglob("*"):
        if file.is_file():
            kind = mimetypes.guess_type(file.name)[0] or "text/plain"
            kind += "; charset=utf-8" if kind.startswith("text/") else ""
            path = f"{PREFIX}/{file.relative_to(folder).as_posix()}"
            pages[path] = Response(
                body=file.read_bytes(), headers={"Content-Type": kind, **headers}
            )
    return pages


@pytest.fixture(scope="module")
def site(exported: Path) -> Iterator[Site]:
    with running_site(served(exported, {"Content-Security-Policy": POLICY})) as site:
        yield site


@pytest.fixture
def tab(browser: Browser, site: Site) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
    tab = Tab(page=context.new_page(), site=site)
    tab.page.on("console", lambda message: tab.problems.append(message.text))
    tab.page.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.page.on(
        "request",
        lambda request: (
            None if request.url.startswith(site.url("/")) else tab.outside.append(request.url)
        ),
    )
    yield tab
    context.close()
    assert tab.problems == []
    assert tab.outside == []


def test_results_appear_while_typing_and_are_reached_by_keyboard(tab: Tab) -> None:
    tab.go("index.html")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("rul")

    options = tab.page.locator(".search-results [role=option]")
    expect(options.first).to_contain_text("Rules")
    tab.page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
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


def test_a_slip_of_the_keyboard_is_forgiven(tab: Tab) -> None:
    tab.go("index.html")
    tab.page.locator(tab.box).fill("instalation")

    expect(tab.page.locator(".search-results [role=option]").first).to_contain_text("Install")


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
    ]
    tab.go("index.html")
    tab.page.locator(tab.box).fill("x")
    tab.page.wait_for_function("window.docsSearchIndex !== undefined")

    found = tab.page.evaluate(
        """(queries) => {
            const ranking = window.docsRanking(window.docsSearchIndex);
            return queries.map((query) =>
                ranking.search(query, 5).map((hit) => [hit.path, hit.section, hit.snippet]));
        }""",
        queries,
    )

    expected = [
        [
            [hit.path, hit.section, hit.snippet]
            for hit in folder.search(query, limit=5, as_you_type=True).hits
        ]
        for query in queries
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
    # The images of the hostile page do not exist, which a browser complains of.
    for path in set(folder.paths) - {"hostile.md"}:
        tab.go(path.removesuffix(".md") + ".html")
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, path


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


def test_the_menu_of_a_narrow_screen_opens_and_closes(tab: Tab) -> None:
    tab.page.set_viewport_size({"width": 390, "height": 800})
    tab.go("index.html")
    menu = tab.page.locator(".sidebar")

    expect(menu).to_be_hidden()
    tab.page.get_by_label("Menu").click()
    expect(menu).to_be_visible()
    tab.page.get_by_text("Close the menu").click()
    expect(menu).to_be_hidden()


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


def test_search_works_from_a_disk(browser: Browser, exported: Path) -> None:
    page = browser.new_page()
    page.goto((exported / "ja" / "index.html").as_uri())
    page.locator("form[data-search] input").fill("channels")
    page.locator(".search-results a").first.click()

    expect(page.locator("h1").first).to_contain_text("Channels")
    page.close()


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


def test_the_server_suggests_pages_for_a_wrong_address(browser: Browser, server_url: str) -> None:
    page = browser.new_page()
    answer = page.goto(f"{server_url}ja/chanels.html")
    page.locator(".content a", has_text="Channels").click()

    assert answer is not None
    assert answer.status == 404
    expect(page.locator("h1").first).to_contain_text("Channels")
    page.close()
