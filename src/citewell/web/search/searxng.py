"""SearXNG, an engine of engines that one can run oneself, by its search API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import WebSearchFailed
from citewell.web.search.endpoint import EngineEndpoint

if TYPE_CHECKING:
    from citewell.web.search.endpoint import SearchClient
    from citewell.web.search.protocol import SearchResult


class SearxngSearch:
    """Searches with the instance whose base address is `url`."""

    name = "searxng"

    def __init__(self, client: SearchClient, *, url: str) -> None:
        self._endpoint = EngineEndpoint(
            engine=self.name, url=f"{url.rstrip('/')}/search", client=client
        )

    async def search(self, query: str, *, limit: int) -> list[SearchResult]:
        """Return at most `limit` pages, best first."""
        try:
            answer = await self._endpoint.get({"q": query, "format": "json"})
        except WebSearchFailed as error:
            # Its own way of saying that answers in JSON are turned off.
            if error.details.get("status") == 403:
                error.suggestion = "Add json to search.formats in the settings of SearXNG."
            raise
        found = self._endpoint.parse_json(answer).get("results")
        return self._endpoint.results(found, keys=("url", "title", "content"))[:limit]
