"""A docs folder as the resources of a website, rendered on demand and kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape as escape_xml

from citewell.docsite.site.pages import SEARCH_PAGE, PageWriter
from citewell.docsite.site.theme import ASSETS, Resource, diagram_files, resource, theme_files
from citewell.docsite.urls import doc_path_of

if TYPE_CHECKING:
    from citewell.docsite.folder import DocsFolder

_MAX_KEPT_BYTES = 64_000_000


class Website:
    """The pages and theme files of one docs folder, by URL path."""

    def __init__(
        self,
        folder: DocsFolder,
        *,
        base_url: str,
        allow_html: bool = False,
    ) -> None:
        self._folder = folder
        self._base_url = base_url.rstrip("/")
        self._writer = PageWriter(folder, base_url=base_url, allow_html=allow_html)
        self._kept: OrderedDict[tuple[str, str], Resource] = OrderedDict()
        self._kept_bytes = 0
        self._lock = threading.Lock()

    def get(self, url_path: str) -> Resource | None:
        """Return the file at a decoded URL path; None when there is none."""
        if url_path.startswith(f"/{ASSETS}/"):
            name = url_path.removeprefix(f"/{ASSETS}/")
            return theme_files().get(name) or diagram_files().get(name)
        key = (self._folder.revision, url_path)
        kept = self._recall(key)
        if kept is None:
            kept = self._make(url_path)
            if kept is not None:
                self._keep(key, kept)
        return kept

    def is_at_hand(self, url_path: str) -> bool:
        """Return whether `get` has nothing to make for a URL path."""
        is_asset = url_path.startswith(f"/{ASSETS}/")
        return is_asset or self._recall((self._folder.revision, url_path)) is not None

    def search(self, query: str) -> Resource:
        """Return the page that lists what was found for a query."""
        return resource(self._writer.search(query))

    def not_found(self, url_path: str) -> Resource:
        """Return the page for an address that leads nowhere."""
        return resource(self._writer.not_found(url_path))

    def _make(self, url_path: str) -> Resource | None:
        if url_path == "/robots.txt":
            return resource(robots_txt(self._base_url), media_type="text/plain; charset=utf-8")
        if url_path == "/sitemap.xml" and self._base_url:
            listed = sitemap(self._folder, base_url=self._base_url)
            return resource(listed, media_type="application/xml; charset=utf-8")
        is_page = url_path.endswith((".html", "/"))
        path = doc_path_of(url_path, self._folder.titles) if is_page else None
        text = self._folder.text(path) if path is not None else None
        if path is not None and text is not None:
            return resource(self._writer.page(path, text).html)
        if url_path == f"/{SEARCH_PAGE}":
            return resource(self._writer.search())
        if url_path == "/":
            return resource(self._writer.contents())
        if not url_path.endswith("/"):
            return None
        contents = self._writer.folder_contents(url_path.strip("/"))
        return None if contents is None else resource(contents)

    def _recall(self, key: tuple[str, str]) -> Resource | None:
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
            return kept

    def _keep(self, key: tuple[str, str], made: Resource) -> None:
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = made
            self._kept_bytes += len(made.body)
            while self._kept_bytes > _MAX_KEPT_BYTES:
                _, dropped = self._kept.popitem(last=False)
                self._kept_bytes -= len(dropped.body)


def robots_txt(base_url: str) -> str:
    """Return that everything may be read, and where the list of pages is."""
    named = f"Sitemap: {base_url}/sitemap.xml\n" if base_url else ""
    return f"User-agent: *\nAllow: /\n{named}"


def sitemap(folder: DocsFolder, *, base_url: str) -> str:
    """Return the list of pages for search engines."""
    locations = (escape_xml(base_url + folder.url_of(path)) for path in folder.paths)
    entries = "\n".join(f"<url><loc>{location}</loc></url>" for location in locations)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}\n</urlset>\n'
    )
