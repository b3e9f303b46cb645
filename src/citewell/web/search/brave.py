"""Brave Search, by its Web Search API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.web.search.endpoint import EngineEndpoint

if TYPE_CHECKING:
    from citewell.web.search.endpoint import SearchClient
    from citewell.web.search.protocol import SearchResult

DEFAULT_URL = "https://api.search.brave.com/res/v1/web/search"
_MOST = 20
# Beyond these two limits of the API its answer is an error.
_MOST_CHARACTERS = 400
_MOST_WORDS = 50


class BraveSearch:
    """Searches on the account of `api_key`."""

    name = "brave"

    def __init__(self, client: SearchClient, *, url: str, api_key: str) -> None:
        self._endpoint = EngineEndpoint(engine=self.name, url=url, client=client)
        self._headers = {"X-Subscription-Token": api_key, "Accept": "application/json"}

    async def search(self, query: str, *, limit: int) -> list[SearchResult]:
        """Return at most twenty pages, best first."""
        short = " ".join(query.split()[:_MOST_WORDS])[:_MOST_CHARACTERS]
        answer = await self._endpoint.get(
            {"q": short, "count": min(limit, _MOST)}, headers=self._headers
        )
        # An answer without any result has no "web" at all.
        web = self._endpoint.parse_json(answer).get("web") or {}
        if not isinstance(web, dict):
            raise self._endpoint.unexpected()
        return self._endpoint.results(web.get("results"), keys=("url", "title", "description"))
