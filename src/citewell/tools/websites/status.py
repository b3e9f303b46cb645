"""`rag_get_website_status`: the progress of a website, and the fields extracted from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import WithJsonSchema

from citewell.app.websites import READ_NEEDS, view_website
from citewell.core.boundary import enclose
from citewell.core.text import counted
from citewell.tools.supplied import Supplied, SuppliedBy, is_supplied, render_supplied
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl
from citewell.tools.websites.arguments import (
    FieldShape,
    SourceId,
    Status,
    fetch_timestamp,
    shape_fields,
    shown_title,
)

if TYPE_CHECKING:
    from citewell.core.jobs import Job
    from citewell.core.library import Website


class StatusInput(ToolInput):
    """Arguments of `rag_get_website_status`."""

    source_id: SourceId


class ProgressShape(ToolOutput):
    """The progress of a running job."""

    stage: OwnText
    pages_done: int
    pages_total: int | None = None
    chunks: int
    percent: int | None = None


class StatusOutput(ToolOutput):
    """The state of a website."""

    source_id: int
    url: PageUrl
    processing_status: Status
    chunks_created: int
    fetch_timestamp: OwnText | None
    error_message: PageText | None
    message: OwnText
    title: PageLabel
    content_type: OwnText
    language: OwnText | None = None
    pages: int
    is_stale: bool
    supplied: Supplied = None
    supplied_by: SuppliedBy = None
    progress: ProgressShape | None = None
    fields: Annotated[
        dict[OwnText, list[FieldShape]] | None, WithJsonSchema({"type": "object"})
    ] = None


async def run(arguments: StatusInput, call: Call) -> StatusOutput:
    """Return the state of a website.

    Raises:
        NotFound: there is no such website.
    """
    status = await view_website(call.parts, arguments.source_id, project=call.caller.project)
    website = status.website
    running = status.job if status.job is not None and not status.job.is_finished else None
    return StatusOutput(
        source_id=website.source_id,
        url=website.url,
        processing_status=website.status,
        chunks_created=website.chunks,
        fetch_timestamp=fetch_timestamp(website),
        supplied=is_supplied(website.origin),
        supplied_by=website.supplied_by or None,
        error_message=website.error_message,
        message=_message(website, running),
        title=shown_title(website),
        content_type=website.content_type,
        language=website.language,
        pages=website.pages,
        is_stale=status.is_stale,
        progress=_progress(running) if running is not None else None,
        fields=shape_fields(website.fields),
    )


def _progress(job: Job) -> ProgressShape:
    progress = job.progress
    return ProgressShape(
        stage=progress.stage,
        pages_done=progress.pages_done,
        pages_total=progress.pages_total,
        chunks=progress.chunks,
        percent=progress.percent,
    )


def _message(website: Website, running: Job | None) -> str:
    if running is not None and running.error is not None and running.state != "running":
        return "The last attempt failed; it is tried again in the background."
    if running is not None:
        percent = running.progress.percent
        share = f", {percent} %" if percent is not None else ""
        return f"In progress: {running.progress.message or running.progress.stage}{share}."
    if website.status == "failed":
        return "Processing failed; call rag_refresh_website to try again."
    if website.status == "stopped":
        return "Processing was stopped; call rag_refresh_website to go on."
    if website.status == "completed":
        pages = f"{counted(website.pages, 'page')}, " if website.kind == "site" else ""
        return f"Completed: {pages}{counted(website.chunks, 'chunk')}."
    return "Waiting to be processed."


def _age(output: StatusOutput) -> str:
    if output.supplied:
        return render_supplied(output.supplied_by)
    return f"fetched {output.fetch_timestamp or 'never'}"


def render(output: StatusOutput, call: Call) -> str:
    """Return the status, its progress and the fields with their values."""
    lines = [
        f"{output.processing_status}: {enclose(f'{output.title} — {output.url}')} "
        f"(source_id {output.source_id}, {output.content_type}, "
        f"language {output.language or 'unknown'}, {counted(output.pages, 'page')}, "
        f"{counted(output.chunks_created, 'chunk')}, {_age(output)}"
        f"{', stale' if output.is_stale else ''}). {output.message}"
    ]
    if output.error_message:
        lines.append(f"error: {output.error_message}")
    if output.progress is not None:
        of = f" of {output.progress.pages_total}" if output.progress.pages_total else ""
        lines.append(
            f"stage {output.progress.stage}: {output.progress.pages_done}{of} pages, "
            f"{output.progress.chunks} chunks"
        )
    if output.fields:
        lines.append("Fields, as the page has them:")
        values = [
            f"{name}: {' | '.join(field.value for field in fields)}"
            for name, fields in output.fields.items()
        ]
        lines.append(enclose("\n".join(values)))
    return "\n".join(lines)


TOOL = Tool(
    name="rag_get_website_status",
    toolset="websites",
    title="Status of a website",
    description="""
        Tell how far the processing of a website is, and the fields read from its page.
        Use when rag_process_website returned processing, or for a posting's company, salary,
            requirements and other fields.
        Do not use when you have no source_id: call rag_list_websites.
        Returns at most one status with progress, error and fields, each with its quote.
        If you need more, call rag_query_websites with source_ids.
        Defaults: none. Max: one website a call.
    """,
    needs=READ_NEEDS,
    run=run,
    render=render,
    example={"source_id": 42},
)
