"""The website of a docs folder."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, unquote, urlsplit

from citewell.app.docs_folder import base_url
from citewell.core.frozen import frozen
from citewell.tools.docs.raw_files import MADE_LISTS, make_list, read_raw_file

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.core.settings import Settings
    from citewell.docsite.folder import DocsFolder
    from citewell.docsite.site.export import ExportReport
    from citewell.docsite.site.website import Website
    from citewell.tools.docs.raw_files import RawFile

MAX_QUERY_CHARACTERS = 500
MAX_RESULTS = 50

SEARCH_PAGE = "/search.html"


class Resource(Protocol):
    """The response to a URL."""

    @property
    def body(self) -> bytes:
        """The bytes."""

    @property
    def media_type(self) -> str:
        """Their media type."""

    @property
    def etag(self) -> str:
        """Changes with the bytes."""

    @property
    def packed(self) -> bytes | None:
        """The bytes in gzip, if they are at hand."""


@frozen
class Moved:
    """A redirect."""

    url: str


class DocsSite:
    """Answers the URLs of one website.

    Its methods read files and render, so a server calls them in a thread. The renderer is
    imported with the first page, since models never need it.
    """

    def __init__(self, folder: DocsFolder, settings: Settings) -> None:
        self._folder = folder
        self._settings = settings
        self._prefix = urlsplit(base_url(settings)).path
        self._loading = threading.Lock()
        self._loaded: Website | None = None
        self._lists: dict[str, tuple[str, RawFile]] = {}

    def count_pages(self) -> int:
        """Return the number of pages."""
        return len(self._folder.records)

    def search(self, query: str, *, limit: int) -> dict[str, Any]:
        """Return the results of a search as the user types."""
        search = self._folder.search(
            query[:MAX_QUERY_CHARACTERS], limit=min(limit, MAX_RESULTS), as_you_type=True
        )
        results = [
            {
                "path": hit.path,
                "title": hit.title,
                "url": hit.url,
                "section": hit.section,
                "snippet": hit.snippet,
                "score": hit.score,
            }
            for hit in search.hits
        ]
        return {
            "query": query,
            "total": search.total,
            "marks": search.marks,
            "results": results,
        }

    def read_file(self, path: str) -> RawFile | None:
        """Return the raw file at a decoded URL path, or a list for models."""
        name = path.removeprefix("/")
        file = read_raw_file(self._folder, name, settings=self._settings)
        return self._list(name) if file is None and name in MADE_LISTS else file

    def is_at_hand(self, path: str) -> bool:
        """Return whether a page was rendered before and is the same since."""
        return self._loaded is not None and self._loaded.is_at_hand(path)

    def find(self, path: str, *, query: str = "") -> Resource | Moved | None:
        """Return the page at a decoded URL path; `query` is that of the search page."""
        page = self._folder.find_path(path)
        # Each page has one URL; other spellings redirect to it.
        if page is not None and path != unquote(self._folder.url_of(page)):
            return Moved(url=self._prefix + self._folder.url_of(page))
        if page is None and path == SEARCH_PAGE and query:
            return self._website().search(query[:MAX_QUERY_CHARACTERS])
        found = self._website().get(path)
        if found is None and not path.endswith("/") and self._website().get(f"{path}/"):
            return Moved(url=f"{self._prefix}{quote(path)}/")
        return found

    def broken_links(self) -> list[tuple[str, str]]:
        """Return page and target of the links that lead to no page."""
        module = import_module("citewell.docsite.site.broken_links")
        return [*module.find_broken_links(self._folder, allow_html=self._settings.docs_allow_html)]

    def not_found(self, path: str) -> Resource:
        """Return the page for a URL that does not exist."""
        return self._website().not_found(path)

    def _list(self, name: str) -> RawFile:
        """Return a list for models, cached until a page changes: making it reads all pages."""
        revision = self._folder.revision
        made_at, made = self._lists.get(name, (None, None))
        if made is None or made_at != revision:
            made = make_list(self._folder, name, settings=self._settings)
            self._lists[name] = (revision, made)
        return made

    def _website(self) -> Website:
        with self._loading:
            if self._loaded is None:
                module = import_module("citewell.docsite.site.website")
                website: Website = module.Website(
                    self._folder,
                    base_url=base_url(self._settings),
                    allow_html=self._settings.docs_allow_html,
                )
                self._loaded = website
            return self._loaded


def build_website(folder: DocsFolder, out: Path, *, settings: Settings) -> ExportReport:
    """Write the website as static files.

    Raises:
        InvalidArgument: `out` overlaps the docs folder, or holds something else.
        CitewellError: the files cannot be written.
    """
    # Imported late: it brings the renderer, which a server does not wait for.
    from citewell.docsite.site.export import export_site

    return export_site(
        folder, out, base_url=settings.docs_base_url, allow_html=settings.docs_allow_html
    )
