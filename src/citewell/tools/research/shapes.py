"""The structured form of a research result, shared by `answer` and `search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from citewell.answer.brief import format_brief
from citewell.answer.nothing_found import NEAREST_ONLY
from citewell.answer.numbering import number_sources, shown_of
from citewell.answer.stats import reader_notes
from citewell.core.boundary import path_label
from citewell.core.results import OrchestrationResult  # noqa: TC001 - annotations are evaluated
from citewell.tools.release_label import ReleaseLabel, shape_release
from citewell.tools.schemas import ROWS
from citewell.tools.supplied import SuppliedAt, shape_moment
from citewell.tools.tool import Call, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.records import Block, Quote
    from citewell.core.results import Disagreement

CutBefore = Annotated[bool | None, SkipJsonSchema()]
"""Whether a quote begins inside a sentence or a row; rare, so the listed schema leaves it out."""


class SourceShape(ToolOutput):
    """A page that evidence came from."""

    number: int
    source_id: int
    title: PageLabel
    url: PageUrl
    version: ReleaseLabel = None
    fetched_at: OwnText | None = None
    supplied_at: SuppliedAt = None
    page_hash: OwnText


class EvidenceShape(ToolOutput):
    """A quote, or in full detail a block of a page, word for word.

    A quote has an `id` and a `link` that opens the page there, and its page's canonical text from
    `start` to `end` is `text`.
    """

    source: int
    section: PageLabel = ""
    anchor: PageUrl | None = None
    relevance: float
    confidence: float | None = None
    sub_query: OwnText | None = None
    adjacent: bool | None = None
    id: OwnText | None = None
    start: int | None = None
    end: int | None = None
    is_cut: bool | None = None
    is_cut_before: CutBefore = None
    columns: PageLabel | None = None
    link: PageUrl | None = None
    text: PageText


class CitationShape(ToolOutput):
    """An exact quote; `text` is the page's canonical text from `start` to `end`.

    `link` opens the page at the quote.
    """

    id: OwnText
    source: int
    text: PageText
    section: PageLabel = ""
    start: int
    end: int
    link: PageUrl | None = None
    is_cut: bool | None = None
    is_cut_before: CutBefore = None


class ImageShape(ToolOutput):
    """An image in the evidence."""

    source: int
    url: PageUrl
    alt: PageLabel = ""
    caption: PageLabel | None = None


class FailureShape(ToolOutput):
    """A URL of the call that could not be read."""

    url: PageUrl
    reason: PageText
    suggestion: OwnText


class PageLinkShape(ToolOutput):
    """A page by its name and URL."""

    title: PageLabel
    url: PageUrl


class StatementShape(ToolOutput):
    """One of two quotes that disagree."""

    id: OwnText
    source: int
    value: PageLabel
    text: PageText
    section: PageLabel = ""
    version: ReleaseLabel = None
    start: int
    end: int
    link: PageUrl | None = None
    newer_by: OwnText | None = None
    """Why it is considered the newer one."""
    more_specific: bool | None = None


class DisagreementShape(ToolOutput):
    """Two quotes that give different values for the same thing."""

    statements: list[StatementShape]


class StatsShape(ToolOutput):
    """How the evidence was found."""

    mode: Literal["chunk", "full_context"]
    documents_searched: int
    documents_matched: int
    chunks_evaluated: int
    iterations: int
    urls_ingested: int
    stop_reason: OwnText
    total_ms: int
    omitted_blocks: int | None = None
    notes: list[OwnText] | None = None


class ResearchOutput(ToolOutput):
    """Evidence with its sources, citations and statistics."""

    answered: bool
    partial: bool | None = None
    notice: OwnText | None = None
    """What to be careful about in this evidence."""
    sources: list[SourceShape]
    evidence: list[EvidenceShape]
    citations: Annotated[list[CitationShape], ROWS] = Field(default_factory=list)
    """With full detail; by default the evidence is quotes itself."""
    images: Annotated[list[ImageShape], ROWS] = Field(default_factory=list)
    disagreements: Annotated[list[DisagreementShape] | None, ROWS] = None
    failures: Annotated[list[FailureShape] | None, ROWS] = None
    pages_checked: Annotated[list[PageLinkShape] | None, ROWS] = None
    links_not_followed: Annotated[list[PageLinkShape] | None, ROWS] = None
    stats: Annotated[StatsShape, WithJsonSchema({"type": "object"})]


class ConnectorResultShape(ToolOutput):
    """A page as a connector lists it; `fetch` takes its id."""

    id: OwnText
    title: PageLabel
    url: PageUrl


class ConnectorResearchOutput(ResearchOutput):
    """The evidence with the list that connectors look for; only where `fetch` is served."""

    results: list[ConnectorResultShape]


def shape_for_connectors(result: OrchestrationResult, call: Call) -> ResearchOutput:
    """Return the structured form, with `results` when the connector toolset is on."""
    output = shape_result(result, call)
    if not {"connector", "all"} & set(call.settings.mcp_toolsets):
        return output
    results = [
        ConnectorResultShape(id=str(source.source_id), title=source.title, url=source.url)
        for source in output.sources
    ]
    return ConnectorResearchOutput(**dict(output), results=results)


def shape_result(result: OrchestrationResult, call: Call) -> ResearchOutput:
    """Return the structured form of `result`."""
    blocks = result.blocks
    shown = shown_of(result)
    numbers = number_sources(shown)
    seen = {piece.source_id: piece for piece in reversed(shown)}
    is_split = len(result.sub_queries) > 1
    quotes = [_shape_quote(quote, numbers, is_split=is_split) for quote in result.quotes]
    return ResearchOutput(
        answered=result.answered,
        partial=True if result.partial else None,
        notice=" ".join([*_nearest_only(result), *result.cautions]) or None,
        sources=[
            SourceShape(
                number=number,
                source_id=source_id,
                title=seen[source_id].title,
                url=seen[source_id].url,
                version=shape_release(seen[source_id].release),
                **shape_moment(seen[source_id].fetched_at, seen[source_id].origin),
                page_hash=seen[source_id].page_hash[:16],
            )
            for source_id, number in numbers.items()
        ],
        evidence=[_shape_block(block, numbers, is_split=is_split) for block in blocks] or quotes,
        citations=[
            CitationShape(
                id=quote.citation_id,
                source=numbers[quote.source_id],
                text=quote.text,
                section=path_label(quote.heading_path),
                start=quote.start,
                end=quote.end,
                link=quote.link or None,
                is_cut=True if quote.is_cut else None,
                is_cut_before=True if quote.is_cut_before else None,
            )
            for quote in result.quotes
            if blocks
        ],
        images=[
            ImageShape(
                source=numbers[block.source_id],
                url=image.url,
                alt=image.alt,
                caption=image.caption or None,
            )
            for block in blocks
            for image in block.images
        ],
        disagreements=[
            _shape_disagreement(disagreement, numbers) for disagreement in result.disagreements
        ]
        or None,
        failures=[
            FailureShape(url=failed.url, reason=failed.reason, suggestion=failed.suggestion)
            for failed in result.failures
        ]
        or None,
        pages_checked=[PageLinkShape(title=page.title, url=page.url) for page in result.checked]
        or None,
        links_not_followed=[
            PageLinkShape(title=link.text, url=link.url) for link in result.open_links
        ]
        or None,
        stats=_shape_stats(result),
    )


def _nearest_only(result: OrchestrationResult) -> list[str]:
    """Return the warning that quotes come with when they do not answer the question."""
    return [] if result.answered or not result.quotes else [NEAREST_ONLY]


def _shape_quote(quote: Quote, numbers: Mapping[int, int], *, is_split: bool) -> EvidenceShape:
    return EvidenceShape(
        source=numbers[quote.source_id],
        section=path_label(quote.heading_path),
        anchor=quote.anchor,
        relevance=round(quote.relevance, 2),
        confidence=None if quote.confidence is None else round(quote.confidence, 2),
        sub_query=quote.sub_query if is_split else None,
        id=quote.citation_id,
        start=quote.start,
        end=quote.end,
        is_cut=True if quote.is_cut else None,
        is_cut_before=True if quote.is_cut_before else None,
        columns=quote.columns or None,
        link=quote.link or None,
        text=quote.text,
    )


def _shape_disagreement(
    disagreement: Disagreement, numbers: Mapping[int, int]
) -> DisagreementShape:
    return DisagreementShape(
        statements=[
            StatementShape(
                id=quote.citation_id,
                source=numbers[quote.source_id],
                value=disagreement.values[place],
                text=quote.text,
                section=path_label(quote.heading_path),
                version=shape_release(quote.release),
                start=quote.start,
                end=quote.end,
                link=quote.link or None,
                newer_by=disagreement.newer_by if disagreement.newer == place else None,
                more_specific=True if disagreement.more_specific == place else None,
            )
            for place, quote in enumerate(disagreement.quotes)
        ]
    )


def _shape_block(block: Block, numbers: Mapping[int, int], *, is_split: bool) -> EvidenceShape:
    return EvidenceShape(
        source=numbers[block.source_id],
        section=path_label(block.heading_path),
        anchor=block.anchor,
        relevance=round(block.relevance, 2),
        confidence=None if block.confidence is None else round(block.confidence, 2),
        sub_query=block.sub_query if is_split else None,
        adjacent=True if block.matched_by == "locality" else None,
        is_cut=True if block.is_cut else None,
        text=block.text,
    )


def _shape_stats(result: OrchestrationResult) -> StatsShape:
    return StatsShape(
        mode=result.mode,
        documents_searched=result.documents_searched,
        documents_matched=result.documents_matched,
        chunks_evaluated=result.chunks_evaluated,
        iterations=result.iterations,
        urls_ingested=result.urls_ingested,
        stop_reason=result.stop_reason,
        total_ms=round(result.timing.total_ms),
        omitted_blocks=result.omitted or None,
        notes=reader_notes(result) or None,
    )


def render_brief(result: OrchestrationResult, call: Call) -> str:
    """Return the brief that a model reads."""
    return format_brief(result, token_budget=call.settings.mcp_response_token_budget)
