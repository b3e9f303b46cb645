"""The index on disk: `CACHE_ROOT/mcp/search-index.json`, checked before it is used.

The file is one JSON object, written line by line so that a start reads no more than it needs:

    {"version": …, "checksum": …, "built_at": …, "docs_root": …, "docs_count": …,
    "pages": […],          one row for each page: its size and time, to notice a changed file
    "postings": {…},       in the order of the words, searched as it is
    "spellings": …,
    "outlines": […],
    "index": {             path → {path, title, content, sections, mtime, size, word_count}
    …}}

The texts under `index` are for other programs. This one shows the files themselves, which are
never out of date.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import zlib
from dataclasses import fields
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from citewell.core.errors import ExtractionError
from citewell.docsite.files import decode_doc, read_doc
from citewell.docsite.index import DocsIndex, PageRecord
from citewell.docsite.limits import by_size
from citewell.docsite.pages import parse_page
from citewell.docsite.postings import Postings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from citewell.docsite.pages import DocPage

logger = logging.getLogger(__name__)

INDEX_VERSION = "1.0"
"""Of the file's form, and of the rules by which pages are read and words are made."""

CACHE_FILE = Path("mcp", "search-index.json")

# Its lines are long; reading them in small pieces would take twice the time.
_BUFFER_BYTES = 1 << 18

_COLUMNS = len(fields(PageRecord))
_row_of = attrgetter(*(field.name for field in fields(PageRecord)))


class LoadedTable:
    """The words of a cached index, decoded when the first search needs them."""

    def __init__(self, *, postings: bytes, spellings: bytes, outlines: bytes) -> None:
        self._encoded = {"postings": postings, "spellings": spellings, "outlines": outlines}

    @cached_property
    def postings(self) -> Postings:
        """See WordTable."""
        return Postings(self._encoded.pop("postings"))

    @cached_property
    def spellings(self) -> str:
        """See WordTable."""
        return str(json.loads(self._encoded.pop("spellings")))

    @cached_property
    def outlines(self) -> Sequence[str]:
        """See WordTable."""
        return list(json.loads(self._encoded.pop("outlines")))


def load_index(cache_root: Path, *, docs_root: Path) -> DocsIndex | None:
    """Return the cached index of `docs_root`; None when there is no valid one.

    Its pages may have changed since: `build_index` takes from it what is still true.
    """
    try:
        with Path(cache_root, CACHE_FILE).open("rb", buffering=_BUFFER_BYTES) as file:
            return _read_index(file, docs_root=docs_root)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        logger.warning("rebuilding the docs index: its cache cannot be read (%s)", error)
        return None


def _read_index(file: BinaryIO, *, docs_root: Path) -> DocsIndex | None:
    head = json.loads(file.readline().rstrip()[:-1] + b"}")
    if head["version"] != INDEX_VERSION or head["docs_root"] != str(docs_root):
        return None
    lines = [file.readline() for _ in range(4)]
    if head["checksum"] != _checksum(lines):
        raise ValueError("the checksum is wrong")
    rows, postings, spellings, outlines = (_value_of(line) for line in lines)
    pages = tuple(_record_of(row) for row in json.loads(rows))
    if len(pages) != head["docs_count"]:
        raise ValueError("the number of pages is wrong")
    return DocsIndex(
        built_at=head["built_at"],
        docs_root=head["docs_root"],
        pages=pages,
        table=LoadedTable(postings=postings, spellings=spellings, outlines=outlines),
    )


def save_index(
    cache_root: Path,
    index: DocsIndex,
    *,
    docs_root: Path,
    read_pages: Mapping[str, DocPage | None],
) -> bool:
    """Write the index, whole or not at all; return False where nothing can be written.

    `read_pages` are the pages at hand; the others are read.
    """
    target = Path(cache_root, CACHE_FILE)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".search-index-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(_lines(index, docs_root, read_pages))
            Path(temporary).chmod(0o644)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        logger.warning("the docs index stays in memory: no cache is written (%s)", error.strerror)
        return False
    return True


def _lines(
    index: DocsIndex, docs_root: Path, read_pages: Mapping[str, DocPage | None]
) -> Iterator[bytes]:
    parts = [
        b'"pages":' + _encode([_row_of(page) for page in index.pages]) + b",\n",
        b'"postings":' + index.table.postings.encoded + b",\n",
        b'"spellings":' + _encode(index.table.spellings) + b",\n",
        b'"outlines":' + _encode(list(index.table.outlines)) + b",\n",
    ]
    head = {
        "version": INDEX_VERSION,
        "checksum": _checksum(parts),
        "built_at": index.built_at,
        "docs_root": index.docs_root,
        "docs_count": len(index.pages),
    }
    yield _encode(head)[:-1] + b",\n"
    yield from parts
    yield b'"index":{'
    separator = b"\n"
    for record in index.pages:
        page = read_pages.get(record.path)
        encoded = _encode_file(docs_root, record) if page is None else _encode(_shape(page))
        if encoded is not None:
            yield separator + _encode(record.path) + b":" + encoded
            separator = b",\n"
    yield b"\n}}\n"


def _encode_file(docs_root: Path, record: PageRecord) -> bytes | None:
    data = read_doc(docs_root, record.path)
    if data is None:
        return None
    described = (record.path, data, record.mtime_ns / 1e9, record.size)
    try:
        return by_size(len(data), encode_page, *described)
    except ExtractionError as error:
        logger.warning("%s is not in the cache for other programs: %s", record.path, error.message)
        return None


def encode_page(path: str, data: bytes, mtime: float, size: int) -> bytes:
    """Return a page as the file has it; runs in another process if it is large."""
    return _encode(_shape(parse_page(path, decode_doc(data), mtime=mtime, size=size)))


def _shape(page: DocPage) -> dict[str, Any]:
    lines = page.content.split("\n")
    return {
        "path": page.path,
        "title": page.title,
        "content": page.content,
        "sections": [
            {
                "heading": section.heading,
                "level": section.level,
                "content": "\n".join(lines[section.line_start - 1 : section.line_end]),
                "line_start": section.line_start,
                "line_end": section.line_end,
            }
            for section in page.sections
        ],
        "mtime": page.mtime,
        "size": page.size,
        "word_count": page.word_count,
    }


def _encode(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _checksum(lines: list[bytes]) -> str:
    # Against damage; whoever can forge the file can also change the docs.
    value = 0
    for line in lines:
        value = zlib.crc32(line, value)
    return f"{value:08x}"


def _value_of(line: bytes) -> bytes:
    """Return the value of a line that holds `"name":value,`."""
    return line[line.index(b":") + 1 : -len(b",\n")]


def _record_of(row: list[Any]) -> PageRecord:
    if len(row) != _COLUMNS:
        raise ValueError("a page has the wrong number of columns")
    path, title, description, size, mtime_ns, ctime_ns, content_hash, word_count, length = row
    return PageRecord(
        path=path,
        title=title,
        description=description,
        size=size,
        mtime_ns=mtime_ns,
        ctime_ns=ctime_ns,
        content_hash=content_hash,
        word_count=word_count,
        length=length,
    )
