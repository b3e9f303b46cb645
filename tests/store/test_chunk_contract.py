"""Every promise of Store about the chunks of pages, run once per backend."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.drafts import FETCHED_AT, draft
from tests.store.looking import MODEL, chunk_ids, found, nearest, vector

from citewell.core.graph import NodeRef
from citewell.core.ids import content_hash
from citewell.core.records import (
    StoredChunk,
)
from citewell.core.words import text_words
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio


async def test_a_chunk_carries_the_tags_of_its_page_whoever_asks_for_it(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "Herons wade.", tags=("birds", "zoo")))
    [of_page] = await store.chunks_of_page(put.source_id)
    section = NodeRef("section", put.source_id, of_page.section)

    [loaded] = await store.load_chunks([of_page.chunk_id])
    [of_section] = await store.chunks_of_sections([section], limit=1)

    assert of_page.tags == loaded.tags == of_section.tags == ("birds", "zoo")


async def test_a_chunk_comes_back_with_what_is_needed_to_cite_it(store: Store) -> None:
    page = draft("https://a.org/", "Herons wade.", "Egrets fly.", title="Birds", heading="Waders")
    put = await store.put_page(page)

    [_, chunk] = await store.chunks_of_page(put.source_id)

    assert chunk == StoredChunk(
        chunk_id=chunk.chunk_id,
        source_id=put.source_id,
        url="https://a.org/",
        title="Birds",
        page_hash=content_hash(page.extracted.text),
        fetched_at=FETCHED_AT,
        language="en",
        kind="html",
        content_type="general",
        ordinal=1,
        section=0,
        heading_path=("Waders",),
        anchor="waders",
        start=14,
        end=25,
        text="Egrets fly.",
        tokens=2,
        has_code=False,
    )
    assert chunk.text == page.extracted.text[chunk.start : chunk.end]


async def test_chunks_that_stay_keep_their_ids_and_vectors(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "heron", "egret", "stork"))
    heron, egret, stork = await chunk_ids(store, put.source_id)
    given = {heron: vector(1, 0), egret: vector(0, 1), stork: vector(-1, 0)}
    await store.put_vectors(given, model=MODEL)

    again = await store.put_page(draft("https://a.org/", "ibis", "stork", "heron"))

    ibis, *kept = await chunk_ids(store, put.source_id)
    chunks = await store.chunks_of_page(put.source_id)
    assert again.chunks_kept == 2
    assert kept == [stork, heron]
    assert ibis not in {heron, egret, stork}
    assert [(chunk.ordinal, chunk.start) for chunk in chunks] == [(0, 0), (1, 6), (2, 13)]
    assert await nearest(store, [1, 0]) == [heron, stork]
    assert await store.chunks_to_embed(model=MODEL, limit=9) == [(ibis, "\nibis")]


async def test_repeated_paragraphs_are_separate_chunks(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "same", "same", "same"))
    before = await chunk_ids(store, put.source_id)

    again = await store.put_page(draft("https://a.org/", "same", "same"))

    assert len(set(before)) == 3
    assert again.chunks_kept == 2
    assert await chunk_ids(store, put.source_id) == before[:2]


async def test_a_kept_chunk_is_found_by_its_new_heading_only(store: Store) -> None:
    page = draft("https://a.org/", "wading bird", heading="Heron")
    renamed = draft("https://a.org/", "wading bird", heading="Egret")
    same_for_the_embedder = replace(
        renamed,
        chunks=(replace(renamed.chunks[0], embedded_text=page.chunks[0].embedded_text),),
    )
    await store.put_page(page)

    again = await store.put_page(same_for_the_embedder)

    assert again.chunks_kept == 1
    assert await found(store, "heron") == []
    assert await found(store, "egret") == ["wading bird"]


async def test_a_chunk_that_is_no_slice_of_its_page_is_refused_whole(store: Store) -> None:
    page = draft("https://a.org/", "heron")
    wrong = replace(page, chunks=(replace(page.chunks[0], start=1),))

    with pytest.raises(ValueError, match="chunk 0"):
        await store.put_page(wrong)

    assert await store.find_page("https://a.org/", project="default") is None


async def test_chunks_are_loaded_in_the_order_asked(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", *[f"p{number}" for number in range(20)]))
    ids = await chunk_ids(store, put.source_id)
    asked = [ids[9], ids[2], 9999, ids[17], ids[2]]

    chunks = await store.load_chunks(asked)

    assert [chunk.text for chunk in chunks] == ["p9", "p2", "p17", "p2"]


async def test_a_loaded_chunk_brings_the_words_of_its_text_where_they_are_kept(
    store: Store,
) -> None:
    text = "Herons *wade* in [shallow](https://a.org/deep/water.html) streams."
    put = await store.put_page(draft("https://a.org/", text))

    [chunk] = await store.load_chunks(await chunk_ids(store, put.source_id))

    assert chunk.words in (None, " ".join(text_words(text)))


async def test_a_range_of_a_pages_chunks_can_be_asked_for(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", *"abcdef"))

    middle = await store.chunks_of_page(put.source_id, first_ordinal=2, last_ordinal=3)
    tail = await store.chunks_of_page(put.source_id, first_ordinal=4)

    assert [chunk.text for chunk in middle] == ["c", "d"]
    assert [chunk.text for chunk in tail] == ["e", "f"]
    assert await store.chunks_of_page(9999) == []
