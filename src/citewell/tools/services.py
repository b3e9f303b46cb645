"""Where everything is put together: settings in, the parts that tools use out."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.inference.open import open_embedder, open_reranker
from citewell.ingest.pipeline import Ingester
from citewell.research.engine import Engine
from citewell.research.run import Limits, Parts
from citewell.store.open import open_store
from citewell.tools.scratch import ScratchStore
from citewell.web.fetcher import Fetcher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.core.settings import Settings
    from citewell.inference.protocols import Embedder, Reranker
    from citewell.store.protocol import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The open parts of a running Citewell."""

    settings: Settings
    store: Store
    embedder: Embedder | None
    reranker: Reranker | None
    ingester: Ingester
    engine: Engine
    scratch: ScratchStore


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Open the store, the fetcher and the models (which load on first use); close them after.

    Raises:
        SettingsError, StoreError: something is set wrong or cannot be opened.
    """
    embedder = open_embedder(
        settings.embedder,
        endpoint=settings.embedder_endpoint,
        api_key=settings.embedder_api_key,
        threads=settings.inference_threads,
    )
    reranker = open_reranker(
        settings.reranker,
        endpoint=settings.reranker_endpoint,
        api_key=settings.reranker_api_key,
        threads=settings.inference_threads,
    )
    async with AsyncExitStack() as stack:
        current = embedder.name if embedder is not None else None
        store = await open_store(settings.database_url, model=current)
        stack.push_async_callback(store.aclose)
        for model in (embedder, reranker):
            if model is not None:
                stack.push_async_callback(model.aclose)
        fetcher = await stack.enter_async_context(
            Fetcher(
                user_agent=settings.web_user_agent,
                timeout_seconds=settings.web_timeout_seconds,
                max_page_bytes=settings.web_max_page_bytes,
                max_redirects=settings.web_max_redirects,
                max_retries=settings.web_max_retries,
                respect_robots=settings.web_respect_robots,
                host_concurrency=settings.web_host_concurrency,
                host_delay_seconds=settings.web_host_delay_seconds,
                allowed_ports=settings.web_allowed_ports,
                allowed_private_hosts=settings.web_allowed_private_hosts,
            )
        )
        ingester = await stack.enter_async_context(
            Ingester(
                store=store,
                fetcher=fetcher,
                embedder=embedder,
                stale_after_days=settings.page_stale_days,
            )
        )
        engine = Engine(
            Parts(store=store, ingester=ingester, embedder=embedder, reranker=reranker),
            Limits(
                max_blocks=settings.answer_max_blocks,
                max_depth=settings.answer_max_expansion_depth,
                pages_per_round=settings.answer_pages_per_round,
                max_pages=settings.answer_max_followed_pages,
                full_context_tokens=settings.answer_full_context_tokens,
            ),
        )
        yield Services(
            settings=settings,
            store=store,
            embedder=embedder,
            reranker=reranker,
            ingester=ingester,
            engine=engine,
            scratch=ScratchStore(
                ttl_seconds=settings.scratch_ttl_seconds, max_bytes=settings.scratch_max_bytes
            ),
        )
