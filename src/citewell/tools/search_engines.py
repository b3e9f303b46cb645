"""The search engines as the settings name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.web.search.choice import EngineAccess

if TYPE_CHECKING:
    from citewell.core.settings import Settings


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
