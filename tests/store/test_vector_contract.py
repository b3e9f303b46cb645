"""Every promise of Store about vectors, run once per backend."""

from __future__ import annotations

import numpy as np
import pytest
from tests.drafts import draft
from tests.store.looking import ALL, MODEL, chunk_ids, found, nearest, vector

from citewell.core.records import (
    SearchFilter,
)
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio


async def test_the_nearest_vectors_come_first_with_their_cosine(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "one", "two", "three", "no vector"))
    one, two, three, _ = await chunk_ids(store, put.source_id)
    written = await store.put_vectors(
        {one: vector(2, 0), two: vector(3, 3), three: vector(-5, 0), 9999: vector(1, 0)},
        model=MODEL,
    )

    hits = await store.search_vectors(vector(7, 0), model=MODEL, where=ALL, limit=9)

    assert written == 3
    assert [hit.chunk_id for hit in hits] == [one, two, three]
    assert [hit.score for hit in hits] == pytest.approx([1, 0.7071, -1], abs=1e-3)


async def test_search_agrees_with_an_exact_scan(store: Store) -> None:
    rng = np.random.default_rng(7)
    topics = rng.standard_normal((40, 128))
    noise = 0.6 * rng.standard_normal((1200, 128))
    vectors = (topics[rng.integers(0, 40, 1200)] + noise + 0.5).astype(np.float32)
    put = await store.put_page(draft("https://a.org/", *[f"chunk {n}" for n in range(1200)]))
    ids = await chunk_ids(store, put.source_id)
    await store.put_vectors(dict(zip(ids, vectors, strict=True)), model=MODEL)
    queries = vectors[:20] + 0.3 * rng.standard_normal((20, 128)).astype(np.float32)

    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    kept = 0
    for query in queries:
        exact = np.argsort(-(unit @ query))[:10]
        hits = await store.search_vectors(query, model=MODEL, where=ALL, limit=10)
        kept += len({ids[at] for at in exact} & {hit.chunk_id for hit in hits})

    assert kept >= 198


async def test_vectors_come_back_as_unit_vectors(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "one", "two"))
    one, two = await chunk_ids(store, put.source_id)
    await store.put_vectors({one: vector(3, 4)}, model=MODEL)

    stored = await store.get_vectors([two, one, 9999], model=MODEL)

    assert list(stored) == [one]
    assert stored[one] == pytest.approx([0.6, 0.8], abs=1e-3)
    assert stored[one].dtype == np.float32
    assert await store.get_vectors([one], model="absent") == {}


async def test_chunks_are_compared_with_a_vector(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "one", "two", "three"))
    one, two, three = await chunk_ids(store, put.source_id)
    await store.put_vectors({one: vector(3, 4), three: vector(0, 2)}, model=MODEL)

    cosines = await store.compare_vectors([two, one, three, 9999], vector(0, 5), model=MODEL)

    assert cosines == pytest.approx({one: 0.8, three: 1.0}, abs=1e-3)
    assert await store.compare_vectors([], vector(0, 5), model=MODEL) == {}
    assert await store.compare_vectors([one], vector(0, 5), model="absent") == {}


async def test_a_project_that_is_not_the_only_one_any_more_is_searched_alone(store: Store) -> None:
    mine = await store.put_page(draft("https://a.org/", "herons wade", project="mine"))
    (own,) = await chunk_ids(store, mine.source_id)
    await store.put_vectors({own: vector(1, 0)}, model=MODEL)
    where = SearchFilter(project="mine")
    assert await found(store, "herons", where) == ["herons wade"]
    assert await nearest(store, (1, 0), where) == [own]

    other = await store.put_page(draft("https://b.org/", "herons fly", project="yours"))
    (theirs,) = await chunk_ids(store, other.source_id)
    await store.put_vectors({theirs: vector(1, 0)}, model=MODEL)

    assert await found(store, "herons", where) == ["herons wade"]
    assert await nearest(store, (1, 0), where) == [own]
    assert await store.count_pages(where) == 1
    assert await store.count_pages(ALL) == 2
    assert await store.count_pages(SearchFilter(url_prefix="https://c.org/")) == 0


async def test_a_vector_given_again_replaces_the_old(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "one", "two"))
    one, two = await chunk_ids(store, put.source_id)
    await store.put_vectors({one: vector(1, 0), two: vector(0, 1)}, model=MODEL)
    assert await nearest(store, [1, 0]) == [one, two]

    await store.put_vectors({one: vector(-1, 0)}, model=MODEL)

    assert await nearest(store, [1, 0]) == [two, one]


