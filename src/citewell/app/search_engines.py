"""The web search engines that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.web.search.choice import EngineAccess, chosen_engines

if TYPE_CHECKING:
    from citewell.core.settings import Settings
    from citewell.web.search.web_search import WebSearch

# How long the results of a search are cached.
_CACHE_SECONDS = 3_600.0
NOT_CONFIGURED = "web search is not configured"
SUGGESTION = (
    "Set CITEWELL_WEB_SEARCH_ENGINES and the engine's key, e.g. CITEWELL_WEB_SEARCH_BRAVE_API_KEY; "
    "CITEWELL_WEB_SEARCH_ENGINES=duckduckgo needs none."
)


def engine_access(settings: Settings) -> EngineAccess:
    """Return the keys and addresses of the search engines from the settings."""
    return EngineAccess(
        google_api_key=settings.web_search_google_api_key,
        google_cx=settings.web_search_google_cx,
        brave_api_key=settings.web_search_brave_api_key,
        tavily_api_key=settings.web_search_tavily_api_key,
        searxng_url=settings.web_search_searxng_url,
        urls=settings.web_search_urls,
    )


def lacks_search_engine(settings: Settings) -> str | None:
    """Return what must be set before the web can be searched; None if nothing is missing.

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
    # The HTTP client takes as long to import as all engines together.
    from citewell.web.search.open import open_web_search

    return open_web_search(
        settings.web_search_engines,
        engine_access(settings),
        cache_seconds=_CACHE_SECONDS,
        timeout_seconds=settings.web_timeout_seconds,
    )
