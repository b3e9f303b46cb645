"""The search index of a docs folder: built from scratch or from the previous one."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

from citewell.core.errors import ExtractionError
from citewell.core.frozen import frozen
from citewell.core.words import STOP_STEMS, search_words, words, written_words
from citewell.docsite.files import decode_doc, is_text, read_doc, report_left_out
from citewell.docsite.limits import SMALL_BYTES, by_size
from citewell.docsite.outline import encode_outline
from citewell.docsite.pages import DocPage, parse_page
from citewell.docsite.postings import (
    MAX_PAGES,
    MAX_WEIGHT,
    Postings,
    add_page,
    decode_postings,
    encode_posting,
)
from citewell.ingest.extract.markdown.front_matter import find_front_matter_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from citewell.docsite.files import DocFile
    from citewell.web.blocking_sandbox import BlockingSandbox

logger = logging.getLogger(__name__)

# How often a word of a title or heading counts beside its place in the text. Asked for headings of
# the fastapi docs without their last word, the right page is first for .70; with half of these
# weights for .67, with double for .71, with 1 and 1 for .63.
TITLE_WEIGHT = 12
HEADING_WEIGHT = 5

# Whole headings are also indexed as single words, so that a search for one finds it directly. No
# other word begins with this mark.
HEADING_MARK = "="

_MIN_SPELLING, _MAX_SPELLING = 4, 24


@frozen
class PageRecord:
    """What the index stores about a page."""

    path: str
    title: str
    description: str
    size: int
    mtime_ns: int
    ctime_ns: int
    content_hash: str
    word_count: int
    length: int
    """Search words of the page, those of its title and headings counted with their weight."""

    def is_of(self, file: DocFile) -> bool:
        """Return whether the file is unchanged since it was read."""
        return (self.size, self.mtime_ns, self.ctime_ns) == (
            file.size,
            file.mtime_ns,
            file.ctime_ns,
        )


class WordTable(Protocol):
    """The words of all pages."""

    @property
    def postings(self) -> Postings:
        """See `postings`; pages are numbered in the order of `DocsIndex.pages`."""

    @property
    def spellings(self) -> str:
        """The spellings of all words, lower-cased, sorted, one per line."""

    @property
    def outlines(self) -> Sequence[str]:
        """The headings of each page; see `outline`."""


@frozen
class BuiltTable:
    """A WordTable made from pages."""

    postings: Postings
    spellings: str
    outlines: Sequence[str]


@frozen
class DocsIndex:
    """The whole index of a docs folder at one time."""

    built_at: str
    docs_root: str
    pages: tuple[PageRecord, ...]
    """In the order of their paths."""
    table: WordTable


@frozen
class BuiltIndex:
    """An index and the pages that were read to make it, for whoever writes the cache."""

    index: DocsIndex
    read_pages: Mapping[str, DocPage | None]
    """None for a large page, which is not kept."""


def build_index(
    root: Path,
    files: Sequence[DocFile],
    *,
    before: DocsIndex | None,
    sandbox: BlockingSandbox | None = None,
) -> BuiltIndex:
    """Return the index of `files`, reading only those that `before` does not know as they are.

    A file whose times have changed and whose bytes have not, as after a checkout or in a new
    container, keeps what is known of it. One that exceeds its limits in `sandbox` is left out.
    """
    if len(files) > MAX_PAGES:
        logger.warning("only the first %d of %d pages are indexed", MAX_PAGES, len(files))
    known = {record.path: record for record in before.pages} if before is not None else {}
    builder = _Builder(sandbox)
    for file in files[:MAX_PAGES]:
        record = known.get(file.path)
        if record is not None and record.is_of(file):
            builder.keep(record)
            continue
        data = read_doc(root, file.path)
        if data is None:
            continue
        if not is_text(data):
            report_left_out(file.path, "it is not text in UTF-8", version=file.ctime_ns)
            continue
        digest = hashlib.sha256(data).hexdigest()
        if record is not None and record.content_hash == digest:
            builder.keep(_restamped(record, file))
        elif digest not in _too_costly:
            try:
                builder.add(file, decode_doc(data), content_hash=digest)
            except ExtractionError as error:
                _too_costly.add(digest)
                report_left_out(file.path, error.message, version=file.ctime_ns)
    return builder.finish(root, before=before)


# Hashes of files that exceeded their limits: looking at them again would cost as much.
_too_costly: set[str] = set()


class _Builder:
    """Collects pages in the order of their paths."""

    def __init__(self, sandbox: BlockingSandbox | None) -> None:
        self._sandbox = sandbox
        self._records: list[PageRecord] = []
        self._kept: dict[str, int] = {}
        self._read: dict[str, DocPage | None] = {}
        self._postings: dict[str, str] = {}
        self._forms: set[str] = set()
        self._outlines: list[str] = []

    def keep(self, record: PageRecord) -> None:
        """Keep an unchanged page."""
        self._kept[record.path] = len(self._records)
        self._records.append(record)
        self._outlines.append("")

    def add(self, file: DocFile, content: str, *, content_hash: str) -> None:
        """Read a page that is new or has changed.

        Raises:
            ExtractionError: it exceeds its limits.
        """
        if fault := find_front_matter_fault(content):
            logger.warning("%s: %s", file.path, fault)
        page = None
        if file.size <= SMALL_BYTES:
            page = parse_page(file.path, content, mtime=file.mtime_ns / 1e9, size=file.size)
            words_of_page = _words_of(page)
        else:
            words_of_page = _PageWords(
                *by_size(file.size, page_words_of, file.path, content, sandbox=self._sandbox)
            )
        add_page(self._postings, len(self._records), words_of_page.weights)
        self._forms.update(words_of_page.forms)
        self._outlines.append(words_of_page.outline)
        self._read[file.path] = page
        self._records.append(
            PageRecord(
                path=file.path,
                title=words_of_page.title,
                description=words_of_page.description,
                size=file.size,
                mtime_ns=file.mtime_ns,
                ctime_ns=file.ctime_ns,
                content_hash=content_hash,
                word_count=words_of_page.word_count,
                length=sum(words_of_page.weights.values()),
            )
        )

    def finish(self, root: Path, *, before: DocsIndex | None) -> BuiltIndex:
        """Return the index, with what `before` had of the pages that were kept."""
        return BuiltIndex(
            index=DocsIndex(
                built_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
                docs_root=str(root),
                pages=tuple(self._records),
                table=self._finish_table(before),
            ),
            read_pages=self._read,
        )

    def _finish_table(self, before: DocsIndex | None) -> WordTable:
        if before is not None and len(before.pages) == len(self._records) == len(self._kept):
            return before.table
        if before is not None and self._kept:
            self._take_over(before)
        # A spelling whose last page has gone stays until the next whole build: it leads nowhere.
        return BuiltTable(
            postings=Postings.of(self._postings),
            spellings="\n".join(sorted(_spellings(self._forms))),
            outlines=self._outlines,
        )

    def _take_over(self, before: DocsIndex) -> None:
        numbers = [self._kept.get(record.path) for record in before.pages]
        for word, encoded in before.table.postings.items():
            postings = [
                (number, weight)
                for old, weight in decode_postings(encoded)
                if (number := numbers[old]) is not None
            ]
            if postings:
                postings = sorted(postings + decode_postings(self._postings.get(word, "")))
                self._postings[word] = "".join(encode_posting(*posting) for posting in postings)
        self._forms.update(before.table.spellings.split("\n"))
        for number, outline in zip(numbers, before.table.outlines, strict=True):
            if number is not None:
                self._outlines[number] = outline


class _PageWords(NamedTuple):
    """What the index takes from a page, as plain data."""

    title: str
    description: str
    word_count: int
    weights: dict[str, int]
    forms: list[str]
    outline: str


def page_words_of(path: str, content: str) -> _PageWords:
    """Return what the index takes from the text of a page; runs in another process if large."""
    return _words_of(parse_page(path, content, mtime=0.0, size=0))


def _words_of(page: DocPage) -> _PageWords:
    written = written_words(page.content)
    return _PageWords(
        title=page.title,
        description=page.description,
        word_count=page.word_count,
        weights=dict(weigh_words(page, written)),
        forms=list(set(written)),
        outline=encode_outline(page),
    )


def weigh_words(page: DocPage, written: Iterable[str]) -> dict[str, int]:
    """Return the search words of a page and how much each counts, whole headings among them.

    `written` are the words of its content. Words that are everywhere count only where they stand
    in a title or heading.
    """
    weights = Counter(search_words(written))
    for word in STOP_STEMS & weights.keys():
        del weights[word]
    headings = [section.heading for section in page.sections]
    for text, weight in (
        (page.title, TITLE_WEIGHT),
        *((text, HEADING_WEIGHT) for text in headings),
    ):
        for word in words(text):
            weights[word] = min(weights.get(word, 0) + weight, MAX_WEIGHT)
    for text, weight in (*((text, 1) for text in headings), (page.title, 2)):
        if key := heading_key(text):
            weights[key] = weight
    return weights


def _spellings(forms: Iterable[str]) -> set[str]:
    return {
        form.lower()
        for form in forms
        if _MIN_SPELLING <= len(form) <= _MAX_SPELLING and form.isalpha()
    }


def heading_key(text: str) -> str:
    """Return the index word of a heading, regardless of case; empty without words."""
    joined = " ".join(words(text.lower()))
    return HEADING_MARK + joined if joined else ""


def _restamped(record: PageRecord, file: DocFile) -> PageRecord:
    return replace(record, mtime_ns=file.mtime_ns, ctime_ns=file.ctime_ns)
