"""A quote whose page has changed since: what it was, and what stands in its place now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from citewell.app.quote_search import look_for_quotes
from citewell.core.frozen import frozen
from citewell.core.ids import content_hash

if TYPE_CHECKING:
    from citewell.core.ids import CitedSpan
    from citewell.core.records import Page
    from citewell.tools.tool import Call

_MOST_CHARACTERS = 4_000
_MOST_CITATIONS = 100

NewerState = Literal["kept", "moved", "changed", "gone"]


@frozen
class NewerPlace:
    """What became of a quote: the span is that of the same or the nearest text, if there is one."""

    state: NewerState
    quote: str
    span: tuple[int, int] | None
    difference: str
    """The edits from quote to page, as `[-removed-]` and `{+added+}`, where it changed."""


async def find_newer_place(
    page: Page, quote_id: str, cited: CitedSpan, call: Call
) -> NewerPlace | None:
    """Return where a page says now what an older fetch of it was quoted for.

    None where the words of the quote are not known: neither that fetch nor a citation is kept.

    Raises:
        ExtractionError: looking for it took too long.
    """
    quote = await _words_of(quote_id, cited, call)
    if not quote or len(quote) > _MOST_CHARACTERS:
        return None
    sandbox = call.parts.fetcher.sandbox
    found = (await look_for_quotes([(quote, cited.start)], page.text, sandbox=sandbox))[0]
    is_there = found.start is not None and found.end is not None and found.verdict != "gone"
    return NewerPlace(
        state="kept" if found.verdict == "exact" else found.verdict,
        quote=quote,
        span=(found.start or 0, found.end or 0) if is_there else None,
        difference=found.difference or "" if found.verdict == "changed" else "",
    )


async def _words_of(quote_id: str, cited: CitedSpan, call: Call) -> str:
    """Return the quote as it was: from the text of its fetch, else from the caller's citations."""
    store = call.parts.store
    for fetch in await store.releases.earlier_texts(cited.source_id):
        if content_hash(fetch.text).startswith(cited.page_hash):
            return fetch.text[cited.start : cited.end]
    citations = await store.citations.citations_of_page(
        cited.source_id, owner=call.caller.owner, project=call.caller.project, limit=_MOST_CITATIONS
    )
    return next((known.quote for known in citations if known.citation_id == quote_id), "")
