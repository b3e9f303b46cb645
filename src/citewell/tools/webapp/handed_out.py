"""The quotes that a caller was handed, as a person sees them: which still stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.docsite.site.stored_text import StoredText, render_stored_texts
from citewell.tools.research import status
from citewell.tools.webapp.reader import get_visible_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.app.parts import PartName
    from citewell.core.citations import Citation, CitationCounts, Verdict
    from citewell.tools.tool import Call

HANDED_OUT_NEEDS: tuple[PartName, ...] = ("store", "citations", "fetcher")

_ON_A_SCREEN = 20
_OF_A_PAGE = 100


@frozen
class CitedQuote:
    """A quote that was handed out, for one question or several."""

    citation: Citation
    """Of the question that got it last."""
    questions: Sequence[str]
    times: int
    html: str
    """The quote; no HTML of the page passes."""


@frozen
class HandedOutView:
    """A screen of citations, newest first."""

    quotes: Sequence[CitedQuote]
    counts: CitationCounts
    verdict: Verdict | None
    """The verdict that they were asked for by."""
    screen: int
    has_more: bool
    is_on: bool
    """Whether citations are remembered at all."""


async def list_handed_out(
    call: Call, *, verdict: Verdict | None = None, screen: int = 0, matching: str | None = None
) -> HandedOutView:
    """Return the caller's own citations; those of another key do not exist.

    `matching` is a part of the question, the title, the URL or the quote, in any case.

    Raises:
        ScopeViolation: the caller's key cannot read.
    """
    status.TOOL.refuse_others(call.caller)
    memory, store = call.parts.citations, call.parts.store.citations
    # Writes out first, so that citations of a moment ago are listed too.
    await memory.write_out()
    owner, project = call.caller.owner, call.caller.project
    # One row more than is shown reveals whether there are more.
    listed = await store.list_citations(
        owner,
        project=project,
        verdict=verdict,
        matching=matching,
        limit=_ON_A_SCREEN + 1,
        offset=screen * _ON_A_SCREEN,
    )
    of_quotes: dict[str, list[Citation]] = {}
    for citation in listed[:_ON_A_SCREEN]:
        of_quotes.setdefault(citation.citation_id, []).append(citation)
    texts = [StoredText(text=same[0].quote, heading_shift=2) for same in of_quotes.values()]
    html = await call.parts.fetcher.sandbox.run(render_stored_texts, texts) if texts else []
    return HandedOutView(
        quotes=[
            CitedQuote(
                citation=same[0],
                questions=[citation.question for citation in same if citation.question],
                times=sum(citation.times for citation in same),
                html=rendered,
            )
            for same, rendered in zip(of_quotes.values(), html, strict=True)
        ],
        counts=await store.count_citations(owner, project=project),
        verdict=verdict,
        screen=screen,
        has_more=len(listed) > _ON_A_SCREEN,
        is_on=memory.is_on,
    )


async def citations_of_page(source_id: int, call: Call) -> list[Citation]:
    """Return which answers to the caller have cited a page, one for each quote and question.

    Raises:
        NotFound: there is no such page, or not within what the caller may see.
    """
    await get_visible_page(source_id, call)
    await call.parts.citations.write_out()
    return await call.parts.store.citations.citations_of_page(
        source_id, owner=call.caller.owner, project=call.caller.project, limit=_OF_A_PAGE
    )
