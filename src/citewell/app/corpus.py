"""The store, the watch over it, and what callers have been shown."""

from __future__ import annotations

import logging
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from citewell.core.errors import StoreError
from citewell.inference.names import vector_model
from citewell.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.citations import CitationMemory
    from citewell.app.content_watch import ContentWatch
    from citewell.app.parts import Assembly
    from citewell.app.scratch import ScratchStore
    from citewell.store.protocol import Store

logger = logging.getLogger(__name__)

_IN_MEMORY = "sqlite://"


@asynccontextmanager
async def open_store_part(assembly: Assembly) -> AsyncIterator[Store]:
    """Give the store, which searches the vectors of the configured embedder."""
    async with aclosing(await _open_at(assembly.settings.database_url, assembly)) as store:
        yield store


@asynccontextmanager
async def open_store_or_memory(assembly: Assembly) -> AsyncIterator[Store]:
    """Give the store, or one in memory if the default database cannot be written."""
    address = assembly.settings.database_url
    try:
        store = await _open_at(address, assembly)
    except StoreError as error:
        if address:
            raise
        logger.warning("the corpus is kept in memory: %s", error.message)
        store = await _open_at(_IN_MEMORY, assembly)
    async with aclosing(store):
        yield store


@asynccontextmanager
async def open_secret(assembly: Assembly) -> AsyncIterator[bytes]:
    """Give the secret that every process of the database shares."""
    yield await (await assembly.open("store")).store.access.server_secret()


@asynccontextmanager
async def open_scratch(assembly: Assembly) -> AsyncIterator[ScratchStore]:
    """Give the cache of passages that callers have been shown."""
    # Importing it takes longer than a command that only reads the store.
    from citewell.app.scratch import ScratchStore

    yield ScratchStore(secret=(await assembly.open("secret")).secret)


@asynccontextmanager
async def open_watch(assembly: Assembly) -> AsyncIterator[ContentWatch]:
    """Give the watch over stored pages, which polls while it is open."""
    from citewell.app.content_watch import ContentWatch

    watch = ContentWatch((await assembly.open("store")).store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch.run)
        yield watch
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def open_citations(assembly: Assembly) -> AsyncIterator[CitationMemory]:
    """Give the memory of citations; what still waits is written on leaving."""
    from citewell.app.citations import CitationMemory

    settings = assembly.settings
    memory = CitationMemory(
        (await assembly.open("store")).store.citations,
        keep_days=settings.citation_days,
        keeps_questions=settings.citation_questions,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(memory.keep_writing)
        if assembly.role != "command":
            tasks.start_soon(memory.keep_forgetting)
        try:
            yield memory
        finally:
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await memory.write_out()


async def _open_at(address: str, assembly: Assembly) -> Store:
    settings = assembly.settings
    return await open_store(
        address,
        model=vector_model(settings.embedder),
        schema=settings.postgres_schema,
        is_chosen=settings.is_explicit("database_url"),
    )
