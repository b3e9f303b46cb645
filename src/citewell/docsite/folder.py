"""An open folder of Markdown: its pages, their order, and search."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

from citewell.core.errors import ExtractionError, SettingsError
from citewell.core.frozen import frozen
from citewell.docsite.files import (
    MAX_PAGE_BYTES,
    decode_doc,
    list_doc_files,
    plain_bytes,
    read_doc,
    report_left_out,
    resolve_doc_path,
)
from citewell.docsite.index import build_index
from citewell.docsite.index_cache import load_index, save_index
from citewell.docsite.limits import by_size, docs_sandbox
from citewell.docsite.outline import Outline, outline_of
from citewell.docsite.search import Searcher
from citewell.docsite.sidebar import SIDEBAR_FILE, parse_sidebar, tree_navigation
from citewell.docsite.snippet import PlaceFinder
from citewell.docsite.urls import doc_path_of, index_name, page_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from citewell.docsite.index import DocsIndex, PageRecord
    from citewell.docsite.navigation import Navigation
    from citewell.docsite.search import Ranked
    from citewell.web.blocking_sandbox import BlockingSandbox

logger = logging.getLogger(__name__)

DEFAULT_SNIPPET_LENGTH = 200

_FEWEST_HITS = 3


@frozen
class SearchHit:
    """A page that a search found."""

    path: str
    title: str
    url: str
    """On the website, down to the section."""
    section: str
    """The heading above the snippet; empty before the first heading."""
    score: float
    snippet: str


@frozen
class SearchResults:
    """The result of a search."""

    hits: tuple[SearchHit, ...]
    total: int
    """How many pages match, including those not in `hits`."""
    corrections: tuple[tuple[str, str], ...] = ()
    """Words that are on no page, each with the word that was searched for instead."""
    marks: tuple[str, ...] = ()
    """What words begin with that a page was found by, besides those of the query as typed."""


class DocsFolder:
    """The pages of a folder at one time, until `refresh` finds that they have changed.

    Safe to use from several threads: what changes is replaced as a whole.
    """

    def __init__(
        self,
        root: Path,
        *,
        cache_root: Path | None,
        snippet_length: int,
        sandbox: BlockingSandbox,
    ) -> None:
        self.root = root
        self.sandbox = sandbox
        self._cache_root = cache_root
        self.snippet_length = snippet_length
        self._refreshing = threading.Lock()
        before = None
        if cache_root is not None:
            before = load_index(cache_root, docs_root=root)
        self._snapshot = self._build(before)

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        cache_root: Path | None = None,
        snippet_length: int = DEFAULT_SNIPPET_LENGTH,
        sandbox: BlockingSandbox | None = None,
    ) -> Self:
        """Return the indexed folder, from the cache if that is current.

        What is large or rendered is read in `sandbox`, or in one that all folders share. Without
        `cache_root`, or where nothing can be written, the index lives in memory.

        Raises:
            SettingsError: there is no such folder.
        """
        try:
            resolved = root.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise SettingsError(f"there is no docs folder {root}") from error
        if not resolved.is_dir():
            raise SettingsError(f"{root} is not a folder")
        return cls(
            resolved,
            cache_root=cache_root,
            snippet_length=snippet_length,
            sandbox=sandbox or docs_sandbox(),
        )

    def refresh(self) -> bool:
        """Pick up what has changed on disk, reading changed files only; return whether any has."""
        with self._refreshing:
            snapshot = self._build(self._snapshot.index)
            if snapshot.revision == self._snapshot.revision:
                return False
            self._snapshot = snapshot
            return True

    @property
    def revision(self) -> str:
        """Changes whenever a page or the sidebar changes."""
        return self._snapshot.revision

    @property
    def records(self) -> Sequence[PageRecord]:
        """What is known of each page without reading it, in the order of their paths."""
        return self._snapshot.index.pages

    @property
    def paths(self) -> Sequence[str]:
        """The paths of all pages, in order."""
        return list(self._snapshot.titles)

    @property
    def titles(self) -> Mapping[str, str]:
        """The title of each page by its path."""
        return self._snapshot.titles

    @property
    def navigation(self) -> Navigation:
        """The tree of `sidebar.md`, or of the folders where there is none."""
        return self._snapshot.navigation

    @property
    def title(self) -> str:
        """The title of the first page, or the name of the folder where there is none."""
        name = index_name("", self.titles)
        return self.root.name if name is None else self.titles[name]

    def url_of(self, path: str) -> str:
        """Return the URL path of a page on the website."""
        return page_url(path, self.titles)

    def find_path(self, text: str) -> str | None:
        """Return the path of the page that `text` names, as a path or as part of a URL."""
        return doc_path_of(text.partition("#")[0].partition("?")[0], self.titles)

    def near_paths(self, text: str, *, limit: int = 5) -> list[str]:
        """Return the paths most like `text`, best first."""
        wanted = text.strip("/").lower()
        name = wanted.rpartition("/")[2].partition(".")[0]
        same_name = [path for path in self.paths if name and name in path.lower()]
        by_lower = {path.lower(): path for path in self.paths}
        alike = [by_lower[lower] for lower in get_close_matches(wanted, by_lower, n=limit)]
        return list(dict.fromkeys([*alike, *sorted(same_name, key=len)]))[:limit]

    def text(self, path: str) -> str | None:
        """Return the text of a page as its file is now; None when there is no such page."""
        file = resolve_doc_path(self.root, path) if path in self.titles else None
        data = None if file is None else _read_bounded(file, path)
        return None if data is None else decode_doc(data)

    def search(
        self, query: str, *, limit: int = 10, least_share: float = 0.0, as_you_type: bool = False
    ) -> SearchResults:
        """Return the pages that match best, each with the place in it that does.

        Beyond three, those that score less than `least_share` of what the first does are left out.
        """
        snapshot = self._snapshot
        ranking = snapshot.searcher.rank(query, as_you_type=as_you_type)
        finder = PlaceFinder(query, ranking.terms, length=self.snippet_length)
        hits: list[SearchHit] = []
        least = least_share * ranking.ranked[0].score if ranking.ranked else 0.0
        for ranked in ranking.ranked:
            is_enough = len(hits) >= _FEWEST_HITS and ranked.score < least
            if is_enough or len(hits) == limit:
                break
            hit = self._show(snapshot, ranked, finder)
            if hit is not None:
                hits.append(hit)
        return SearchResults(
            hits=tuple(hits),
            total=len(ranking.ranked),
            corrections=ranking.corrections,
            marks=(*finder.marks, *(meant for _, meant in ranking.corrections)),
        )

    def _show(self, snapshot: _Snapshot, ranked: Ranked, finder: PlaceFinder) -> SearchHit | None:
        """Return a page that was found with the place in it; None when its file has gone."""
        record = snapshot.index.pages[ranked.page]
        data = read_doc(self.root, record.path)
        if data is None:
            return None
        encoded = snapshot.index.table.outlines[ranked.page]
        if len(data) != record.size:
            # Changed since it was indexed: its headings have moved.
            try:
                encoded = by_size(len(data), outline_of, record.path, decode_doc(data))
            except ExtractionError as error:
                report_left_out(record.path, error.message, version=len(data))
                return None
        place = finder.find(plain_bytes(data), Outline(encoded))
        section = place.section
        anchor = f"#{section.anchor}" if section is not None and section.level > 1 else ""
        return SearchHit(
            path=record.path,
            title=record.title,
            url=page_url(record.path, snapshot.titles) + anchor,
            section=section.heading if section is not None else "",
            score=round(ranked.score, 2),
            snippet=place.snippet,
        )

    def _build(self, before: DocsIndex | None) -> _Snapshot:
        began = time.perf_counter()
        files = list_doc_files(self.root)
        built = build_index(self.root, files, before=before, sandbox=self.sandbox)
        is_new = before is None or built.index.pages != before.pages
        index = built.index if is_new or before is None else before
        if is_new and self._cache_root is not None:
            save_index(self._cache_root, index, docs_root=self.root, read_pages=built.read_pages)
        level = logging.INFO if is_new else logging.DEBUG
        logger.log(
            level,
            "docs index: %d pages, %d read, %.0f ms",
            len(index.pages),
            len(built.read_pages),
            (time.perf_counter() - began) * 1000,
        )
        return _Snapshot(self.root, index)


def _read_bounded(file: Path, path: str) -> bytes | None:
    """Return the bytes of a file; None when it is gone, or has grown beyond what a page can be."""
    try:
        status = file.stat()
        if status.st_size > MAX_PAGE_BYTES:
            reason = f"it has more than {MAX_PAGE_BYTES:,} bytes"
            report_left_out(path, reason, version=status.st_ctime_ns)
            return None
        return file.read_bytes()
    except OSError as error:
        logger.warning("cannot read %s: %s", path, error.strerror)
        return None


class _Snapshot:
    """One state of the folder, and what is derived from it on demand."""

    def __init__(self, root: Path, index: DocsIndex) -> None:
        self._root = root
        self._sidebar = resolve_doc_path(root, SIDEBAR_FILE)
        self.index = index
        self.searcher = Searcher(index)
        self.titles = {record.path: record.title for record in index.pages}

    @cached_property
    def sidebar(self) -> str | None:
        data = None if self._sidebar is None else _read_bounded(self._sidebar, SIDEBAR_FILE)
        return None if data is None else decode_doc(data)

    @cached_property
    def revision(self) -> str:
        digest = hashlib.sha256((self.sidebar or "").encode())
        for record in self.index.pages:
            digest.update(f"{record.path}\0{record.content_hash}\0".encode())
        return digest.hexdigest()[:16]

    @cached_property
    def navigation(self) -> Navigation:
        if self.sidebar is None:
            return tree_navigation(self.titles)
        return parse_sidebar(self.sidebar, paths=self.titles)
