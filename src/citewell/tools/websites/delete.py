"""`rag_delete_website`: delete a website from the library."""

from __future__ import annotations

from citewell.app.websites import CHANGE_NEEDS, delete_website
from citewell.core.text import counted
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageUrl
from citewell.tools.websites.arguments import SourceId

TOOL_NAME = "rag_delete_website"


class DeleteInput(ToolInput):
    """Arguments of `rag_delete_website`."""

    source_id: SourceId


class DeleteOutput(ToolOutput):
    """What was deleted."""

    source_id: int
    url: PageUrl
    chunks_deleted: int
    message: OwnText


async def run(arguments: DeleteInput, call: Call) -> DeleteOutput:
    """Delete the website with its pages, chunks, vectors and words.

    Raises:
        NotFound: there is no such website.
    """
    removed = await delete_website(
        call.parts, arguments.source_id, project=call.caller.project, caller=TOOL_NAME
    )
    return DeleteOutput(
        source_id=removed.source_id,
        url=removed.url,
        chunks_deleted=removed.chunks,
        message="Deleted successfully",
    )


def render(output: DeleteOutput, call: Call) -> str:
    """Return one line."""
    return (
        f"{output.message}: {output.url} "
        f"(source_id {output.source_id}, {counted(output.chunks_deleted, 'chunk')})"
    )


TOOL = Tool(
    name=TOOL_NAME,
    toolset="websites",
    title="Delete a website",
    description="""
        Delete a website of the library with all its chunks. This cannot be undone.
        Use when the user asks for it.
        Do not use when it is only outdated: call rag_refresh_website.
        Returns at most how many chunks were deleted.
        If you need more, call rag_list_websites.
        Defaults: none. Max: one website a call.
    """,
    annotations=Annotations(read_only=False, destructive=True, idempotent=False),
    needs=CHANGE_NEEDS,
    run=run,
    render=render,
    example={"source_id": 42},
)
