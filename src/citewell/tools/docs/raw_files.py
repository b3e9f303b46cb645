"""The raw files of a docs folder: Markdown, images, and the lists for models."""

from __future__ import annotations

import hashlib
import mimetypes
from typing import TYPE_CHECKING

from citewell.app.docs_folder import base_url, cache_root
from citewell.core.frozen import frozen
from citewell.docsite.files import PAGE_SUFFIXES, resolve_doc_path
from citewell.docsite.llms import llms_full_txt, llms_txt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from citewell.core.settings import Settings
    from citewell.docsite.folder import DocsFolder

MARKDOWN = "text/markdown; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"

# Types that a browser can show; HTML and scripts of the folder could act as the website.
_SERVED_KINDS = ("image/", "audio/", "video/", "font/")
_SERVED_TYPES = frozenset(
    {
        "application/json",
        "application/pdf",
        "application/toml",
        "application/yaml",
        "application/zip",
        "text/css",
        "text/csv",
        "text/plain",
    }
)
_MAX_FILE_BYTES = 100_000_000

MADE_LISTS: dict[str, Callable[..., str]] = {
    "llms.txt": llms_txt,
    "llms-full.txt": llms_full_txt,
}
"""Files that are generated for models unless the folder has them."""


@frozen
class RawFile:
    """A file as it is sent."""

    body: bytes
    media_type: str
    etag: str
    packed: bytes | None = None
    """The bytes in gzip; nobody has packed a file of the folder."""


def read_raw_file(folder: DocsFolder, path: str, *, settings: Settings) -> RawFile | None:
    """Return the file at a decoded path of the website; None if there is none."""
    file = resolve_doc_path(folder.root, path)
    if file is None or file.is_relative_to(cache_root(settings).resolve()):
        return None
    return _read(file, path)


def make_list(folder: DocsFolder, name: str, *, settings: Settings) -> RawFile:
    """Return one of MADE_LISTS."""
    text = MADE_LISTS[name](folder, base_url=base_url(settings))
    return _raw(text.encode(), PLAIN)


def _read(file: Path, path: str) -> RawFile | None:
    media_type = _media_type(path)
    try:
        if media_type is None or file.stat().st_size > _MAX_FILE_BYTES:
            return None
        return _raw(file.read_bytes(), media_type)
    except OSError:
        # Deleted just now, or not readable: the same as missing.
        return None


def _media_type(path: str) -> str | None:
    if path.endswith(PAGE_SUFFIXES):
        return MARKDOWN
    guessed = mimetypes.guess_type(path)[0] or ""
    if guessed == "text/plain":
        return PLAIN
    is_served = guessed.startswith(_SERVED_KINDS) or guessed in _SERVED_TYPES
    return guessed if is_served else None


def _raw(body: bytes, media_type: str) -> RawFile:
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return RawFile(body=body, media_type=media_type, etag=etag)
