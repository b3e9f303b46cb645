"""Tavily, by its search API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.web.search.endpoint import EngineEndpoint

if TYPE_CHECKING:
    from citewell.web.search.endpoint import SearchClient
    from citewell.web.search.protocol import SearchResult

DEFAULT_URL = "https://api.tavily.com/search"
_MOST = 20
# 432 is the plan's limit, 433 that of paying as one goes.
_QUOTA = frozenset({429, 432, 433})


class TavilySearch:
    """Searches on the account of `api_key`."""

    name = "tavily"

    def __init__(self, client: SearchClient, *, url: str, api_key: str) -> None:
        self._endpoint = EngineEndpoint(
            engine=self.name, url=url, client=client, quota_statuses=_QUOTA
        )
        self._headers = {"Authorization": f"Bearer {api_key}"}

    async def search(self, query: str, *, limit: int) -> list[SearchResult]:
        """Return at most twenty pages, best first."""
        answer = await self._endpoint.post(
            json={"query": query, "max_results": min(limit, _MOST)}, headers=self._headers
        )
        found = self._endpoint.parse_json(answer).get("results")
        return self._endpoint.results(found, keys=("url", "title", "content"))
