"""Google Programmable Search, by its Custom Search JSON API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.web.search.endpoint import EngineEndpoint

if TYPE_CHECKING:
    from citewell.web.search.endpoint import SearchClient
    from citewell.web.search.protocol import SearchResult

DEFAULT_URL = "https://www.googleapis.com/customsearch/v1"
# The API gives ten results to a request.
_MOST = 10


class GoogleSearch:
    """Searches with the engine `cx` on the account of `api_key`."""

    name = "google"

    def __init__(self, client: SearchClient, *, url: str, api_key: str, cx: str) -> None:
        self._endpoint = EngineEndpoint(engine=self.name, url=url, client=client)
        self._api_key = api_key
        self._cx = cx

    async def search(self, query: str, *, limit: int) -> list[SearchResult]:
        """Return at most ten pages, best first."""
        answer = await self._endpoint.get(
            {"key": self._api_key, "cx": self._cx, "q": query, "num": min(limit, _MOST)}
        )
        # An answer without any result has no "items" at all.
        found = self._endpoint.parse_json(answer).get("items")
        return self._endpoint.results(found, keys=("link", "title", "snippet"))
