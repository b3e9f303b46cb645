"""`ingest`: add pages and sites to the library."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from citewell.app.pages import INGEST_NEEDS, ingest_pages
from citewell.app.websites import CHANGE_NEEDS, process_website
from citewell.core.boundary import NOTE_PLACE, enclose
from citewell.core.library import CrawlOptions, WebsiteDraft
from citewell.core.text import counted
from citewell.tools.research.arguments import MAX_URLS, URL_NAMES, Url, Urls
from citewell.tools.schemas import ROWS
from citewell.tools.scope import Tags
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.ingest.outcome import IngestOutcome

MAX_PAGES = 10_000

_KEPT = "The copy of {:%Y-%m-%d} is kept; remove the page if it is gone for good."


class IngestInput(ToolInput):
    """Arguments of `ingest`."""

    url: Annotated[
        Url | Urls,
        Field(
            validation_alias=URL_NAMES,
            description="One or more; with whole_site, where each site begins.",
        ),
    ]
    whole_site: Annotated[
        bool, Field(description="Index all pages of the site, as a background job.")
    ] = False
    max_pages: Annotated[int | None, Field(ge=1, le=MAX_PAGES, description="Of a whole site.")] = (
        None
    )
    force: Annotated[bool, Field(description="Fetch again even when indexed and fresh.")] = False
    tags: Annotated[Tags | None, Field(description="Tags to add to the pages.")] = None


class IngestedShape(ToolOutput):
    """The outcome for one URL."""

    url: PageUrl
    status: Literal["indexed", "unchanged", "processing", "failed"]
    source_id: int | None = None
    title: PageLabel | None = None
    pages: int | None = None
    """Of a whole site, so far."""
    chunks: int | None = None
    tokens: int | None = None
    incomplete: OwnText | None = None
    """Why some of the page's text may be missing."""
    error: PageText | None = None
    suggestion: OwnText | None = None


class IngestOutput(ToolOutput):
    """The outcome for each URL, in order."""

    indexed: int
    unchanged: int
    failed: int
    processing: int | None = None
    """Whole sites that are still being indexed."""
    pages: Annotated[list[IngestedShape], ROWS]


async def run(arguments: IngestInput, call: Call) -> IngestOutput:
    """Fetch and index each URL; one that fails does not stop the others.

    Raises:
        CitewellError: every URL failed; the first failure is raised.
    """
    urls = [arguments.url] if isinstance(arguments.url, str) else arguments.url
    tags = (*call.settings.scope_tags, *(arguments.tags or ()))
    if arguments.whole_site:
        return _count([await _add_site(url, arguments, tags, call) for url in urls])
    outcomes = await ingest_pages(
        call.parts,
        urls,
        project=call.caller.project,
        force=arguments.force,
        tags=tags,
        on_progress=call.on_progress,
    )
    failures = [outcome.error for outcome in outcomes if outcome.error is not None]
    if len(failures) == len(outcomes):
        raise failures[0]
    return shape_outcomes(outcomes)


def shape_outcomes(outcomes: Sequence[IngestOutcome]) -> IngestOutput:
    """Return the outcome for each URL, with counts."""
    return _count([_shape(outcome) for outcome in outcomes])


def _count(shapes: list[IngestedShape]) -> IngestOutput:
    counts = Counter(shape.status for shape in shapes)
    return IngestOutput(
        indexed=counts["indexed"],
        unchanged=counts["unchanged"],
        failed=counts["failed"],
        processing=counts["processing"] or None,
        pages=shapes,
    )


async def _add_site(
    url: str, arguments: IngestInput, tags: tuple[str, ...], call: Call
) -> IngestedShape:
    """Start indexing a site, and wait for it as long as a call can."""
    options = CrawlOptions()
    if arguments.max_pages is not None:
        options = replace(options, max_pages=arguments.max_pages)
    processed = await process_website(
        call.parts,
        WebsiteDraft(url=url, project=call.caller.project, kind="site", tags=tags, options=options),
        caller="ingest",
        force=arguments.force,
        wait_seconds=call.settings.jobs_patience_seconds,
        on_progress=call.on_progress,
    )
    site = processed.website
    if processed.error is not None and not processed.is_going_on:
        raise processed.error
    status: Literal["indexed", "unchanged", "processing", "failed"] = "indexed"
    if processed.is_cached:
        status = "unchanged"
    elif site.status != "completed":
        status = "failed" if site.status in ("failed", "stopped") else "processing"
    return IngestedShape(
        url=site.url,
        status=status,
        source_id=site.source_id,
        title=site.title or None,
        pages=site.pages,
        chunks=site.chunks,
        error=site.error_message,
        suggestion=f"Call status with source_url {site.url} to see its progress."
        if status == "processing"
        else None,
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
    if error is not None:
        return IngestedShape(
            url=outcome.url,
            status="failed",
            source_id=page.source_id,
            error=error.message,
            suggestion=_KEPT.format(page.fetched_at),
        )
    return IngestedShape(
        url=outcome.url,
        status="indexed" if outcome.changed else "unchanged",
        source_id=page.source_id,
        title=page.title,
        chunks=page.chunks,
        tokens=page.tokens,
        incomplete=page.incomplete or None,
    )


def render(output: IngestOutput, call: Call | None = None) -> str:
    """Return one line for each page."""
    counts = f"Indexed {output.indexed}, unchanged {output.unchanged}, failed {output.failed}"
    lines = [
        f"{counts}, in progress {output.processing}." if output.processing else f"{counts}.",
        NOTE_PLACE,
        enclose("\n".join(_line(page) for page in output.pages)),
    ]
    return "\n".join(lines)


def _line(page: IngestedShape) -> str:
    if page.status == "failed":
        return f"- failed: {page.url} — {page.error} (suggestion: {page.suggestion})"
    title = page.title or "Untitled"
    if page.pages is not None:
        notes = [note for note in (page.error, page.suggestion) if note]
        pages, chunks = counted(page.pages, "page"), counted(page.chunks or 0, "chunk")
        counts = f"source_id {page.source_id}, {pages}, {chunks}"
        return ". ".join([f"- {page.status}: whole site {title} — {page.url} ({counts})", *notes])
    missing = f"; some of it may be missing: {page.incomplete}" if page.incomplete else ""
    return (
        f"- {page.status}: {title} — {page.url} "
        f"(source_id {page.source_id}, {counted(page.chunks or 0, 'chunk')}, "
        f"{counted(page.tokens or 0, 'token')}{missing})"
    )


TOOL = Tool(
    name="ingest",
    toolset="research",
    title="Index pages",
    description=f"""
        Add pages or a whole site to the library, so that search finds them.
        Use when asked to add, index, remember or refresh pages, or for a whole site.
        Do not use when you have one question about a page: call answer.
        Returns at most one line per URL.
        If you need more, call search; status shows how far a whole site is.
        Defaults: fresh pages are kept. Max: {MAX_URLS} URLs.
    """,
    annotations=Annotations(read_only=False, open_world=True),
    needs=(*INGEST_NEEDS, *CHANGE_NEEDS),
    run=run,
    render=render,
    in_default=True,
    example={"url": ["https://docs.python.org/3/library/asyncio-task.html"]},
)
