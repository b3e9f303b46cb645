"""SearchEngine: what every web search engine promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence


@frozen
class SearchResult:
    """A page that an engine found, in the engine's own words as plain text."""

    url: str
    name: str
    snippet: str


class SearchEngine(Protocol):
    """One engine, with its key and address."""

    name: str

    async def search(self, query: str, *, limit: int) -> Sequence[SearchResult]:
        """Return at most `limit` pages, best first.

        Raises:
            WebSearchFailed: the engine cannot be reached, refuses, or answers in another form.
            WebSearchQuotaUsed: the engine says that its quota is used up.
        """
