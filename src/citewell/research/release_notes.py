"""What the release notes between two versions say about a subject."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.symbols import last_part
from citewell.core.version_ranges import is_same_version, version_key
from citewell.core.words import as_symbol, content_words, words
from citewell.research.paired_quotes import Side, quote_span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citewell.core.records import Page, SearchFilter, StoredChunk
    from citewell.core.releases import Release
    from citewell.core.text import Span
    from citewell.research.paired_quotes import ComparedQuote
    from citewell.store.protocol import Store

_MOST_NOTES = 3
_MOST_CHUNKS = 400
_LONGEST_SUBJECT = 6
_PAGE = re.compile(
    r"change-?log|changes|release[-_s]|releases?/|what-?s-?new|history|news\b|migrat|upgrad",
    re.IGNORECASE,
)
_README = re.compile(r"readme\b", re.IGNORECASE)
# A README has notes, too, and much else: only whole headings count.
_HEADING = re.compile(
    r"change-? ?log|(?:recent |latest |breaking )?changes|releases"
    r"|(?:release|version) (?:notes|history|information)|history|news"
    r"|what['’]?s new\b.*|(?:changes|new) in .*",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?<![\w.])v?(\d{1,4}(?:\.\d{1,5}){1,3}(?:-?(?:a|b|rc|alpha|beta)[\d.]*)?)")


async def find_release_notes(
    subject: str,
    releases: tuple[Release, Release],
    *,
    known: Sequence[Release],
    store: Store,
    where: SearchFilter,
) -> list[ComparedQuote]:
    """Return the lines of release notes after the old version, up to the new one, that mention it.

    Notes whose headings name no version come last.
    """
    old, new = releases
    # The notes of the newer version reach back; its site is a product of the same name.
    keys = [
        each.key
        for each in known
        if each.name == new.name and is_same_version(each.version, new.version)
    ]
    where = replace(where, version=None, releases=tuple(keys))
    hits = await store.search_words(content_words(subject), where=where, limit=_MOST_CHUNKS)
    pages: dict[int, Page] = {}
    notes: dict[str, tuple[bool, ComparedQuote]] = {}
    for chunk in await store.load_chunks([hit.chunk_id for hit in hits]):
        if not _holds_notes(chunk):
            continue
        page = pages.get(chunk.source_id) or await store.get_page(chunk.source_id)
        if page is None:
            continue
        pages[chunk.source_id] = page
        side = Side(page=page, text=page.text, version=chunk.release.version, span=(0, 0))
        for start, end in _lines_with(chunk.text, subject):
            version = _version_at(page, chunk.start + start)
            if version is None or _is_between(version, old.version, new.version):
                quote = quote_span(side, (chunk.start + start, chunk.start + end))
                notes.setdefault(quote.text.strip(), (version is None, quote))
    # Sorting keeps the order of the search among notes that name a version.
    ordered = sorted(notes.values(), key=lambda note: note[0])
    return [quote for _, quote in ordered[:_MOST_NOTES]]


def _holds_notes(chunk: StoredChunk) -> bool:
    name = chunk.url.rpartition("/")[2]
    if _PAGE.search(f"{name} {chunk.title}"):
        return True
    headings = (heading.strip(" :!") for heading in chunk.heading_path)
    return bool(_README.match(name)) and any(map(_HEADING.fullmatch, headings))


def _version_at(page: Page, offset: int) -> str | None:
    """Return the version that notes are of, by the innermost heading that names one."""
    by_ordinal = {section.ordinal: section for section in page.sections}
    section = next((each for each in page.sections if each.start <= offset < each.end), None)
    while section is not None:
        if match := _VERSION.search(section.heading):
            return match[1]
        section = by_ordinal.get(section.parent) if section.parent is not None else None
    in_title = _VERSION.search(page.info.title)
    return in_title[1] if in_title else None


def _is_between(version: str, old: str, new: str) -> bool:
    key = version_key(version)
    return version_key(old) < key and (key <= version_key(new) or is_same_version(version, new))


def _lines_with(text: str, subject: str) -> Iterator[Span]:
    """Yield the lines of a chunk that name a symbol, or have most words of a question."""
    symbol = as_symbol(subject) or (subject if " " not in subject.strip() else None)
    wanted = set(content_words(subject))
    name = last_part(subject.strip("` ").removesuffix("()")) if symbol else ""
    # `validator` is not what a line on `field_validator` or "model validators" is about.
    named = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        shared = len(wanted & set(words(line)))
        few = len(wanted) <= _LONGEST_SUBJECT
        if named.search(line) if name else (2 * shared > len(wanted) and (few or shared > 3)):
            yield start, end
        start = end + 1
