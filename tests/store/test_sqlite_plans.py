"""Statements whose cost must not grow with the library: SQLite seeks instead of scanning."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tests.drafts import draft
from tests.store.backends import empty_store
from tests.store.looking import MODEL, vector

from citewell.core.records import SearchFilter
from citewell.core.storage import CorpusStats
from citewell.store.filters import filter_values
from citewell.store.sqlite.session import SQL, adapt_values

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


def plan(path: Path, statement: str, values: dict[str, object]) -> list[str]:
    """Return the steps of a statement."""
    with closing(sqlite3.connect(path)) as connection:
        explained = "EXPLAIN QUERY PLAN " + SQL[statement]
        return [row[3] for row in connection.execute(explained, adapt_values(values))]


async def test_chunks_that_wait_for_vectors_are_found_without_reading_the_others(
    tmp_path: Path,
) -> None:
    async with empty_store("sqlite-file", tmp_path):
        steps = plan(tmp_path / "pages.db", "chunks_to_embed", {"model": MODEL, "limit": 9})

    assert "SCAN chunk" not in steps


async def test_pages_under_a_prefix_are_found_without_reading_the_others(tmp_path: Path) -> None:
    where = filter_values(SearchFilter(project="default", url_prefix="https://a.org/"))
    async with empty_store("sqlite-file", tmp_path):
        steps = plan(tmp_path / "pages.db", "pages_passing_under", where)

    assert "SCAN page" not in steps


async def test_the_same_texts_of_another_version_are_found_without_reading_other_pages(
    tmp_path: Path,
) -> None:
    async with empty_store("sqlite-file", tmp_path):
        steps = plan(tmp_path / "pages.db", "twins_of_chunks", {"chunk_ids": [1], "model": MODEL})
        steps += plan(tmp_path / "pages.db", "siblings_of_page", {"source_id": 1})

    assert "SCAN other" not in steps
    assert not [step for step in steps if "AUTOMATIC" in step]


async def test_the_library_is_counted_as_it_changes(tmp_path: Path) -> None:
    async with empty_store("sqlite-file", tmp_path, model=MODEL) as store:
        put = await store.put_page(draft("https://a.org/", "Herons wade.", "Egrets fly."))
        gone = await store.put_page(draft("https://b.org/", "Owls hoot."))
        ids = [chunk.chunk_id for chunk in await store.chunks_of_page(put.source_id)]
        other = [chunk.chunk_id for chunk in await store.chunks_of_page(gone.source_id)]
        await store.put_vectors(dict.fromkeys([*ids, *other], vector(1, 0)), model="another")
        await store.put_vectors(dict.fromkeys([*ids, *other], vector(1, 0)), model=MODEL)
        await store.put_page(draft("https://a.org/", "Herons wade.", "Ibises probe the mud."))
        await store.delete_page(gone.source_id)

        counted = await store.corpus_stats(SearchFilter())
        steps = plan(tmp_path / "pages.db", "count_everything", {"model": MODEL})
        pages = await store.list_pages(SearchFilter(), limit=9)

    assert counted == CorpusStats(
        pages=1,
        chunks=2,
        tokens=sum(page.tokens for page in pages),
        text_bytes=sum(page.text_bytes for page in pages),
        embedded_chunks=1,
    )
    assert not {"SCAN page", "SCAN chunk"} & set(steps)
