"""Whole pages of a site: content, menu, outline and neighbours put into the theme's templates."""

from __future__ import annotations

import logging
import posixpath
import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from citewell.core.errors import ExtractionError
from citewell.core.frozen import frozen
from citewell.core.line_breaks import with_break_points
from citewell.docsite.navigation import Navigation
from citewell.docsite.sidebar import folder_contents
from citewell.docsite.site.links import AnchorLink, PageAddresses
from citewell.docsite.site.menu import MenuEntry, menu_entries, page_link
from citewell.docsite.site.page_content import PageContent, render_in_sandbox
from citewell.docsite.site.render import OutlineEntry
from citewell.docsite.site.theme import ASSETS, HERE, version_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.records import Language
    from citewell.docsite.folder import DocsFolder

logger = logging.getLogger(__name__)

SEARCH_PAGE = "search.html"

# Nothing inline, nothing from elsewhere but the images and films that an author links to.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' https: data:; media-src 'self' https:; form-action 'self'; base-uri 'none'"
)

# Mermaid writes its colours into the drawing; what a page's author wrote is sanitised all the same.
_POLICY_WITH_DIAGRAMS = _POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")

_ENDPOINT = "api/search"
_MAX_RESULTS = 20
_MAX_SUGGESTIONS = 5
_SHORTEST_OUTLINE = 2
_WORD = re.compile(r"[^\W_]+")
# Thai; scripts before it put spaces between words.
_FIRST_UNSPACED = "\u0e00"
# An empty tag says that the language is not known; menus around such a page are English.
_LANGUAGE_TAGS: Mapping[Language, str] = {
    "en": "en",
    "ja": "ja",
    "ko": "ko",
    "zh": "zh",
    "mixed": "ja",
    "other": "",
}


@frozen
class SearchResult:
    """A hit as the search page shows it."""

    title: str
    section: str
    href: str
    snippet: Markup


@frozen
class WrittenPage:
    """A page's HTML, and its links to report."""

    html: str
    broken_links: tuple[str, ...] = ()
    """Broken ones, as written."""
    anchor_links: tuple[AnchorLink, ...] = ()
    has_diagrams: bool = False
    is_rendered: bool = False
    """False where it exceeds its limits: the HTML says so."""


