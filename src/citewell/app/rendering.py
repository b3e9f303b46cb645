"""Choose who renders pages: this process, the workers of its database, or nobody."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from citewell.core.errors import RenderingUnavailable, SettingsError
from citewell.jobs.remote_renderer import RemoteRenderer
from citewell.jobs.render_worker import RenderWorker
from citewell.web.render.open import open_renderer, what_rendering_lacks
from citewell.web.render.pool import PoolLimits
from citewell.web.render.second_look import SecondLook

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.duties import Duties
    from citewell.core.settings import Settings
    from citewell.store.renders import RenderStore
    from citewell.web.fetcher import Fetcher
    from citewell.web.render.pool import RenderPool

logger = logging.getLogger(__name__)

# Three renders: a page may wait for a free worker, or for another one when the first was killed.
_WAIT_SECONDS = 3 * PoolLimits().timeout_seconds


def check_rendering(settings: Settings, duties: Duties) -> RenderingUnavailable | None:
    """Return why this process cannot render pages; None if it can or does not have to.

    Raises:
        SettingsError: it has to render and cannot.
    """
    is_needed = duties.must_render
    if settings.web_render == "never":
        missing: RenderingUnavailable | None = RenderingUnavailable(
            "CITEWELL_WEB_RENDER is never",
            suggestion="Set CITEWELL_WEB_RENDER=auto to have pages rendered.",
        )
    elif settings.render_in == "workers" and not duties.renders:
        return None
    else:
        missing = what_rendering_lacks(settings.render_browser_path)
        is_needed |= settings.web_render == "always" or bool(settings.render_browser_path)
    if missing is not None and is_needed:
        # A program that does not start shows only the message.
        raise SettingsError(
            f"pages cannot be rendered: {missing.message}. {missing.suggestion}",
            suggestion=missing.suggestion,
        )
    if missing is not None and settings.web_render != "never":
        logger.info("this process has no browser: %s", missing.message)
    return missing


@asynccontextmanager
async def open_rendering(
    settings: Settings,
    fetcher: Fetcher,
    renders: RenderStore,
    *,
    duties: Duties,
    unavailable: RenderingUnavailable | None,
) -> AsyncIterator[SecondLook]:
    """Open the renderer of this process, which by its `duties` also renders for others.

    A process that renders for others also renders its own pages, whatever CITEWELL_RENDER_IN is.
    `unavailable` is what `check_rendering` found.
    """
    serves = duties.renders and unavailable is None
    asks_workers = settings.render_in == "workers" and settings.web_render != "never" and not serves
    async with AsyncExitStack() as stack:
        if asks_workers:
            remote = RemoteRenderer(
                renders,
                wait_seconds=_WAIT_SECONDS,
                max_page_bytes=settings.web_max_page_bytes,
            )
            await stack.enter_async_context(remote)
            yield SecondLook(remote, mode=settings.web_render)
            return
        if unavailable is not None:
            yield SecondLook(mode=settings.web_render, unavailable=unavailable)
            return
        pool = await stack.enter_async_context(make_renderer(fetcher, settings))
        if serves:
            worker = RenderWorker(renders, pool, max_pages=settings.render_max_pages)
            await stack.enter_async_context(worker)
            logger.info("renders for others, %d pages at once", settings.render_max_pages)
        yield SecondLook(pool, mode=settings.web_render)


def make_renderer(fetcher: Fetcher, settings: Settings) -> RenderPool:
    """Return the configured renderer; its browser starts with the first page that needs it."""
    return open_renderer(
        fetcher,
        PoolLimits(
            max_pages=settings.render_max_pages,
            max_page_bytes=settings.web_max_page_bytes,
        ),
        browser_path=settings.render_browser_path,
        no_sandbox=settings.render_no_sandbox,
    )
