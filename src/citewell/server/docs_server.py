"""A docs folder as a website and as MCP tools, served by one process."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from citewell.app.docs_folder import base_url, require_docs, with_base_url
from citewell.core.errors import CitewellError
from citewell.core.settings import BARE_NAMES
from citewell.server.docs_late_app import LateApp
from citewell.server.docs_mcp import DocsMcpEndpoint
from citewell.server.docs_routes import docs_routes
from citewell.server.listener import bind
from citewell.server.logging_setup import configure_logging
from citewell.server.paced_connections import PacedHttp
from citewell.server.stop_signals import on_stop_signal
from citewell.tools.docs.front import DocsFront, open_rate_limiter
from citewell.tools.docs.site import DocsSite

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Receive, Scope, Send

    from citewell.app.docs_folder import DocsFolder
    from citewell.core.settings import Settings
    from citewell.server.docs_late_app import OpenWholeApp

logger = logging.getLogger(__name__)

_CLOSING_SECONDS = 3
_SECONDS_BETWEEN_LOOKS = 1.0
# After this time without a request the rest is loaded anyway.
_QUIET_SECONDS = 1.0
_MOST_BROKEN_LINKS = 10


def serve_docs(settings: Settings, *, watch: bool = False) -> None:
    """Serve the docs folder that `settings` name until a signal comes.

    With `watch`, changes of its files are picked up within about a second.

    Raises:
        SettingsError: there is no such folder, or the port cannot be bound.
    """
    configure_logging(settings.mcp_log_level, form=settings.mcp_log_format)
    settings.refuse_problems(set(BARE_NAMES) - {"database_url"})
    with bind(settings.mcp_host, settings.mcp_port) as listener:
        bound = with_base_url(replace(settings, mcp_port=listener.getsockname()[1]))
        folder = require_docs(bound)
        app = build_docs_app(folder, bound, watch=watch)
        logger.info("docs of %d pages at %s/", len(folder.records), base_url(bound))
        anyio.run(_run_uvicorn, app, listener)


def build_docs_app(folder: DocsFolder, settings: Settings, *, watch: bool = False) -> Starlette:
    """Return the application; it works while its lifespan is on."""
    settings = with_base_url(settings)
    late_app = LateApp(partial(_load_whole_app, settings, folder))
    changes = Changes(folder)
    site = DocsSite(folder, settings)
    routes = docs_routes(site)
    endpoint: ASGIApp
    if settings.mcp_enabled:
        endpoint = DocsMcpEndpoint(
            DocsFront(folder, settings),
            late_app,
            check_rate=open_rate_limiter(settings).check,
            settings=settings,
        )
    else:
        endpoint = NoMcpEndpoint()
    routes = [Route("/mcp", endpoint), Route("/mcp/{rest:path}", endpoint), *routes]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with late_app.running(), anyio.create_task_group() as tasks:
            if watch:
                tasks.start_soon(changes.watch)
            tasks.start_soon(_warn_of_broken_links, late_app, site)
            if settings.mcp_enabled:
                tasks.start_soon(_keep_corpus, late_app, changes)
            yield
            tasks.cancel_scope.cancel()

    app = Starlette(routes=routes, lifespan=lifespan)
    app.router.redirect_slashes = False
    return app


class NoMcpEndpoint:
    """Answers every method with 404; a class, as a route takes a function for GET alone."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer that there is no MCP endpoint."""
        error = "This server has no MCP endpoint: CITEWELL_MCP_ENABLED is off."
        await JSONResponse({"error": error}, status_code=404)(scope, receive, send)


class Changes:
    """Reports when files in the folder have changed."""

    def __init__(self, folder: DocsFolder) -> None:
        self._folder = folder
        self._changed = anyio.Event()

    async def watch(self) -> None:
        """Look for changes again and again."""
        while True:
            await anyio.sleep(_SECONDS_BETWEEN_LOOKS)
            try:
                has_changed = await anyio.to_thread.run_sync(self._folder.refresh)
            except OSError as error:
                # Files are being replaced, such as the sidebar; the next look sees them all.
                logger.warning("the docs folder cannot be looked at: %s", error.strerror)
                continue
            if has_changed:
                self._changed.set()
                self._changed = anyio.Event()

    async def since(self, revision: str) -> None:
        """Return once the folder is another than it was at `revision`."""
        while self._folder.revision == revision:
            await self._changed.wait()

    @property
    def revision(self) -> str:
        """The state of the folder."""
        return self._folder.revision


async def _warn_of_broken_links(late_app: LateApp, site: DocsSite) -> None:
    """Name the links that lead to no page, once there is time to look for them."""
    await late_app.until_there_is_time(seconds=_QUIET_SECONDS)
    try:
        broken = await anyio.to_thread.run_sync(site.broken_links, abandon_on_cancel=True)
    except (CitewellError, OSError) as error:
        logger.warning("the links of the docs were not checked: %s", error)
        return
    for path, target in broken[:_MOST_BROKEN_LINKS]:
        logger.warning("%s: no %s at %s", path, "place" if "#" in target else "page", target)
    if len(broken) > _MOST_BROKEN_LINKS:
        left = len(broken) - _MOST_BROKEN_LINKS
        logger.warning("%d more broken links; `citewell docs build` lists them all", left)


async def _keep_corpus(late_app: LateApp, changes: Changes) -> None:
    """Load the rest of the server once it has time, and keep the corpus as the folder is."""
    await late_app.until_there_is_time(seconds=_QUIET_SECONDS)
    while True:
        revision = changes.revision
        try:
            whole = await late_app.get()
            await whole.store_docs()
        except CitewellError as error:
            logger.warning("the docs are not in the corpus: %s", error.message)
        except Exception:
            # The website works without the corpus and must outlive its failure.
            logger.exception("the docs are not in the corpus")
        await changes.since(revision)


def _load_whole_app(settings: Settings, folder: DocsFolder) -> OpenWholeApp:
    """Import the rest, which takes longer than the first questions do; called in a thread."""
    open_whole_app = import_module("citewell.server.docs_whole_app").open_whole_app
    return partial(open_whole_app, settings, folder)


async def _run_uvicorn(app: Starlette, listener: socket.socket) -> None:
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_CLOSING_SECONDS,
        http=PacedHttp,
        ws="none",
    )
    # uvicorn handles the signals itself and raises them again when it is done: the one we set
    # makes that a return instead of a death by signal.
    with on_stop_signal(lambda: None):
        await uvicorn.Server(config).serve(sockets=[listener])
    logger.info("server stopped")
