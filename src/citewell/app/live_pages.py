"""Pages read from the web for callers who page through them; they are not stored."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import anyio

from citewell.core.frozen import frozen
from citewell.core.ids import content_hash

if TYPE_CHECKING:
    from citewell.core.records import ExtractedPage
    from citewell.ingest.pipeline import Ingester
    from citewell.web.render.protocol import RenderMode

# Long enough to read on, short enough that "live" stays true.
_KEPT_SECONDS = 300.0
_MAX_KEPT_CHARACTERS = 10_000_000

_Key = tuple[str, "RenderMode | None", str]


@frozen
class LivePage:
    """A page as it was when it was read."""

    url: str
    """After redirects."""
    extracted: ExtractedPage
    rendered: bool
    incomplete: str
    """Why some of its text may be missing."""
    text_hash: str
    read_at: float


class LivePages:
    """Reads pages from the web, and keeps them for a few minutes for callers who read on."""

    def __init__(self, ingester: Ingester) -> None:
        self._ingester = ingester
        self._kept: OrderedDict[_Key, LivePage] = OrderedDict()
        self._kept_characters = 0

    async def read(
        self, url: str, *, render: RenderMode | None = None, wait_for: str = ""
    ) -> LivePage:
        """Return the page as it is now, once `wait_for` (a text or a CSS selector) is on it.

        Raises:
            CitewellError: it could not be read.
        """
        fetched, extracted = await self._ingester.read_live(url, render=render, wait_for=wait_for)
        page = LivePage(
            url=fetched.final_url,
            extracted=extracted,
            rendered=fetched.rendered,
            incomplete=fetched.incomplete,
            text_hash=content_hash(extracted.text),
            read_at=anyio.current_time(),
        )
        self._keep((url, render, wait_for), page)
        return page

    async def read_on(
        self, url: str, *, render: RenderMode | None = None, wait_for: str = ""
    ) -> LivePage:
        """Return the page as it was read last if that was recent, otherwise as it is now."""
        page = self._kept.get((url, render, wait_for))
        if page is not None and anyio.current_time() - page.read_at < _KEPT_SECONDS:
            return page
        return await self.read(url, render=render, wait_for=wait_for)

    def _keep(self, key: _Key, page: LivePage) -> None:
        self._drop(key)
        self._kept[key] = page
        self._kept_characters += len(page.extracted.text)
        while self._kept_characters > _MAX_KEPT_CHARACTERS or self._oldest_is_late():
            self._drop(next(iter(self._kept)))

    def _drop(self, key: _Key) -> None:
        page = self._kept.pop(key, None)
        if page is not None:
            self._kept_characters -= len(page.extracted.text)

    def _oldest_is_late(self) -> bool:
        oldest = next(iter(self._kept.values()), None)
        return oldest is not None and anyio.current_time() - oldest.read_at >= _KEPT_SECONDS
