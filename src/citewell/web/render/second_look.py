"""Reads a page as it was sent and, where that says too little, as a browser shows it."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from citewell.core.boundary import mark_foreign
from citewell.core.errors import (
    EmptyPage,
    FetchError,
    PageNeedsConsent,
    PageNeedsLogin,
    RenderingUnavailable,
)
from citewell.web.render.shell import find_obstacle, needs_scripts
from citewell.web.urls import shown_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from citewell.core.records import FetchedPage
    from citewell.web.render.protocol import Renderer, RenderMode

logger = logging.getLogger(__name__)

ReadT = TypeVar("ReadT")


class SecondLook:
    """Decides which pages are rendered, and has it done.

    Without a `renderer`, `unavailable` says why there is none.
    """

    def __init__(
        self,
        renderer: Renderer | None = None,
        *,
        mode: RenderMode = "auto",
        unavailable: RenderingUnavailable | None = None,
    ) -> None:
        self._renderer = renderer
        self._mode = mode
        self._unavailable = unavailable or RenderingUnavailable("no browser is open")

    async def read(
        self,
        fetched: FetchedPage,
        read: Callable[[FetchedPage], Awaitable[ReadT]],
        *,
        text_of: Callable[[ReadT], str],
        mode: RenderMode | None = None,
        wait_for: str = "",
    ) -> tuple[FetchedPage, ReadT]:
        """Return the page and what `read` makes of it, rendered first where it needs that.

        A page that `wait_for` is to be seen on is always rendered.

        Raises:
            EmptyPage: there is no text, rendered or not.
            PageNeedsLogin, PageNeedsConsent: the text is behind a form or a dialog.
            RenderingUnavailable: it was to be rendered `always`, and there is no browser.
            FetchError: rendering failed, and there is no text without it.
        """
        mode = mode or self._mode
        if (mode == "always" or wait_for) and fetched.kind == "html":
            return await self._read_rendered(fetched, read, text_of=text_of, wait_for=wait_for)
        try:
            result = await read(fetched)
        except EmptyPage:
            if mode == "auto" and needs_scripts(fetched, ""):
                return await self._read_rendered(fetched, read, text_of=text_of)
            _refuse_obstacle(fetched, "")
            raise
        if mode == "auto" and needs_scripts(fetched, text_of(result)):
            try:
                return await self._read_rendered(fetched, read, text_of=text_of)
            except FetchError as error:
                # Without its script a route shows another page, and an obstacle is no page at all.
                if "#" in fetched.final_url or isinstance(error, PageNeedsLogin | PageNeedsConsent):
                    raise
                logger.warning("%s is read without its scripts: %s", fetched.url, error.message)
                is_unavailable = isinstance(error, RenderingUnavailable)
                reason = (
                    self._unavailable.message.rstrip(".")
                    if is_unavailable
                    else _own_reason(error, fetched.final_url)
                )
                fetched = replace(fetched, incomplete=f"its scripts were not run ({reason})")
        _refuse_obstacle(fetched, text_of(result))
        return fetched, result

    async def _read_rendered(
        self,
        fetched: FetchedPage,
        read: Callable[[FetchedPage], Awaitable[ReadT]],
        *,
        text_of: Callable[[ReadT], str],
        wait_for: str = "",
    ) -> tuple[FetchedPage, ReadT]:
        rendered = await self._render(fetched, wait_for)
        try:
            result = await read(rendered)
        except EmptyPage:
            _refuse_obstacle(rendered, "")
            raise
        _refuse_obstacle(rendered, text_of(result))
        return rendered, result

    async def _render(self, fetched: FetchedPage, wait_for: str) -> FetchedPage:
        if self._renderer is None:
            where = shown_url(fetched.final_url)
            raise RenderingUnavailable(
                f"{where} has to be rendered, but {self._unavailable.message}",
                suggestion=self._unavailable.suggestion,
            )
        rendered = await self._renderer.render(fetched.final_url, wait_for=wait_for)
        return replace(
            rendered,
            url=fetched.url,
            redirects=(*fetched.redirects, *rendered.redirects),
            robots_tag=fetched.robots_tag,
        )


def _own_reason(error: FetchError, url: str) -> str:
    """Return why a page was not rendered; it is stored and shown as ours, so it quotes no site."""
    said = error.message.replace(shown_url(url), "it").rstrip(".")
    quoted = [value for value in error.details.values() if isinstance(value, str)]
    return said if mark_foreign(said, foreign=quoted) == said else "the browser could not show it"


def _refuse_obstacle(fetched: FetchedPage, text: str) -> None:
    obstacle = find_obstacle(fetched, text)
    if obstacle is not None:
        raise obstacle
