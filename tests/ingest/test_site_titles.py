"""Pages of a folder that have one title are told apart by what is their own."""

from __future__ import annotations

import pytest
from tests.ingest.ingester import open_ingester
from tests.site import Site, running_site

from citewell.store.open import open_store
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

BIRDS = ("heron", "egret", "bittern", "stork", "ibis")


def bird_page(bird: str, *, title: str = "Birds of the fen: a guide") -> str:
    return (
        f"<title>{title}</title><h1>Birds of the fen: a guide</h1><h2>Range</h2>"
        f"<p>Where it is seen.</p><h2>The {bird}</h2><p>It wades through shallow water.</p>"
    )


PAGES = {f"/guide/{number}.html": bird_page(bird) for number, bird in enumerate(BIRDS)}


async def titles_of(store: Store, site: Site, paths: list[str]) -> list[str]:
    pages = [await store.find_page(site.url(path), project="default") for path in paths]
    return [page.title if page is not None else "" for page in pages]


async def ingest_all(store: Store, site: Site, paths: list[str]) -> None:
    async with open_ingester(store) as ingester:
        for path in paths:
            await ingester.ingest(site.url(path), project="default")


async def test_pages_of_one_title_are_named_by_the_heading_that_only_they_have() -> None:
    store = await open_store("sqlite://")
    with running_site(PAGES) as site:
        await ingest_all(store, site, list(PAGES))

        titles = await titles_of(store, site, list(PAGES))

    assert titles == [f"The {bird} – Birds of the fen: a guide" for bird in BIRDS]
    await store.aclose()


async def test_a_restart_does_not_forget_which_title_a_folder_shares() -> None:
    store = await open_store("sqlite://")
    *early, last = PAGES
    with running_site(PAGES) as site:
        await ingest_all(store, site, early)
        await ingest_all(store, site, [last])

        titles = await titles_of(store, site, [last])

    assert titles == ["The ibis – Birds of the fen: a guide"]
    await store.aclose()


async def test_the_title_of_the_window_names_a_page_if_only_its_heading_is_shared() -> None:
    store = await open_store("sqlite://")
    pages = {
        f"/guide/{bird}.html": bird_page(bird, title=f"Birds of the fen: a guide ({bird})")
        for bird in BIRDS
    }
    with running_site(pages) as site:
        await ingest_all(store, site, list(pages))

        titles = await titles_of(store, site, list(pages))

    assert titles == [f"Birds of the fen: a guide ({bird})" for bird in BIRDS]
    await store.aclose()


async def test_pages_without_a_heading_of_their_own_are_named_by_their_address() -> None:
    store = await open_store("sqlite://")
    text = "<title>News of the fen</title><p>In the year {} nothing happened that was new.</p>"
    pages = {f"/news/{year}.html": text.format(year) for year in ("y2024", "y2025", "y2026")}
    with running_site(pages) as site:
        await ingest_all(store, site, list(pages))

        titles = await titles_of(store, site, list(pages))

    assert titles == [f"{year} – News of the fen" for year in ("y2024", "y2025", "y2026")]
    await store.aclose()


async def test_one_page_in_several_versions_keeps_its_title() -> None:
    store = await open_store("sqlite://")
    pages = {f"/{version}/1.html": bird_page("heron") for version in ("v1", "v2", "v3", "v4")}
    with running_site(pages) as site:
        await ingest_all(store, site, list(pages))

        titles = await titles_of(store, site, list(pages))

    assert titles == ["Birds of the fen: a guide"] * 4
    await store.aclose()
