"""Loads one page in a browser tab and waits until it stands still."""

from __future__ import annotations

import logging
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

import anyio
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from citewell.core.errors import (
    FetchError,
    FetchTimeout,
    HostUnreachable,
    NotAUrl,
    PageTooLarge,
    RenderFailed,
    UnsupportedContent,
)
from citewell.core.frozen import frozen
from citewell.web.render.settling import COUNT_PENDING, WINDOW_WIDTH, Requests, Settling
from citewell.web.urls import canonical_url, shown_url, split_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import CDPSession, Page, Request, Route

    from citewell.web.render.protocol import SiteRules
    from citewell.web.render.proxy import PageProxy

logger = logging.getLogger(__name__)

_FOLDER = files("citewell.web.render")
_REVEAL = (_FOLDER / "reveal.js").read_text(encoding="utf-8")
_OPEN_TREES = (_FOLDER / "open_trees.js").read_text(encoding="utf-8")
_COLOURS = (_FOLDER / "colours.js").read_text(encoding="utf-8")
_VISIBLE_TEXT = (_FOLDER / "visible_text.js").read_text(encoding="utf-8")
_SHOWN_HTML = (_FOLDER / "shown_html.js").read_text(encoding="utf-8")

# They hold no text, and make up most of a page's bytes.
_NOT_LOADED = frozenset({"image", "media", "font"})
# Reading a page changes nothing on its site.
_READING_METHODS = frozenset({"GET", "HEAD"})
_MAX_LOAD_SECONDS = 6.0
# Kept back from the time limit for reading the document out of the tab.
_READING_SECONDS = 2.0
_MIN_SECONDS = 0.1
_MAX_NAVIGATIONS = 5


@frozen
class LoadedPage:
    """What stands in the tab: where it is, the status it came with and its HTML."""

    final_url: str
    status: int
    html: str
    incomplete: str = ""
    """Why some of its text may be missing."""


