"""The URL of a page of a docs folder, and the page of a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from citewell.docsite.files import PAGE_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Container

INDEX_NAMES = ("index.md", "README.md", "readme.md", "index.markdown")
"""What stands for a whole folder, the first that there is."""


def page_url(path: str, paths: Container[str] = ()) -> str:
    """Return the URL path of a page: `a/b.md` → `/a/b.html`, `a/index.md` → `/a/`.

    Of the `paths` there are, a README stands for its folder where no `index.md` does.
    """
    folder, _, name = path.rpartition("/")
    prefix = f"{folder}/" if folder else ""
    if name == index_name(prefix, paths) or name == INDEX_NAMES[0]:
        return "/" + quote(prefix)
    return "/" + quote(_without_suffix(path)) + ".html"


def index_name(prefix: str, paths: Container[str]) -> str | None:
    """Return the name of the page that stands for the folder `prefix` ("" or ending in "/")."""
    return next((name for name in INDEX_NAMES if prefix + name in paths), None)


def doc_path_of(url_path: str, paths: Container[str]) -> str | None:
    """Return which of `paths` a decoded URL path means; None when there is no such page.

    `/a/b.html`, `/a/b` and `/a/b.md` are one page; `/a/` and `/a` are the index of a folder.
    """
    path = url_path.lstrip("/")
    stem = path.removesuffix(".html")
    options = [path, *(stem + suffix for suffix in PAGE_SUFFIXES)]
    named = next((option for option in options if option in paths), None)
    if named is not None:
        return named
    folder = stem.removesuffix("index").rstrip("/")
    prefix = f"{folder}/" if folder else ""
    name = index_name(prefix, paths)
    return None if name is None else prefix + name


def _without_suffix(path: str) -> str:
    suffix = next(suffix for suffix in PAGE_SUFFIXES if path.endswith(suffix))
    return path.removesuffix(suffix)
