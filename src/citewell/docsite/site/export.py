"""Export a docs folder as static files, for any host or to open from a disk."""

from __future__ import annotations

import mimetypes
import secrets
import shutil
from html import unescape
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from citewell.core.errors import CitewellError, InvalidArgument
from citewell.core.frozen import frozen
from citewell.docsite.files import PAGE_SUFFIXES, resolve_doc_path
from citewell.docsite.llms import LLMS_FILE, llms_full_txt, llms_txt
from citewell.docsite.site.links import ID_IN_HTML, PageAddresses
from citewell.docsite.site.pages import SEARCH_PAGE, PageWriter
from citewell.docsite.site.search_index import search_index_script
from citewell.docsite.site.theme import ASSETS, diagram_files, theme_files
from citewell.docsite.site.website import sitemap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from citewell.docsite.folder import DocsFolder
    from citewell.docsite.site.links import AnchorLink

# Marks a folder as written by us, so that it can be overwritten.
MARKER = ".citewell-site"

_SHOWN_KINDS = ("image/", "video/", "audio/", "font/")
_SHOWN_TYPES = frozenset(
    "application/json application/pdf application/toml application/yaml application/zip "
    "text/css text/csv text/plain".split()
)


@frozen
class BrokenLink:
    """A broken link: the page, or the place on it, does not exist."""

    path: str
    target: str


@frozen
class ExportReport:
    """What was written."""

    pages: int
    files: int
    broken_links: tuple[BrokenLink, ...]
    not_rendered: tuple[str, ...] = ()
    """Paths of pages that exceed the limits of rendering; a page that says so stands for each."""


