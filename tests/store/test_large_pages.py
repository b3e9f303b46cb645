"""Pages of thousands of chunks change whole, on both databases."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest
from tests.drafts import draft
from tests.store.backends import empty_store
from tests.store.large_pages import CHUNKS, URL, large_page
from tests.store.looking import ALL, MODEL, chunk_ids, found, vector

from citewell.core.errors import SuppliedTextRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio


@pytest.fixture
async def file_store(tmp_path: Path) -> AsyncIterator[Store]:
    async with empty_store("sqlite-file", tmp_path, model=MODEL) as opened:
        yield opened


async def test_a_large_page_comes_back_as_it_was_put(store: Store) -> None:
    page = large_page()

    put = await store.put_page(page)
    stored = await store.get_page(put.source_id)

    assert (put.created, put.text_changed, put.chunks, put.chunks_kept) == (True, True, CHUNKS, 0)
    assert stored is not None
    assert (stored.text, stored.links) == (page.extracted.text, page.extracted.links)
    assert (stored.info.etag, stored.info.extractor) == ('"1"', 7)
    chunks = await store.chunks_of_page(put.source_id)
    assert [each.text for each in chunks] == [each.text for each in page.chunks]


async def test_a_large_page_that_changed_keeps_the_vectors_of_what_stayed(store: Store) -> None:
    put = await store.put_page(large_page())
    before = await chunk_ids(store, put.source_id)
    await store.put_vectors(dict.fromkeys(before, vector(1, 0)), model=MODEL)
    changed = large_page("Crane")

    again = await store.put_page(changed)
    after = await store.chunks_of_page(again.source_id)

    assert (again.source_id, again.created, again.chunks_kept) == (put.source_id, False, 1_050)
    assert [each.text for each in after] == [each.text for each in changed.chunks]
    assert [each.start for each in after] == [each.start for each in changed.chunks]
    page = await store.find_page(URL, project="default")
    assert page is not None
    assert page.embedded_chunks == 1_050
    embedded = await store.search_vectors(vector(1, 0), model=MODEL, limit=CHUNKS, where=ALL)
    assert {hit.chunk_id for hit in embedded} == {each.chunk_id for each in after[::2]}
    assert await found(store, "heron") == []
    assert len(await found(store, "crane")) == 10


async def test_a_large_page_of_which_little_changed_keeps_the_ids_of_its_chunks(
    store: Store,
) -> None:
    put = await store.put_page(large_page())
    before = await chunk_ids(store, put.source_id)

    await store.put_page(large_page(chunks=CHUNKS + 5))

    assert (await chunk_ids(store, put.source_id))[:CHUNKS] == before


async def test_a_small_page_in_place_of_a_large_one_leaves_nothing_of_it(store: Store) -> None:
    await store.put_page(large_page())
    small = draft(URL, "Owls hoot.")

    put = await store.put_page(small)

    assert [each.text for each in await store.chunks_of_page(put.source_id)] == ["Owls hoot."]
    assert await found(store, "egret") == []
    stats = await store.corpus_stats(ALL)
    assert (stats.pages, stats.chunks) == (1, 1)


async def test_a_large_page_is_deleted_whole(store: Store) -> None:
    put = await store.put_page(large_page())

    assert await store.delete_page(put.source_id)

    assert await store.get_page(put.source_id) is None
    assert await found(store, "heron") == []
    assert (await store.corpus_stats(ALL)).chunks == 0


async def test_large_supplied_text_does_not_replace_a_fetched_page(store: Store) -> None:
    await store.put_page(draft(URL, "Owls hoot."))
    page = large_page()
    supplied = replace(page, fetched=replace(page.fetched, origin="supplied"))

    with pytest.raises(SuppliedTextRefused):
        await store.put_page(supplied)

    kept = await store.find_page(URL, project="default")
    assert kept is not None
    assert (kept.chunks, kept.extractor) == (1, 0)


async def test_readers_see_a_large_page_as_it_was_or_as_it_is_while_it_is_replaced(
    file_store: Store, tmp_path: Path
) -> None:
    put = await file_store.put_page(large_page())
    seen: set[tuple[int, ...]] = set()

    async def look_from_another_process(other: Store, is_replaced: anyio.Event) -> None:
        while not is_replaced.is_set():
            chunks = await other.chunks_of_page(put.source_id)
            birds = [each.text.partition(" ")[0] for each in chunks]
            seen.add((len(chunks), birds.count("Heron"), birds.count("Crane")))

    is_replaced = anyio.Event()
    async with (
        empty_store("sqlite-file", tmp_path, model=MODEL) as other,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(look_from_another_process, other, is_replaced)
        await file_store.put_page(large_page("Crane"))
        is_replaced.set()

    half = CHUNKS // 2
    assert seen <= {(CHUNKS, half, 0), (CHUNKS, 0, half)}
    assert seen
