"""Opening the search engines that the settings name, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import SettingsError
from citewell.web.search import brave, duckduckgo, google, tavily
from citewell.web.search.brave import BraveSearch
from citewell.web.search.choice import NEEDS, EngineAccess, chosen_engines
from citewell.web.search.duckduckgo import DuckDuckGoSearch
from citewell.web.search.endpoint import SearchClient
from citewell.web.search.google import GoogleSearch
from citewell.web.search.searxng import SearxngSearch
from citewell.web.search.tavily import TavilySearch
from citewell.web.search.web_search import WebSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from citewell.web.search.protocol import SearchEngine


def open_web_search(
    names: Sequence[str], access: EngineAccess, *, cache_seconds: float, timeout_seconds: float
) -> WebSearch | None:
    """Return the chosen engines as one, or None when there are none.

    Raises:
        SettingsError: as `chosen_engines`, or an address is wrong.
    """
    chosen = chosen_engines(names, access)
    if not chosen:
        return None
    urls = _own_urls(access.urls)
    client = SearchClient(timeout_seconds=timeout_seconds)
    makers: dict[str, Callable[[], SearchEngine]] = {
        "google": lambda: GoogleSearch(
            client,
            url=urls.get("google", google.DEFAULT_URL),
            api_key=access.google_api_key or "",
            cx=access.google_cx or "",
        ),
        "brave": lambda: BraveSearch(
            client,
            url=urls.get("brave", brave.DEFAULT_URL),
            api_key=access.brave_api_key or "",
        ),
        "tavily": lambda: TavilySearch(
            client,
            url=urls.get("tavily", tavily.DEFAULT_URL),
            api_key=access.tavily_api_key or "",
        ),
        "searxng": lambda: SearxngSearch(client, url=access.searxng_url or ""),
        "duckduckgo": lambda: DuckDuckGoSearch(
            client, url=urls.get("duckduckgo", duckduckgo.DEFAULT_URL)
        ),
    }
    engines = [makers[name]() for name in chosen]
    return WebSearch(engines, cache_seconds=cache_seconds, close=client.aclose)


def _own_urls(given: Sequence[str]) -> dict[str, str]:
    urls: dict[str, str] = {}
    for entry in given:
        name, _, url = entry.partition("=")
        if name not in NEEDS or not url.startswith(("http://", "https://")):
            raise SettingsError("CITEWELL_WEB_SEARCH_URLS must be engine=URL, comma-separated")
        urls[name] = url
    return urls
