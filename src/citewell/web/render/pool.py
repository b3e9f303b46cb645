"""A bounded number of tabs in one browser that starts when needed and ends when idle."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

import anyio

from citewell.core.errors import RenderFailed
from citewell.core.frozen import frozen
from citewell.core.records import FetchedPage
from citewell.web.address_guard import GuardedNetwork
from citewell.web.render.proxy import PageProxy
from citewell.web.urls import canonical_url, shown_url, split_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from citewell.web.address_guard import AddressGuard
    from citewell.web.render.chromium import Chromium
    from citewell.web.render.protocol import SiteRules

logger = logging.getLogger(__name__)

_MEMORY_CHECK_SECONDS = 0.5
# Browsers grow with use; starting a new one takes less than a second.
_PAGES_PER_BROWSER = 200


@frozen
class PoolLimits:
    """What rendering may take."""

    max_pages: int = 2
    """At once."""
    timeout_seconds: float = 20.0
    """For one page; waiting for a free tab or a turn on the host does not count."""
    max_page_bytes: int = 20_000_000
    """Of all that one page loads, and of the HTML that it becomes."""
    idle_seconds: float = 60.0
    pages_per_browser: int = _PAGES_PER_BROWSER


class RenderPool:
    """Renders pages in one browser process of its own; use it as an async context manager."""

    def __init__(
        self,
        start: Callable[[], Awaitable[Chromium]],
        *,
        guard: AddressGuard,
        rules: SiteRules,
        limits: PoolLimits,
    ) -> None:
        self._start = start
        self._guard = guard
        self._rules = rules
        self._limits = limits
        self._free_tabs = anyio.Semaphore(limits.max_pages)
        self._changing = anyio.Lock()
        self._browser: Chromium | None = None
        self._pages_shown = 0
        self._open_tabs = 0
        self._idle_since = 0.0
        self._tab_closed = anyio.Event()
        self._stack = AsyncExitStack()
        self._tasks: anyio.abc.TaskGroup | None = None

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        self._stack.push_async_callback(self._end_browser)
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        self._stack.callback(self._tasks.cancel_scope.cancel)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._tasks = None
        # The tasks had no part in the caller's error, so it must not come out as a group of theirs.
        await self._stack.aclose()

    async def render(self, url: str, *, wait_for: str = "") -> FetchedPage:
        """Return the page as its reader sees it, as HTML, after its scripts have run.

        `wait_for` is a text or a CSS selector that is to be on the page before it is read.

        Raises:
            NotAUrl: `url` is not an http or https URL.
            FetchError: the page could not be had or shown; each subclass says why.
        """
        start = canonical_url(url)
        async with self._rules.visit(start), self._free_tabs:
            async with self._tab_of_browser() as browser:
                try:
                    return await self._render_in(browser, start, wait_for)
                except RenderFailed:
                    if browser.is_running:
                        raise
            # Through no fault of this page, perhaps: it is worth one more browser.
            logger.warning("the browser died while it showed %s", shown_url(start))
            async with self._tab_of_browser() as browser:
                return await self._render_in(browser, start, wait_for)

    async def _render_in(self, browser: Chromium, url: str, wait_for: str) -> FetchedPage:
        assert self._tasks is not None, "the pool is open while it renders"
        parts = split_url(url)
        network = GuardedNetwork(self._guard.for_page(parts.host, parts.port))
        proxy = PageProxy(network, max_bytes=self._limits.max_page_bytes)
        try:
            await self._tasks.start(proxy.run)
        except OSError as error:
            raise RenderFailed("there is no free port for the page's proxy") from error
        try:
            loaded = await browser.show(
                url,
                proxy=proxy,
                rules=self._rules,
                max_bytes=self._limits.max_page_bytes,
                seconds=self._limits.timeout_seconds,
                wait_for=wait_for,
            )
        finally:
            proxy.stop()
        return FetchedPage(
            url=url,
            final_url=loaded.final_url,
            status=loaded.status,
            kind="html",
            body=loaded.html.encode("utf-8", "replace"),
            text=loaded.html,
            fetched_at=datetime.now(UTC),
            redirects=(loaded.final_url,) if loaded.final_url != url else (),
            rendered=True,
            incomplete=loaded.incomplete,
        )

    @asynccontextmanager
    async def _tab_of_browser(self) -> AsyncIterator[Chromium]:
        """Count a tab of a running browser; it is not replaced while tabs are open."""
        async with self._changing:
            browser = await self._usable_browser()
            self._open_tabs += 1
            self._pages_shown += 1
        try:
            yield browser
        finally:
            self._open_tabs -= 1
            self._idle_since = anyio.current_time()
            self._tab_closed.set()

    async def _usable_browser(self) -> Chromium:
        browser = self._browser
        if browser is not None and browser.is_running:
            if self._pages_shown < self._limits.pages_per_browser:
                return browser
            while self._open_tabs:
                self._tab_closed = anyio.Event()
                await self._tab_closed.wait()
        await self._end_browser()
        self._browser = browser = await self._start()
        self._pages_shown = 0
        assert self._tasks is not None, "the pool is open while it renders"
        self._tasks.start_soon(self._watch, browser)
        return browser

    async def _watch(self, browser: Chromium) -> None:
        """Keep the browser's pages within their memory, and end it when nobody needs it."""
        while browser is self._browser and browser.is_running:
            await anyio.sleep(_MEMORY_CHECK_SECONDS)
            if self._open_tabs:
                await browser.kill_large_pages()
            elif self._is_idle():
                async with self._changing:
                    # A page may have come while we waited for our turn.
                    if self._is_idle() and browser is self._browser:
                        await self._end_browser()

    def _is_idle(self) -> bool:
        waited = anyio.current_time() - self._idle_since
        return not self._open_tabs and waited >= self._limits.idle_seconds

    async def _end_browser(self) -> None:
        browser, self._browser = self._browser, None
        if browser is not None:
            await browser.aclose()
