"""A stored page as a person reads it: rendered, with its outline, a marked quote and its links."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from citewell.answer.links import link_to_span
from citewell.core.errors import ExtractionError, NotFound
from citewell.core.frozen import frozen
from citewell.core.graph import NodeRef
from citewell.core.ids import parse_citation_id
from citewell.core.library import WebsiteQuery
from citewell.core.records import SearchFilter
from citewell.core.text import one_line
from citewell.docsite.site.stored_text import MarkedSpan, StoredText, render_stored_texts
from citewell.tools.research import status
from citewell.tools.webapp.outdated_quote import find_newer_place
from citewell.tools.webapp.page_parts import part_of, split_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.app.parts import PartName
    from citewell.core.library import PageChange
    from citewell.core.records import Page, PageInfo, Section
    from citewell.tools.tool import Call
    from citewell.tools.webapp.outdated_quote import NewerPlace
    from citewell.tools.webapp.page_parts import PagePart

logger = logging.getLogger(__name__)

READER_NEEDS: tuple[PartName, ...] = ("store", "embedder", "fetcher")

_NEIGHBOURS = 12
_MOST_EDGES = 500
_CHANGED_WEBSITES = 200

QuoteState = Literal["marked", "kept", "moved", "changed", "gone", "outdated", "elsewhere"]


@frozen
class PageState:
    """A page and how far it has got."""

    info: PageInfo
    is_stale: bool
    waiting: int
    """How many chunks are found by words alone until they have a vector."""


@frozen
class OutlineEntry:
    """A heading of the page and the part of the page that it is in."""

    level: int
    heading: str
    id: str
    part: int


@frozen
class Neighbour:
    """A page that the shown one links to, or that links to it."""

    source_id: int
    title: str
    url: str
    links_here: bool


@frozen
class FoundChange:
    """What the last refresh of a website found of the page."""

    change: PageChange
    checked_at: datetime


@frozen
class PageView:
    """One part of a page, ready to be shown."""

    state: PageState
    html: str
    outline: Sequence[OutlineEntry]
    part: int
    parts: int
    quote_id: str | None
    quote_state: QuoteState | None
    """`marked`: as it was quoted. Where the page has changed since: what became of the quote, or
    `outdated` if that is not known. `elsewhere`: not of this page."""
    newer: NewerPlace | None
    """What stands in the place of a quote whose page has changed."""
    changes: Sequence[FoundChange]
    has_changed: bool
    """Whether texts of earlier fetches are kept."""
    neighbours: Sequence[Neighbour]
    more_neighbours: int
    """How many are left out."""
    links_elsewhere: int
    """Links to pages that are not indexed."""
    original: str | None
    """The page on the web, at the quote's section; None for text that has no address there."""


async def view_page(
    source_id: int, call: Call, *, part: int | None = None, quote_id: str | None = None
) -> PageView:
    """Return a page of the caller's project: the part of the quote, or the one asked for.

    Raises:
        NotFound: there is no such page, or not within what the caller may see.
        ExtractionError: it cannot be rendered within the limits.
    """
    page = await get_visible_page(source_id, call)
    parts = split_page(page.text, page.sections)
    mark, quote_state = _find_quote(page, quote_id)
    newer = await _find_newer(page, quote_id, call) if quote_state == "outdated" else None
    if newer is not None and quote_id is not None:
        quote_state = newer.state
        mark = newer.span and MarkedSpan(start=newer.span[0], end=newer.span[1], id=quote_id)
    if mark is not None:
        part = part_of(parts, mark.start)
    shown = min(max(part or 0, 0), len(parts) - 1)
    all_neighbours = await _neighbours(source_id, visible_pages(call), call)
    stored = _part_to_render(page, parts[shown], mark, all_neighbours)
    html = (await call.parts.fetcher.sandbox.run(render_stored_texts, [stored]))[0]
    linked = [neighbour for neighbour in all_neighbours if not neighbour.links_here]
    linking = [neighbour for neighbour in all_neighbours if neighbour.links_here]
    listed = linked[:_NEIGHBOURS] + linking[:_NEIGHBOURS]
    addresses = {link.url for link in page.links} - {page.info.url, page.info.final_url}
    return PageView(
        state=page_state(page.info, call),
        html=html,
        outline=_outline(page, parts),
        part=shown,
        parts=len(parts),
        quote_id=quote_id if quote_state else None,
        quote_state=quote_state,
        newer=newer,
        changes=await _changes(page.info, call),
        has_changed=bool(await call.parts.store.releases.earlier_fetches(source_id)),
        neighbours=listed,
        more_neighbours=len(all_neighbours) - len(listed),
        # An estimate: two addresses can lead to one page.
        links_elsewhere=max(0, len(addresses) - len(linked)),
        original=_original(page, mark),
    )


async def get_visible_page(source_id: int, call: Call) -> Page:
    """Return a page of the caller's project.

    Raises:
        NotFound: there is no such page, or not within what the caller may see.
    """
    status.TOOL.refuse_others(call.caller)
    page = await call.parts.store.get_page(source_id)
    where = visible_pages(call)
    if page is None or page.info.project != where.project:
        raise _no_such_page()
    if not set(where.tags) <= set(page.info.tags):
        raise _no_such_page()
    return page


