"""Which URLs belong to a site: its scope, its patterns, and what holds no text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.url_pattern import UrlPattern
from citewell.web.urls import split_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.core.library import CrawlOptions

# Files that sites link to beside their pages; fetching them to refuse them would be a burden.
_NO_TEXT = re.compile(
    r"\.(?:7z|avi|avif|bin|bmp|bz2|css|dmg|docx?|eot|epub|exe|gif|gz|ico|ics|jar|jpe?g|js|m4a|m4v"
    r"|mjs|mov|mp3|mp4|mpe?g|msi|ogg|otf|png|pptx?|rar|rpm|deb|svg|tar|tgz|tiff?|ttf|wasm|wav|webm"
    r"|webmanifest|webp|whl|woff2?|xlsx?|xz|zip)$",
    re.IGNORECASE,
)


class SiteScope:
    """The URLs that belong to the site at a canonical `url`, by the options of its crawl."""

    def __init__(self, url: str, options: CrawlOptions) -> None:
        parts = split_url(url)
        self._scope = options.scope
        self._host = parts.host.removeprefix("www.")
        self._port = parts.port
        self._scheme_ports = {80, 443}
        self._folder = _folder(parts.target.partition("?")[0])
        self._url = url
        self.folder_url = url.partition("#")[0].removesuffix(parts.target) + self._folder
        """Where files of the site stand that are about it as a whole."""
        self._include = [UrlPattern(pattern) for pattern in options.include]
        self._exclude = [UrlPattern(pattern) for pattern in options.exclude]

    def holds(self, url: str) -> bool:
        """Return whether a canonical URL belongs to the site and may hold text."""
        if url == self._url:
            return True
        parts = split_url(url)
        path = parts.target.partition("?")[0]
        if not self._is_of_host(parts.host, parts.port) or _NO_TEXT.search(path):
            return False
        if self._scope == "path" and not path.startswith(self._folder):
            return path + "/" == self._folder
        if self._include and not _any_matches(self._include, parts.target):
            return False
        return not _any_matches(self._exclude, parts.target)

    def _is_of_host(self, host: str, port: int) -> bool:
        # A site is the same over http and https.
        same_port = port == self._port or {port, self._port} == self._scheme_ports
        bare = host.removeprefix("www.")
        is_below = self._scope == "domain" and bare.endswith("." + self._host)
        return same_port and (bare == self._host or is_below)


def _folder(path: str) -> str:
    """Return the folder that a path stands for: what looks like a file stands for its own."""
    parent, _, name = path.rpartition("/")
    return f"{parent}/" if not name or "." in name else f"{path}/"


def _any_matches(patterns: Iterable[UrlPattern], target: str) -> bool:
    return any(pattern.matches(target) for pattern in patterns)
