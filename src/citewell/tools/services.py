"""Where everything is put together: settings in, the parts that tools use out."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anyio import create_task_group, to_thread

from citewell.access.open import AccessTerms, open_access
from citewell.core.hosts import is_loopback
from citewell.core.identity import ALL_SCOPES
from citewell.events.open import open_events
from citewell.inference.open import open_embedder, open_reranker, open_synthesizer
from citewell.ingest.content_types.read import read_fields
from citewell.ingest.library_pages import LibraryParts
from citewell.ingest.pipeline import Ingester
from citewell.jobs.library import open_library
from citewell.jobs.runner import Pace
from citewell.people.desk import Desk
from citewell.research.engine import Engine
from citewell.research.run import Limits, Parts
from citewell.store.open import open_store
from citewell.tools.docs_corpus import keep_docs
from citewell.tools.docs_folder import open_docs
from citewell.tools.duties import read_duties
from citewell.tools.live_pages import LivePages
from citewell.tools.rendering import check_rendering, open_rendering
from citewell.tools.scratch import ScratchStore
from citewell.tools.search_engines import open_engines
from citewell.web.fetcher import Fetcher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.access.gate import Gate
    from citewell.access.meter import Meter
    from citewell.access.rates import Rates
    from citewell.core.settings import Settings
    from citewell.docsite.folder import DocsFolder
    from citewell.events.emitter import Events
    from citewell.inference.protocols import Embedder, Reranker, Synthesizer
    from citewell.jobs.library import Library
    from citewell.store.protocol import Store
    from citewell.web.search.web_search import WebSearch


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The open parts of a running Citewell."""

    settings: Settings
    store: Store
    embedder: Embedder | None
    reranker: Reranker | None
    ingester: Ingester
    library: Library
    engine: Engine
    scratch: ScratchStore
    secret: bytes = field(repr=False)
    """Seals what callers hand back; every process of the database has the same."""
    live_pages: LivePages
    gate: Gate
    meter: Meter
    rates: Rates
    desk: Desk
    web_search: WebSearch | None
    """None when no engine is configured."""
    events: Events
    synthesizer: Synthesizer | None
    """None when no language model is configured."""
    docs: DocsFolder | None = None
    """None when no docs folder is served."""


@asynccontextmanager
async def open_services(
    settings: Settings,
    *,
    docs: DocsFolder | None = None,
    runs_jobs: bool = True,
    is_worker: bool = False,
) -> AsyncIterator[Services]:
    """Open the store, the fetcher and the models (which load on first use); close them after.

    `docs` is the docs folder where it is open already, by one who also keeps its pages in the
    corpus; else the one that `settings` name is opened, and kept there by a server.
    With `runs_jobs` whatever background work is due is done, also what other processes left; a
    worker makes the vectors that they left as well, and renders what they ask for.

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
    synthesizer = open_synthesizer(
        settings.synthesis, endpoint=settings.synthesis_endpoint, api_key=settings.synthesis_api_key
    )
    duties = read_duties(settings, is_worker=is_worker)
    no_rendering = check_rendering(settings, duties)
    async with AsyncExitStack() as stack:
        current = embedder.name if embedder is not None else None
        store = await open_store(settings.database_url, model=current)
        stack.push_async_callback(store.aclose)
        secret = await store.access.server_secret()
        for model in (embedder, reranker, synthesizer):
            if model is not None:
                stack.push_async_callback(model.aclose)
        # Before the first task group: what is set wrong would leave it in an ExceptionGroup.
        fetcher = Fetcher(
            user_agent=settings.web_user_agent,
            timeout_seconds=settings.web_timeout_seconds,
            max_page_bytes=settings.web_max_page_bytes,
            max_redirects=settings.web_max_redirects,
            max_retries=settings.web_max_retries,
            respect_robots=settings.web_respect_robots,
            host_concurrency=settings.web_host_concurrency,
            host_delay_seconds=settings.web_host_delay_seconds,
            shared_turns=store.hosts,
            allowed_ports=settings.web_allowed_ports,
            allowed_private_hosts=settings.web_allowed_private_hosts,
        )
        access = await stack.enter_async_context(open_access(store.access, access_terms(settings)))
        events = await stack.enter_async_context(
            open_events(
                settings.events,
                source_app=settings.events_source_app,
                webhook_token=settings.events_webhook_token,
            )
        )
        await stack.enter_async_context(fetcher)
        second_look = await stack.enter_async_context(
            open_rendering(
                settings, fetcher, store.renders, duties=duties, unavailable=no_rendering
            )
        )
        ingester = await stack.enter_async_context(
            Ingester(
                store=store,
                fetcher=fetcher,
                embedder=embedder if duties.embeds else None,
                stale_after_days=settings.page_stale_days,
                second_look=second_look,
            )
        )
        library = await stack.enter_async_context(
            open_library(
                LibraryParts(
                    store=store, ingester=ingester, fetcher=fetcher, read_fields=read_fields
                ),
                polls=runs_jobs and bool(duties.jobs),
                stale_after_days=settings.page_stale_days,
                pace=Pace(
                    concurrency=settings.jobs_concurrency,
                    lease_seconds=settings.jobs_lease_seconds,
                    kinds=duties.jobs or None,
                ),
                emit=events.emit,
                embeds_left_for=current if duties.embeds_left else None,
            )
        )
        web_search = open_engines(settings)
        if web_search is not None:
            stack.push_async_callback(web_search.aclose)
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
        services = Services(
            settings=settings,
            store=store,
            embedder=embedder,
            reranker=reranker,
            ingester=ingester,
            library=library,
            engine=engine,
            gate=access.gate,
            meter=access.meter,
            rates=access.rates,
            desk=Desk(store.people, answer_timeout_seconds=settings.people_answer_timeout_seconds),
            web_search=web_search,
            events=events,
            synthesizer=synthesizer,
            docs=docs or await to_thread.run_sync(open_docs, settings),
            live_pages=LivePages(ingester),
            secret=secret,
            scratch=ScratchStore(
                ttl_seconds=settings.scratch_ttl_seconds,
                max_bytes=settings.scratch_max_bytes,
                secret=secret,
            ),
        )
        if services.docs is not None and docs is None and runs_jobs and not is_worker:
            tasks = await stack.enter_async_context(create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            tasks.start_soon(keep_docs, services, services.docs)
        yield services


def access_terms(settings: Settings) -> AccessTerms:
    """Return how callers are let in and charged, as it is set."""
    return AccessTerms(
        project=settings.project,
        auth_token=settings.mcp_auth_token,
        # Anyone on this machine may also see how the server fares; anyone at all may not.
        open_scopes=ALL_SCOPES if is_loopback(settings.mcp_host) else ALL_SCOPES - {"admin"},
        tool_prices=settings.tool_prices,
        billing_url=settings.billing_url,
        billing_timeout_seconds=settings.billing_timeout_seconds,
        allow_when_billing_is_down=settings.billing_when_down == "allow",
        usage_keep_days=settings.usage_keep_days,
        requests_per_key=settings.rate_limit_per_key,
        requests_per_address=settings.rate_limit_per_address,
        rate_limit_storage=settings.rate_limit_storage,
    )
