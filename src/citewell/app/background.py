"""Background work of a server: due jobs, and storing the pages of the docs folder."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from citewell.app.docs_corpus import keep_docs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly


@asynccontextmanager
async def open_background(assembly: Assembly) -> AsyncIterator[None]:
    """Work on due jobs and, in a server, store the pages of the docs folder."""
    parts = await assembly.open("library", "store", "ingester", "docs")
    if parts.docs is None or assembly.role != "server":
        yield
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keep_docs, parts, parts.docs)
        yield
        tasks.cancel_scope.cancel()
