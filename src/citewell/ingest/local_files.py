"""Files of this machine as pages: found, read, and named by their `file://` URLs.

Only the shell and the operator's own settings name files. A tool never reads one: to it, a page
of a file is a stored page like any other.
"""

from __future__ import annotations

import errno
import os
import re
import zlib
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from citewell.core.errors import InvalidArgument, UnsupportedContent
from citewell.core.records import FetchedPage
from citewell.ingest.extract.man import is_man_source
from citewell.ingest.regular_file import read_regular_file
from citewell.web.charset import decode_body
from citewell.web.content import is_gzipped_text, page_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPE_OF_SUFFIX = {
    ".htm": "text/html",
    ".html": "text/html",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".mdx": "text/markdown",
    ".pdf": "application/pdf",
    ".adoc": "text/asciidoc",
    ".asciidoc": "text/asciidoc",
    ".rst": "text/x-rst",
    ".txt": "text/plain",
    ".xhtml": "application/xhtml+xml",
}
# A man page, if that is what it holds: many other files end in a number.
_MAN_NAME = re.compile(r"[^.]\.[1-9][a-z]{0,9}(?:\.gz)?\Z", re.IGNORECASE)
_MAN_START_BYTES = 20_000
_GZIP = zlib.MAX_WBITS | 16
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
# Sphinx puts the sources of its pages beside them.
_SPHINX_SOURCES, _SPHINX_INDEX = "_sources", "searchindex.js"


def file_url(path: Path) -> str:
    """Return the URL that a file's page is stored under."""
    return path.resolve().as_uri()


def file_of_url(url: str) -> Path | None:
    """Return the path that a `file://` URL names; None for any other URL."""
    if not url.startswith("file:///"):
        return None
    path = unquote(url.removeprefix("file://").partition("#")[0])
    return Path(path.lstrip("/") if os.name == "nt" else path)


def folder_url(path: Path) -> str | None:
    """Return what the URLs of all pages below a folder begin with; None for a file."""
    return f"{path.resolve().as_uri()}/" if path.is_dir() else None


def find_local_pages(path: Path) -> list[Path]:
    """Return the files that `path` stands for: itself, or those below it that hold text.

    Hidden files and folders are left out, and links that lead out of the folder.

    Raises:
        InvalidArgument: there is nothing of that name, or no page below it.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InvalidArgument(
            f"there is no file or folder called {path}",
            suggestion="Check the path; it begins at the current folder.",
        )
    found = sorted(_walk(path.resolve()))
    if not found:
        suffixes = ", ".join(sorted(_TYPE_OF_SUFFIX))
        raise InvalidArgument(
            f"there is no page below {path}",
            suggestion=f"Pages are files in {suffixes} and man pages (.1 to .9, also .gz).",
        )
    return found


def read_local_page(path: Path, *, max_bytes: int) -> FetchedPage:
    """Return the page that a file holds, its content's hash as ETag.

    Raises:
        UnsupportedContent: it cannot be read, is larger than `max_bytes`, or holds no text.
    """
    url = file_url(path)
    try:
        body = _content_of(path, max_bytes=max_bytes)
    except OSError as error:
        raise UnsupportedContent(f"cannot read {path}: {error.strerror}") from error
    if len(body) > max_bytes:
        raise UnsupportedContent(f"{path} is larger than {max_bytes} bytes")
    content_type = _TYPE_OF_SUFFIX.get(path.suffix.lower(), "")
    kind = page_kind(body, content_type=content_type, url=url)
    return FetchedPage(
        url=url,
        final_url=url,
        status=200,
        kind=kind,
        body=body,
        text="" if kind == "pdf" else decode_body(body, content_type=content_type, kind=kind).text,
        fetched_at=datetime.now(UTC),
        etag=f'"{sha256(body).hexdigest()[:32]}"',
        origin="file",
        headers=(("content-type", content_type),),
    )


def _walk(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        skipped = _SKIPPED_FOLDERS | ({_SPHINX_SOURCES} if _SPHINX_INDEX in names else set())
        folders[:] = [name for name in folders if not name.startswith(".") and name not in skipped]
        for name in names:
            path = Path(folder, name)
            if name.startswith(".") or not path.is_file():
                continue
            is_inside = path.resolve().is_relative_to(root)
            if is_inside and (path.suffix.lower() in _TYPE_OF_SUFFIX or _is_man_page(path)):
                yield path


def _is_man_page(path: Path) -> bool:
    """Return whether a file has the name of a man page and holds one, or cannot be read."""
    if _MAN_NAME.search(path.name) is None:
        return False
    try:
        start = _content_of(path, max_bytes=_MAN_START_BYTES)
    except OSError:
        return True  # told of where it is read
    return is_man_source(start.decode("utf-8", "replace"))


def _content_of(path: Path, *, max_bytes: int) -> bytes:
    """Return the first bytes of a file, and one more if it has more; of text in gzip, unpacked.

    Raises:
        OSError: it cannot be read.
    """
    body = read_regular_file(path, max_bytes=max_bytes)
    if not is_gzipped_text(path.name):
        return body
    try:
        return zlib.decompressobj(_GZIP).decompress(body, max_bytes + 1)
    except zlib.error as error:
        raise OSError(errno.EINVAL, "it is damaged, or not in gzip") from error
