"""Two texts of one thing as pairs of exact quotes, with what differs between them marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.difference import Change, find_changes, mark_difference
from citewell.core.frozen import frozen
from citewell.core.ids import citation_id, content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def pair_quotes(
    sides: Iterable[tuple[Side | None, Side | None]], *, most: int
) -> tuple[list[QuotePair], int]:
    """Return the first pairs of paragraphs that differ, and the number of all others.

    Where one side says nothing, all that the other says is a pair.
    """
    pairs: list[QuotePair] = []
    omitted = 0
    for old, new in sides:
        changes = (
            find_changes(old.text, old.span, new.text, new.span)
            if old is not None and new is not None
            else [Change(old=old.span if old else None, new=new.span if new else None)]
        )
        # Only these: quoting one takes as long as the page has text.
        shown = changes[: most - len(pairs)]
        pairs += [_pair(old, new, change) for change in shown]
        omitted += len(changes) - len(shown)
    return pairs, omitted


def _pair(old: Side | None, new: Side | None, change: Change) -> QuotePair:
    before = quote_span(old, change.old) if old and change.old else None
    after = quote_span(new, change.new) if new and change.new else None
    marked = mark_difference(
        before.text if before else "",
        after.text if after else "",
        is_cut=any(quote.is_cut for quote in (before, after) if quote),
    )
    return QuotePair(old=before, new=after, difference=marked)


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
