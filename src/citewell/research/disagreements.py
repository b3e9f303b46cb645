"""Finding statements that contradict what is quoted: other sources, versions and sections."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.answer.disagreement import find_difference, parse_statement, says_so
from citewell.answer.links import link_quotes
from citewell.answer.quote import QuotedSpan, quote_chunk, refuse_inexact
from citewell.core.frozen import frozen
from citewell.core.ids import citation_id
from citewell.core.off_loop import in_thread
from citewell.core.results import Disagreement
from citewell.core.text import chunk_sentences, sentence_spans
from citewell.core.version_ranges import version_key
from citewell.core.words import content_words
from citewell.research.read_path import SPAN_CHUNKS
from citewell.retrieve.releases import names_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from citewell.answer.disagreement import DifferingValue, Statement
    from citewell.core.records import PageText, Quote, StoredChunk
    from citewell.research.run import ResearchRun
    from citewell.store.protocol import Store

MOST_DISAGREEMENTS = 2
_MOST_VERSIONS = 3
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@frozen
class _Place:
    """A statement and the quote that it is."""

    statement: Statement
    quote: Quote
    is_other_version: bool = False


@frozen
class _Differing:
    """Two statements that give different values."""

    one: Quote
    other: Quote
    value: DifferingValue


async def find_disagreements(run: ResearchRun, quotes: Sequence[Quote]) -> tuple[Disagreement, ...]:
    """Return where other evidence gives another value than the quotes do, the best first.

    The quotes are compared with the other passages that were found, and with the same sections
    of the other versions that are stored, unless the question names a version.
    """
    assert run.found is not None, "quotes were found by a search"
    own = [place for quote in quotes for place in _statements_of_quote(quote)]
    if not own:
        return ()
    chunks = [ranked.chunk for ranked in run.found.ranked[:SPAN_CHUNKS]]
    versions: list[StoredChunk] = []
    if not run.question.pages().version:
        query = run.question.query
        unasked = [each for each in quotes if not names_version(query, each.release.name)]
        versions = await _other_versions(run.parts.store, unasked)
    differing = await in_thread(_compare, own, chunks, versions)
    if not differing:
        return ()
    ids = {quote.source_id for pair in differing for quote in (pair.one, pair.other)}
    pages = await run.parts.store.page_texts(list(ids))
    return await in_thread(_disagreements, differing, pages, run.question.query)


async def _other_versions(store: Store, quotes: Sequence[Quote]) -> list[StoredChunk]:
    """Return the chunks of the quoted sections in the other versions that are stored."""
    found: list[StoredChunk] = []
    headings: dict[int, set[tuple[str, ...]]] = {}
    for quote in quotes:
        if quote.release.product:
            headings.setdefault(quote.source_id, set()).add(quote.heading_path[1:])
    for source_id, wanted in headings.items():
        siblings = await store.releases.siblings_of_page(source_id)
        newest_first = sorted(siblings, key=lambda each: version_key(each.release.version))[::-1]
        for sibling in newest_first[:_MOST_VERSIONS]:
            chunks = await store.chunks_of_page(sibling.source_id)
            found += [chunk for chunk in chunks if chunk.heading_path[1:] in wanted]
    return found


def _compare(
    own: Sequence[_Place], chunks: Sequence[StoredChunk], versions: Sequence[StoredChunk]
) -> list[_Differing]:
    """Return the statements that differ from those of the quotes in one value."""
    # Statements of different pages must share a name.
    names = frozenset[str]().union(*(place.statement.facts.names for place in own))
    others = [
        *_statements_of_chunks(versions, is_other_version=True),
        *(_statements_of_chunks(chunks, names=names) if names else ()),
    ]
    differing: list[_Differing] = []
    for one in own:
        for other in others:
            if _is_same_section(one.quote, other.quote):
                continue
            same_page = other.is_other_version
            value = find_difference(one.statement, other.statement, same_page=same_page)
            if value is not None:
                differing.append(_Differing(one=one.quote, other=other.quote, value=value))
    return differing


def _disagreements(
    differing: Iterable[_Differing], pages: Mapping[int, PageText], question: str
) -> tuple[Disagreement, ...]:
    found: dict[tuple[str, str], Disagreement] = {}
    for pair in differing:
        if not _are_apart(pair.one, pair.other, pages):
            continue
        made = _disagreement(pair.one, pair.other, pair.value, pages, question)
        if made is not None:
            # The same two statements are met from both sides where both are quoted.
            first, second = sorted(made.values)
            found.setdefault((first, second), made)
    return tuple(found.values())[:MOST_DISAGREEMENTS]


def _is_same_section(one: Quote, other: Quote) -> bool:
    return one.source_id == other.source_id and one.heading_path == other.heading_path


def _are_apart(one: Quote, other: Quote, pages: Mapping[int, PageText]) -> bool:
    """Return whether each page makes its own statement and not the other's as well."""
    if one.source_id == other.source_id:
        return True
    own, its = pages.get(one.source_id), pages.get(other.source_id)
    if own is None or its is None:
        return False
    return not (says_so(own.text, other.text) or says_so(its.text, one.text))


