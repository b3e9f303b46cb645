"""`ingest`: index pages without asking anything of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from citewell.app.pages import INGEST_NEEDS, ingest_pages
from citewell.core.boundary import NOTE_PLACE, enclose
from citewell.tools.registry import Annotations, Call, Tool, ToolInput, ToolOutput, as_is
from citewell.tools.research.arguments import MAX_URLS, Url, Urls
from citewell.tools.schemas import ROWS
from citewell.tools.scope import Tags
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.ingest.outcome import IngestOutcome


class IngestInput(ToolInput):
    """Arguments of `ingest`."""

    url: Annotated[
        Url | Urls,
        Field(description="One or more page URLs to fetch and index."),
    ]
    force: Annotated[bool, Field(description="Fetch again even when indexed and fresh.")] = False
    tags: Annotated[Tags | None, Field(description="Tags to add to the pages.")] = None


class IngestedShape(ToolOutput):
    """What became of one URL."""

    url: PageUrl
    status: Literal["indexed", "unchanged", "failed"]
    source_id: int | None = None
    title: PageLabel | None = None
    chunks: int | None = None
    tokens: int | None = None
    incomplete: OwnText | None = None
    """Why some of the page's text may be missing."""
    error: PageText | None = None
    suggestion: OwnText | None = None


class IngestOutput(ToolOutput):
    """What became of each URL, in the order given."""

    indexed: int
    unchanged: int
    failed: int
    pages: Annotated[list[IngestedShape], ROWS]


async def run(given: IngestInput, call: Call) -> IngestOutput:
    """Fetch and index each URL; one that fails does not stop the others.

    Raises:
        CitewellError: every URL failed; the first failure is raised.
    """
    urls = [given.url] if isinstance(given.url, str) else given.url
    tags = (*call.settings.scope_tags, *(given.tags or ()))
    outcomes = await ingest_pages(
        call.parts,
        urls,
        project=call.caller.project,
        force=given.force,
        tags=tags,
        on_progress=call.on_progress,
    )
    failures = [outcome.error for outcome in outcomes if outcome.error is not None]
    if len(failures) == len(outcomes):
        raise failures[0]
    return shape_outcomes(outcomes)


def shape_outcomes(outcomes: Sequence[IngestOutcome]) -> IngestOutput:
    """Return what became of each URL, counted."""
    shapes = [_shape(outcome) for outcome in outcomes]
    counts = [shape.status for shape in shapes]
    return IngestOutput(
        indexed=counts.count("indexed"),
        unchanged=counts.count("unchanged"),
        failed=counts.count("failed"),
        pages=shapes,
    )


def _shape(outcome: IngestOutcome) -> IngestedShape:
    error, page = outcome.error, outcome.page
    if page is None:
        return IngestedShape(
            url=outcome.url,
            status="failed",
            error=error.message if error else None,
            suggestion=error.suggestion if error else None,
        )
    return IngestedShape(
        url=outcome.url,
        status="indexed" if outcome.changed else "unchanged",
        source_id=page.source_id,
        title=page.title,
        chunks=page.chunks,
        tokens=page.tokens,
        incomplete=page.incomplete or None,
        error=error.message if error else None,
    )


def render(output: IngestOutput, call: Call | None = None) -> str:
    """Return one line for each page."""
    lines = [
        f"Indexed {output.indexed}, unchanged {output.unchanged}, failed {output.failed}.",
        NOTE_PLACE,
        enclose("\n".join(_line(page) for page in output.pages)),
    ]
    return "\n".join(lines)


def _line(page: IngestedShape) -> str:
    if page.status == "failed":
        return f"- failed: {page.url} — {page.error} (suggestion: {page.suggestion})"
    title = page.title or "Untitled"
    missing = f"; some of it may be missing: {page.incomplete}" if page.incomplete else ""
    return (
        f"- {page.status}: {title} — {page.url} "
        f"(source_id {page.source_id}, {page.chunks} chunks, {page.tokens:,} tokens{missing})"
    )


TOOL = Tool(
    name="ingest",
    toolset="research",
    title="Index pages",
    description=(
        "Fetch and index pages without asking anything, so that search finds them at once.\n"
        "Use when you expect several questions about the same pages.\n"
        "Do not use when you have one question: answer indexes by itself.\n"
        "Returns at most one line per URL: title, source_id, chunks, tokens.\n"
        "If you need more, call search.\n"
        f"Defaults: pages that are indexed and fresh are kept. Max: {MAX_URLS} URLs."
    ),
    input_model=IngestInput,
    output_model=IngestOutput,
    annotations=Annotations(read_only=False, open_world=True),
    needs=INGEST_NEEDS,
    run=run,
    shape=as_is,
    render=render,
    example={"url": ["https://docs.python.org/3/library/asyncio-task.html"]},
)
