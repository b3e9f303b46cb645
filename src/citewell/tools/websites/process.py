"""`rag_process_website`: add a page or a whole site to the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from citewell.app.websites import CHANGE_NEEDS, process_website
from citewell.core.library import ContentType, CrawlOptions, Discovery, WebsiteDraft
from citewell.core.text import counted
from citewell.tools.research.arguments import Url
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import FromPage, OwnText, PageUrl
from citewell.tools.websites.arguments import Stopwatch, with_fetch_details

if TYPE_CHECKING:
    from citewell.core.library import Website
    from citewell.jobs.library import Processed

TOOL_NAME = "rag_process_website"
MAX_DEPTH = 10
MAX_PAGES = 10_000
_MAX_PATTERNS = 20

Mode = Literal["page", "site", "llms_txt", "sitemap", "crawl"]
_DISCOVERY: dict[Mode, Discovery] = {
    "site": "auto",
    "llms_txt": "llms_txt",
    "sitemap": "sitemap",
    "crawl": "links",
}
Pattern = Annotated[str, Field(min_length=1, max_length=200)]
Patterns = Annotated[list[Pattern] | None, Field(max_length=_MAX_PATTERNS)]


class ProcessInput(ToolInput):
    """Arguments of `rag_process_website`."""

    url: Url
    content_type: Annotated[
        ContentType,
        Field(description="Which fields to read; general: none."),
    ] = "general"
    force_refresh: Annotated[bool, Field(description="Process again what is cached.")] = False
    mode: Annotated[
        Mode, Field(description="page: this URL; site: all its pages, found as it offers them.")
    ] = "page"
    depth: Annotated[int | None, Field(ge=0, le=MAX_DEPTH)] = None
    max_pages: Annotated[int | None, Field(ge=1, le=MAX_PAGES)] = None
    include: Annotated[Patterns, Field(description="Path globs: /docs/**")] = None
    exclude: Patterns = None
    language: Literal["en", "ja"] | None = None


class ProcessOutput(ToolOutput):
    """The outcome of processing."""

    source_id: int
    url: PageUrl
    status: Literal["processing", "completed", "failed", "stopped"]
    chunks_created: int
    processing_time_ms: int
    language: OwnText | None
    message: OwnText
    is_cached: bool
    error: Annotated[str | dict[str, object] | None, FromPage()]
    """Why it failed, or what is missing; an object where the call itself failed."""


async def run(arguments: ProcessInput, call: Call) -> ProcessOutput:
    """Process the URL; work that takes longer than a few seconds goes on in the background.

    Raises:
        NotAUrl: it is not an HTTP or HTTPS URL.
        FetchError: the page cannot be fetched.
    """
    clock = Stopwatch()
    processed = await _process(arguments, call)
    if processed.error is not None and not processed.is_going_on:
        raise with_fetch_details(processed.error, url=arguments.url)
    page = await call.parts.store.find_page(
        processed.website.url, project=processed.website.project
    )
    incomplete = page.incomplete if page is not None else ""
    return _shape(processed, took_ms=clock.ms, incomplete=incomplete)


async def _process(arguments: ProcessInput, call: Call) -> Processed:
    plain = CrawlOptions()
    draft = WebsiteDraft(
        url=arguments.url,
        project=call.caller.project,
        kind="page" if arguments.mode == "page" else "site",
        content_type=arguments.content_type,
        tags=call.settings.scope_tags,
        options=CrawlOptions(
            discovery=_DISCOVERY.get(arguments.mode, "auto"),
            max_depth=plain.max_depth if arguments.depth is None else arguments.depth,
            max_pages=arguments.max_pages or plain.max_pages,
            include=tuple(arguments.include or ()),
            exclude=tuple(arguments.exclude or ()),
            language=arguments.language,
        ),
    )
    return await process_website(
        call.parts,
        draft,
        caller=TOOL_NAME,
        force=arguments.force_refresh,
        wait_seconds=call.settings.jobs_patience_seconds,
        on_progress=call.on_progress,
    )


def _shape(processed: Processed, *, took_ms: int, incomplete: str) -> ProcessOutput:
    website = processed.website
    status: Literal["processing", "completed", "failed", "stopped"] = (
        "processing" if website.status == "pending" else website.status
    )
    return ProcessOutput(
        source_id=website.source_id,
        url=website.url,
        status=status,
        chunks_created=website.chunks,
        processing_time_ms=took_ms,
        language=website.language,
        message=_message(website, is_cached=processed.is_cached, incomplete=incomplete),
        is_cached=processed.is_cached,
        error=website.error_message,
    )


def _message(website: Website, *, is_cached: bool, incomplete: str) -> str:
    if website.status == "failed":
        return "Processing failed; error says why."
    if website.status == "stopped":
        return "Processing was stopped; what was read is kept. Call it again to go on."
    if website.status != "completed":
        return (
            "Processing goes on in the background. "
            f"Call rag_get_website_status with source_id {website.source_id}."
        )
    missing = f" Some of the page may be missing: {incomplete}." if incomplete else ""
    if is_cached:
        return "Already processed; use force_refresh to process it again." + missing
    pages = f"{counted(website.pages, 'page')}, " if website.kind == "site" else ""
    return f"Processed: {pages}{counted(website.chunks, 'chunk')}." + missing


def render(output: ProcessOutput, call: Call) -> str:
    """Return one line about the website, and its error if it has one."""
    cached = ", cached" if output.is_cached else ""
    line = (
        f"{output.status}{cached}: {output.url} (source_id {output.source_id}, "
        f"{counted(output.chunks_created, 'chunk')}, language {output.language or 'unknown'}, "
        f"{output.processing_time_ms} ms). {output.message}"
    )
    return f"{line}\nerror: {output.error}" if output.error else line


TOOL = Tool(
    name=TOOL_NAME,
    toolset="websites",
    title="Process a website",
    description=f"""
        Fetch a page or a whole site, cut it into chunks and keep it in the library.
        Use when several questions will be asked of the same websites, now or later.
        Do not use when you have one question and a URL: answer does it in one call.
        Returns at most one status: completed, processing (after 5 s it goes on in the
            background) or failed.
        If you need more, call rag_get_website_status, then rag_query_websites.
        Defaults: mode page, cached pages are kept. Max: {MAX_PAGES} pages of a site.
    """,
    annotations=Annotations(read_only=False, open_world=True),
    needs=CHANGE_NEEDS,
    run=run,
    render=render,
    example={"url": "https://example.com/jobs/backend", "content_type": "job_posting"},
)
