"""Everything a docs server has beside its website and docs tools; brings the SDK and the models."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.errors import CitewellError, StoreError
from citewell.core.hosts import is_loopback
from citewell.server.http_app import build_http_app
from citewell.server.late_services import late_services
from citewell.server.mcp_server import build_server
from citewell.server.metrics import Metrics
from citewell.tools.catalog import open_registry
from citewell.tools.docs_corpus import store_docs
from citewell.tools.services import open_services

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.applications import Starlette
    from starlette.types import ASGIApp

    from citewell.core.settings import Settings
    from citewell.server.late_services import LateServices
    from citewell.tools.docs_folder import DocsFolder
    from citewell.tools.services import Services

logger = logging.getLogger(__name__)

_IN_MEMORY = "sqlite://"


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeApp:
    """The open application."""

    app: ASGIApp
    services: Services
    folder: DocsFolder
    has_corpus_tools: bool

    async def store_docs(self) -> None:
        """Bring the corpus up to date with the folder, if there are tools that read it."""
        if self.has_corpus_tools:
            await store_docs(self.services, self.folder)


@asynccontextmanager
async def open_whole_app(settings: Settings, folder: DocsFolder) -> AsyncIterator[WholeApp]:
    """Open the services and the MCP application of a docs server.

    Where anyone on the network may call it, unasked for a token, it lists the docs tools only:
    they show nothing that the website does not show.

    Raises:
        CitewellError: something is set wrong or cannot be opened.
    """
    failure: CitewellError | None = None
    async with late_services(settings, partial(_open_services, folder=folder)) as late:
        try:
            services = await late.get()
            is_open = await _is_open_to_all(services)
        except CitewellError as error:
            # Raised below: what leaves a task group leaves it wrapped in an ExceptionGroup.
            failure = error
        else:
            if is_open:
                logger.warning("anyone may call this server: only the docs tools are listed")
            app = _build_app(late, _settings_of(settings, docs_only=is_open))
            async with app.router.lifespan_context(app):
                yield WholeApp(
                    app=app, services=services, folder=folder, has_corpus_tools=not is_open
                )
    if failure is not None:
        raise failure


def _build_app(late: LateServices, settings: Settings) -> Starlette:
    registry, metrics = open_registry(settings), Metrics()
    server = build_server(registry, late, settings=settings, metrics=metrics)
    return build_http_app(server, registry, late, settings=settings, metrics=metrics)


@asynccontextmanager
async def _open_services(settings: Settings, *, folder: DocsFolder) -> AsyncIterator[Services]:
    """Open the services; a container that nothing can be written in has its corpus in memory."""
    async with AsyncExitStack() as stack:
        try:
            services = await stack.enter_async_context(open_services(settings, docs=folder))
        except StoreError as error:
            if settings.database_url:
                raise
            logger.warning("the corpus is kept in memory: %s", error.message)
            in_memory = replace(settings, database_url=_IN_MEMORY)
            services = await stack.enter_async_context(open_services(in_memory, docs=folder))
        yield services


async def _is_open_to_all(services: Services) -> bool:
    settings = services.settings
    if is_loopback(settings.mcp_host) or settings.mcp_allow_anonymous:
        return False
    return not await services.gate.is_guarded()


def _settings_of(settings: Settings, *, docs_only: bool) -> Settings:
    # Readers know the server by its public name, so its clients may, too.
    public = urlsplit(settings.docs_base_url).netloc
    hosts = (*settings.mcp_allowed_hosts, *([public] if public else []))
    return replace(
        settings,
        mcp_transport="streamable-http",
        mcp_allowed_hosts=hosts,
        mcp_toolsets=("docs",) if docs_only else settings.mcp_toolsets,
    )