def visible_pages(call: Call) -> SearchFilter:
    """Return the filter of the pages that the caller can see."""
    return SearchFilter(project=call.caller.project, tags=call.settings.scope_tags)


def page_state(page: PageInfo, call: Call) -> PageState:
    """Return a page with its age and how much of it is embedded."""
    limit = timedelta(days=call.settings.page_stale_days)
    waits = call.parts.embedder is not None
    return PageState(
        info=page,
        is_stale=datetime.now(UTC) - page.fetched_at > limit,
        waiting=page.chunks - page.embedded_chunks if waits else 0,
    )


def _no_such_page() -> NotFound:
    return NotFound("There is no such page.", suggestion="Go back to the list of pages.")


def _find_quote(page: Page, quote_id: str | None) -> tuple[MarkedSpan | None, QuoteState | None]:
    cited = parse_citation_id(quote_id) if quote_id else None
    if cited is None or quote_id is None:
        return None, None
    if cited.source_id != page.info.source_id:
        return None, "elsewhere"
    is_inside = cited.start < cited.end <= len(page.text)
    if not page.info.text_hash.startswith(cited.page_hash) or not is_inside:
        return None, "outdated"
    return MarkedSpan(start=cited.start, end=cited.end, id=quote_id), "marked"


async def _find_newer(page: Page, quote_id: str | None, call: Call) -> NewerPlace | None:
    cited = parse_citation_id(quote_id) if quote_id else None
    if cited is None or quote_id is None:
        return None
    try:
        return await find_newer_place(page, quote_id, cited, call)
    except ExtractionError as error:
        # The page can be read all the same, and says that the place is not known.
        logger.warning("a quote of page %d was not found again: %s", cited.source_id, error.message)
        return None


def _original(page: Page, mark: MarkedSpan | None) -> str | None:
    url = page.info.final_url
    if not url.startswith(("http://", "https://")):
        return None
    if mark is None:
        return url
    around = (s.anchor for s in page.sections if s.start <= mark.start < s.end)
    return link_to_span(page, next(around, None), start=mark.start, end=mark.end)


def _part_to_render(
    page: Page, part: PagePart, mark: MarkedSpan | None, neighbours: Sequence[Neighbour]
) -> StoredText:
    inside = [section for section in page.sections if part.start <= section.start < part.end]
    marks = () if mark is None else (_shifted(mark, -part.start),)
    return StoredText(
        text=page.text[part.start : part.end],
        marks=marks,
        section_ids={
            section.start - part.start: section_id(section.ordinal)
            for section in inside
            if section.heading
        },
        own_url=page.info.final_url,
        anchors={
            section.anchor: section_id(section.ordinal) for section in inside if section.anchor
        },
        escapes=page.info.kind == "markdown",
        left_out_heading=page.info.title if part.start == 0 else "",
        heading_shift=2 - min((section.level for section in _below_title(page)), default=1),
        stored_pages={page.url: f"/read/{page.source_id}" for page in neighbours if page.url},
    )


def _shifted(mark: MarkedSpan, by: int) -> MarkedSpan:
    return MarkedSpan(start=mark.start + by, end=mark.end + by, id=mark.id)


def section_id(ordinal: int) -> str:
    """Return the id of a section's heading in the rendered page."""
    return f"section-{ordinal}"


def _below_title(page: Page) -> list[Section]:
    """Return the sections with a heading, without that of the title, which is shown above."""
    headed = [section for section in page.sections if section.heading]
    is_titled = bool(headed) and headed[0].start == 0 and headed[0].heading == page.info.title
    return headed[1:] if is_titled else headed


def _outline(page: Page, parts: Sequence[PagePart]) -> list[OutlineEntry]:
    headed = _below_title(page)
    top = min((section.level for section in headed), default=1)
    return [
        OutlineEntry(
            level=min(section.level - top, 3),
            heading=one_line(section.heading, limit=120),
            id=section_id(section.ordinal),
            part=part_of(parts, section.start),
        )
        for section in headed
    ]


async def _changes(info: PageInfo, call: Call) -> list[FoundChange]:
    """Return what the last refreshes of the websites that hold the page found of it."""
    query = WebsiteQuery(project=info.project, limit=_CHANGED_WEBSITES)
    websites = (await call.parts.store.library.list_websites(query)).websites
    return [
        FoundChange(change=change, checked_at=website.last_change.checked_at)
        for website in websites
        if website.last_change is not None
        for change in website.last_change.pages
        if change.source_id == info.source_id
    ]


async def _neighbours(source_id: int, where: SearchFilter, call: Call) -> list[Neighbour]:
    store = call.parts.store
    edges = await store.edges_of(
        [NodeRef("page", source_id)],
        kinds=("links_to", "linked_from"),
        where=where,
        limit=_MOST_EDGES,
    )
    # A link comes from a section; the lists are of pages.
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
