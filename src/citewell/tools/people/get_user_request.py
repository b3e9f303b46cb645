"""`get_user_request`: take the next directive that the user has queued for the agent."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from citewell.core.errors import StoreError
from citewell.tools.people.party import party_of, show_moment
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText

MAX_DIRECTIVE_CHARACTERS = 10_000
MAX_TASK_ID_CHARACTERS = 100


class GetUserRequestInput(ToolInput):
    """Arguments of `get_user_request`."""

    task_id: Annotated[
        str | None,
        Field(min_length=1, max_length=MAX_TASK_ID_CHARACTERS),
    ] = None


class GetUserRequestOutput(ToolOutput):
    """A directive, or that there is none."""

    status: Literal["consumed", "empty"]
    request_id: OwnText | None = None
    content: OwnText | None = None
    task_id: OwnText | None = None
    created_at: OwnText | None = None
    consumed_at: OwnText | None = None
    user_identity: OwnText | None = None
    key_hint: OwnText | None = None


async def run(arguments: GetUserRequestInput, call: Call) -> GetUserRequestOutput:
    """Take the next directive off the queue."""
    owner = party_of(call).owner
    try:
        directive = await call.parts.desk.take_directive(owner, task_id=arguments.task_id)
    except StoreError as error:
        raise StoreError("failed to fetch user request", suggestion=error.suggestion) from error
    if directive is None:
        return GetUserRequestOutput(status="empty")
    assert directive.consumed_at is not None, "what was taken has its time"
    return GetUserRequestOutput(
        status="consumed",
        request_id=directive.directive_id,
        content=directive.content,
        task_id=directive.task_id,
        created_at=show_moment(directive.created_at),
        consumed_at=show_moment(directive.consumed_at),
        user_identity=None if directive.user is None else f"user:{directive.user}",
        key_hint=directive.key_hint,
    )


def render(output: GetUserRequestOutput, call: Call) -> str:
    """Return the directive as a model reads it."""
    if output.status == "empty":
        return "There is no directive from the user (status: empty)."
    return (
        f"The user's directive: {output.content}\n"
        f"(task {output.task_id}, given {output.created_at} by "
        f"{output.user_identity or 'the user'}, request {output.request_id}, status: consumed)"
    )


TOOL = Tool(
    name="get_user_request",
    toolset="people",
    title="Get the user's directive",
    description="""
        Take the newest directive that the user has queued; each is delivered once.
        Use when you begin or finish a step.
        Do not use when you have a question: ask_user.
        Returns at most one, or status empty.
        If you need more, call again.
        Defaults: any task. Max: 1.
    """,
    annotations=Annotations(read_only=False, idempotent=False),
    needs=("desk",),
    run=run,
    render=render,
    example={"task_id": "default"},
)
