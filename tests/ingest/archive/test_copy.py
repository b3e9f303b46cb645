"""Copying a library between the two kinds of database, both ways."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from tests.drafts import draft
from tests.store.backends import empty_store

from citewell.core.library import WebsiteDraft, WebsiteQuery
from citewell.core.records import SearchFilter
from citewell.ingest.archive.copy import copy_library
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

MODEL = "m"
NOW = datetime(2026, 11, 15, tzinfo=UTC)
SITE = WebsiteDraft(url="https://a.example/", kind="site")
BOTH_WAYS = pytest.mark.parametrize(
    ("kind_of_source", "kind_of_target"), [("sqlite-file", "postgres"), ("postgres", "sqlite-file")]
)


async def fill(store: Store) -> None:
    await store.put_page(draft("https://a.example/gone", "to be deleted"))
    await store.delete_page(1)
    for number in range(6):
        put = await store.put_page(
            draft(
                f"https://a.example/{number}",
                f"heron {number}",
                "egret",
                title=f"Page {number}",
                heading="Birds",
                project="birds" if number % 2 else "default",
                tags=("wet", f"t{number}"),
            )
        )
        chunks = await store.chunks_of_page(put.source_id)
        vectors = {
            chunk.chunk_id: np.array([chunk.ordinal, 1.0, number], np.float32) for chunk in chunks
        }
        await store.put_vectors(vectors, model=MODEL)
    await store.library.add_website(WebsiteDraft(url="https://a.example/0"), now=NOW)


@asynccontextmanager
async def full_and_empty(source: str, target: str, folder: Path) -> AsyncIterator[list[Store]]:
    """A filled store of one kind, and an empty one of another."""
    async with (
        empty_store(source, folder, model=MODEL) as full,
        empty_store(target, folder, model=MODEL) as empty,
    ):
        await fill(full)
        yield [full, empty]


@BOTH_WAYS
async def test_a_copied_library_is_the_same_with_the_same_ids(
    tmp_path: Path, kind_of_source: str, kind_of_target: str
) -> None:
    async with full_and_empty(kind_of_source, kind_of_target, tmp_path) as (source, target):
        copied = await copy_library(source, target, model=MODEL)
        listed = await source.list_pages(SearchFilter(), limit=50)

        assert await target.list_pages(SearchFilter(), limit=50) == listed
        assert (copied.pages_written, copied.pages, copied.chunks, copied.vectors) == (6, 6, 12, 12)
        sites = await target.library.list_websites(WebsiteQuery())
        assert [site.url for site in sites.websites] == ["https://a.example/0"]
        found = await target.search_words(["heron"], where=SearchFilter(project="birds"), limit=9)
        assert len(found) == 3
        later = await target.put_page(draft("https://a.example/later", "new"))
        assert later.source_id > listed[-1].source_id


@BOTH_WAYS
async def test_a_copied_site_whose_url_is_no_page_keeps_its_id(
    tmp_path: Path, kind_of_source: str, kind_of_target: str
) -> None:
    async with full_and_empty(kind_of_source, kind_of_target, tmp_path) as (source, target):
        added, _ = await source.library.add_website(SITE, now=NOW)
        await copy_library(source, target, model=None)
        copied = await target.library.find_website("https://a.example/", project="default")
        later = await target.put_page(draft("https://a.example/later", "new"))

    assert copied is not None
    assert copied.source_id == added.source_id
    assert later.source_id > added.source_id


@BOTH_WAYS
async def test_a_copied_site_whose_id_is_taken_gets_another(
    tmp_path: Path, kind_of_source: str, kind_of_target: str
) -> None:
    async with (
        empty_store(kind_of_source, tmp_path) as source,
        empty_store(kind_of_target, tmp_path) as target,
    ):
        added, _ = await source.library.add_website(SITE, now=NOW)
        await source.put_page(draft("https://a.example/1", "heron"))
        taken = await target.put_page(draft("https://b.example/", "owl"))
        await copy_library(source, target, model=None)
        copied = await target.library.find_website("https://a.example/", project="default")

    assert taken.source_id == added.source_id
    assert copied is not None
    assert copied.source_id != added.source_id


@BOTH_WAYS
async def test_a_copy_that_was_cut_short_is_finished_by_the_next(
    tmp_path: Path, kind_of_source: str, kind_of_target: str
) -> None:
    async with full_and_empty(kind_of_source, kind_of_target, tmp_path) as (source, target):
        first = await copy_library(source, target, model=MODEL)
        await target.delete_page((await target.list_pages(SearchFilter(), limit=1))[0].source_id)
        second = await copy_library(source, target, model=MODEL)

    assert (second.pages_written, second.pages_unchanged) == (1, 5)
    assert second.checksum == first.checksum
