"""What repeats over the pages of a site, learnt from those that are stored and those being read."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.frozen import frozen
from citewell.core.records import SearchFilter
from citewell.ingest.extract.canonical import plain_text
from citewell.ingest.site_lines import SiteLines
from citewell.ingest.site_titles import (
    FolderTitles,
    SharedNames,
    folder_of,
    opening_headings,
    shared_end,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import ExtractedPage, PageInfo
    from citewell.store.protocol import Store

# So many stored pages are read when a process meets a site or a folder for the first time.
_RECALLED_PAGES = 24
_RECALLED_TITLES = 200
_HEADING = re.compile(r"^#{1,6} (.+)", re.MULTILINE)
_OPENING_CHARACTERS = 4_000


@frozen
class Repeats:
    """What other pages of its site have in common with a page."""

    lines: frozenset[int] = frozenset()
    """Lines that most pages begin or end with; no chunk holds them."""
    names: SharedNames = SharedNames()
    """Titles and headings that name none of them."""


class SiteLearning:
    """What repeats over the pages of each site and project; a restart forgets nothing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lines = SiteLines()
        self._titles = FolderTitles()

    async def repeats(self, url: str, *, project: str) -> Repeats:
        """Return what repeats on the site of a page, as far as its stored pages show it."""
        site, folder = _site_of(url, project), _folder_of(url, project)
        if not self._lines.knows(site):
            await self._recall_lines(site, url, project=project)
        if not self._titles.knows(folder):
            await self._recall_titles(folder, url, project=project)
        return Repeats(lines=self._lines.repeated(site), names=self._titles.shared(folder))

    def add_page(self, url: str, page: ExtractedPage, *, project: str) -> None:
        """Count a page that was read."""
        self._lines.add_page(_site_of(url, project), url, page.text)
        self._titles.add_page(
            _folder_of(url, project),
            url,
            title=page.title,
            headings=opening_headings(page),
            window_title=page.window_title,
        )

    def take_early(self, url: str, *, project: str) -> list[str]:
        """Return, once, the pages of the site that were read before it was known what repeats."""
        early = self._lines.take_early(_site_of(url, project))
        named = self._titles.take_early(_folder_of(url, project))
        return list(dict.fromkeys((*early, *named)))

    async def _recall_lines(self, site: str, url: str, *, project: str) -> None:
        parts = urlsplit(url)
        infos = await self._list(f"{parts.scheme}://{parts.netloc}/", project, _RECALLED_PAGES)
        texts = await self._store.page_texts([info.source_id for info in infos])
        for page in texts.values():
            self._lines.add_page(site, page.info.final_url, page.text)
        # Where something was known to repeat, these have been read again already.
        self._lines.take_early(site)

    async def _recall_titles(self, folder: str, url: str, *, project: str) -> None:
        infos = [
            info
            for info in await self._list(folder_of(url), project, _RECALLED_TITLES)
            if folder_of(info.final_url) == folder_of(url)
        ]
        texts = await self._store.page_texts(_of_one_title(infos)[:_RECALLED_PAGES])
        for info in infos:
            text = texts[info.source_id].text if info.source_id in texts else ""
            headings = [plain_text(each) for each in _HEADING.findall(text[:_OPENING_CHARACTERS])]
            self._titles.add_page(folder, info.final_url, title=info.title, headings=headings)
        self._titles.take_early(folder)

    async def _list(self, prefix: str, project: str, limit: int) -> list[PageInfo]:
        where = SearchFilter(project=project, url_prefix=prefix)
        infos = await self._store.list_pages(where, limit=limit)
        return [info for info in infos if info.origin != "supplied"]


def _of_one_title(infos: Sequence[PageInfo]) -> list[int]:
    """Return the pages whose title ends as that of another does."""
    ends = Counter(shared_end(info.title) for info in infos)
    return [info.source_id for info in infos if ends[shared_end(info.title)] > 1]


def _site_of(url: str, project: str) -> str:
    return f"{project} {urlsplit(url).netloc}"


def _folder_of(url: str, project: str) -> str:
    return f"{project} {folder_of(url)}"
