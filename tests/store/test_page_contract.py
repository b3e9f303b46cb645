"""Every promise of Store about pages and its own life, run once per backend."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import anyio
import pytest
from tests.drafts import FETCHED_AT, draft
from tests.store.looking import ALL, MODEL, chunk_ids, found, nearest, vector

from citewell.core.errors import StoreError
from citewell.core.ids import content_hash
from citewell.core.records import (
    Image,
    Link,
    PageText,
    SearchFilter,
)
from citewell.core.screen import pack_screen
from citewell.core.storage import CorpusStats
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio


async def test_a_page_comes_back_as_it_was_put(store: Store) -> None:
    link = Link(url="https://b.org/", text="b", context="see b there", section=0, start=4)
    image = Image(url="https://a.org/i.png", alt="heron", caption="A heron", section=0, start=0)
    page = draft(
        "https://a.org/",
        "Herons wade.",
        "東京 naïve 🦤.",
        title="Birds",
        heading="Waders",
        tags=("zoo", "birds"),
        content_type="article",
        final_url="https://a.org/index",
        etag='"1"',
        links=(link,),
        images=(image,),
    )

    put = await store.put_page(page)
    stored = await store.get_page(put.source_id)

    assert (put.created, put.text_changed, put.chunks, put.chunks_kept) == (True, True, 2, 0)
    assert stored is not None
    assert stored.text == page.extracted.text
    assert stored.sections == page.extracted.sections
    assert stored.links == (link,)
    assert stored.images == (image,)
    info = stored.info
    assert (info.url, info.final_url, info.title) == (
        "https://a.org/",
        "https://a.org/index",
        "Birds",
    )
    assert (info.tags, info.content_type, info.etag) == (("birds", "zoo"), "article", '"1"')
    assert info.text_hash == content_hash(page.extracted.text)
    assert info.fetched_at == FETCHED_AT
    assert (info.chunks, info.tokens, info.embedded_chunks) == (2, 5, 0)


async def test_the_screen_of_a_page_comes_back_whole_and_with_its_text(store: Store) -> None:
    page = draft("https://a.org/", "Herons wade.")
    screen = pack_screen("Menu\x1eHerons wade.")
    put = await store.put_page(replace(page, extracted=replace(page.extracted, screen=screen)))

    stored = await store.get_page(put.source_id)

    assert stored is not None
    assert stored.screen == screen
    assert (await store.page_texts([put.source_id]))[put.source_id].screen == screen


async def test_several_pages_come_back_each_as_alone(store: Store) -> None:
    put = [
        await store.put_page(draft(f"https://{name}.org/", *texts))
        for name, texts in (("a", ("Herons.", "Egrets.")), ("b", ("Owls.",)))
    ]
    ids = [each.source_id for each in put]

    found = await store.page_texts([*ids, 9_999])

    alone = [page for each in ids if (page := await store.get_page(each)) is not None]
    assert found == {
        page.info.source_id: PageText(info=page.info, text=page.text, images=page.images)
        for page in alone
    }
    assert await store.page_texts([]) == {}


async def test_titles_are_found_by_address_within_a_project(store: Store) -> None:
    await store.put_page(draft("https://a.org/", "Herons wade.", title="Birds"))
    await store.put_page(draft("https://b.org/", "Egrets wade.", title="Others", project="other"))

    found = await store.page_titles(
        ["https://a.org/", "https://b.org/", "https://c.org/"], project="default"
    )

    assert found == {"https://a.org/": "Birds"}


async def test_putting_a_page_again_keeps_its_id_and_drops_its_old_words(store: Store) -> None:
    first = await store.put_page(draft("https://a.org/", "heron", tags=("old",)))
    second = await store.put_page(draft("https://a.org/", "egret", tags=("new",)))

    info = await store.find_page("https://a.org/", project="default")

    assert second.source_id == first.source_id
    assert (second.created, second.text_changed, second.chunks_kept) == (False, True, 0)
    assert await found(store, "heron") == []
    assert await found(store, "egret") == ["egret"]
    assert info is not None
    assert info.tags == ("new",)


async def test_a_page_put_unchanged_says_so(store: Store) -> None:
    await store.put_page(draft("https://a.org/", "heron", "egret"))

    again = await store.put_page(draft("https://a.org/", "heron", "egret"))

    assert (again.created, again.text_changed, again.chunks_kept) == (False, False, 2)


async def test_a_character_that_cannot_be_stored_comes_back_or_the_page_is_refused_whole(
    store: Store,
) -> None:
    """Reading drops control characters; a store need not hold them, but must not lose them."""
    page = draft("https://a.example/", "Zero \x00 here.")
    try:
        put = await store.put_page(page)
    except StoreError:
        assert await store.find_page("https://a.example/", project="default") is None
    else:
        stored = await store.get_page(put.source_id)
        assert stored is not None
        assert stored.text == "Zero \x00 here."


async def test_a_page_with_half_a_character_is_refused_whole(store: Store) -> None:
    await store.put_page(draft("https://a.org/", "heron"))

    with pytest.raises(StoreError):
        await store.put_page(draft("https://a.org/", "egret", "half \ud83e"))

    assert await found(store, "heron egret") == ["heron"]


async def test_the_same_url_in_two_projects_is_two_pages(store: Store) -> None:
    one = await store.put_page(draft("https://a.org/", "heron", project="one"))
    two = await store.put_page(draft("https://a.org/", "egret", project="two"))

    in_two = await store.find_page("https://a.org/", project="two")

    assert one.source_id != two.source_id
    assert in_two is not None
    assert in_two.source_id == two.source_id
    assert await store.find_page("https://a.org/", project="three") is None


async def test_a_page_is_found_by_the_address_its_redirects_ended_at(store: Store) -> None:
    moved = await store.put_page(draft("https://a.org/old", "x", final_url="https://a.org/new"))

    redirected = await store.find_page("https://a.org/new", project="default")
    direct = await store.put_page(draft("https://a.org/new", "x"))
    now = await store.find_page("https://a.org/new", project="default")

    assert redirected is not None
    assert redirected.source_id == moved.source_id
    assert now is not None
    assert now.source_id == direct.source_id


async def test_touching_a_page_moves_its_time_and_keeps_validators_not_sent(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "x", etag='"1"'))
    later = FETCHED_AT + timedelta(days=1)

    await store.touch_page(put.source_id, fetched_at=later, etag=None, last_modified="Tue")

    page = await store.get_page(put.source_id)
    assert page is not None
    assert (page.info.fetched_at, page.info.etag) == (later, '"1"')
    assert page.info.last_modified == "Tue"


async def test_a_deleted_page_leaves_nothing_behind(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "heron", "egret", tags=("t",)))
    ids = await chunk_ids(store, put.source_id)
    await store.put_vectors({ids[0]: vector(1, 0)}, model=MODEL)
    assert await nearest(store, [1, 0]) == [ids[0]]

    was_there = await store.delete_page(put.source_id)

    assert was_there
    assert not await store.delete_page(put.source_id)
    assert await store.get_page(put.source_id) is None
    assert await store.load_chunks(ids) == []
    assert await found(store, "heron egret") == []
    assert await nearest(store, [1, 0]) == []
    assert await store.get_vectors(ids, model=MODEL) == {}
    assert await store.corpus_stats(ALL) == CorpusStats(
        pages=0, chunks=0, tokens=0, embedded_chunks=0
    )


async def test_pages_are_listed_in_order_and_in_portions(store: Store) -> None:
    for name in "abcd":
        await store.put_page(draft(f"https://{name}.org/", name))

    first = await store.list_pages(ALL, limit=3)
    rest = await store.list_pages(ALL, limit=3, after_source_id=first[-1].source_id)

    assert [page.url[8] for page in first] == ["a", "b", "c"]
    assert [page.url[8] for page in rest] == ["d"]


async def test_stats_count_what_the_filter_lets_through(store: Store) -> None:
    one = await store.put_page(draft("https://a.org/", "one two", "three", project="p"))
    await store.put_page(draft("https://b.org/", "four", project="q"))
    [first, _] = await chunk_ids(store, one.source_id)
    await store.put_vectors({first: vector(1, 0)}, model=MODEL)

    assert await store.corpus_stats(ALL) == CorpusStats(
        pages=2, chunks=3, tokens=4, embedded_chunks=1, text_bytes=18
    )
    assert await store.corpus_stats(SearchFilter(project="p")) == CorpusStats(
        pages=1, chunks=2, tokens=3, embedded_chunks=1, text_bytes=14
    )
    assert await store.corpus_stats(SearchFilter(project="q")) == CorpusStats(
        pages=1, chunks=1, tokens=1, embedded_chunks=0, text_bytes=4
    )


async def test_vectors_of_another_model_do_not_count_as_embedded(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "one"))
    [chunk_id] = await chunk_ids(store, put.source_id)

    await store.put_vectors({chunk_id: vector(1, 0, 0)}, model="model-b")

    [page] = await store.list_pages(ALL, limit=1)
    assert page.embedded_chunks == 0
    assert (await store.corpus_stats(ALL)).embedded_chunks == 0


async def test_readers_and_writers_can_all_work_at_once(store: Store) -> None:
    async def put(number: int) -> None:
        await store.put_page(draft(f"https://{number}.org/", f"heron {number}"))
        await store.search_words(["heron"], where=ALL, limit=50)

    async with anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(put, number)

    assert len(await store.search_words(["heron"], where=ALL, limit=50)) == 30


async def test_a_cancelled_write_is_whole_or_absent_and_the_store_goes_on(store: Store) -> None:
    drafts = [draft(f"https://{n}.org/", *[f"heron {n}"] * 50) for n in range(20)]

    with anyio.move_on_after(0.02):
        async with anyio.create_task_group() as tasks:
            for new in drafts:
                tasks.start_soon(store.put_page, new)

    for page in await store.list_pages(ALL, limit=99):
        assert len(await store.chunks_of_page(page.source_id)) == page.chunks == 50
    await store.put_page(draft("https://last.org/", "egret"))
    assert await found(store, "egret") == ["egret"]


async def test_a_closed_store_refuses_every_call(store: Store) -> None:
    await store.put_page(draft("https://a.org/", "heron"))
    await store.aclose()
    await store.aclose()

    with pytest.raises(StoreError, match="closed"):
        await store.search_words(["heron"], where=ALL, limit=3)
    with pytest.raises(StoreError, match="closed"):
        await store.put_page(draft("https://a.org/", "egret"))