class PageWriter:
    """Writes the pages of one docs folder.

    With `is_export` the pages need no server: folders are written with their index file, and
    search runs in the browser.
    """

    def __init__(
        self,
        folder: DocsFolder,
        *,
        base_url: str = "",
        allow_html: bool = False,
        is_export: bool = False,
    ) -> None:
        self._folder = folder
        self._base_url = base_url.rstrip("/")
        self._allow_html = allow_html
        self._is_export = is_export
        # Pages from a disk have no origin to allow, and trusted HTML may need more.
        self._policy = "" if is_export or allow_html else _POLICY

    def page(self, path: str, text: str) -> WrittenPage:
        """Return the page of a Markdown file; one that says why if it exceeds its limits."""
        try:
            content = render_in_sandbox(
                path,
                text,
                folder=self._folder,
                index_file="index.html" if self._is_export else "",
                allow_html=self._allow_html,
            )
        except ExtractionError as error:
            reason = f"This page cannot be shown: {error.message}."
            logger.warning("%s is not rendered: %s", path, error.message)
            return WrittenPage(html=self._write_page(path, _notice(self._folder, path, reason)))
        return WrittenPage(
            html=self._write_page(path, content),
            has_diagrams=content.has_diagrams,
            broken_links=tuple(content.broken_links),
            anchor_links=tuple(
                AnchorLink(written=written, path=page, anchor=anchor)
                for written, page, anchor in content.anchor_links
            ),
            is_rendered=True,
        )

    def _write_page(self, path: str, content: PageContent) -> str:
        addresses = self._addresses(path)
        navigation = self._folder.navigation
        outline = [
            OutlineEntry(level=level, text=text, anchor=anchor)
            for level, text, anchor in content.outline
        ]
        previous, following = navigation.neighbours(path)
        return self._write(
            "page.html",
            addresses,
            path=path,
            title=content.title,
            description=content.description,
            language=_LANGUAGE_TAGS[content.language],
            content=Markup(content.html),
            has_heading=content.has_heading,
            outline=outline if len(outline) >= _SHORTEST_OUTLINE else [],
            trail=[page_link(item, addresses) for item in navigation.trail(path)[:-1]],
            previous=page_link(previous, addresses) if previous else None,
            next=page_link(following, addresses) if following else None,
            markdown=posixpath.basename(path),
            canonical=self._canonical(path),
            has_diagrams=content.has_diagrams,
            **({"policy": _POLICY_WITH_DIAGRAMS} if self._policy and content.has_diagrams else {}),
        )

    def contents(self) -> str:
        """Return a front page for a folder that has none: the list of its pages."""
        addresses = self._addresses("")
        entries = menu_entries(self._folder.navigation, None, addresses=addresses, is_whole=True)
        return self._write("contents.html", addresses, title=self._folder.title, entries=entries)

    def folder_contents(self, folder: str) -> str | None:
        """Return the list of a folder's pages; None when there is no such folder."""
        listed = folder_contents(self._folder.titles, folder)
        if listed is None:
            return None
        # Its address ends in a slash, so it is relative to what is in the folder.
        addresses = self._addresses(f"{folder}/")
        below = Navigation(items=listed.children)
        entries = menu_entries(below, None, addresses=addresses, is_whole=True)
        return self._write(
            "contents.html", addresses, title=listed.title, entries=entries, folder=folder
        )

    def search(self, query: str = "") -> str:
        """Return the page of search results; without a query only the form."""
        addresses = self._addresses("")
        # As the box ranks while a reader types, who then presses Enter.
        answer = self._folder.search(query, limit=_MAX_RESULTS, as_you_type=True)
        hits = answer.hits if query.strip() else ()
        results = [
            SearchResult(
                title=hit.title,
                section=hit.section if hit.section != hit.title else "",
                href=addresses.to_page(hit.path) + hit.url[len(self._folder.url_of(hit.path)) :],
                snippet=_marked(hit.snippet, " ".join([query, *answer.marks])),
            )
            for hit in hits
        ]
        return self._write("search.html", addresses, title="Search", query=query, results=results)

    def not_found(self, url_path: str, *, root: str | None = None) -> str:
        """Return the page for an unknown address, with similar ones.

        `root` is the address of the site where the page may be shown at any depth.
        """
        addresses = self._addresses(url_path.lstrip("/"), root=root)
        suggestions = [
            MenuEntry(title=self._folder.titles[path], href=addresses.to_page(path))
            for path in self._near(url_path)
        ]
        return self._write(
            "not_found.html", addresses, title="Page not found", suggestions=suggestions
        )

    def _near(self, url_path: str) -> list[str]:
        """Return pages whose path is spelled alike, then those that hold the path's words."""
        wanted = url_path.strip("/").removesuffix(".html")
        alike = self._folder.near_paths(wanted, limit=_MAX_SUGGESTIONS)
        words = " ".join(_WORD.findall(posixpath.basename(wanted)))
        hits = self._folder.search(words, limit=_MAX_SUGGESTIONS).hits if words else ()
        return list(dict.fromkeys([*alike, *(hit.path for hit in hits)]))[:_MAX_SUGGESTIONS]

    def _addresses(self, path: str, *, root: str | None = None) -> PageAddresses:
        return PageAddresses(
            path=path,
            pages=self._folder.titles,
            index_file="index.html" if self._is_export else "",
            root=root,
        )

    def _canonical(self, path: str) -> str:
        if not self._base_url:
            return ""
        return self._base_url + self._folder.url_of(path)

    def _write(
        self,
        template: str,
        addresses: PageAddresses,
        *,
        title: str,
        path: str | None = None,
        folder: str | None = None,
        **context: object,
    ) -> str:
        navigation = self._folder.navigation
        entries = menu_entries(navigation, path, addresses=addresses, folder=folder)
        frame: dict[str, object] = {
            # The version lets browsers keep a file without asking for it on each page.
            "asset": lambda name: addresses.to_file(f"{ASSETS}/{name}") + f"?v={version_of(name)}",
            "description": "",
            "home": addresses.to_file("index.html" if self._is_export else ""),
            "language": "en",
            "llms": addresses.to_file("llms.txt"),
            "menu": Markup(_template("menu.html", items=entries)),
            "policy": self._policy,
            "root": addresses.to_file(""),
            "search_endpoint": addresses.to_file(_ENDPOINT),
            "search_index": (
                addresses.to_file(f"{ASSETS}/search-index.js") if self._is_export else ""
            ),
            "search_page": addresses.to_file(SEARCH_PAGE),
            "site_title": self._folder.title,
        }
        return _template(template, **{**frame, "title": title, **context})


def _notice(folder: DocsFolder, path: str, reason: str) -> PageContent:
    return PageContent(
        title=folder.titles.get(path, path),
        description="",
        language="en",
        html=f'<p class="not-included">{escape(reason)}</p>',
        has_heading=False,
        outline=[],
        has_diagrams=False,
        broken_links=[],
        anchor_links=[],
    )


def _template(name: str, **context: object) -> str:
    return _environment().get_template(name).render(**context)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    environment.filters["breakable"] = _breakable
    return environment


def _breakable(text: str) -> Markup:
    """Return a text whose names are broken into lines at their dots and underscores."""
    return Markup(with_break_points(escape(text), "<wbr>"))


def _beginning_with(word: str) -> str:
    """Return the pattern of the whole words that begin so; text without spaces has no words."""
    is_spaced = word[0] < _FIRST_UNSPACED
    return rf"(?<![^\W_]){re.escape(word)}[^\W_]*" if is_spaced else re.escape(word)


def _marked(snippet: str, query: str) -> Markup:
    """Return a snippet as HTML with the words marked that begin as those of the query."""
    words = sorted(set(_WORD.findall(query)), key=len, reverse=True)
    if not words:
        return Markup(escape(snippet))
    pieces = re.split(f"({'|'.join(map(_beginning_with, words))})", snippet, flags=re.IGNORECASE)
    # Splitting by a group puts what matched at the odd places.
    return Markup(
        "".join(
            f"<mark>{escape(piece)}</mark>" if i % 2 else escape(piece)
            for i, piece in enumerate(pieces)
        )
    )