async def test_each_search_sees_only_vectors_of_its_model(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "one", "two"))
    one, two = await chunk_ids(store, put.source_id)
    await store.put_vectors({one: vector(1, 0), two: vector(0, 1)}, model=MODEL)
    await store.put_vectors({two: vector(0, 0, 1)}, model="model-b")

    assert await nearest(store, [1, 0]) == [one]
    assert await nearest(store, [0, 0, 1], model="model-b") == [two]
    assert await nearest(store, [1, 0]) == [one]
    assert await nearest(store, [1, 0], model="absent") == []
    assert await store.chunks_to_embed(model=MODEL, limit=9) == [(two, "\ntwo")]


@pytest.mark.parametrize("wrong", [[1.0, 0.0, 0.0], [float("nan"), 0.0], [float("inf"), 0.0]])
async def test_a_vector_that_cannot_be_compared_is_refused(
    store: Store, wrong: list[float]
) -> None:
    put = await store.put_page(draft("https://a.org/", "one", "two"))
    one, two = await chunk_ids(store, put.source_id)
    await store.put_vectors({one: vector(1, 0)}, model=MODEL)

    with pytest.raises(ValueError, match="vector"):
        await store.put_vectors({two: vector(*wrong)}, model=MODEL)
    with pytest.raises(ValueError, match="vector"):
        await nearest(store, wrong)

    assert await nearest(store, [1, 0]) == [one]


async def test_a_vector_of_zeros_is_near_nothing(store: Store) -> None:
    put = await store.put_page(draft("https://a.org/", "one"))
    [one] = await chunk_ids(store, put.source_id)
    await store.put_vectors({one: vector(0, 0)}, model=MODEL)

    [hit] = await store.search_vectors(vector(1, 0), model=MODEL, where=ALL, limit=3)

    assert hit.score == 0


async def test_a_deleted_neighbourhood_does_not_hide_what_lies_behind_it(store: Store) -> None:
    crowd = await store.put_page(draft("https://a.org/", *[f"near {n}" for n in range(1300)]))
    behind = await store.put_page(draft("https://b.org/", *[f"far {n}" for n in range(1300)]))
    near, far = await chunk_ids(store, crowd.source_id), await chunk_ids(store, behind.source_id)
    rng = np.random.default_rng(3)
    noise = 0.1 * rng.standard_normal((2600, 64)).astype(np.float32)
    noise[:1300] += 1
    noise[1300:, ::2] += 1
    await store.put_vectors(dict(zip(near + far, noise, strict=True)), model=MODEL)
    query = np.ones(64, np.float32)
    before = await store.search_vectors(query, model=MODEL, where=ALL, limit=10)

    await store.delete_page(crowd.source_id)

    after = await store.search_vectors(query, model=MODEL, where=ALL, limit=10)
    assert {hit.chunk_id for hit in before} <= set(near)
    assert len(after) == 10
    assert {hit.chunk_id for hit in after} <= set(far)


async def test_chunks_to_embed_come_oldest_first_and_by_page(store: Store) -> None:
    one = await store.put_page(draft("https://a.org/", "one", "two", title="A"))
    two = await store.put_page(draft("https://b.org/", "three", title="B"))
    a, b = await chunk_ids(store, one.source_id)
    [c] = await chunk_ids(store, two.source_id)
    await store.put_vectors({a: vector(1, 0)}, model=MODEL)

    assert await store.chunks_to_embed(model=MODEL, limit=9) == [(b, "A\ntwo"), (c, "B\nthree")]
    assert await store.chunks_to_embed(model=MODEL, limit=1) == [(b, "A\ntwo")]
    assert await store.chunks_to_embed(
        model=MODEL, limit=9, source_ids=[two.source_id, two.source_id]
    ) == [(c, "B\nthree")]
    assert await store.chunks_to_embed(model=MODEL, limit=9, source_ids=[]) == []
    assert len(await store.chunks_to_embed(model="model-b", limit=9)) == 3
    assert await store.embedded_texts([c, a, 9999]) == {a: "A\none", c: "B\nthree"}


async def test_chunks_passed_over_wait_for_no_vector_and_only_words_find_them(
    store: Store,
) -> None:
    put = await store.put_page(draft("https://a.org/", "heron", "サギは鳥です"))
    heron, sagi = await chunk_ids(store, put.source_id)

    await store.pass_over([sagi], model=MODEL)

    assert await store.chunks_to_embed(model=MODEL, limit=9) == [(heron, "\nheron")]
    assert await nearest(store, [1, 0]) == []
    await store.put_vectors({heron: vector(1, 0)}, model=MODEL)
    assert await nearest(store, [1, 0]) == [heron]
    assert await store.get_vectors([heron, sagi], model=MODEL) != {}
    assert sagi not in await store.get_vectors([heron, sagi], model=MODEL)
    assert await store.chunks_to_embed(model=MODEL, limit=9) == []
    assert await found(store, "サギ") == ["サギは鳥です"]
    assert (await store.corpus_stats(ALL)).embedded_chunks == 2
