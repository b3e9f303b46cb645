"""Both databases rank chunks alike by their words, as long as PostgreSQL reads all it could find."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.drafts import draft
from tests.store.backends import empty_store

from citewell.core.records import PageDraft, SearchFilter
from citewell.core.words import words
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

EVERYWHERE = SearchFilter()
COMMON = ("the", "heron", "stands", "in", "water", "鳥は", "水に", "立つ")
RARE = ("lagoon", "os.path.join", "estuary", "moult", "渡り鳥", "湿地", "干潟", "ring_number")
PLAIN = ("a", "note", "on", "nothing", "雲")
ASKED = {
    "English": ("where does the heron moult in the estuary", EVERYWHERE),
    "Japanese": ("渡り鳥は干潟の水に立つ", EVERYWHERE),
    "symbols": ("os.path.join of a ring_number", EVERYWHERE),
    "common words only": ("the heron stands in water", EVERYWHERE),
    "few pages": ("heron lagoon 湿地", SearchFilter(tags=("some",))),
    "many pages": ("heron lagoon 湿地", SearchFilter(tags=("many",))),
    "the only project": ("heron lagoon 湿地", SearchFilter(project="default")),
}


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Sequence[Store]]:
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(empty_store(backend, tmp_path))
            for backend in ("sqlite-memory", "postgres")
        ]
        for store in opened:
            for page in pages():
                await store.put_page(page)
        yield opened


def pages() -> list[PageDraft]:
    """450 chunks of different lengths; a few words are in most of those of two pages in three."""
    rng = random.Random(7)
    made: list[PageDraft] = []
    for number in range(45):
        common = COMMON if number % 3 else PLAIN
        texts = [
            " ".join(
                [
                    f"Note {number}-{part}:",
                    *rng.choices(common, k=rng.randint(3, 30)),
                    *rng.choices(RARE, k=rng.randint(0, 3)),
                ]
            )
            for part in range(10)
        ]
        title = f"{rng.choice(RARE)} {rng.choice(common)}"
        tags = [name for name, every in (("many", 41), ("some", 2)) if number % every]
        made.append(draft(f"https://a.org/{number}", *texts, title=title, tags=tuple(tags)))
    return made


async def ranked(store: Store, query: str, where: SearchFilter) -> list[tuple[str, float]]:
    hits = await store.search_words(words(query), where=where, limit=50)
    chunks = await store.load_chunks([hit.chunk_id for hit in hits])
    return [(chunk.text, hit.score) for chunk, hit in zip(chunks, hits, strict=True)]


async def test_both_databases_give_the_same_chunks_in_the_same_order(
    stores: Sequence[Store],
) -> None:
    in_sqlite, in_postgres = [
        {about: await ranked(store, query, where) for about, (query, where) in ASKED.items()}
        for store in stores
    ]

    assert {len(chunks) for chunks in in_sqlite.values()} == {50}
    assert in_postgres == in_sqlite
