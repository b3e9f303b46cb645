"""Files that strangers made, built to be slow, large or malformed: each is done with in a moment."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import pytest
from tests.hostile.little_cpu import little_cpu, short_steps
from tests.site import Response, running_site

from citewell.core.cited_document import parse_references
from citewell.core.errors import ArchiveRefused, RobotsDisallowed, UnsupportedContent
from citewell.core.library import CrawlOptions
from citewell.ingest.discover import discover_urls
from citewell.ingest.extract.markdown.front_matter import (
    find_front_matter_fault,
    split_front_matter,
)
from citewell.ingest.packages.find import find_project
from citewell.ingest.receipt.container import pack_files
from citewell.ingest.receipt.verify import verify_receipt
from citewell.ingest.receipt.write import (
    DIGEST_PATH,
    FORMAT,
    FORMAT_VERSION,
    PACKAGE_PATH,
    RECEIPT_PATH,
    WARC_PATH,
    to_json,
)
from citewell.ingest.site_search import search_site
from citewell.web.fetcher import Fetcher
from citewell.web.sandbox import Sandbox
from citewell.web.sitemap import parse_sitemap
from citewell.web.sphinx_inventory import parse_inventory
from citewell.web.sphinx_search import rank_pages

if TYPE_CHECKING:
    from pathlib import Path

SITEMAP = "https://a.example/sitemap.xml"
INVENTORY = b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# packed by zlib.\n"


def pom(properties: str) -> str:
    dependency = "<dependency><groupId>${a}</groupId><artifactId>x</artifactId></dependency>"
    return (
        f"<project><properties>{properties}</properties>"
        f"<dependencies>{dependency}</dependencies></project>"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", ".".join("a" * 40_000) + " = 1"),
        ("pyproject.toml", "[" + " . ".join(["'a'"] * 40_000) + "]"),
        ("pyproject.toml", "a = {" + '"a".' * 40_000 + "a = 1}"),
        ("pyproject.toml", "a = " + "9" * 5_000),
        ("uv.lock", "a = " + "{a = " * 50_000),
        ("Cargo.lock", ".".join("a" * 40_000) + " = 1"),
        ("composer.lock", '{"packages": [{"name": "a\\ud800", "version": "1"}]}'),
        ("composer.lock", '{"packages": [{"name": "a\\n[2] pypi:b", "version": "1"}]}'),
        ("package.json", '{"dependencies": {"a\\ud800": "1"}}'),
    ],
    ids=["dotted", "header", "inline", "digits", "nested", "cargo", "half", "lines", "npm"],
)
def test_a_project_file_is_reported_and_names_nothing(
    tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")

    with little_cpu():
        project = find_project(tmp_path)

    assert project.dependencies == ()
    assert [problem.partition(" ")[0] for problem in project.problems] == [name]
    assert "".join(project.problems).isprintable()


@pytest.mark.parametrize(
    "properties",
    [
        "<a>" + "${b}" * 100 + "</a><b>" + "${c}" * 100 + "</b><c>" + "${d}" * 100 + "</c><d>x</d>",
        f"<a>{'${b}' * 100}</a><b>{'x' * 1_000_000}</b>",
        "<a>${a}${a}</a>",
    ],
    ids=["levels", "long", "itself"],
)
def test_properties_of_a_pom_that_multiply_name_nothing(tmp_path: Path, properties: str) -> None:
    (tmp_path / "pom.xml").write_text(pom(properties), encoding="utf-8")

    with little_cpu():
        assert find_project(tmp_path).dependencies == ()


def test_a_long_lock_file_is_compared_with_a_long_script_once(tmp_path: Path) -> None:
    lines = [f"org.x{i}:y:1.0=compileClasspath" for i in range(5_000)]
    (tmp_path / "gradle.lockfile").write_text("\n".join(lines), encoding="utf-8")
    script = "org.x" * 200_000 + "\nimplementation 'org.x7:y:1.0'"
    (tmp_path / "build.gradle").write_text(script, encoding="utf-8")

    with little_cpu():
        (dependency,) = find_project(tmp_path).dependencies

    assert dependency.name == "org.x7:y"


@pytest.mark.parametrize(
    "text",
    [
        "---\na: &a x\n" + "b: [*a, *a]\n" * 50_000 + "---\n",
        "---\na: " + "[" * 200_000 + "\n---\n",
        "---\n" + "a:\n" * 100_000,
        "---\na: " + " " * 200_000 + "\n" * 100_000 + "---\n",
    ],
    ids=["aliases", "nested", "endless", "spaces"],
)
def test_front_matter_is_split_in_a_moment(text: str) -> None:
    with little_cpu():
        split_front_matter(text)
        find_front_matter_fault(text)


def entities(encoding: str) -> bytes:
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 9))
    head = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY e0 "x">{levels}]>'
    return f"{head}<urlset><url><loc>/&e8;</loc></url></urlset>".encode(encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_sitemap_with_entities_is_refused_in_any_encoding(encoding: str) -> None:
    with little_cpu():
        try:
            urls = parse_sitemap(entities(encoding), address=SITEMAP).urls
        except UnsupportedContent:
            urls = ()

    assert urls == ()


@pytest.mark.parametrize(
    "rest",
    [
        b"</urlset></urlset>",
        b"<url>" * 50_000 + b"</url>" * 50_000,
        b"<url>" + b"<x/>" * 50_000 + b"</url></urlset>",
        b"<url a='" + b"x" * 500_000,
        b"\xff\xfe</urlset>",
    ],
    ids=["closed twice", "nested", "wide", "open", "bytes"],
)
def test_what_stands_before_the_hostile_part_of_a_sitemap_is_found(rest: bytes) -> None:
    body = b"<urlset><url><loc>/heron</loc></url>" + rest

    with little_cpu():
        urls = parse_sitemap(body, address=SITEMAP).urls

    assert [page.url for page in urls] == ["https://a.example/heron"]


def test_a_sitemap_in_an_encoding_that_cannot_be_read_names_nothing() -> None:
    body = b'<?xml version="1.0" encoding="utf-7"?><urlset><url><loc>/a</loc></url></urlset>'

    assert parse_sitemap(body, address=SITEMAP).urls == ()


@pytest.mark.parametrize(
    "text",
    [b"\0" * 60_000_000, b" " * 1_000_000, b"a:b " * 300_000, b"a py:f 1 $ -\n" * 100_000],
    ids=["bomb", "spaces", "words", "names"],
)
def test_an_inventory_is_parsed_in_bounds(text: bytes) -> None:
    body = INVENTORY + zlib.compress(text)

    with little_cpu():
        plain = parse_inventory(body)

    assert plain is not None
    assert plain[2:] == ((), ())


@pytest.mark.parametrize(
    "index",
    [b"[" * 200_000, b'{"terms":' * 200_000, b"9" * 5_000, b"{}" * 100_000],
    ids=["arrays", "objects", "digits", "rubbish"],
)
def test_a_search_index_that_cannot_be_parsed_is_none(index: bytes) -> None:
    with little_cpu():
        assert rank_pages(b"Search.setIndex(" + index + b")", {"heron": 1.0}, 3) is None


@pytest.mark.anyio
async def test_a_site_whose_lists_are_hostile_is_crawled_by_its_links() -> None:
    """Bounded by what the crawl can use, in the process that parses: none holds up this one."""
    entry = b"a std:doc -1 p%d.html -\n"
    names = b"".join(entry % i for i in range(20_000))
    pages: dict[str, bytes] = {
        "/docs/objects.inv": INVENTORY + zlib.compress(names),
        "/bad/objects.inv": INVENTORY + b"rubbish",
        "/bad/sitemap.xml": gzip.compress(entities("utf-16-le")),
        "/bad/searchindex.js": b"Search.setIndex(" + b"[" * 200_000 + b")",
    }
    with running_site({path: Response(body=body) for path, body in pages.items()}) as site:
        async with Fetcher(allowed_private_hosts=("127.0.0.1",)) as fetcher:
            many = await discover_urls(fetcher, site.url("/docs/"), CrawlOptions(max_pages=10))
            bad = await discover_urls(fetcher, site.url("/bad/"), CrawlOptions(max_pages=10))
            found = await search_site(fetcher, site.url("/bad/a.html"), {"heron": 1.0}, limit=3)

    assert (many.discovery, len(many.urls)) == ("inventory", 1_000)
    assert (bad.discovery, len(bad.urls)) == ("links", 1)
    assert found == []


def receipt(warc: bytes) -> bytes:
    about = {"format": FORMAT, "version": FORMAT_VERSION, "software": "x", "created": "x"}
    seal = {"publicKey": "A" * 43 + "=", "signature": "A"}
    files = {
        WARC_PATH: gzip.compress(warc),
        RECEIPT_PATH: to_json({**about, "pages": [], "citations": []}),
        PACKAGE_PATH: to_json({"resources": []}),
        DIGEST_PATH: to_json({"citewell": seal}),
    }
    return pack_files(files)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("warc", "reason"),
    [
        (b"WARC/1.0\r\nA: b\r\n" + b" c\r\n" * 1_000_000, "takes too much time"),
        (b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n" * 3, "archive is damaged"),
    ],
    ids=["headers", "records in one member"],
)
async def test_a_receipt_that_cannot_be_opened_in_time_is_refused(warc: bytes, reason: str) -> None:
    sandbox = Sandbox(preload=("citewell.ingest.reading",), cpu_seconds=0.5)
    try:
        with pytest.raises(ArchiveRefused, match=reason):
            await verify_receipt(receipt(warc), sandbox=sandbox, known_keys=())
    finally:
        await sandbox.aclose()


@pytest.mark.parametrize(
    "piece", ["<http://a", '"a b c d e" ', "[a]: http://x\n", f"http://a{')' * 1_900}\n"]
)
def test_the_references_of_a_long_document_are_found_in_a_moment(piece: str) -> None:
    with little_cpu():
        references = parse_references((piece * 150_000)[:1_000_000])

    assert references


@pytest.mark.anyio
async def test_many_rules_of_a_robots_txt_are_compared_beside_the_event_loop() -> None:
    rules = "Allow:*aab\n" * 40_000
    with running_site({"/robots.txt": f"User-agent: *\n{rules}Disallow: *ba$\n"}) as site:
        async with Fetcher(allowed_private_hosts=(site.host,)) as fetcher:
            urls = [site.url("/" + "a" * 3_900), site.url("/ba")]
            async with short_steps():
                await fetcher.check_robots(urls[0])
                with pytest.raises(RobotsDisallowed):
                    await fetcher.check_robots(urls[1])
