"""The fetcher of pages and the web search engines."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from anyio import to_thread

from citewell.app.closing import closing
from citewell.app.search_engines import open_engines
from citewell.web.fetcher import Fetcher
from citewell.web.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from citewell.app.parts import Assembly
    from citewell.web.search.web_search import WebSearch


@asynccontextmanager
async def open_fetcher(assembly: Assembly) -> AsyncIterator[Fetcher]:
    """Give the fetcher, which shares each host's turns with the other processes."""
    settings = assembly.settings
    # Its first process starts while the store is opened and the first page fetched.
    sandbox = Sandbox(preload=("citewell.ingest.reading", "citewell.answer.verify"))
    await to_thread.run_sync(sandbox.warm_up)
    fetcher = Fetcher(
        user_agent=settings.web_user_agent,
        timeout_seconds=settings.web_timeout_seconds,
        max_page_bytes=settings.web_max_page_bytes,
        respect_robots=settings.web_respect_robots,
        host_delay_seconds=settings.web_host_delay_seconds,
        shared_turns=(await assembly.open("store")).store.hosts,
        allowed_ports=settings.web_allowed_ports,
        allowed_private_hosts=settings.web_allowed_private_hosts,
        sandbox=sandbox,
    )
    async with fetcher:
        yield fetcher


def open_web_search_part(assembly: Assembly) -> AbstractAsyncContextManager[WebSearch | None]:
    """Give the configured search engines as one; None when there are none."""
    return closing(open_engines(assembly.settings))
