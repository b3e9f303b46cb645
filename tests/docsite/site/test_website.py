"""A docs folder as a website: its pages, menu, neighbours, search page and theme files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from citewell.docsite.folder import DocsFolder
from citewell.docsite.site.theme import Resource
from citewell.docsite.site.website import Website

FILES = {
    "index.md": "# Heron\n\nA buoy. See [install](guide/install.md).\n",
    "guide/install.md": (
        "---\ntitle: Installing\ndescription: How to install <it>\n---\n"
        "Run this.\n\n## On Linux\n\nUse apt.\n\n## On macOS\n\nUse brew.\n\n- [x] done\n"
    ),
    "guide/radio.md": "# Radio\n\nThe radio reaches far.\n\n![map](map.png)\n",
    "日本語.md": "# 設定\n\n設定の方法を説明します。これは日本語のページです。\n",
    "sidebar.md": (
        "- [Home](index.md)\n- Guide\n  - [Install](guide/install.md)\n  - [Radio](guide/radio.md)\n"
        "- [Elsewhere](https://example.org/)\n- [Bad](javascript:alert(1))\n"
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> DocsFolder:
    root = tmp_path / "docs"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return DocsFolder.open(root)


@pytest.fixture
def website(folder: DocsFolder) -> Website:
    return Website(folder, base_url="https://docs.example")


def text_of(resource: Resource | None) -> str:
    assert resource is not None
    return resource.body.decode()


def test_a_page_has_menu_outline_breadcrumbs_and_neighbours(website: Website) -> None:
    page = text_of(website.get("/guide/install.html"))

    assert "<title>Installing · Heron</title>" in page
    assert '<meta name="description" content="How to install &lt;it&gt;">' in page
    assert "<h1>Installing</h1>" in page
    assert '<a href="install.html" aria-current="page">Install</a>' in page
    assert "<li>Guide</li>" in page
    assert '<li class="level-2"><a href="#on-linux">On Linux</a></li>' in page
    assert '<a class="previous" href="../" rel="prev"><span>Previous</span>Home</a>' in page
    assert '<a class="next" href="radio.html" rel="next"><span>Next</span>Radio</a>' in page
    assert '<a href="install.md">This page as Markdown</a>' in page
    assert '<link rel="canonical" href="https://docs.example/guide/install.html">' in page
    assert "javascript:" not in page


def test_the_front_page_stands_at_the_root(website: Website) -> None:
    page = text_of(website.get("/"))

    assert "<title>Heron</title>" in page
    assert '<a href="guide/install.html">install</a>' in page


def test_nothing_on_a_page_is_inline_or_from_outside(website: Website) -> None:
    page = text_of(website.get("/guide/radio.html"))

    assert "<style" not in page
    assert " style=" not in page
    assert "<script>" not in page
    assert 'src="http' not in page
    assert 'href="//' not in page


def test_a_page_forbids_what_is_inline_unless_its_html_is_trusted(folder: DocsFolder) -> None:
    strict = text_of(Website(folder, base_url="").get("/"))
    trusting = text_of(Website(folder, base_url="", allow_html=True).get("/"))

    assert (
        '<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;' in strict
    )
    assert "Content-Security-Policy" not in trusting


def test_no_heading_takes_an_id_of_the_theme(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Content\n\n## Menu\n\n## Search\n", encoding="utf-8")

    page = text_of(Website(DocsFolder.open(tmp_path), base_url="").get("/"))

    ids = re.findall(r'\sid="([^"]+)"', page)
    assert sorted(ids) == ["_content", "_menu", "content", "menu", "search"]


def test_a_japanese_page_says_its_language(website: Website) -> None:
    assert '<html lang="ja">' in text_of(website.get("/日本語.html"))


def test_a_folder_without_front_page_gets_a_list_of_pages(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("# First\n", encoding="utf-8")

    page = text_of(Website(DocsFolder.open(tmp_path), base_url="").get("/"))

    assert page.count('<a href="one.html">First</a>') == 2


def test_each_folder_without_front_page_is_reached_and_lists_its_pages(tmp_path: Path) -> None:
    for language in ("de", "ja"):
        (tmp_path / "docs" / language).mkdir(parents=True)
        for number in range(80):
            page = tmp_path / "docs" / language / f"page{number}.md"
            page.write_text(f"# Page {number} {language}\n", encoding="utf-8")
    website = Website(DocsFolder.open(tmp_path), base_url="")

    front, listed = text_of(website.get("/")), text_of(website.get("/docs/ja/"))
    menu = front.partition("</nav>")[0]
    assert "<summary>Docs</summary>" in menu
    assert '<a href="docs/ja/" class="folded">Ja</a>' in menu
    assert "<h1>Ja</h1>" in listed
    assert '<a href="page7.html">Page 7 ja</a>' in listed
    assert "Page 7 de" not in listed
    assert '<a href="../../docs/">' not in listed
    assert '<li><a href="./">Ja</a></li>' in text_of(website.get("/docs/ja/page7.html"))
    assert website.get("/docs/nl/") is None


def test_a_link_to_a_missing_page_looks_and_says_so(tmp_path: Path) -> None:
    text = "# A\n\n[gone](gone.md) [there](b.md) [file](b.zip) [outside](../../c.md)\n"
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    (tmp_path / "b.md").write_text("# B\n", encoding="utf-8")
    page = text_of(Website(DocsFolder.open(tmp_path), base_url="").get("/a.html"))

    assert '<a href="gone.md" title="There is no such page" class="missing">gone</a>' in page
    assert page.count('class="missing"') == 1


def test_what_does_not_exist_is_none_and_has_a_page_with_suggestions(website: Website) -> None:
    assert website.get("/guide/instal.html") is None
    assert website.get("/assets/citewell/../pages.py") is None

    page = text_of(website.not_found("/guide/instal.html"))

    assert '<a href="install.html">Installing</a>' in page
    assert '<link rel="stylesheet" href="../assets/citewell/site.css?v=' in page


def test_a_hostile_address_is_not_repeated_on_the_page_that_misses_it(website: Website) -> None:
    page = text_of(website.not_found('/"><script>alert(1)</script>/x.html'))

    assert "alert(1)" not in page
    assert "<script>" not in page


def test_the_search_page_works_without_scripts(website: Website) -> None:
    page = text_of(website.search("radio <b>"))

    assert '<a href="guide/radio.html">Radio</a>' in page
    assert "<mark>radio</mark>" in page
    assert 'value="radio &lt;b&gt;"' in page
    assert '<form class="search-page" action="search.html" method="get">' in page


def test_the_search_page_marks_whole_words_and_nothing_inside_of_one(tmp_path: Path) -> None:
    words = "A rain gauge of the trainer: rains were gauged, 雨量計 too."
    (tmp_path / "rain.md").write_text(f"# Weather\n\n{words}\n", encoding="utf-8")
    website = Website(DocsFolder.open(tmp_path), base_url="")

    def marks(query: str) -> list[str]:
        return re.findall("<mark>(.*?)</mark>", text_of(website.search(query)))

    assert marks("rain gauge") == ["rain", "gauge", "rains", "gauged"]
    assert marks("雨量") == ["雨量"]


def test_the_search_page_says_when_nothing_was_found(website: Website) -> None:
    assert "No page has these words" in text_of(website.search("zzzzqqqq"))
    assert "No page has these words" not in text_of(website.get("/search.html"))


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("site.css", "text/css; charset=utf-8"),
        ("search.js", "text/javascript; charset=utf-8"),
        ("favicon.svg", "image/svg+xml"),
    ],
)
def test_theme_files_are_served(website: Website, name: str, media_type: str) -> None:
    file = website.get(f"/assets/citewell/{name}")

    assert file is not None
    assert file.media_type == media_type
    assert file.body


def test_the_etag_follows_the_page(folder: DocsFolder, website: Website) -> None:
    before = website.get("/guide/radio.html")
    again = website.get("/guide/radio.html")
    (folder.root / "guide" / "radio.md").write_text("# Radio\n\nOther words.\n", encoding="utf-8")
    folder.refresh()
    after = website.get("/guide/radio.html")

    assert before is again
    assert before is not None
    assert after is not None
    assert before.etag != after.etag
    assert "Other words." in after.body.decode()


def test_two_processes_give_a_page_the_same_etag(folder: DocsFolder) -> None:
    program = (
        "import sys; from pathlib import Path; from citewell.docsite.folder import DocsFolder; "
        "from citewell.docsite.site.website import Website; "
        "site = Website(DocsFolder.open(Path(sys.argv[1])), base_url=''); "
        "print(site.get('/guide/install.html').etag)"
    )
    command = [sys.executable, "-c", program, str(folder.root)]

    etags = {subprocess.check_output(command, timeout=120) for _ in range(2)}

    assert len(etags) == 1


def test_the_site_map_lists_every_page(website: Website) -> None:
    page = text_of(website.get("/sitemap.xml"))

    assert page.count("<loc>https://docs.example/") == 4


def test_long_names_are_broken_at_their_dots_and_underscores(tmp_path: Path) -> None:
    text = "# http.server\n\n## BaseHTTPServer.send_response_only\n\nA.\n\n## End. Next\n\nB.\n"
    (tmp_path / "server.md").write_text(text, encoding="utf-8")
    website = Website(DocsFolder.open(tmp_path), base_url="")

    page = text_of(website.get("/server.html"))

    assert "BaseHTTPServer.<wbr>send_<wbr>response_<wbr>only</a>" in page
    assert ">End. Next</a>" in page


def test_large_scripts_come_after_those_that_every_page_needs(tmp_path: Path) -> None:
    (tmp_path / "flow.md").write_text("# Flow\n\n```mermaid\na --> b\n```\n", encoding="utf-8")
    website = Website(DocsFolder.open(tmp_path), base_url="")

    scripts = re.findall(r"citewell/(\w+)\.js", text_of(website.get("/flow.html")))

    # Mermaid is named for the last one, which loads it when it is needed.
    assert scripts == ["theme", "site", "search", "diagrams", "mermaid"]


def test_a_long_menu_shows_what_is_near_and_the_list_of_pages_all(tmp_path: Path) -> None:
    for group in range(30):
        (tmp_path / f"group{group:02}").mkdir()
        for number in range(15):
            file = tmp_path / f"group{group:02}" / f"page{number:02}.md"
            file.write_text(f"# Page {group} {number}\n", encoding="utf-8")
    website = Website(DocsFolder.open(tmp_path), base_url="")

    page = text_of(website.get("/group03/page04.html"))
    contents = text_of(website.get("/"))

    assert contents.count('.html">Page ') == 30 * 15
    # Nothing in the list folds: a page with others below it would have a mark without words.
    assert "<details" not in contents.partition("<article")[2]
    assert '<a href="page05.html">Page 3 5</a>' in page
    assert '<a href="../group04/" class="folded">' in page
    assert "group04/page05.html" not in page
