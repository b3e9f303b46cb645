"""Everything a docs server has beside its website and docs tools; brings the SDK and the models."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.app.access import open_docs_access
from citewell.app.corpus import open_store_or_memory
from citewell.app.docs_corpus import store_docs
from citewell.app.open import already_open, open_app
from citewell.core.frozen import frozen
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


@frozen
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

    Callers without a key see the docs tools only, unless CITEWELL_DOCS_ALL_TOOLS is set.

    Raises:
        CitewellError: something is set wrong or cannot be opened.
    """
    settings = _with_public_name(settings)
    replaced: dict[PartName, Opener] = {
        "access": open_docs_access,
        "docs": already_open(folder),
        "store": open_store_or_memory,
    }
    async with open_app(settings, replaced=replaced) as parts_app:
        parts = await parts_app.open("store", "ingester", "library", "access")
        has_more_tools = settings.docs_all_tools or await parts.access.gate.is_guarded()
        if not has_more_tools:
            logger.info("there are no keys: only the docs tools are offered")
        app = _build_app(parts_app, settings)
        async with app.router.lifespan_context(app):
            yield WholeApp(app=app, parts=parts, folder=folder, has_corpus_tools=has_more_tools)


def _build_app(app: App, settings: Settings) -> Starlette:
    registry, metrics = open_registry(settings), Metrics()
    server = build_server(registry, app, settings=settings, metrics=metrics)
    return build_http_app(server, registry, app, settings=settings, metrics=metrics)


def _with_public_name(settings: Settings) -> Settings:
    # Readers know the server by its public name, so its clients may, too.
    public = urlsplit(settings.docs_base_url).netloc
    hosts = (*settings.mcp_allowed_hosts, *([public] if public else []))
    return replace(settings, mcp_transport="streamable-http", mcp_allowed_hosts=hosts)
