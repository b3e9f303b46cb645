"""The search engines as the settings name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.web.search.choice import EngineAccess, chosen_engines

if TYPE_CHECKING:
    from citewell.core.settings import Settings
    from citewell.web.search.web_search import WebSearch

# The same search is not sent again for this long.
_CACHE_SECONDS = 3_600.0
NOT_CONFIGURED = "web search is not configured"
SUGGESTION = (
    "Set CITEWELL_WEB_SEARCH_ENGINES and the engine's key, e.g. CITEWELL_WEB_SEARCH_BRAVE_API_KEY; "
    "CITEWELL_WEB_SEARCH_ENGINES=duckduckgo needs none."
)


def engine_access(settings: Settings) -> EngineAccess:
    """Return the keys and addresses of the search engines as they are set."""
    return EngineAccess(
        google_api_key=settings.web_search_google_api_key,
        google_cx=settings.web_search_google_cx,
        brave_api_key=settings.web_search_brave_api_key,
        tavily_api_key=settings.web_search_tavily_api_key,
        searxng_url=settings.web_search_searxng_url,
        urls=settings.web_search_urls,
    )


def lacks_search_engine(settings: Settings) -> str | None:
    """Return what must be set before there is anything to search with, None when all is there.

    Raises:
        SettingsError: a named engine does not exist or lacks its key.
    """
    if chosen_engines(settings.web_search_engines, engine_access(settings)):
        return None
    return f"{NOT_CONFIGURED}. {SUGGESTION}"


def open_engines(settings: Settings) -> WebSearch | None:
    """Return the chosen engines as one, or None when there are none.

    Raises:
        SettingsError: a named engine does not exist, lacks its key or has a wrong address.
    """
    if lacks_search_engine(settings):
        return None
    # Their HTTP client takes as long to import as all engines together.
    from citewell.web.search.open import open_web_search

    return open_web_search(
        settings.web_search_engines,
        engine_access(settings),
        cache_seconds=_CACHE_SECONDS,
        timeout_seconds=settings.web_timeout_seconds,
    )
