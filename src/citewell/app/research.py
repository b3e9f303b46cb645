"""The research engine behind `answer` and `search`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from citewell.app.late_ingester import LateIngester
from citewell.research.engine import Engine
from citewell.research.parts import Limits
from citewell.research.parts import Parts as EngineParts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly


@asynccontextmanager
async def open_engine(assembly: Assembly) -> AsyncIterator[Engine]:
    """Give the engine with the configured limits."""
    settings = assembly.settings
    parts = await assembly.open("store", "embedder", "reranker")
    yield Engine(
        EngineParts(
            store=parts.store,
            ingester=LateIngester(
                parts.store,
                assembly.open_later,
                settings=settings,
                has_embedder=parts.embedder is not None,
            ),
            embedder=parts.embedder,
            reranker=parts.reranker,
        ),
        Limits(),
    )
