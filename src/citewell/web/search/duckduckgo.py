"""DuckDuckGo, by its page for browsers without scripts: it has no search API, and needs no key."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urljoin, urlsplit

from anyio import to_thread
from selectolax.lexbor import LexborHTMLParser

from citewell.core.errors import UnsupportedContent, WebSearchQuotaUsed
from citewell.web.nesting import refuse_deep_nesting
from citewell.web.search.endpoint import EngineEndpoint, make_results

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from citewell.web.search.endpoint import SearchClient
    from citewell.web.search.protocol import SearchResult

DEFAULT_URL = "https://html.duckduckgo.com/html/"
# 202 comes with a riddle for people, when it takes us for a program that asks too often.
_QUOTA = frozenset({202, 429})


class DuckDuckGoSearch:
    """Searches without an account; the engine refuses those who ask often."""

    name = "duckduckgo"

    def __init__(self, client: SearchClient, *, url: str) -> None:
        self._url = url
        self._endpoint = EngineEndpoint(
            engine=self.name, url=url, client=client, quota_statuses=_QUOTA
        )

    async def search(self, query: str, *, limit: int) -> list[SearchResult]:
        """Return at most `limit` pages, best first."""
        answer = await self._endpoint.post(form={"q": query})
        html = answer.body.decode("utf-8", "replace")
        try:
            await to_thread.run_sync(partial(refuse_deep_nesting, html, url=self._url))
        except UnsupportedContent as error:
            raise self._endpoint.unexpected() from error
        page = LexborHTMLParser(html)
        if page.css_first(".anomaly-modal__title") is not None:
            raise WebSearchQuotaUsed("duckduckgo refuses to answer programs for now")
        rows = page.css(".result:not(.result--ad)")
        if not rows and page.css_first(".no-results, #links, .results") is None:
            raise self._endpoint.unexpected()
        return make_results(self._parse_row(row) for row in rows)[:limit]

    def _parse_row(self, row: LexborNode) -> tuple[str | None, str, str]:
        link = row.css_first("a.result__a")
        snippet = row.css_first(".result__snippet")
        if link is None:
            return None, "", ""
        address = urljoin(self._url, link.attributes.get("href") or "")
        # Its links lead over its own address, which names the page as a parameter.
        wrapped = parse_qs(urlsplit(address).query).get("uddg")
        url = wrapped[0] if wrapped else address
        return url, link.text(), snippet.text() if snippet is not None else ""
