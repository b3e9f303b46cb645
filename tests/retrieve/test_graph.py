"""Search in the neighbourhood of the best hit."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.drafts import draft

from citewell.core.question import parse_query
from citewell.core.records import Link, RankedChunk, SearchFilter
from citewell.retrieve.candidates import find_candidates
from citewell.retrieve.graph import add_neighbours
from citewell.retrieve.rerank import rank
from citewell.store.open import open_store
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

ALL = SearchFilter(project="default")


def link(url: str) -> Link:
    return Link(url=url, text="there", context="see there", section=0, start=0)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    opened = await open_store("sqlite://")
    links = (link("https://a.org/wood"), link("https://a.org/secret"), link("https://a.org/gone"))
    await opened.put_page(
        draft("https://a.org/film", "The heron film was made by Wood.", links=links)
    )
    await opened.put_page(draft("https://a.org/wood", "Born in Ohio.", title="Wood"))
    await opened.put_page(draft("https://a.org/secret", "Hidden.", tags=("secret",)))
    await opened.put_page(draft("https://a.org/other", "A film about nothing."))
    yield opened
    await opened.aclose()


async def search(store: Store, text: str, where: SearchFilter = ALL) -> list[RankedChunk]:
    query = parse_query(text)
    found = await find_candidates(query, store=store, embedder=None, where=where, depth=20)
    ranked = (await rank(query, found.found, reranker=None)).chunks
    return list(await add_neighbours(ranked, text, store=store, where=where))


async def test_a_page_that_the_best_hit_links_to_is_found_though_it_shares_no_word(
    store: Store,
) -> None:
    found = await search(store, "who made the heron film")

    neighbour = next(each for each in found if each.chunk.url == "https://a.org/wood")
    assert found[0].chunk.url == "https://a.org/film"
    assert (neighbour.matched_by, neighbour.confidence) == ("locality", None)
    assert 0 < neighbour.relevance < found[0].relevance


async def test_a_hit_that_is_also_a_neighbour_stays_a_hit(store: Store) -> None:
    found = await search(store, "heron film ohio")

    wood = next(each for each in found if each.chunk.url == "https://a.org/wood")
    assert wood.matched_by == "words"
    assert len({each.chunk.chunk_id for each in found}) == len(found)


async def test_neighbours_pass_the_filter(store: Store) -> None:
    allowed = SearchFilter(project="default", url_prefix="https://a.org/film")

    found = await search(store, "who made the heron film", allowed)

    assert [each.chunk.url for each in found] == ["https://a.org/film"]


async def test_nothing_found_has_no_neighbours(store: Store) -> None:
    assert await search(store, "zebra") == []
