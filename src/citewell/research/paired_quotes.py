"""Two texts of one thing as pairs of exact quotes, with what differs between them marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.difference import find_changes, mark_difference
from citewell.core.frozen import frozen
from citewell.core.ids import citation_id, content_hash

if TYPE_CHECKING:
    from citewell.core.records import Page, PageOrigin
    from citewell.core.text import Span

_MOST_QUOTE_CHARACTERS = 1_200


@frozen
class ComparedQuote:
    """An exact slice of one version of a page."""

    citation_id: str
    source_id: int
    page_hash: str
    url: str
    title: str
    version: str
    """A version, or the moment at which the page was fetched."""
    section: str
    start: int
    end: int
    text: str
    is_cut: bool
    origin: PageOrigin = "fetched"


@frozen
class QuotePair:
    """What both say; one of them is None where only the other says anything."""

    old: ComparedQuote | None
    new: ComparedQuote | None
    difference: str
    """Both as one text: `[-removed-]`, `{+added+}`."""


@frozen
class Comparison:
    """What differs between two versions."""

    product: str
    old_version: str
    new_version: str
    pairs: tuple[QuotePair, ...]
    omitted_pairs: int
    release_notes: tuple[ComparedQuote, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def quotes(self) -> list[ComparedQuote]:
        """All that either version is quoted with."""
        of_pairs = (quote for pair in self.pairs for quote in (pair.old, pair.new))
        return [quote for quote in (*of_pairs, *self.release_notes) if quote is not None]


@frozen
class Side:
    """A span of a page as one version has it."""

    page: Page
    text: str
    version: str
    span: Span


def pair_quotes(old: Side | None, new: Side | None) -> list[QuotePair]:
    """Return the paragraphs that differ, or all that one says where the other says nothing."""
    if old is None or new is None:
        only = old or new
        assert only is not None, "one of them has it"
        quote = quote_span(only, only.span)
        marked = mark_difference(quote.text, "") if old else mark_difference("", quote.text)
        is_old = old is not None
        return [
            QuotePair(
                old=quote if is_old else None, new=None if is_old else quote, difference=marked
            )
        ]
    pairs = []
    for change in find_changes(old.text, old.span, new.text, new.span):
        before = quote_span(old, change.old) if change.old else None
        after = quote_span(new, change.new) if change.new else None
        marked = mark_difference(before.text if before else "", after.text if after else "")
        pairs.append(QuotePair(old=before, new=after, difference=marked))
    return pairs


def quote_span(side: Side, span: Span) -> ComparedQuote:
    """Return a span of a side as a quote, cut where it is long."""
    start, end = span
    text = side.text[start:end].rstrip()
    is_cut = len(text) > _MOST_QUOTE_CHARACTERS
    text = text[:_MOST_QUOTE_CHARACTERS]
    info = side.page.info
    opening = start + len(text.partition("\n")[0])
    headings = re.findall(r"^#{1,6} +(.+)$", side.text[:opening], re.MULTILINE)
    page_hash = content_hash(side.text)
    return ComparedQuote(
        citation_id=citation_id(info.source_id, page_hash, start, start + len(text)),
        source_id=info.source_id,
        page_hash=page_hash,
        url=info.url,
        title=info.title,
        version=side.version,
        section=headings[-1].replace("`", "") if headings else "",
        start=start,
        end=start + len(text),
        text=text,
        is_cut=is_cut,
        origin=info.origin,
    )
