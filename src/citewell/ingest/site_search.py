"""Asking a documentation site's own search index which of its pages a question is about."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.errors import (
    AddressRefused,
    ExtractionError,
    FetchError,
    FetchTimeout,
    HostUnreachable,
)
from citewell.web.sphinx_search import SEARCH_INDEX_NAME, rank_pages
from citewell.web.urls import canonical_url, resolve_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.web.fetcher import Fetcher

# Folders above the page in which the index is looked for: it lies at the root of its site.
_MOST_FOLDERS = 3


async def search_site(
    fetcher: Fetcher, url: str, weights: Mapping[str, float], *, limit: int
) -> list[tuple[str, str]]:
    """Return URL and title of the pages that the search index of a page's site names, best first.

    None are returned for a site without an index, or whose index cannot be read.
    """
    for folder in _folders_of(url):
        address = resolve_url(folder, SEARCH_INDEX_NAME)
        if address is None:
            continue
        try:
            body = await fetcher.fetch_file(address)
            ranked = await fetcher.sandbox.run(rank_pages, body, dict(weights), limit)
        except (AddressRefused, FetchTimeout, HostUnreachable, ExtractionError):
            return []
        except FetchError:
            continue  # whatever else a site answers, it has no such file there
        if ranked is not None:
            pages = [(resolve_url(folder, f"{name}.html"), title) for name, title in ranked]
            return [(canonical_url(page), title) for page, title in pages if page is not None]
    return []


def _folders_of(url: str) -> list[str]:
    """Return the folder that a page lies in and those above it, the nearest first."""
    parts = urlsplit(url)
    folders = parts.path.split("/")[:-1]
    paths = ["/".join(folders[:depth]) + "/" for depth in range(len(folders), 0, -1)]
    return [f"{parts.scheme}://{parts.netloc}{path}" for path in paths[:_MOST_FOLDERS]]
