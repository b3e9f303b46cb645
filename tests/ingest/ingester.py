"""An ingester that fetches from loopback and embeds nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from citewell.ingest.pipeline import Ingester
from citewell.store.protocol import Store
from citewell.web.fetcher import Fetcher


@asynccontextmanager
async def open_ingester(
    store: Store, *, response_max_bytes: int = 1_000_000
) -> AsyncIterator[Ingester]:
    """Open an ingester that keeps up to `response_max_bytes` of responses."""
    async with (
        Fetcher(allowed_private_hosts=("127.0.0.1",), respect_robots=False) as fetcher,
        Ingester(
            store=store,
            fetcher=fetcher,
            embedder=None,
            stale_after_days=30,
            response_max_bytes=response_max_bytes,
        ) as ingester,
    ):
        yield ingester
