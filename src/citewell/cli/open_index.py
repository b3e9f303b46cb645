"""The index alone, for commands that neither fetch nor embed."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from citewell.inference.open import open_embedder
from citewell.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.core.settings import Settings
    from citewell.store.protocol import Store


@asynccontextmanager
async def open_index(settings: Settings) -> AsyncIterator[tuple[Store, str | None]]:
    """Give the store, and the name of the model whose vectors count; no model is loaded.

    Raises:
        SettingsError, StoreError: something is set wrong or cannot be opened.
    """
    embedder = open_embedder(
        settings.embedder,
        endpoint=settings.embedder_endpoint,
        api_key=settings.embedder_api_key,
        threads=settings.inference_threads,
    )
    model = embedder.name if embedder is not None else None
    store = await open_store(
        settings.database_url,
        model=model,
        schema=settings.postgres_schema,
        is_chosen=settings.is_explicit("database_url"),
    )
    try:
        yield store, model
    finally:
        await store.aclose()
