"""Titles that tell a page from the pages beside it.

A page alone does not show that its title stands on every page of its folder, or on twenty of them;
those pages do. Then the page is named by the window's title, if that says more, or by the first
heading that is not common in the folder, or by its address, before the title that it shares.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import ExtractedPage

# Two pages can have one name by chance, or because one of them is the other's older form.
_LEAST_PAGES = 3
_MAX_FOLDERS = 200
_MAX_PAGES = 500
_OPENING_HEADINGS = 8
_MAX_HEADING_CHARACTERS = 120
_BETWEEN = " – "
_WORD = re.compile(r"[^\W_]+")
_INDEX_FILE = re.compile(r"/(?:index|default|welcome|home)\.\w{2,5}$", re.IGNORECASE)
_FILE_ENDING = re.compile(r"\.[a-z]\w{1,4}$", re.IGNORECASE)
_DASHES_AROUND = re.compile(r"^[\s\-–—:|]+|[\s\-–—:|]+$")


@frozen
class SharedNames:
    """What pages of a folder cannot be told apart by, as fingerprints."""

    titles: frozenset[int] = frozenset()
    others: frozenset[int] = frozenset()
    """Headings, and titles of windows."""


@dataclass(slots=True)
class _Folder:
    seen: set[str] = field(default_factory=set)
    titles: dict[int, list[str]] = field(default_factory=dict)
    """The first pages that have each title."""
    shared: set[int] = field(default_factory=set)
    others: Counter[int] = field(default_factory=Counter)
    """On how many pages each heading and title of a window is."""
    early: list[str] = field(default_factory=list)
    """Pages that were named before it was known that others have the same title."""


class FolderTitles:
    """Counts the titles and headings of the pages of each folder."""

    def __init__(self) -> None:
        self._folders: OrderedDict[str, _Folder] = OrderedDict()

    def knows(self, folder: str) -> bool:
        """Return whether any page of a folder was counted, and not forgotten since."""
        return folder in self._folders

    def add_page(
        self, folder: str, url: str, *, title: str, headings: Sequence[str], window_title: str = ""
    ) -> None:
        """Count a page once; the folders that were seen longest ago are forgotten."""
        known = self._folders.setdefault(folder, _Folder())
        self._folders.move_to_end(folder)
        if len(self._folders) > _MAX_FOLDERS:
            self._folders.popitem(last=False)
        if url in known.seen or len(known.seen) == _MAX_PAGES:
            return
        known.seen.add(url)
        known.others.update({_fingerprint(each) for each in (window_title, *headings)})
        name = _fingerprint(_shared_part(title, headings, url))
        pages = known.titles.setdefault(name, [])
        if len(pages) < _LEAST_PAGES:
            pages.append(url)
            if len(pages) == _LEAST_PAGES:
                known.shared.add(name)
                known.early.extend(pages)

    def shared(self, folder: str) -> SharedNames:
        """Return the names by which pages of a folder cannot be told apart."""
        known = self._folders.get(folder)
        if known is None or not known.shared:
            return SharedNames()
        return SharedNames(
            titles=frozenset(known.shared),
            others=frozenset(n for n, pages in known.others.items() if pages >= _LEAST_PAGES),
        )

    def take_early(self, folder: str) -> list[str]:
        """Return, once, the pages named before it was known that others have their title."""
        known = self._folders.get(folder)
        if known is None or not known.early:
            return []
        early, known.early = known.early, []
        return early


def title_among(page: ExtractedPage, url: str, shared: SharedNames) -> str:
    """Return the title of a page; one that pages beside it have too, with the page's own part."""
    title = page.title
    if _fingerprint(title) not in shared.titles:
        return title
    headings = opening_headings(page)
    name = _name_in(url)
    rest = _words(page.window_title) - _words(title)
    if _fingerprint(page.window_title) not in shared.others and rest & _words(
        " ".join((name, *headings))
    ):
        return page.window_title
    candidates = (each for each in headings if not _words(each) <= _words(title))
    own = next((each for each in candidates if _fingerprint(each) not in shared.others), name)
    return f"{_DASHES_AROUND.sub('', own)}{_BETWEEN}{title}" if own else title


def opening_headings(page: ExtractedPage) -> list[str]:
    """Return the first headings of a page that could be its name."""
    headings = [section.heading for section in page.sections if section.heading]
    return [each for each in headings[:_OPENING_HEADINGS] if len(each) <= _MAX_HEADING_CHARACTERS]


def folder_of(url: str) -> str:
    """Return the address that a page's own follows; the start of a folder is a page beside it."""
    parts = urlsplit(url)
    path = parts.path if parts.query else _INDEX_FILE.sub("", parts.path)
    return f"{parts.scheme}://{parts.netloc}{path.rstrip('/').rpartition('/')[0]}/"


def shared_end(title: str) -> str:
    """Return what a title could share with others: all of it, or what follows a dash."""
    return title.partition(_BETWEEN)[2] or title


def _shared_part(title: str, headings: Sequence[str], url: str) -> str:
    """Return a title without the part that `title_among` put before it."""
    own, _, rest = title.partition(_BETWEEN)
    is_own = own == _name_in(url) or any(_DASHES_AROUND.sub("", each) == own for each in headings)
    return rest if rest and is_own else title


def _name_in(url: str) -> str:
    """Return what the address calls a page, without the ending of a file."""
    parts = urlsplit(url)
    if parts.query:
        return ""
    path = _FILE_ENDING.sub("", _INDEX_FILE.sub("", parts.path).rstrip("/"))
    return path.rpartition("/")[2]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _fingerprint(name: str) -> int:
    # Signs count: "Index: <" and "Index: >" are two pages.
    plain = "".join(name.lower().split())
    return int.from_bytes(blake2b(plain.encode(), digest_size=8).digest())
