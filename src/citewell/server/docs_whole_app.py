"""Everything a docs server has beside its website and docs tools; brings the SDK and the models."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.app.corpus import open_store_or_memory
from citewell.app.docs_corpus import store_docs
from citewell.app.open import already_open, open_app
from citewell.core.hosts import is_loopback
from citewell.server.http_app import build_http_app
from citewell.server.mcp_server import build_server
from citewell.server.metrics import Metrics
from citewell.tools.catalog import open_registry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.applications import Starlette
    from starlette.types import ASGIApp

    from citewell.app.docs_folder import DocsFolder
    from citewell.app.open import App
    from citewell.app.parts import Opener, PartName, Parts
    from citewell.core.settings import Settings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeApp:
    """The open application."""

    app: ASGIApp
    parts: Parts
    folder: DocsFolder
    has_corpus_tools: bool

    async def store_docs(self) -> None:
        """Bring the corpus up to date with the folder, if there are tools that read it."""
        if self.has_corpus_tools:
            await store_docs(self.parts, self.folder)


@asynccontextmanager
async def open_whole_app(settings: Settings, folder: DocsFolder) -> AsyncIterator[WholeApp]:
    """Open the parts and the MCP application of a docs server.

    Where anyone on the network may call it, unasked for a token, it lists the docs tools only:
    they show nothing that the website does not show.

    Raises:
        CitewellError: something is set wrong or cannot be opened.
    """
    replaced: dict[PartName, Opener] = {
        "docs": already_open(folder),
        "store": open_store_or_memory,
    }
    async with open_app(settings, replaced=replaced) as parts_app:
        parts = await parts_app.open("store", "ingester", "library", "access")
        is_open = await _is_open_to_all(parts)
        if is_open:
            logger.warning("anyone may call this server: only the docs tools are listed")
        app = _build_app(parts_app, _settings_of(settings, docs_only=is_open))
        async with app.router.lifespan_context(app):
            yield WholeApp(app=app, parts=parts, folder=folder, has_corpus_tools=not is_open)


def _build_app(app: App, settings: Settings) -> Starlette:
    registry, metrics = open_registry(settings), Metrics()
    server = build_server(registry, app, settings=settings, metrics=metrics)
    return build_http_app(server, registry, app, settings=settings, metrics=metrics)


async def _is_open_to_all(parts: Parts) -> bool:
    settings = parts.settings
    if is_loopback(settings.mcp_host) or settings.mcp_allow_anonymous:
        return False
    return not await parts.access.gate.is_guarded()


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
