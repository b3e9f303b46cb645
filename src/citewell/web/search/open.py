"""Opening the search engines that the settings name, in their order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from citewell.core.errors import SettingsError
from citewell.web.search import brave, duckduckgo, google, tavily
from citewell.web.search.brave import BraveSearch
from citewell.web.search.duckduckgo import DuckDuckGoSearch
from citewell.web.search.endpoint import SearchClient
from citewell.web.search.google import GoogleSearch
from citewell.web.search.searxng import SearxngSearch
from citewell.web.search.tavily import TavilySearch
from citewell.web.search.web_search import WebSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from citewell.web.search.protocol import SearchEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineAccess:
    """The keys and addresses of the engines; an engine without what it needs is not set up."""

    google_api_key: str | None = field(default=None, repr=False)
    google_cx: str | None = None
    brave_api_key: str | None = field(default=None, repr=False)
    tavily_api_key: str | None = field(default=None, repr=False)
    searxng_url: str | None = None
    urls: tuple[str, ...] = ()
    """`engine=URL` for an API that stands at another address, such as a proxy of one's own."""


_NEEDS = {
    "google": ("google_api_key", "google_cx"),
    "brave": ("brave_api_key",),
    "tavily": ("tavily_api_key",),
    "searxng": ("searxng_url",),
    "duckduckgo": (),
}


def chosen_engines(names: Sequence[str], access: EngineAccess) -> list[str]:
    """Return the engines to ask, in order: those named, else those that were given a key.

    DuckDuckGo needs no key, and is asked only when it is named.

    Raises:
        SettingsError: a named engine does not exist or lacks its key.
    """
    if not names:
        return [name for name, needs in _NEEDS.items() if needs and not _missing(name, access)]
    for name in names:
        if name not in _NEEDS:
            listed = ", ".join(_NEEDS)
            raise SettingsError(f"WEB_SEARCH_ENGINES names {name!r}; the engines are {listed}")
        if missing := _missing(name, access):
            settings = " and ".join(f"WEB_SEARCH_{need.upper()}" for need in missing)
            raise SettingsError(f"WEB_SEARCH_ENGINES names {name}: set {settings}")
    return list(dict.fromkeys(names))


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


def _missing(name: str, access: EngineAccess) -> list[str]:
    return [need for need in _NEEDS[name] if not getattr(access, need)]


def _own_urls(given: Sequence[str]) -> dict[str, str]:
    urls: dict[str, str] = {}
    for entry in given:
        name, _, url = entry.partition("=")
        if name not in _NEEDS or not url.startswith(("http://", "https://")):
            raise SettingsError("WEB_SEARCH_URLS must be engine=URL, comma-separated")
        urls[name] = url
    return urls
