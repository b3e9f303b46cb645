"""The name of a page that has no title."""

from __future__ import annotations


def name_of(url: str) -> str:
    """Return the last part of a URL's path, for pages that have no title."""
    path = url.partition("#")[0].partition("?")[0].rstrip("/")
    return path.rpartition("/")[2] or url
