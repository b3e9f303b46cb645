"""The models, which load their weights on first use."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from citewell.inference.open import open_embedder, open_reranker, open_synthesizer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly
    from citewell.inference.protocols import Embedder, Reranker, Synthesizer


@asynccontextmanager
async def open_embedder_part(assembly: Assembly) -> AsyncIterator[Embedder | None]:
    """Give the configured embedder; None for "none"."""
    settings = assembly.settings
    embedder = open_embedder(
        settings.embedder,
        endpoint=settings.embedder_endpoint,
        api_key=settings.embedder_api_key,
        threads=settings.inference_threads,
    )
    try:
        yield embedder
    finally:
        if embedder is not None:
            await embedder.aclose()


@asynccontextmanager
async def open_reranker_part(assembly: Assembly) -> AsyncIterator[Reranker | None]:
    """Give the configured reranker; None for "none"."""
    settings = assembly.settings
    reranker = open_reranker(
        settings.reranker,
        endpoint=settings.reranker_endpoint,
        api_key=settings.reranker_api_key,
        threads=settings.inference_threads,
    )
    try:
        yield reranker
    finally:
        if reranker is not None:
            await reranker.aclose()


@asynccontextmanager
async def open_synthesizer_part(assembly: Assembly) -> AsyncIterator[Synthesizer | None]:
    """Give the configured language model; None for "none"."""
    settings = assembly.settings
    synthesizer = open_synthesizer(
        settings.synthesis, endpoint=settings.synthesis_endpoint, api_key=settings.synthesis_api_key
    )
    try:
        yield synthesizer
    finally:
        if synthesizer is not None:
            await synthesizer.aclose()
