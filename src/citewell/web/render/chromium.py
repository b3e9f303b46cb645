"""One running Chromium: started, limited, and surely ended."""

from __future__ import annotations

import logging
import os
import signal
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from citewell.core.errors import RenderFailed
from citewell.core.frozen import frozen
from citewell.web.render.page_load import LoadedPage, PageLoad
from citewell.web.render.settling import WINDOW_HEIGHT, WINDOW_WIDTH

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import (
        Browser,
        BrowserContext,
        CDPSession,
        Page,
        Playwright,
        ViewportSize,
    )

    from citewell.web.render.protocol import SiteRules
    from citewell.web.render.proxy import PageProxy

logger = logging.getLogger(__name__)

_START_SECONDS = 30.0
_OPEN_SECONDS = 10.0
_CLOSE_SECONDS = 5.0
_WINDOW: ViewportSize = {"width": WINDOW_WIDTH, "height": WINDOW_HEIGHT}
# Nothing listens on the discard port: what the browser itself wants from the web it cannot have.
_NO_PROXY = "socks5://127.0.0.1:9"
_SWITCHES = (
    # Without these, WebRTC and HTTP/3 would send packets past the proxy.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    # Names are the proxy's to resolve; a name looked up here would be an address unchecked.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # What a shared worker sends passes by the routes of the page that started it, and so does what
    # a page leaves to be sent later.
    "--disable-blink-features=SharedWorker,FetchLaterAPI",
    "--deny-permission-prompts",
    "--disable-gpu",
    "--mute-audio",
)
_START_HINT = (
    "Check CITEWELL_RENDER_BROWSER_PATH; where the system allows no sandbox (as in many "
    "containers), set CITEWELL_RENDER_NO_SANDBOX=true."
)


@frozen
class ChromiumOptions:
    """How Chromium is started."""

    path: Path
    user_agent: str
    """Added to the browser's own, so that sites see who asks."""
    max_memory_mb: int
    """Of the process that holds one page."""
    no_sandbox: bool


