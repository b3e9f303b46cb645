"""Opens the renderer, where Playwright and a browser are there for it."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import RenderingUnavailable
from citewell.core.extras import install_command
from citewell.web.render.pool import PoolLimits, RenderPool

if TYPE_CHECKING:
    from citewell.web.fetcher import Fetcher
    from citewell.web.render.chromium import Chromium

_BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def open_renderer(
    fetcher: Fetcher,
    limits: PoolLimits,
    *,
    browser_path: str = "",
    max_memory_mb: int = 1_000,
    no_sandbox: bool = False,
) -> RenderPool:
    """Return a pool that keeps the addresses, robots and pace of `fetcher`; it starts nothing yet.

    Raises:
        RenderingUnavailable: Playwright or a browser is missing; it says which.
    """
    missing = what_rendering_lacks(browser_path)
    if missing is not None:
        raise missing
    path = find_browser(browser_path)
    assert path is not None, "nothing is missing"

    async def start() -> Chromium:
        # Playwright takes a third of a second to import, so only when a page needs it.
        from citewell.web.render.chromium import ChromiumOptions, start_chromium

        options = ChromiumOptions(
            path=path,
            user_agent=fetcher.user_agent,
            max_memory_mb=max_memory_mb,
            # Chromium's sandbox refuses to run as root.
            no_sandbox=no_sandbox or (hasattr(os, "geteuid") and os.geteuid() == 0),
        )
        return await start_chromium(options)

    return RenderPool(start, guard=fetcher.guard, rules=fetcher, limits=limits)


def what_rendering_lacks(browser_path: str = "") -> RenderingUnavailable | None:
    """Return what has to be installed or set before pages can be rendered; None if nothing."""
    if find_spec("playwright") is None:
        return RenderingUnavailable(
            "Playwright is not installed", suggestion=f"Install it: {install_command('render')}."
        )
    if find_browser(browser_path) is None:
        where = f"there is no browser at {browser_path}" if browser_path else ""
        return RenderingUnavailable(
            where or "no Chromium is installed",
            suggestion="Install Chromium (Debian: apt install chromium), "
            "or name a browser in CITEWELL_RENDER_BROWSER_PATH.",
        )
    return None


def find_browser(named: str = "") -> Path | None:
    """Return the browser called `named`, a path or a command; else the one the system has."""
    paths = (shutil.which(name) for name in ((named,) if named else _BROWSER_NAMES))
    return next((Path(path) for path in paths if path is not None), None)
