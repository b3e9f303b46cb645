"""What a person sees of the corpus: quotes in their context, pages and their state, links.

Not tools: the corpus explorer calls these. A key that may search may look.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from citewell.app.usage import usage_summary
from citewell.core.errors import NotFound
from citewell.core.graph import NodeRef
from citewell.core.records import SearchFilter
from citewell.core.text import one_line
from citewell.tools.kb import retrieve_evidence
from citewell.tools.kb.retrieve_evidence import RetrieveEvidenceInput
from citewell.tools.research import status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.app.parts import PartName
    from citewell.core.identity import UsageTotal
    from citewell.core.jobs import Job
    from citewell.core.records import PageInfo, Section
    from citewell.core.storage import CorpusStats
    from citewell.tools.registry import Call

PAGES_AT_ONCE = 50
MAX_QUERY_CHARACTERS = 500

EXPLORER_NEEDS: tuple[PartName, ...] = ("store", "scratch", "embedder", "reranker", "access")

_QUOTES = 8
_PASSAGES = 12
_CONTEXT_CHARACTERS = 160
_NEIGHBOURS = 12
_MOST_EDGES = 500
_JOBS = 20
_EXCERPT_CHARACTERS = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteInContext:
    """A quote with the words before and after it."""

    before: str
    quote: str
    after: str
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
class PageState:
    """A page and how far it has got."""

    info: PageInfo
    is_stale: bool
    waiting: int
    """How many chunks are found by words alone until they have a vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A piece of background work and the website it is for."""

    job: Job
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A page that the shown one links to, or that links to it."""

    source_id: int
    title: str
    url: str
    links_here: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """One page with its outline, its beginning and its neighbours."""

    state: PageState
    sections: Sequence[Section]
    excerpt: str
    is_whole: bool
    neighbours: Sequence[Neighbour]
    more_neighbours: int
    """How many are left out."""
    links_elsewhere: int
    """Links to pages that are not indexed."""


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
                source_id=passage.place.source_id,
                title=one_line(passage.place.title) or "Untitled",
                url=quote.url,
                confidence=quote.confidence,
            )
        )
    return FoundQuotes(quotes=quotes, is_supported=found.supported)


async def count_corpus(call: Call) -> CorpusStats:
    """Return how much the caller's project holds."""
    status.TOOL.refuse_others(call.caller)
    return await call.parts.store.corpus_stats(_visible(call))


async def list_pages(call: Call, *, after_source_id: int = 0) -> list[PageState]:
    """Return the next PAGES_AT_ONCE pages of the caller's project."""
    status.TOOL.refuse_others(call.caller)
    pages = await call.parts.store.list_pages(
        _visible(call), limit=PAGES_AT_ONCE, after_source_id=after_source_id
    )
    return [_state(page, call) for page in pages]


async def view_page(source_id: int, call: Call) -> PageView:
    """Return a page of the caller's project.

    Raises:
        NotFound: there is no such page, or not within what the caller may see.
    """
    status.TOOL.refuse_others(call.caller)
    page = await call.parts.store.get_page(source_id)
    where = _visible(call)
    if page is None or page.info.project != where.project or not _has_tags(page.info, where):
        raise NotFound("There is no such page.", suggestion="Go back to the list of pages.")
    all_neighbours = await _neighbours(source_id, where, call)
    linked = [neighbour for neighbour in all_neighbours if not neighbour.links_here]
    linking = [neighbour for neighbour in all_neighbours if neighbour.links_here]
    shown = linked[:_NEIGHBOURS] + linking[:_NEIGHBOURS]
    addresses = {link.url for link in page.links} - {page.info.url, page.info.final_url}
    return PageView(
        state=_state(page.info, call),
        sections=[section for section in page.sections if section.heading],
        excerpt=page.text[:_EXCERPT_CHARACTERS],
        is_whole=len(page.text) <= _EXCERPT_CHARACTERS,
        neighbours=shown,
        more_neighbours=len(all_neighbours) - len(shown),
        # Two addresses may lead to one page, so this can only be about right.
        links_elsewhere=max(0, len(addresses) - len(linked)),
    )


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


async def _neighbours(source_id: int, where: SearchFilter, call: Call) -> list[Neighbour]:
    store = call.parts.store
    edges = await store.edges_of(
        [NodeRef("page", source_id)],
        kinds=("links_to", "linked_from"),
        where=where,
        limit=_MOST_EDGES,
    )
    # A link comes from a section; the picture is of pages.
    sides: dict[bool, dict[int, None]] = {False: {}, True: {}}
    for edge in edges:
        if edge.target.number != source_id:
            sides[edge.kind == "linked_from"][edge.target.number] = None
    refs = [NodeRef("page", number) for number in {**sides[False], **sides[True]}]
    nodes = {node.ref.number: node for node in await store.find_nodes(refs, where=where)}
    return [
        Neighbour(
            source_id=number,
            title=one_line(nodes[number].name, limit=60) or "Untitled",
            url=nodes[number].url or "",
            links_here=links_here,
        )
        for links_here, numbers in sides.items()
        for number in numbers
        if number in nodes
    ]


def _visible(call: Call) -> SearchFilter:
    return SearchFilter(project=call.caller.project, tags=call.settings.scope_tags)


def _has_tags(page: PageInfo, where: SearchFilter) -> bool:
    return set(where.tags) <= set(page.tags)


def _state(page: PageInfo, call: Call) -> PageState:
    limit = timedelta(days=call.settings.page_stale_days)
    waits = call.parts.embedder is not None
    return PageState(
        info=page,
        is_stale=datetime.now(UTC) - page.fetched_at > limit,
        waiting=page.chunks - page.embedded_chunks if waits else 0,
    )
