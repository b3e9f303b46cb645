"""Every kind of store there is, opened empty for a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from tests.postgres import empty_library

from citewell.store.open import open_store
from citewell.store.protocol import Store

BACKENDS = ("sqlite-file", "sqlite-memory", "postgres")


@asynccontextmanager
async def empty_store(
    backend: str, folder: Path, *, model: str | None = None
) -> AsyncIterator[Store]:
    """An empty store of one of BACKENDS; `folder` holds its file."""
    with ExitStack() as stack:
        if backend == "postgres":
            address = stack.enter_context(empty_library())
        else:
            address = f"sqlite://{folder}/pages.db" if backend == "sqlite-file" else "sqlite://"
        store = await open_store(address, model=model)
        try:
            yield store
        finally:
            await store.aclose()
