"""What every store promises of products and their versions."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from tests.drafts import FETCHED_AT, draft

from citewell.core.records import SearchFilter
from citewell.core.releases import UNVERSIONED, Release
from citewell.store.protocol import Store
from citewell.store.releases import EarlierText, StoredRelease, UsedRelease

pytestmark = pytest.mark.anyio

OLD = Release(product="pypi:herons", version="1.2.0")
NEW = Release(product="pypi:herons", version="2.0.0")
PAGES = {
    "pypi:herons@1.2.0/herons": "Herons wade.",
    "pypi:herons@2.0.0/herons": "Herons wade and fly.",
    "pypi:herons@1.2.0/herons.nests": "Herons nest.",
    "https://birds.example/": "Herons live by water.",
}


@pytest.fixture
async def store(store: Store) -> Store:
    for url, text in PAGES.items():
        await store.put_page(draft(url, text))
    return store


async def found(store: Store, where: SearchFilter) -> set[str]:
    hits = await store.search_words(["heron"], where=where, limit=9)
    chunks = await store.load_chunks([hit.chunk_id for hit in hits])
    listed = {page.url for page in await store.list_pages(where, limit=9)}
    urls = {chunk.url for chunk in chunks}
    assert urls == listed
    assert await store.count_pages(where) == len(urls)
    assert (await store.corpus_stats(where)).pages == len(urls)
    return urls


async def test_pages_and_chunks_know_their_release(store: Store) -> None:
    page = await store.find_page("pypi:herons@2.0.0/herons", project="default")
    assert page is not None

    [chunk] = await store.chunks_of_page(page.source_id)

    assert page.release == chunk.release == NEW


async def test_releases_are_listed_with_their_pages(store: Store) -> None:
    assert await store.releases.list_releases("default") == [
        StoredRelease(release=OLD, pages=2),
        StoredRelease(release=NEW, pages=1),
    ]
    assert await store.releases.list_releases("other") == []


async def test_a_filter_by_release_leaves_the_others_out(store: Store) -> None:
    only_new = SearchFilter(project="default", releases=(NEW.key,))
    also_unversioned = SearchFilter(project="default", releases=(NEW.key, UNVERSIONED))

    assert await found(store, only_new) == {"pypi:herons@2.0.0/herons"}
    assert await found(store, also_unversioned) == {
        *("pypi:herons@2.0.0/herons", "https://birds.example/")
    }


async def test_a_superseding_release_hides_only_pages_that_it_has_itself(store: Store) -> None:
    where = SearchFilter(project="default", superseding=(NEW.key,))

    assert await found(store, where) == PAGES.keys() - {"pypi:herons@1.2.0/herons"}


async def test_the_same_page_of_two_versions_knows_its_sibling(store: Store) -> None:
    page = await store.find_page("pypi:herons@2.0.0/herons", project="default")
    alone = await store.find_page("https://birds.example/", project="default")
    assert page is not None
    assert alone is not None

    [sibling] = await store.releases.siblings_of_page(page.source_id)

    assert (sibling.url, sibling.release) == ("pypi:herons@1.2.0/herons", OLD)
    assert await store.releases.siblings_of_page(alone.source_id) == []


async def test_a_dropped_release_is_gone_whole(store: Store) -> None:
    assert await store.releases.drop_release("default", OLD) == 2

    assert await found(store, SearchFilter(project="default")) == {
        *("pypi:herons@2.0.0/herons", "https://birds.example/")
    }


async def test_what_a_folder_uses_replaces_what_it_used(store: Store) -> None:
    await store.releases.put_used_releases("default", folder="/a", releases=[OLD, OLD])
    await store.releases.put_used_releases("default", folder="/b", releases=[OLD])
    await store.releases.put_used_releases("default", folder="/a", releases=[NEW])

    assert await store.releases.used_releases("default") == [
        UsedRelease(folder="/a", release=NEW),
        UsedRelease(folder="/b", release=OLD),
    ]
    assert await store.releases.used_releases("other") == []


async def test_the_text_before_the_last_change_is_kept(store: Store) -> None:
    url = "https://birds.example/"
    page = await store.find_page(url, project="default")
    assert page is not None

    await store.put_page(draft(url, PAGES[url]))
    unchanged = await store.releases.earlier_texts(page.source_id)
    await store.put_page(draft(url, "Herons left."))
    later = FETCHED_AT + timedelta(days=1)
    await store.put_page(draft(url, "Herons came back.", fetched_at=later))
    changed = await store.releases.earlier_texts(page.source_id)

    assert unchanged == []
    assert changed == [EarlierText(text="Herons left.", fetched_at=FETCHED_AT)]


async def test_a_chunk_knows_its_twin_in_another_version(store: Store) -> None:
    model = "hashing"
    for version in ("1.2.0", "2.0.0"):
        await store.put_page(draft(f"pypi:herons@{version}/same", "Herons sleep.", title="Same"))
        await store.put_page(draft(f"https://{version}.example/", "Herons sleep.", title="Same"))
    waiting = dict(await store.chunks_to_embed(model=model, limit=50))
    texts = [text for text in waiting.values() if "sleep" in text]
    same = [chunk_id for chunk_id, text in waiting.items() if "sleep" in text]
    assert len(set(texts)) == 1
    assert await store.releases.twins_of_chunks(same, model=model) == {}

    await store.put_vectors({same[0]: np.ones(4, np.float32)}, model=model)

    assert await store.releases.twins_of_chunks(same, model=model) == {same[2]: same[0]}
    assert await store.releases.twins_of_chunks(same, model="another") == {}


async def test_the_texts_of_the_latest_fetches_are_kept(store: Store) -> None:
    url = "https://birds.example/"
    days = [FETCHED_AT + timedelta(days=number) for number in range(12)]
    page = await store.find_page(url, project="default")
    assert page is not None

    for number, day in enumerate(days):
        await store.put_page(draft(url, f"Text {number}.", fetched_at=day))
    kept = await store.releases.earlier_texts(page.source_id)
    fetches = await store.releases.earlier_fetches(page.source_id)
    await store.put_page(draft(url, "long " * 250_000, fetched_at=days[-1] + timedelta(days=1)))
    await store.put_page(draft(url, "Short.", fetched_at=days[-1] + timedelta(days=2)))
    beside_a_long_one = await store.releases.earlier_texts(page.source_id)

    assert [(text.text, text.fetched_at) for text in kept] == [
        (f"Text {number}.", days[number]) for number in range(10, 2, -1)
    ]
    assert fetches == [text.fetched_at for text in kept]
    assert [len(text.text) for text in beside_a_long_one] == [1_250_000]
