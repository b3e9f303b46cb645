"""`data_update_website_status`: set the status of a source."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from citewell.core.errors import InvalidArgument
from citewell.tools.data.sources import find_source
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import PageText
from citewell.tools.websites.arguments import SourceId, Status


class UpdateStatusInput(ToolInput):
    """Arguments of `data_update_website_status`."""

    source_id: SourceId
    status: Status
    error_message: Annotated[str | None, Field(max_length=1_000)] = None


class UpdateStatusOutput(ToolOutput):
    """The status as it is now."""

    source_id: int
    processing_status: Status
    error_message: PageText | None = None


async def run(arguments: UpdateStatusInput, call: Call) -> UpdateStatusOutput:
    """Set status and message.

    Raises:
        NotFound: there is no such source.
        InvalidArgument: a completed source has no error.
    """
    if arguments.status == "completed" and arguments.error_message:
        raise InvalidArgument("error_message: a completed source has none.")
    website = await find_source(arguments.source_id, call)
    await call.parts.store.library.set_status(
        website.source_id,
        arguments.status,
        now=datetime.now(UTC),
        error_message=arguments.error_message,
    )
    return UpdateStatusOutput(
        source_id=website.source_id,
        processing_status=arguments.status,
        error_message=arguments.error_message,
    )


def render(output: UpdateStatusOutput, call: Call) -> str:
    """Return one line."""
    error = f" ({output.error_message})" if output.error_message else ""
    return f"Source {output.source_id}: {output.processing_status}{error}"


TOOL = Tool(
    name="data_update_website_status",
    toolset="data",
    title="Set the status of a source",
    description="""
        Set a source's processing status.
        Use when you process it yourself.
        Do not use when the server does: it keeps the status.
        Returns at most the status.
        If you need more, call data_read_website_source.
        Defaults: no error. Max: one.
    """,
    annotations=Annotations(read_only=False),
    needs=("store",),
    run=run,
    render=render,
    example={"source_id": 42, "status": "completed"},
)
