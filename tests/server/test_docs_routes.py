"""The docs website over HTTP."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.docsite.folders import BIRDS
from tests.server.docs_serving import browsing_docs

pytestmark = pytest.mark.anyio

PICTURE = b"\x89PNG\r\n\x1a\n"
FILES: dict[str, str | bytes] = {
    **BIRDS,
    "img/heron.png": PICTURE,
    "img/owl.svg": "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    "own.html": "<script>alert(1)</script>",
    "own.js": "alert(1)",
    ".env": "KEY=1",
}


async def test_broken_links_are_told_to_who_serves_the_folder(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    links = "".join(f"- [Gull {number}](gull-{number}.md)\n" for number in range(12))
    pages = {**BIRDS, "gulls.md": f"# Gulls\n\n{links}\n[Owls](guide/owls.md) `[x](y.md)`\n"}

    async with browsing_docs(tmp_path, pages, mcp_enabled=False):
        with anyio.fail_after(60):
            while "more broken links" not in caplog.text:
                await anyio.lowlevel.checkpoint()

    told = [record.getMessage() for record in caplog.records if "docs_server" in record.name]
    assert told[:10] == [f"gulls.md: no page at gull-{number}.md" for number in range(10)]
    assert told[10] == "2 more broken links; `citewell docs build` lists them all"


async def test_a_page_is_html_for_people_and_markdown_for_models(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, FILES, mcp_enabled=False) as client:
        home = await client.get("/")
        shown = await client.get("/guide/herons.html")
        raw = await client.get("/guide/herons.md")

    assert "<h1" in home.text
    assert "The grey heron eats fish" in shown.text
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert raw.text == BIRDS["guide/herons.md"]
    assert raw.headers["content-type"] == "text/markdown; charset=utf-8"


@pytest.mark.parametrize(
    ("asked", "target"),
    [
        ("/guide/herons", "/guide/herons.html"),
        ("/index.html", "/"),
        ("/index", "/"),
        ("/guide/herons.html/", None),
        ("//evil.example/guide/herons", None),
    ],
)
async def test_every_page_has_one_address(tmp_path: Path, asked: str, target: str | None) -> None:
    async with browsing_docs(tmp_path, FILES, mcp_enabled=False) as client:
        answer = await client.get(str(client.base_url).rstrip("/") + asked)

    assert answer.headers.get("location") == target
    assert answer.status_code == (404 if target is None else 301)


@pytest.mark.parametrize("path", ["/guide/herons.html", "/guide/herons.md", "/llms.txt"])
async def test_what_a_reader_has_already_is_not_sent_again(tmp_path: Path, path: str) -> None:
    async with browsing_docs(tmp_path, FILES, mcp_enabled=False) as client:
        first = await client.get(path)
        etag = first.headers["etag"]
        same = await client.get(path, headers={"If-None-Match": f'"x", W/{etag}'})
        other = await client.get(path, headers={"If-None-Match": '"x"'})
        head = await client.head(path)

    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", etag)
    assert other.content == first.content
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", etag)
    assert head.headers["content-length"] == first.headers["content-length"]


async def test_pictures_are_served_and_scripts_of_the_folder_are_not(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, FILES, mcp_enabled=False) as client:
        picture = await client.get("/img/heron.png")
        drawing = await client.get("/img/owl.svg")
        refused = [await client.get(path) for path in ("/own.html", "/own.js", "/.env")]

    assert (picture.content, picture.headers["content-type"]) == (PICTURE, "image/png")
    assert "sandbox" in drawing.headers["content-security-policy"]
    assert drawing.headers["x-content-type-options"] == "nosniff"
    assert [answer.status_code for answer in refused] == [404, 404, 404]


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.md",
        "/%2e%2e/secret.md",
        "/..%2fsecret.md",
        "/%252e%252e/secret.md",
        "/guide/..%5c..%5csecret.md",
        "/secret.md%00.png",
        "/..;/secret.md",
        "/%c0%ae%c0%ae/secret.md",
        "//secret.md",
        "/out.md",
        "/file:///etc/passwd",
    ],
)
async def test_no_address_leads_out_of_the_folder(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.md").write_text("the secret", encoding="utf-8")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "out.md").symlink_to(tmp_path / "secret.md")

    async with browsing_docs(docs, FILES, mcp_enabled=False) as client:
        answer = await client.get(str(client.base_url).rstrip("/") + path)

    assert answer.status_code == 404
    assert "the secret" not in answer.text


async def test_an_address_that_leads_nowhere_is_told_in_a_page_of_the_site(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, FILES, mcp_enabled=False) as client:
        answer = await client.get("/guide/heron.html")

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "herons.html" in answer.text


async def test_a_search_box_gets_results_as_its_reader_types(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, FILES, mcp_enabled=False) as client:
        typed = (await client.get("/api/search", params={"q": "hungr", "limit": "3"})).json()
        odd = [
            (await client.get("/api/search", params=params)).status_code
            for params in ({}, {"q": ""}, {"q": "x" * 9_000}, {"q": "owl", "limit": "-1"})
        ]
        page = await client.get("/search.html", params={"q": "owls<script>"})
        slip = await client.get("/search.html", params={"q": "hungy"})

    assert typed["results"][0]["url"] == "/guide/herons.html#in-winter"
    assert re.search("<mark>hungry</mark>", slip.text, re.IGNORECASE)
    assert odd == [200, 200, 200, 200]
    assert "<script>" not in page.text.replace("<script src", "").split("owls", 1)[1][:40]


async def test_the_search_page_lists_what_the_box_lists_in_its_order(tmp_path: Path) -> None:
    files = {
        "a.md": "# Hunting\n\nHow a hunter hunts by night, and where hunters hide.\n",
        "b.md": "# Hunt\n\nThe hunt.\n",
        "c.md": "# Birds\n\nHunt, hunting, hunters, huntsmen and the hunt of the night.\n",
    }
    async with browsing_docs(tmp_path, files, mcp_enabled=False) as client:
        for query in ("hunt", "hunte", "night hun"):
            box = (await client.get("/api/search", params={"q": query})).json()["results"]
            page = (await client.get("/search.html", params={"q": query})).text

            listed = re.findall(r'<li>\s*<a href="([^"]+)"', page.partition("result-list")[2])
            assert [f"/{address}" for address in listed] == [hit["url"] for hit in box], query


async def test_models_find_the_lists_made_for_them(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, FILES, mcp_enabled=False) as client:
        listed = await client.get("/llms.txt")
        full = await client.get("/llms-full.txt")
        health = await client.get("/healthz")

    assert f"{client.base_url}/guide/herons.md" in listed.text
    assert "The grey heron eats fish" in full.text
    assert health.json()["pages"] == 4


async def test_a_list_of_the_folders_own_is_served_as_it_is(tmp_path: Path) -> None:
    async with browsing_docs(
        tmp_path, {**FILES, "llms.txt": "# Mine\n"}, mcp_enabled=False
    ) as client:
        listed = await client.get("/llms.txt")

    assert listed.text == "# Mine\n"


async def test_crawlers_are_told_that_they_may_read_everything(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, docs_base_url="https://birds.example") as client:
        robots = await client.get("/robots.txt")

    assert robots.headers["content-type"].startswith("text/plain")
    assert robots.text == ("User-agent: *\nAllow: /\nSitemap: https://birds.example/sitemap.xml\n")
