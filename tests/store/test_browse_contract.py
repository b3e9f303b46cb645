"""Pages as a person browses them: filtered, sorted and counted, run once per backend."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.drafts import FETCHED_AT, draft
from tests.store.looking import ALL

from citewell.core.library import PageQuery, WebsiteDraft
from citewell.core.records import SearchFilter
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(store: Store) -> Store:
    for day, (url, title, text) in enumerate(
        (
            ("https://a.org/", "owls", "one two three four"),
            ("https://b.org/", "Herons", "one"),
            ("https://c.org/", "Egrets", "one two"),
        )
    ):
        fetched_at = FETCHED_AT + timedelta(days=day)
        await store.put_page(draft(url, text, title=title, fetched_at=fetched_at, tags=(title,)))
    return store


async def titles(store: Store, query: PageQuery, where: SearchFilter = ALL) -> list[str]:
    return [page.title for page in (await store.browse_pages(where, query)).pages]


async def test_pages_are_sorted_either_way(store: Store) -> None:
    assert await titles(store, PageQuery()) == ["Egrets", "Herons", "owls"]
    assert await titles(store, PageQuery(descending=True)) == ["owls", "Herons", "Egrets"]
    assert await titles(store, PageQuery(order_by="url")) == ["owls", "Herons", "Egrets"]
    assert await titles(store, PageQuery(order_by="size")) == ["Herons", "Egrets", "owls"]
    newest = PageQuery(order_by="fetched", descending=True)
    assert await titles(store, newest) == ["Egrets", "Herons", "owls"]


async def test_pages_are_filtered_counted_and_cut(store: Store) -> None:
    screen = await store.browse_pages(ALL, PageQuery(limit=2, offset=1))

    assert ([page.title for page in screen.pages], screen.total) == (["Herons", "owls"], 3)
    assert await titles(store, PageQuery(matching="HERON")) == ["Herons"]
    assert await titles(store, PageQuery(matching="b.org")) == ["Herons"]
    assert await titles(store, PageQuery(), SearchFilter(tags=("owls",))) == ["owls"]
    assert (await store.browse_pages(ALL, PageQuery(matching="nothing"))).total == 0


async def test_pages_of_no_entry_are_counted_by_folder(store: Store) -> None:
    for url in ("file:///d/a.md", "file:///d/b.md", "file:///d/sub/c.md", "pypi:anyio@4.16.0"):
        await store.put_page(draft(url, "one two", title=url[-4:]))
    await store.library.add_website(WebsiteDraft(url="https://a.org/"), now=FETCHED_AT)

    folders = await store.loose_folders(SearchFilter(project="default"))

    assert [(folder.folder, folder.pages) for folder in folders] == [
        ("file:///d/", 2),
        ("file:///d/sub/", 1),
        ("https://b.org/", 1),
        ("https://c.org/", 1),
        ("pypi:anyio@4.16.0", 1),
    ]
    assert (folders[0].text_bytes, folders[2].first_title) == (14, "Herons")
    tagged = await store.loose_folders(SearchFilter(project="default", tags=("Herons",)))
    assert [folder.folder for folder in tagged] == ["https://b.org/"]