def export_site(
    folder: DocsFolder, out: Path, *, base_url: str = "", allow_html: bool = False
) -> ExportReport:
    """Write the whole site into `out`, which is replaced only once everything is written.

    `base_url` is where the site will be served; it is needed for canonical addresses, the site map
    and a 404 page below a prefix, and for nothing else.

    Raises:
        InvalidArgument: `out` overlaps the docs folder, or holds something else.
        CitewellError: the files cannot be written.
    """
    target = out.absolute()
    _refuse_unsafe(folder.root, target)
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        fresh.mkdir(parents=True)
        report = _Export(folder, fresh, base_url=base_url, allow_html=allow_html).run()
        _replace(target, fresh)
    except OSError as error:
        raise CitewellError(
            f"cannot write the site to {out}: {error.strerror}",
            suggestion="Check free disk space and permissions.",
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return report


class _Export:
    """One run: every file of the site, into an empty folder."""

    def __init__(self, folder: DocsFolder, out: Path, *, base_url: str, allow_html: bool) -> None:
        self._folder = folder
        self._out = out
        self._base_url = base_url.rstrip("/")
        self._writer = PageWriter(folder, base_url=base_url, allow_html=allow_html, is_export=True)
        self._root = PageAddresses(path="", pages=folder.titles, index_file="index.html")
        self._files = 0
        self._has_diagrams = False
        self._broken: list[BrokenLink] = []
        self._not_rendered: list[str] = []
        self._anchors: dict[str, set[str]] = {}
        self._anchor_links: list[tuple[str, AnchorLink]] = []

    def run(self) -> ExportReport:
        """Write everything, what the site makes itself before the files of the folder."""
        texts = ((path, self._folder.text(path)) for path in self._folder.paths)
        pages = 0
        for path, text in texts:
            if text is not None:
                self._write_page(path, text)
                pages += 1
        self._check_anchors()
        self._write_search()
        self._write_for_readers_of_all()
        self._copy_files()
        self._write(MARKER, "Written by citewell docs build; the next run replaces this folder.\n")
        # Otherwise GitHub Pages would leave out files that it takes for its own.
        self._write(".nojekyll", "")
        return ExportReport(
            pages=pages,
            files=self._files,
            broken_links=tuple(self._broken),
            not_rendered=tuple(self._not_rendered),
        )

    def _write_page(self, path: str, text: str) -> None:
        written = self._writer.page(path, text)
        self._has_diagrams |= written.has_diagrams
        self._write(unquote(self._root.to_page(path)), written.html)
        self._write(path, text)
        if not written.is_rendered:
            self._not_rendered.append(path)
        self._broken += [BrokenLink(path=path, target=link) for link in written.broken_links]
        self._anchors[path] = {unescape(name) for name in ID_IN_HTML.findall(written.html)}
        # Those on the page itself are known since it was rendered.
        self._anchor_links += [(path, link) for link in written.anchor_links if link.path != path]

    def _check_anchors(self) -> None:
        self._broken += [
            BrokenLink(path=path, target=link.written)
            for path, link in self._anchor_links
            if link.anchor not in self._anchors.get(link.path, ())
        ]

    def _write_search(self) -> None:
        files = {**theme_files(), **(diagram_files() if self._has_diagrams else {})}
        for name, file in files.items():
            self._write(f"{ASSETS}/{name}", file.body)
        self._write(f"{ASSETS}/search-index.js", search_index_script(self._folder, self._root))
        if not self._exists(SEARCH_PAGE):
            self._write(SEARCH_PAGE, self._writer.search())

    def _write_for_readers_of_all(self) -> None:
        if not self._exists("index.html"):
            self._write("index.html", self._writer.contents())
        for folder in _folders(self._folder.paths):
            listed = self._writer.folder_contents(folder)
            if listed is not None and not self._exists(f"{folder}/index.html"):
                self._write(f"{folder}/index.html", listed)
        root = urlsplit(self._base_url).path + "/"
        if not self._exists("404.html"):
            self._write("404.html", self._writer.not_found("", root=root))
        where = self._base_url or "."
        own = resolve_doc_path(self._folder.root, LLMS_FILE)
        text = own.read_bytes() if own else llms_txt(self._folder, base_url=where)
        self._write(LLMS_FILE, text)
        self._write("llms-full.txt", llms_full_txt(self._folder, base_url=where))
        if self._base_url:
            self._write("sitemap.xml", sitemap(self._folder, base_url=self._base_url))

    def _copy_files(self) -> None:
        for path in _shown_files(self._folder.root):
            source = resolve_doc_path(self._folder.root, path)
            if source is not None and not self._exists(path):
                self._write(path, source.read_bytes())

    def _exists(self, path: str) -> bool:
        return (self._out / path).exists()

    def _write(self, path: str, content: str | bytes) -> None:
        file = self._out.joinpath(*PurePosixPath(path).parts)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        self._files += 1


def _folders(paths: Iterable[str]) -> list[str]:
    """Return the folders that hold pages, at any depth."""
    above = (str(folder) for path in paths for folder in PurePosixPath(path).parents)
    return sorted({folder for folder in above if folder != "."})


def _shown_files(root: Path) -> Iterator[str]:
    """Yield the images and other files that pages show or offer, relative to the root."""
    for file in sorted(root.rglob("*")):
        kind = mimetypes.guess_type(file.name)[0] or ""
        is_shown = kind.startswith(_SHOWN_KINDS) or kind in _SHOWN_TYPES
        if is_shown and not file.name.endswith(PAGE_SUFFIXES):
            yield file.relative_to(root).as_posix()


def _refuse_unsafe(root: Path, out: Path) -> None:
    real = out.resolve()
    if real == root or real.is_relative_to(root) or root.is_relative_to(real):
        raise InvalidArgument(
            "the site cannot be written into the docs folder, nor over it",
            suggestion="Name a folder elsewhere.",
        )
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise InvalidArgument(f"{out} is not a folder", suggestion="Name a new or empty folder.")
    if out.is_dir() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise InvalidArgument(
            f"{out} holds files that were not written by citewell docs build",
            suggestion="Name a new or empty folder.",
        )


def _replace(target: Path, fresh: Path) -> None:
    """Put the new folder in the place of the old one; readers see one or the other."""
    if not target.exists():
        fresh.rename(target)
        return
    old = fresh.with_name(f"{fresh.name}.old")
    target.rename(old)
    try:
        fresh.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
