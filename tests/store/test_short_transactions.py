"""However many rows of a page change, no transaction of SQLite writes many."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import pytest
from tests.store.large_pages import LINKS, large_page, unreachable_rows
from typing_extensions import override

from citewell.core.records import Image
from citewell.store.sqlite.connection import Database
from citewell.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from citewell.core.records import PageDraft

pytestmark = pytest.mark.anyio

Result = TypeVar("Result")

_MOST_ROWS = 5_200


class _CountingDatabase(Database):
    """A database that knows how many rows its largest transaction wrote."""

    most_rows = 0

    @override
    def _write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        connection = self._open_connection()
        before = connection.total_changes
        result = super()._write(work)
        self.most_rows = max(self.most_rows, connection.total_changes - before)
        return result


@pytest.fixture
async def database(tmp_path: Path) -> _CountingDatabase:
    return await _CountingDatabase.open(tmp_path / "library.db", busy_timeout_seconds=10)


def _page(name: str) -> PageDraft:
    """Links and images differ by name, all else is the same."""
    page = large_page()
    links = tuple(replace(link, url=f"{link.url}/{name}") for link in page.extracted.links)
    images = tuple(
        Image(url=f"https://birds.example/{name}.png", alt=name, caption="", section=0, start=i)
        for i in range(LINKS)
    )
    return replace(page, extracted=replace(page.extracted, links=links, images=images))


async def test_links_and_images_are_replaced_and_removed_by_few_rows_at_once(
    database: _CountingDatabase, tmp_path: Path
) -> None:
    store = SqliteStore(database, model=None)
    await store.put_page(_page("a"))

    put = await store.put_page(_page("b"))
    stored = await store.get_page(put.source_id)
    await store.delete_page(put.source_id)
    await store.aclose()

    assert stored is not None
    assert (stored.links, stored.images) == (
        _page("b").extracted.links,
        _page("b").extracted.images,
    )
    assert database.most_rows <= _MOST_ROWS
    assert set(unreachable_rows(tmp_path / "library.db").values()) <= {0, None}


async def test_chunks_and_sections_are_replaced_and_removed_by_few_rows_at_once(
    database: _CountingDatabase, tmp_path: Path
) -> None:
    store = SqliteStore(database, model=None)
    await store.put_page(large_page("Heron", chunks=6_000))

    crane = large_page("Crane", chunks=6_000)
    put = await store.put_page(crane)
    stored = await store.chunks_of_page(put.source_id)
    await store.delete_page(put.source_id)
    await store.aclose()

    assert [chunk.text for chunk in stored] == [chunk.text for chunk in crane.chunks]
    assert database.most_rows <= _MOST_ROWS
    assert set(unreachable_rows(tmp_path / "library.db").values()) <= {0, None}


async def test_images_stay_when_all_links_are_replaced(database: _CountingDatabase) -> None:
    store = SqliteStore(database, model=None)
    page, other = _page("a"), _page("b")
    await store.put_page(page)

    links = other.extracted.links
    put = await store.put_page(replace(page, extracted=replace(page.extracted, links=links)))
    stored = await store.get_page(put.source_id)
    await store.aclose()

    assert stored is not None
    assert (stored.links, stored.images) == (links, page.extracted.images)


async def test_a_page_that_takes_the_id_of_a_removed_one_keeps_its_own_links(
    database: _CountingDatabase,
) -> None:
    store = SqliteStore(database, model=None)
    put = await store.put_page(_page("a"))
    await store.delete_page(put.source_id)

    again = await store.put_page(replace(_page("b"), source_id=put.source_id))
    stored = await store.get_page(again.source_id)
    await store.aclose()

    assert again.source_id == put.source_id
    assert stored is not None
    assert stored.links == _page("b").extracted.links