class PageLoad:
    """One visit of a tab to a URL."""

    def __init__(
        self,
        page: Page,
        url: str,
        *,
        proxy: PageProxy,
        rules: SiteRules,
        max_bytes: int,
        wait_for: str = "",
    ) -> None:
        self._page = page
        self._url = url
        self._proxy = proxy
        self._rules = rules
        self._max_bytes = max_bytes
        self._wait_for = wait_for
        self._requests = Requests()
        self._refusal: FetchError | None = None
        self._starts_download = False
        self._has_crashed = False
        self._limit = anyio.CancelScope()

    async def run(self, *, seconds: float) -> LoadedPage:
        """Return the page once it stands still, or as it is when the time is nearly up.

        Raises:
            FetchError: it could not be loaded.
        """
        deadline = anyio.current_time() + seconds
        await self._listen()
        with anyio.move_on_after(seconds) as self._limit:
            try:
                status = await self._open(deadline - _READING_SECONDS)
                scripts = _OwnScripts(await self._page.context.new_cdp_session(self._page))
                settling = Settling(scripts, self._requests, wait_for=self._wait_for)
                incomplete = await settling.run(deadline - _READING_SECONDS)
                return replace(await self._read(scripts, status), incomplete=incomplete)
            except PlaywrightError as error:
                raise self._explain(error) from error
        if self._has_crashed:
            raise RenderFailed(
                f"the browser gave up {shown_url(self._url)}: it may need too much memory",
                suggestion="Use another page.",
            )
        raise FetchTimeout(
            f"{shown_url(self._url)} was not rendered within {seconds:g} seconds",
            suggestion="Try again later.",
            timeout_seconds=seconds,
        )

    async def _listen(self) -> None:
        page = self._page
        page.on("request", self._requests.start)
        page.on("requestfinished", self._requests.end)
        page.on("requestfailed", self._requests.end)
        page.on("download", self._on_download)
        page.on("crash", self._on_crash)
        # The context's windows too: a form may send its fields to a new one.
        await page.context.route("**/*", self._on_route)
        await page.add_init_script(COUNT_PENDING)
        await page.add_init_script(_OPEN_TREES)

    def _on_download(self, download: object) -> None:
        self._starts_download = True

    def _on_crash(self, page: Page) -> None:
        # What was asked of the tab would never be answered.
        self._has_crashed = True
        self._limit.cancel()

    async def _on_route(self, route: Route) -> None:
        """Let a request out of the tab, or not; addresses are the proxy's business."""
        try:
            if route.request.method not in _READING_METHODS:
                # The document that sends it stays.
                await route.abort("aborted")
            elif await self._may_load(route.request):
                await route.continue_()
            else:
                await route.abort("blockedbyclient")
        except PlaywrightError as error:
            logger.debug("a request of a rendered page came to nothing: %s", error)

    async def _may_load(self, request: Request) -> bool:
        if request.resource_type in _NOT_LOADED:
            return False
        if self._is_for_the_tab(request):
            try:
                await self._rules.check_robots(canonical_url(request.url))
            except NotAUrl:
                return False
            except FetchError as error:
                self._refusal = error
                return False
        return True

    def _is_for_the_tab(self, request: Request) -> bool:
        """Return whether the request would bring another document into the tab."""
        if not request.is_navigation_request():
            return False
        try:
            return request.frame == self._page.main_frame
        except PlaywrightError:
            # A frame that is only just being made is one inside the page.
            return False

    async def _open(self, until: float) -> int:
        """Go to the page and return its status; it need not be complete when the time is up."""
        milliseconds = 1000 * max(until - anyio.current_time(), _MIN_SECONDS)
        response = await self._page.goto(self._url, wait_until="commit", timeout=milliseconds)
        try:
            left = max(until - anyio.current_time(), _MIN_SECONDS)
            await self._page.wait_for_load_state(
                "load", timeout=1000 * min(left, _MAX_LOAD_SECONDS)
            )
        except PlaywrightTimeout:
            logger.info("%s goes on loading; it is read as it is", shown_url(self._url))
        return response.status if response is not None else 200

    async def _read(self, scripts: _OwnScripts, status: int) -> LoadedPage:
        if self._proxy.is_exhausted:
            raise self._too_large()
        url = self._page.url
        if self._refusal is not None or not url.startswith(("http:", "https:")):
            raise self._explain(None)
        await scripts.run(f"({_REVEAL})()")
        html = await scripts.run(
            f"({_SHOWN_HTML})({self._max_bytes}, ({_COLOURS})(), {_VISIBLE_TEXT})"
        )
        if not isinstance(html, str):
            raise self._too_large()
        final_url = canonical_url(url)
        # A redirect on the way is followed by the browser itself; what it led to counts.
        await self._rules.check_robots(final_url)
        return LoadedPage(final_url=final_url, status=status, html=html)

    def _too_large(self) -> PageTooLarge:
        where = shown_url(self._url)
        return PageTooLarge(
            f"{where} loads more than {self._max_bytes} bytes", max_bytes=self._max_bytes
        )

    def _explain(self, error: PlaywrightError | None) -> FetchError:
        """Return what went wrong in our words."""
        where = shown_url(self._url)
        host = split_url(self._url).host
        refusal = self._refusal or self._proxy.refusal_of(host)
        if refusal is not None:
            return refusal
        if self._proxy.is_exhausted:
            return self._too_large()
        reason = error.message if error is not None else ""
        if self._starts_download or "Download is starting" in reason:
            return UnsupportedContent(f"{where} is a download, not a page")
        if isinstance(error, PlaywrightTimeout):
            return FetchTimeout(f"{where} did not answer the browser in time")
        if "net::ERR_" in reason:
            return HostUnreachable(f"the browser cannot load {where}", host=host)
        return RenderFailed(f"the browser could not show {where}")


class _OwnScripts:
    """Runs our scripts in the tab's document, out of reach of the page's own."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    async def run(self, script: str) -> object:
        """Return what `script` comes to; when the tab goes elsewhere meanwhile, it runs again."""
        return await self._retry(self._run_once, script)

    async def run_in_page(self, script: str) -> object:
        """Return what `script` comes to among the page's own, which can change what it sees."""
        return await self._retry(self._run_once_in_page, script)

    async def set_window_height(self, pixels: int) -> None:
        """Make the tab's window higher or lower."""
        size = {"width": WINDOW_WIDTH, "height": pixels, "deviceScaleFactor": 1, "mobile": False}
        await self._session.send("Emulation.setDeviceMetricsOverride", size)

    async def _retry(self, run: Callable[[str], Awaitable[object]], script: str) -> object:
        for _ in range(_MAX_NAVIGATIONS):
            try:
                return await run(script)
            except PlaywrightError as error:
                # "Inspected target navigated", "Cannot find context", "context was destroyed".
                if "context" not in error.message and "navigated" not in error.message:
                    raise
        raise PlaywrightError("the page does not stop going elsewhere")

    async def _run_once_in_page(self, script: str) -> object:
        answer = await self._session.send(
            "Runtime.evaluate", {"expression": script, "returnByValue": True}
        )
        return answer["result"].get("value")

    async def _run_once(self, script: str) -> object:
        tree = await self._session.send("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        world = await self._session.send("Page.createIsolatedWorld", {"frameId": frame})
        answer = await self._session.send(
            "Runtime.evaluate",
            {
                "expression": script,
                "contextId": world["executionContextId"],
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        if "exceptionDetails" in answer:
            raise PlaywrightError("a script of ours failed in the page")
        return answer["result"].get("value")