def _disagreement(
    one: Quote,
    other: Quote,
    value: DifferingValue,
    pages: Mapping[int, PageText],
    question: str,
) -> Disagreement | None:
    texts = {source_id: page.text for source_id, page in pages.items()}
    linked = link_quotes(refuse_inexact((one, other), texts), pages)
    if len(linked) != len((one, other)):
        return None
    newer, newer_by = _newer(one, other, pages)
    asked = frozenset(content_words(question))
    named = [len(asked.intersection(content_words(" ".join(q.heading_path)))) for q in (one, other)]
    specific = None if named[0] == named[1] else int(named[1] > named[0])
    return Disagreement(
        quotes=(linked[0], linked[1]),
        values=(value.one, value.other),
        newer=newer,
        newer_by=newer_by,
        more_specific=specific,
    )


def _newer(one: Quote, other: Quote, pages: Mapping[int, PageText]) -> tuple[int | None, str]:
    """Return which of two quotes is newer, and what shows it."""
    first, second = one.release, other.release
    if first.product and first.product == second.product and first.version != second.version:
        is_second = version_key(second.version) > version_key(first.version)
        return int(is_second), "version"
    dates = [_date_of(pages.get(quote.source_id)) for quote in (one, other)]
    if dates[0] and dates[1] and dates[0] != dates[1]:
        return int(dates[1] > dates[0]), "date of the page"
    return None, ""


def _date_of(page: PageText | None) -> str:
    """Return the day that a page says it was last changed or published; empty where it does not."""
    if page is None:
        return ""
    match = _DATE.match(page.info.modified_at or page.info.published_at or "")
    return match[0] if match else ""


def _statements_of_quote(quote: Quote) -> Iterator[_Place]:
    for start, end in sentence_spans(quote.text):
        statement = parse_statement(quote.text[start:end], quote.heading_path)
        # A sentence that is cut may go on to say something else.
        if statement is not None and not (quote.is_cut and end == len(quote.text)):
            yield _Place(statement=statement, quote=_part(quote, start, end))


def _part(quote: Quote, start: int, end: int) -> Quote:
    begins, ends = quote.start + start, quote.start + end
    return replace(
        quote,
        citation_id=citation_id(quote.source_id, quote.page_hash, begins, ends),
        text=quote.text[start:end],
        start=begins,
        end=ends,
        is_cut=False,
        link="",
    )


def _statements_of_chunks(
    chunks: Iterable[StoredChunk],
    *,
    is_other_version: bool = False,
    names: frozenset[str] | None = None,
) -> Iterator[_Place]:
    for chunk in chunks:
        for start, end in chunk_sentences(chunk.text):
            sentence = chunk.text[start:end]
            statement = parse_statement(sentence, chunk.heading_path, names=names)
            if statement is not None:
                span = QuotedSpan(
                    passage=0, start=start, end=end, score=0.0, share=0.0, is_cut=False
                )
                quote = quote_chunk(chunk, span, confidence=None)
                yield _Place(statement=statement, quote=quote, is_other_version=is_other_version)
