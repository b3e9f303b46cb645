"""What renders a page: the contract between those who need a browser and those who have one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from citewell.core.records import FetchedPage

RenderMode = Literal["auto", "never", "always"]
"""When a page is rendered: where it needs it, never, or whenever it is HTML."""


class Renderer(Protocol):
    """Shows pages in a browser; little goes in, so the browser may be in another process."""

    async def render(self, url: str, *, wait_for: str = "") -> FetchedPage:
        """Return the page as its reader sees it, as HTML, after its scripts have run.

        `wait_for` is a text or a CSS selector that is to be on the page before it is read.

        Raises:
            FetchError: it could not be had; each subclass says why.
        """
        ...


class SiteRules(Protocol):
    """What sites ask of whoever visits them."""

    async def check_robots(self, url: str) -> float | None:
        """Return the pause between pages that the site asks for.

        Raises:
            RobotsDisallowed: the page may not be fetched.
        """
        ...

    def visit(self, url: str) -> AbstractAsyncContextManager[None]:
        """Hold a turn on the host of `url`, once robots.txt allows it."""
        ...
