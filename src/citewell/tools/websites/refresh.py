"""`rag_refresh_website`: fetch a website of the library again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from citewell.app.websites import CHANGE_NEEDS, refresh_website
from citewell.core.boundary import path_label
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl
from citewell.tools.websites.arguments import SourceId, Stopwatch

if TYPE_CHECKING:
    from citewell.core.library import ChangeReport
    from citewell.jobs.library import Refreshed

TOOL_NAME = "rag_refresh_website"
# Enough for a page; a site goes on in the background after this.
WAIT_SECONDS = 15.0
MAX_CHANGES = 20


class RefreshInput(ToolInput):
    """Arguments of `rag_refresh_website`."""

    source_id: SourceId


class ChangeShape(ToolOutput):
    """A section or page that changed."""

    kind: Literal["added", "removed", "edited", "failed"]
    url: PageUrl
    section: PageLabel | None = None
    error: PageText | None = None


class RefreshOutput(ToolOutput):
    """The outcome of the refresh."""

    source_id: int
    url: PageUrl
    old_chunks_deleted: int
    new_chunks_created: int
    status: Literal["completed", "failed", "processing"]
    processing_time_ms: int
    message: OwnText
    error_message: PageText | None = None
    changes: list[ChangeShape] | None = None


async def run(arguments: RefreshInput, call: Call) -> RefreshOutput:
    """Fetch the website again; only what changed is written and embedded.

    Raises:
        NotFound: there is no such website.
    """
    clock = Stopwatch()
    refreshed = await refresh_website(
        call.parts,
        arguments.source_id,
        project=call.caller.project,
        caller=TOOL_NAME,
        wait_seconds=WAIT_SECONDS,
        on_progress=call.on_progress,
    )
    return _shape(refreshed, took_ms=clock.ms)


def _shape(refreshed: Refreshed, *, took_ms: int) -> RefreshOutput:
    website, report = refreshed.website, refreshed.report
    failed = refreshed.error is not None and refreshed.job.state != "running"
    status: Literal["completed", "failed", "processing"] = (
        "failed" if failed else "completed" if report is not None else "processing"
    )
    return RefreshOutput(
        source_id=website.source_id,
        url=website.url,
        old_chunks_deleted=report.chunks_removed if report is not None else 0,
        new_chunks_created=report.chunks_added if report is not None else 0,
        status=status,
        processing_time_ms=took_ms,
        message=_message(refreshed, report),
        error_message=refreshed.error.message if failed and refreshed.error is not None else None,
        changes=_changes(report) if report is not None else None,
    )


def _message(refreshed: Refreshed, report: ChangeReport | None) -> str:
    if refreshed.error is not None and refreshed.job.state != "running":
        again = "" if refreshed.job.is_finished else " It is tried again in the background."
        return f"The refresh failed; the stored copy was kept.{again}"
    if report is None:
        return "The refresh goes on in the background. Call rag_get_website_status."
    counts = [
        f"{count} {what}"
        for count, what in (
            (report.changed, "changed"),
            (report.added, "added"),
            (report.removed, "removed"),
            (report.failed, "failed and kept as they were"),
        )
        if count
    ]
    if not counts:
        return "Nothing has changed."
    return f"Refreshed; pages: {', '.join(counts)}, {report.unchanged} unchanged."


def _changes(report: ChangeReport) -> list[ChangeShape] | None:
    shaped: list[ChangeShape] = []
    for page in report.pages:
        if not page.sections:
            kind = "edited" if page.kind == "changed" else page.kind
            shaped.append(ChangeShape(kind=kind, url=page.url, error=page.error))
        shaped.extend(
            ChangeShape(
                kind=section.kind,
                url=page.url,
                section=path_label(section.heading_path),
            )
            for section in page.sections
        )
    return shaped[:MAX_CHANGES] or None


def render(output: RefreshOutput, call: Call) -> str:
    """Return one line about the website and one for each change."""
    lines = [
        f"{output.status}: {output.url} (source_id {output.source_id}, "
        f"{output.old_chunks_deleted} chunks deleted, {output.new_chunks_created} created, "
        f"{output.processing_time_ms} ms). {output.message}"
    ]
    if output.error_message is not None:
        lines.append(f"error: {output.error_message}")
    for change in output.changes or ():
        section = f" › {change.section}" if change.section else ""
        reason = f" ({change.error})" if change.error else ""
        lines.append(f"- {change.kind}: {change.url}{section}{reason}")
    return "\n".join(lines)


TOOL = Tool(
    name=TOOL_NAME,
    toolset="websites",
    title="Refresh a website",
    description=f"""
        Fetch a website of the library again and say what changed; it stays searchable.
        Use when it is stale, or its processing failed.
        Do not use when it is not in the library: call rag_process_website.
        Returns at most {MAX_CHANGES} changed sections.
        If you need more, call rag_get_website_status.
        Defaults: waits {WAIT_SECONDS:g} s. Max: one website a call.
    """,
    annotations=Annotations(read_only=False, open_world=True),
    needs=CHANGE_NEEDS,
    run=run,
    render=render,
    example={"source_id": 42},
    lists_columns=False,
)
