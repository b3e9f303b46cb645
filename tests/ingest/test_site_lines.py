"""What repeats at the edges of a site's pages is learnt, and is in no chunk."""

from __future__ import annotations

import pytest
from tests.ingest.fetched import extracted
from tests.ingest.ingester import open_ingester
from tests.site import Site, running_site

from citewell.core.records import ExtractedPage
from citewell.ingest.chunk import chunk_page
from citewell.ingest.site_lines import SiteLines, content_span
from citewell.store.open import open_store
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

BIRDS = ("heron", "egret", "bittern", "stork", "ibis", "crane", "spoonbill")
PAGES = {
    f"/{bird}": f"<body><p>Small. Fast. Reliable.</p><h1>The {bird}</h1>"
    f"<p>The {bird} wades through shallow water and eats fish.</p></body>"
    for bird in BIRDS
}


async def chunks_with_slogan(store: Store, site: Site) -> list[str]:
    """Return the stored pages that have the line of all pages in a chunk."""
    held: list[str] = []
    for path in PAGES:
        page = await store.find_page(site.url(path), project="default")
        chunks = await store.chunks_of_page(page.source_id) if page is not None else []
        held += [path for chunk in chunks if "Reliable" in chunk.text]
    return held


async def test_the_first_pages_of_a_site_are_read_again_once_it_is_known_what_repeats() -> None:
    store = await open_store("sqlite://")
    with running_site(PAGES) as site:
        async with open_ingester(store) as ingester:
            for path in PAGES:
                await ingester.ingest(site.url(path), project="default")

    assert await chunks_with_slogan(store, site) == []
    await store.aclose()


async def test_a_restart_forgets_nothing_about_a_site() -> None:
    store = await open_store("sqlite://")
    *early, last = PAGES
    with running_site(PAGES) as site:
        async with open_ingester(store) as ingester:
            for path in early:
                await ingester.ingest(site.url(path), project="default")
        async with open_ingester(store) as ingester:
            await ingester.ingest(site.url(last), project="default")
            await ingester.ingest(site.url(last), project="another")

    assert await chunks_with_slogan(store, site) == []
    elsewhere = await store.find_page(site.url(last), project="another")
    assert elsewhere is not None
    chunks = await store.chunks_of_page(elsewhere.source_id)
    assert chunks[0].text.startswith("Small. Fast. Reliable.")
    await store.aclose()


def page(number: int) -> ExtractedPage:
    return extracted(
        f"Small. Fast. Reliable.\n\n# Chapter {number}\n\n{'Herons wade. ' * number}\n\nReturns a bird.\n\n"
        "## Last update:\n\nNov 11, 2026\n",
        "markdown",
    )


def learnt(pages: int) -> frozenset[int]:
    site = SiteLines()
    for number in range(1, pages + 1):
        site.add_page("example.org", f"/{number}", page(number).text)
    assert site.repeated("example.com") == frozenset()
    return site.repeated("example.org")


def test_lines_that_most_pages_begin_or_end_with_are_in_no_chunk() -> None:
    chunks = chunk_page(page(9), repeated=learnt(6))

    text = "\n".join(chunk.text for chunk in chunks)
    assert text.startswith("# Chapter 9\n\nHerons wade.")
    assert text.endswith("Herons wade.")
    for chunk in chunks:
        assert chunk.text == page(9).text[chunk.start : chunk.end]


def test_two_pages_say_nothing_about_their_site() -> None:
    assert learnt(2) == frozenset()


def test_a_page_of_repeated_lines_alone_is_kept_whole() -> None:
    text = "Small. Fast. Reliable.\n\n## Last update:\n"

    assert content_span(text, learnt(6)) == (0, len(text))


def test_tables_and_code_at_an_edge_are_kept() -> None:
    site = SiteLines()
    for number in range(6):
        site.add_page("s", f"/{number}", "```\nimport heron\n```\n\nText.\n")

    assert content_span("```\nimport heron\n```\n\nMore.\n", site.repeated("s"))[0] == 0