class Chromium:
    """A browser process with its driver; made by `start_chromium`, ended by `aclose`."""

    def __init__(
        self, driver: Playwright, browser: Browser, session: CDPSession, options: ChromiumOptions
    ) -> None:
        self._driver = driver
        self._browser = browser
        self._session = session
        self._options = options
        self._pid: int | None = None
        self._user_agent = options.user_agent
        self._is_broken = False

    @property
    def is_running(self) -> bool:
        """Whether the browser still answers."""
        return self._browser.is_connected() and not self._is_broken

    async def prepare(self) -> None:
        """Learn the browser's process and its name for itself."""
        self._pid = next(iter(await self._processes("browser")), None)
        version = await self._session.send("Browser.getVersion")
        plain = str(version["userAgent"]).replace("HeadlessChrome", "Chrome")
        self._user_agent = f"{plain} {self._options.user_agent}"

    async def show(
        self,
        url: str,
        *,
        proxy: PageProxy,
        rules: SiteRules,
        max_bytes: int,
        seconds: float,
        wait_for: str = "",
    ) -> LoadedPage:
        """Return the page once it stands still in a tab of its own.

        Raises:
            FetchError: it could not be loaded or shown.
        """
        async with self._open_tab(proxy_port=proxy.port) as tab:
            load = PageLoad(
                tab, url, proxy=proxy, rules=rules, max_bytes=max_bytes, wait_for=wait_for
            )
            try:
                return await load.run(seconds=seconds)
            finally:
                # What a page sends while it is closed passes by its routes, a POST as well.
                proxy.stop()

    @asynccontextmanager
    async def _open_tab(self, *, proxy_port: int) -> AsyncIterator[Page]:
        """Give a tab that shares nothing with others and goes out through one proxy only.

        Raises:
            RenderFailed: the browser opens none; it is of no more use.
        """
        # Half-way, a context would be left that nobody closes.
        with anyio.CancelScope(shield=True):
            try:
                with anyio.fail_after(_OPEN_SECONDS):
                    context = await self._new_context(proxy_port)
                    page = await context.new_page()
            except (PlaywrightError, TimeoutError) as error:
                self._break()
                raise RenderFailed("the browser opens no page") from error
        context.on("page", _close_popup)
        try:
            yield page
        finally:
            with anyio.CancelScope(shield=True):
                await self._close_context(context)

    async def _new_context(self, proxy_port: int) -> BrowserContext:
        return await self._browser.new_context(
            # Without the bypass rule, Chromium would not ask the proxy for loopback addresses.
            proxy={"server": f"socks5://127.0.0.1:{proxy_port}", "bypass": "<-loopback>"},
            user_agent=self._user_agent,
            viewport=_WINDOW,
            accept_downloads=False,
            service_workers="block",
        )

    async def kill_large_pages(self) -> int:
        """End the processes of pages that hold more memory than one may; return how many.

        Only where the system reports a process's memory in /proc; elsewhere the limit of the
        script engine alone holds.
        """
        limit = self._options.max_memory_mb * 1_000_000
        pages: list[int] = []
        with anyio.move_on_after(_CLOSE_SECONDS), suppress(PlaywrightError):
            pages = await self._processes("renderer")
        too_large = [pid for pid in pages if _private_bytes(pid) > limit]
        for pid in too_large:
            logger.warning("ending a page that holds more than %d MB", limit // 1_000_000)
            _kill(pid)
        return len(too_large)

    async def aclose(self) -> None:
        """End the browser and its driver: asked first, then killed."""
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(_CLOSE_SECONDS), suppress(PlaywrightError):
                await self._browser.close()
            if self._pid is not None and _is_alive(self._pid):
                logger.warning("the browser did not end when asked; killing it")
                _kill(self._pid)
            with anyio.move_on_after(_CLOSE_SECONDS), suppress(PlaywrightError):
                await self._driver.stop()

    async def _processes(self, kind: str) -> list[int]:
        answer = await self._session.send("SystemInfo.getProcessInfo")
        return [int(each["id"]) for each in answer["processInfo"] if each["type"] == kind]

    async def _close_context(self, context: BrowserContext) -> None:
        with anyio.move_on_after(_CLOSE_SECONDS), suppress(PlaywrightError):
            await context.close()
            return
        # What cannot be closed would stay for ever.
        self._break()

    def _break(self) -> None:
        self._is_broken = True
        if self._pid is not None:
            _kill(self._pid)


async def start_chromium(options: ChromiumOptions) -> Chromium:
    """Start a browser of its own process and an empty profile, which goes when it ends.

    Driver and browser are joined by pipes: when this process dies, however, both end themselves.

    Raises:
        RenderFailed: it does not start.
    """
    with anyio.CancelScope(shield=True):
        driver = await async_playwright().start()
        try:
            with anyio.fail_after(_START_SECONDS):
                browser = await _launch(driver, options)
                session = await browser.new_browser_cdp_session()
                chromium = Chromium(driver, browser, session, options)
                await chromium.prepare()
        except (PlaywrightError, TimeoutError) as error:
            await driver.stop()
            raise RenderFailed("the browser does not start", suggestion=_START_HINT) from error
    return chromium


async def _launch(driver: Playwright, options: ChromiumOptions) -> Browser:
    return await driver.chromium.launch(
        executable_path=options.path,
        chromium_sandbox=not options.no_sandbox,
        proxy={"server": _NO_PROXY},
        args=[*_SWITCHES, f"--js-flags=--max-old-space-size={options.max_memory_mb}"],
        # We end it ourselves; a signal to the whole group must not take it from running calls.
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
    )


async def _close_popup(popup: Page) -> None:
    with suppress(PlaywrightError):
        await popup.close()


def _private_bytes(pid: int) -> int:
    """Return the memory that a process shares with no other; 0 where it is unknown."""
    try:
        counts = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    resident, shared = int(counts[1]), int(counts[2])
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _kill(pid: int) -> None:
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
