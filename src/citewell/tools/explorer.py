"""What a person sees of the corpus: quotes in their context, pages and their state, links.

Not tools: the corpus explorer calls these. A key that may search may look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.app.usage import usage_summary
from citewell.core.ids import citation_id
from citewell.core.text import one_line
from citewell.tools.kb import retrieve_evidence
from citewell.tools.kb.retrieve_evidence import RetrieveEvidenceInput
from citewell.tools.research import status
from citewell.tools.webapp.reader import page_state, visible_pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.app.parts import PartName
    from citewell.app.scratch import PassagePlace
    from citewell.core.identity import UsageTotal
    from citewell.core.jobs import Job
    from citewell.core.storage import CorpusStats
    from citewell.tools.registry import Call
    from citewell.tools.webapp.reader import PageState

PAGES_AT_ONCE = 50
MAX_QUERY_CHARACTERS = 500

EXPLORER_NEEDS: tuple[PartName, ...] = ("store", "scratch", "embedder", "reranker", "access")

_QUOTES = 8
_PASSAGES = 12
_CONTEXT_CHARACTERS = 160
_JOBS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteInContext:
    """A quote with the words before and after it."""

    before: str
    quote: str
    after: str
    id: str
    source_id: int
    title: str
    url: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundQuotes:
    """What a search has found; without support the quotes are only the nearest there are."""

    quotes: Sequence[QuoteInContext] = ()
    is_supported: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A piece of background work and the website it is for."""

    job: Job
    url: str


async def find_quotes(query: str, call: Call) -> FoundQuotes:
    """Return the quotes that `kb.retrieve_evidence` finds, each where it stands."""
    retrieve_evidence.TOOL.refuse_others(call.caller)
    asked = RetrieveEvidenceInput(
        question=query[:MAX_QUERY_CHARACTERS], top_k=_PASSAGES, max_quotes=_QUOTES
    )
    found = await retrieve_evidence.run(asked, call)
    quotes: list[QuoteInContext] = []
    for quote in found.quotes:
        passage = call.parts.scratch.get(call.caller, quote.passage_id)
        if passage is None:
            continue
        before, _, after = passage.text.partition(quote.quote)
        quotes.append(
            QuoteInContext(
                before=before[-_CONTEXT_CHARACTERS:].lstrip(),
                quote=quote.quote,
                after=after[:_CONTEXT_CHARACTERS].rstrip(),
                id=_citation(passage.place, len(before), len(quote.quote)),
                source_id=passage.place.source_id,
                title=one_line(passage.place.title) or "Untitled",
                url=quote.url,
                confidence=quote.confidence,
            )
        )
    return FoundQuotes(quotes=quotes, is_supported=found.supported)


def _citation(place: PassagePlace, before: int, length: int) -> str:
    start = place.start + before
    return citation_id(place.source_id, place.page_hash, start, start + length)


async def count_corpus(call: Call) -> CorpusStats:
    """Return how much the caller's project holds."""
    status.TOOL.refuse_others(call.caller)
    return await call.parts.store.corpus_stats(visible_pages(call))


async def list_pages(call: Call, *, after_source_id: int = 0) -> list[PageState]:
    """Return the next PAGES_AT_ONCE pages of the caller's project."""
    status.TOOL.refuse_others(call.caller)
    pages = await call.parts.store.list_pages(
        visible_pages(call), limit=PAGES_AT_ONCE, after_source_id=after_source_id
    )
    return [page_state(page, call) for page in pages]


async def list_jobs(call: Call) -> list[JobView]:
    """Return the background work of the caller's project, newest first."""
    status.TOOL.refuse_others(call.caller)
    store, project = call.parts.store, call.caller.project
    jobs = await store.jobs.list_jobs(project=project, limit=_JOBS)
    keys = {job.key for job in jobs if job.key.isdigit()}
    websites = {key: await store.library.get_website(int(key), project=project) for key in keys}
    return [
        JobView(job=job, url=website.url if (website := websites.get(job.key)) else job.key)
        for job in jobs
    ]


async def list_usage(call: Call, *, month: str | None = None) -> list[UsageTotal]:
    """Return what the caller's key has used in a month; with the scope `admin`, what all have.

    Raises:
        InvalidArgument: the month is not one.
    """
    await call.parts.access.meter.write_out()
    owner = None if "admin" in call.caller.scopes else call.caller.key_hash or ""
    return await usage_summary(call.parts.store.access, month=month, owner=owner)
