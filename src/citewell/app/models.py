"""The models, which load their weights on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.app.closing import closing
from citewell.inference.open import open_embedder, open_reranker, open_synthesizer

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from citewell.app.parts import Assembly
    from citewell.core.settings import Settings
    from citewell.inference.protocols import Embedder, Reranker, Synthesizer


def open_embedder_part(assembly: Assembly) -> AbstractAsyncContextManager[Embedder | None]:
    """Give the configured embedder; None for "none"."""
    settings = assembly.settings
    return open_embedder_with(settings.embedder_api_key, settings)


def open_embedder_with(
    api_key: str | None, settings: Settings
) -> AbstractAsyncContextManager[Embedder | None]:
    """Give the configured embedder, which calls its endpoint with `api_key`; None for "none"."""
    return closing(
        open_embedder(
            settings.embedder,
            endpoint=settings.embedder_endpoint,
            api_key=api_key,
            threads=settings.inference_threads,
        )
    )


def open_reranker_part(assembly: Assembly) -> AbstractAsyncContextManager[Reranker | None]:
    """Give the configured reranker; None for "none"."""
    settings = assembly.settings
    return closing(
        open_reranker(
            settings.reranker,
            endpoint=settings.reranker_endpoint,
            api_key=settings.reranker_api_key,
            threads=settings.inference_threads,
        )
    )


def open_synthesizer_part(assembly: Assembly) -> AbstractAsyncContextManager[Synthesizer | None]:
    """Give the configured language model; None for "none"."""
    settings = assembly.settings
    return closing(
        open_synthesizer(
            settings.synthesis,
            endpoint=settings.synthesis_endpoint,
            api_key=settings.synthesis_api_key,
        )
    )
