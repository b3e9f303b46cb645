"""`data_delete_website_source`: delete a source with its pages and chunks."""

from __future__ import annotations

from citewell.core.text import counted
from citewell.tools.data.sources import SourceInput  # noqa: TC001 - annotations are evaluated
from citewell.tools.tool import Annotations, Call, Tool, ToolOutput
from citewell.tools.untrusted import PageUrl


class DeleteSourceOutput(ToolOutput):
    """What was deleted."""

    source_id: int
    url: PageUrl
    chunks_deleted: int


async def run(arguments: SourceInput, call: Call) -> DeleteSourceOutput:
    """Delete the source.

    Raises:
        NotFound: there is no such source.
    """
    removed = await call.parts.library.delete(arguments.source_id, project=call.caller.project)
    return DeleteSourceOutput(
        source_id=removed.source_id, url=removed.url, chunks_deleted=removed.chunks
    )


def render(output: DeleteSourceOutput, call: Call) -> str:
    """Return one line."""
    chunks = counted(output.chunks_deleted, "chunk")
    return f"Deleted source {output.source_id}: {output.url}, {chunks}."


TOOL = Tool(
    name="data_delete_website_source",
    toolset="data",
    title="Delete a source",
    description="""
        Delete a source and its chunks for good.
        Use when the user asks for it.
        Do not use when it is outdated: rag_refresh_website.
        Returns at most the counts.
        If you need more, call data_list_website_sources.
        Defaults: none. Max: one.
    """,
    annotations=Annotations(read_only=False, destructive=True, idempotent=False),
    needs=("store", "library"),
    run=run,
    render=render,
    example={"source_id": 42},
)
