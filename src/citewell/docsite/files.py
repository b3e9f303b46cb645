"""Find and read the files of a docs folder, and none outside of it."""

from __future__ import annotations

import codecs
import logging
import os
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.text import join_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

PAGE_SUFFIXES = (".md", ".markdown")

# Files of a site that are not its pages; at the top of the folder only.
NAVIGATION_FILES = frozenset({"sidebar.md", "topbar.md"})

MAX_PAGE_BYTES = 5_000_000

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})


@frozen
class DocFile:
    """A page's file as the file system describes it, unread."""

    path: str
    """Relative to the root, with slashes."""
    size: int
    mtime_ns: int
    ctime_ns: int
    """Set by the system at every change; unlike `mtime_ns`, nobody can set it back."""


def resolve_doc_path(root: Path, path: str) -> Path | None:
    """Return the existing file that `path` names inside `root`; None for anything else.

    `path` is taken as it is, so a caller decodes a URL first, and once. Hidden files are none of
    the site's. A link counts as what it leads to, which has to lie inside the root as well.
    """
    if "\0" in path or "\\" in path:
        return None
    parts = path.split("/")
    if any(part == "" or part.startswith(".") for part in parts):
        return None
    try:
        home = root.resolve(strict=True)
        file = home.joinpath(*parts).resolve(strict=True)
        is_inside = file.is_relative_to(home) and file.is_file()
    except (OSError, RuntimeError, ValueError):
        # Missing, too long a name, circular links, characters that no file name can have.
        return None
    return file if is_inside else None


def list_doc_files(root: Path) -> list[DocFile]:
    """Return the pages' files below `root`, in the order of their paths."""
    return sorted(_walk(root, root, prefix=""), key=lambda file: file.path)


def read_doc(root: Path, path: str) -> bytes | None:
    """Return the content of a listed page; None when it is gone or cannot be read.

    `path` must come from `list_doc_files`, which has checked it.
    """
    try:
        # A Path would keep each part of its name for good, and takes longer to make than to read.
        with FileIO(f"{root}/{path}") as file:
            return file.readall()
    except OSError as error:
        logger.warning("cannot read %s: %s", path, error.strerror)
        return None


def plain_bytes(data: bytes) -> bytes:
    """Return the bytes of a page without a byte order mark, line ends as newlines."""
    plain = data.removeprefix(codecs.BOM_UTF8)
    return plain.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in plain else plain


def is_text(data: bytes) -> bool:
    """Return whether a file holds text in UTF-8: no other encoding, nothing binary."""
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def decode_doc(data: bytes) -> str:
    """Return the text of a page, line ends as newlines; invalid UTF-8 is replaced."""
    return plain_bytes(data).decode(errors="replace")


@lru_cache(maxsize=10_000)
def report_left_out(path: str, reason: str, *, version: int) -> None:
    """Log that a file is left out; once for each version of it, however often it is looked at."""
    logger.warning("%s is left out: %s", path, reason)


def _walk(root: Path, folder: Path, *, prefix: str) -> Iterator[DocFile]:
    try:
        with os.scandir(folder) as listing:
            entries = [entry for entry in listing if not entry.name.startswith(".")]
    except OSError as error:
        logger.warning("cannot list %s: %s", prefix or "the docs folder", error.strerror)
        return
    for entry in entries:
        path = prefix + entry.name
        # A linked folder is either outside, or already listed at its real place.
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED_FOLDERS:
                yield from _walk(root, Path(entry.path), prefix=f"{path}/")
        elif entry.name.endswith(PAGE_SUFFIXES) and path not in NAVIGATION_FILES:
            shown = join_lines([path])
            if shown != path:
                report_left_out(shown, "its name holds control characters", version=0)
                continue
            file = _stat(root, entry, path)
            if file is not None:
                yield file


def _stat(root: Path, entry: os.DirEntry[str], path: str) -> DocFile | None:
    if entry.is_symlink() and resolve_doc_path(root, path) is None:
        return None
    try:
        status = entry.stat()
        path.encode()
    except (OSError, UnicodeEncodeError):
        # Gone since it was listed, or its name is not valid text.
        return None
    if not entry.is_file() or status.st_size > MAX_PAGE_BYTES:
        reason = f"it is not a plain file of at most {MAX_PAGE_BYTES:,} bytes"
        report_left_out(path, reason, version=status.st_ctime_ns)
        return None
    return DocFile(
        path=path, size=status.st_size, mtime_ns=status.st_mtime_ns, ctime_ns=status.st_ctime_ns
    )
