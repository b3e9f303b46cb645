"""The index of words on PostgreSQL: that a word is looked up in it, and which ones are common."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest
from tests.drafts import draft
from tests.postgres import empty_library

from citewell.store.open import open_store
from citewell.store.postgres.statements import SQL

pytestmark = pytest.mark.anyio

PARAGRAPHS = [f"heron number {number}" for number in range(100)]


@pytest.fixture
async def address() -> AsyncIterator[str]:
    """The address of a library with one page."""
    with empty_library() as given:
        store = await open_store(given)
        try:
            await store.put_page(draft("https://a.example/", *PARAGRAPHS, "egret number"))
        finally:
            await store.aclose()
        yield given


async def test_words_are_looked_up_in_their_index(address: str) -> None:
    values = {"words": '[{"word": "egret", "weight": 1}]', "only_project": None, "limit": 10}

    with psycopg.connect(address) as connection:
        plan = connection.execute("EXPLAIN " + SQL["match_words"], values).fetchall()
        found = connection.execute(SQL["match_words"], values).fetchall()

    assert "Bitmap Index Scan on chunk_words_by_hash" in "\n".join(line for (line,) in plan)
    assert [body for _, _, body in found] == ["egret number"]


async def test_the_database_counts_in_how_many_chunks_a_common_word_is(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(SQL["count_common_words"])
        row = connection.execute(SQL["common_words"]).fetchone()

    assert row is not None
    words, shares = row
    share_of = dict(zip(words, shares[: len(words)], strict=True))
    assert share_of["number"] == 1
    assert share_of["heron"] == pytest.approx(100 / 101)
