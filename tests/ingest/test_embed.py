"""Vectors of chunks: what two versions of a page say alike is embedded once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.drafts import draft
from tests.hashing_embedder import HashingEmbedder
from tests.store.backends import empty_store

from citewell.ingest.embed import EmbeddingQueue

pytestmark = pytest.mark.anyio


async def test_what_two_versions_say_alike_is_embedded_once(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    async with empty_store("sqlite-memory", tmp_path) as store:
        queue = EmbeddingQueue(store, embedder)
        for version, text in (("1.0", "Herons wade."), ("2.0", "Herons wade."), ("3.0", "Fly.")):
            await store.put_page(draft(f"pypi:herons@{version}/herons", text, title="Herons"))
            await queue.embed_all()
        left = await store.chunks_to_embed(model=embedder.name, limit=9)

    assert len(embedder.embedded) == len(set(embedder.embedded)) == 2
    assert left == []
