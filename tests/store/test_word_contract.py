"""Every promise of Store about searching words, and about filters, run once per backend."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.drafts import FETCHED_AT, draft
from tests.store.looking import ALL, MODEL, chunk_ids, found, nearest, vector

from citewell.core.records import (
    SearchFilter,
)
from citewell.core.words import words
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("call os.path.join here", "os.path.join"),
        ("call os.path.join here", "join"),
        ("the my_var name", "my_var"),
        ("the my_var name", "VAR"),
        ("東京都の人口", "東京"),
        ("naïve façade", "naïve"),
        ("Ελληνικά слова", "слова"),
        ("İstanbul ǅ ß ﬁne", "istanbul ﬁne"),
        ("getElementById", "element"),
        ("running quickly", "runs"),
        ("C3PO or r2", "r2"),
    ],
)
async def test_a_word_is_found_as_people_write_it(store: Store, text: str, query: str) -> None:
    await store.put_page(draft("https://a.org/", text))
    await store.put_page(draft("https://b.org/", "something else"))

    assert await found(store, query) == [text]


async def test_some_of_the_words_suffice_and_more_of_them_rank_higher(store: Store) -> None:
    for number, text in enumerate(["green heron wades", "green tea", "black coffee"]):
        await store.put_page(draft(f"https://{number}.org/", text))
    for number in range(9):
        await store.put_page(draft(f"https://filler{number}.org/", f"filler text {number}"))

    hits = await store.search_words(words("green heron"), where=ALL, limit=9)

    assert await found(store, "green heron") == ["green heron wades", "green tea"]
    assert hits[0].score > hits[1].score > 0


async def test_a_heading_weighs_more_than_the_body(store: Store) -> None:
    await store.put_page(draft("https://a.org/", "heron", "other", title="Weather"))
    await store.put_page(draft("https://b.org/", "waders", "others", title="Heron"))
    for number in range(9):
        await store.put_page(draft(f"https://filler{number}.org/", f"filler text {number}"))

    texts = await found(store, "heron")

    assert texts == ["waders", "others", "heron"]


async def test_a_japanese_ending_weighs_less_than_a_name_as_rare(store: Store) -> None:
    for number, text in enumerate(["です", "青鷺", "白鳥"]):
        await store.put_page(draft(f"https://{number}.org/", text))

    assert await found(store, "青鷺です") == ["青鷺", "です"]


async def test_the_address_of_a_link_is_not_searched(store: Store) -> None:
    text = "See [the manual](https://example.org/heron_(bird)) and `call[0](egret)`."
    await store.put_page(draft("https://a.org/", text))

    assert await found(store, "heron") == []
    assert await found(store, "example") == []
    assert await found(store, "manual") == [text]
    assert await found(store, "egret") == [text]


async def test_words_that_are_search_syntax_are_only_words(store: Store) -> None:
    await store.put_page(draft("https://a.org/", "near or not and"))

    for query in (["near"], ["NEAR("], ['"'], ["*"], ["body:x"], [""], ["a\x00b"], ["-"]):
        await store.search_words(query, where=ALL, limit=3)

    assert await found(store, "near") == ["near or not and"]


async def test_no_words_find_nothing(store: Store) -> None:
    await store.put_page(draft("https://a.org/", "heron"))

    assert await store.search_words([], where=ALL, limit=3) == []
    assert await store.search_words(["heron"], where=ALL, limit=0) == []


async def test_a_very_long_query_is_answered(store: Store) -> None:
    await store.put_page(draft("https://a.org/", *[f"word{number}" for number in range(500)]))

    hits = await store.search_words(
        [f"word{number}" for number in range(20_000)], where=ALL, limit=5
    )

    assert len(hits) == 5


async def test_common_words_still_decide_between_chunks_with_the_same_rare_word(
    store: Store,
) -> None:
    await store.put_page(draft("https://many.org/", *["common filler"] * 6_500))
    await store.put_page(draft("https://rare.org/", *["heron sand"] * 190, "heron common"))

    texts = await found(store, "common heron")

    assert texts[0] == "heron common"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (SearchFilter(), "abcd"),
        (SearchFilter(project="p"), "abc"),
        (SearchFilter(project="absent"), ""),
        (SearchFilter(tags=("x",)), "ab"),
        (SearchFilter(tags=("x", "y")), "b"),
        (SearchFilter(tags=("x", "absent")), ""),
        (SearchFilter(content_type="job"), "c"),
        (SearchFilter(url_prefix="https://a.org/"), "a"),
        (SearchFilter(url_prefix="https://A.org/"), ""),
        (SearchFilter(url_prefix="https://_.org/%"), ""),
        (SearchFilter(updated_after=FETCHED_AT), "d"),
        (SearchFilter(source_ids=()), ""),
        (SearchFilter(source_ids=(1, 3, 3, 99)), "ac"),
        (SearchFilter(source_ids=(1, 2), tags=("y",)), "b"),
        (SearchFilter(project="p", tags=("x",), url_prefix="https://b"), "b"),
    ],
)
async def test_a_filter_holds_for_every_way_of_looking(
    store: Store, where: SearchFilter, expected: str
) -> None:
    later = FETCHED_AT + timedelta(seconds=1)
    pages = [
        draft("https://a.org/", "heron a", project="p", tags=("x",)),
        draft("https://b.org/", "heron b", project="p", tags=("x", "y")),
        draft("https://c.org/", "heron c", project="p", content_type="job"),
        draft("https://d.org/", "heron d", project="q", fetched_at=later),
    ]
    for page in pages:
        put = await store.put_page(page)
        [chunk_id] = await chunk_ids(store, put.source_id)
        await store.put_vectors({chunk_id: vector(1, put.source_id)}, model=MODEL)

    near = await store.load_chunks(await nearest(store, [1, 1], where))
    listed = await store.list_pages(where, limit=9)
    stats = await store.corpus_stats(where)

    assert "".join(sorted(text[-1] for text in await found(store, "heron", where))) == expected
    assert "".join(sorted(chunk.text[-1] for chunk in near)) == expected
    assert "".join(page.url[8] for page in listed) == expected
    assert (stats.pages, stats.embedded_chunks) == (len(expected), len(expected))


async def test_a_filter_applies_before_the_limit(store: Store) -> None:
    best = await store.put_page(draft("https://best.org/", *["heron heron"] * 700))
    other = await store.put_page(
        draft("https://other.org/", *[f"heron {number} x y z" for number in range(450)])
    )
    ids = await chunk_ids(store, best.source_id) + await chunk_ids(store, other.source_id)
    vectors = {at: vector(1, 0.001 * order, 0) for order, at in enumerate(ids)}
    await store.put_vectors(vectors, model=MODEL)
    where = SearchFilter(source_ids=(other.source_id,))

    by_words = await store.search_words(["heron"], where=where, limit=5)
    by_vectors = await store.search_vectors(vector(1, 0, 0), model=MODEL, where=where, limit=5)

    assert {hit.chunk_id for hit in by_words} <= set(ids[700:])
    assert [hit.chunk_id for hit in by_vectors] == ids[700:705]
    assert len(by_words) == 5


async def test_a_page_of_many_chunks_is_stored_whole_and_keeps_them(store: Store) -> None:
    paragraphs = [f"Heron{number} wades." for number in range(1_201)]
    page = draft("https://a.org/", *paragraphs)

    first = await store.put_page(page)
    again = await store.put_page(page)

    assert (first.chunks, again.chunks_kept) == (1_201, 1_201)
    assert await found(store, "heron1200") == ["Heron1200 wades."]
