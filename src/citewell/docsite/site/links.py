"""Addresses between the pages of a site: relative, so that a site works under any prefix.

A page is in the folder of its file (`guide/install.md` at `guide/install.html`), so what lies
beside it needs no change, and the same HTML works on a server, on a static host and from a disk.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import field
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from citewell.core.frozen import frozen
from citewell.docsite.files import PAGE_SUFFIXES
from citewell.docsite.urls import doc_path_of, page_url

if TYPE_CHECKING:
    from collections.abc import Container

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# Browsers skip these, so `java\tscript:` has a scheme as well.
_SKIPPED_BY_BROWSERS = re.compile(r"[\x00-\x20\x7f]")
ID_IN_HTML = re.compile(r"<[^<>]*\s(?:id|name)=\"([^\"]+)\"")
"""A place that a link can name."""


@frozen
class AnchorLink:
    """A link to a place on a page."""

    written: str
    path: str
    anchor: str


@frozen
class PageAddresses:
    """How addresses are written on one page."""

    path: str
    """The page's file, relative to the root; where it stands decides what is relative."""
    pages: Container[str]
    """The files of all pages."""
    index_file: str = ""
    """`index.html` where no server completes the address of a folder."""
    root: str | None = None
    """The address of the root for a page that is shown at any depth; None writes relative ones."""
    broken: list[str] = field(default_factory=list)
    """Broken links of the page, in order, as written."""
    anchored: list[AnchorLink] = field(default_factory=list)
    """Links of the page to places on pages, whether those exist or not."""

    def to_page(self, path: str) -> str:
        """Return the address of a page."""
        address = page_url(path, self.pages)[1:]
        if not address or address.endswith("/"):
            address += self.index_file
        return self._written(address)

    def to_folder(self, folder: str) -> str:
        """Return the address of the list of a folder's pages."""
        return self._written(f"{quote(folder)}/{self.index_file}")

    def to_file(self, path: str) -> str:
        """Return the address of a file below the root, such as a style sheet."""
        return self._written(quote(path))

    def resolve(self, target: str) -> str | None:
        """Return the address that a link or image of the page means; None when it must be inert.

        Addresses with a scheme are returned as they are: which are safe is not decided here.
        """
        plain = _SKIPPED_BY_BROWSERS.sub("", target)
        file, rest = _split(target)
        if plain.startswith("#"):
            self._note_anchor(target, self.path, rest)
        if plain.startswith(("#", "?", "//")) or _SCHEME.match(plain) or not plain:
            return target
        named = unquote(file).replace("\\", "/")
        folder = "" if named.startswith("/") else posixpath.dirname(self.path)
        full = posixpath.normpath(posixpath.join(folder, named.lstrip("/")))
        if full == ".." or full.startswith("../"):
            self.broken.append(target)
            return None
        page = doc_path_of("" if full == "." else full, self.pages)
        if page is not None:
            self._note_anchor(target, page, rest)
            return self.to_page(page) + rest
        if full.endswith(PAGE_SUFFIXES):
            self.broken.append(target)
        slash = "/" if named.endswith("/") else ""
        return self._written(quote(full) + slash) + rest

    def _note_anchor(self, target: str, path: str, rest: str) -> None:
        anchor = unquote(rest.partition("#")[2])
        if anchor:
            self.anchored.append(AnchorLink(written=target, path=path, anchor=anchor))

    def _written(self, address: str) -> str:
        """Return an address below the root as it is written on this page."""
        if self.root is not None:
            return self.root + address
        steps = quote(self.path).split("/")[:-1]
        parts = address.split("/")
        shared = 0
        while shared < min(len(steps), len(parts) - 1) and steps[shared] == parts[shared]:
            shared += 1
        return "../" * (len(steps) - shared) + "/".join(parts[shared:]) or "./"


def _split(target: str) -> tuple[str, str]:
    """Return the file of an address, and its query and anchor as they stand."""
    end = min((i for i in map(target.find, "?#") if i >= 0), default=len(target))
    return target[:end], target[end:]
