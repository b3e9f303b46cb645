"""A page that is replaced while it is exported is exported as it was or as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest
from tests.drafts import draft
from tests.hashing_embedder import HashingEmbedder

from citewell.ingest.archive.write import page_record
from citewell.store.open import open_store

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.core.records import PageDraft
    from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

MODEL = HashingEmbedder()
URL = "https://birds.example/all"
BIRDS = ("Heron", "Crane")
ROUNDS = 30


async def test_a_page_that_is_being_replaced_is_exported_whole(tmp_path: Path) -> None:
    address = f"sqlite://{tmp_path / 'library.db'}"
    writer = await open_store(address, model=MODEL.name)
    reader = await open_store(address, model=MODEL.name)
    records: list[dict[str, object]] = []
    try:
        put = await writer.put_page(birds("Heron"))
        info = await reader.find_page(URL, project="default")
        assert info is not None
        is_over = anyio.Event()

        async def replace_it() -> None:
            for _ in range(ROUNDS):
                for bird in BIRDS:
                    await writer.put_page(birds(bird))
            is_over.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(replace_it)
            # However slow a reader is, it succeeds once nobody writes any more.
            while not is_over.is_set():
                record = await page_record(info, reader, MODEL.name)
                assert record is not None
                records.append(record)
    finally:
        await close(reader, writer)

    assert info.source_id == put.source_id
    for record in records:
        text, chunks = str(record["text"]), record["chunks"]
        assert isinstance(chunks, list)
        bird = text.split()[0]
        assert len(chunks) == 40
        assert all(bird in chunk["embedded_text"] for chunk in chunks)


def birds(name: str) -> PageDraft:
    return draft(URL, *(f"{name} {i} wades." for i in range(40)))


async def close(*stores: Store) -> None:
    for store in stores:
        await store.aclose()
