"""`ask_user`: ask the user, who answers in the client or in the console."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from pydantic import Field

from citewell.core.errors import AnswerTimeout, CitewellError, QuestionClosed
from citewell.core.hosts import local_url
from citewell.core.progress import Progress
from citewell.tools.people.party import party_of, show_moment
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText

if TYPE_CHECKING:
    from citewell.app.client_port import ClientPort, PersonReply
    from citewell.core.people import UserQuestion
    from citewell.core.settings import Settings
    from citewell.people.desk import Desk

logger = logging.getLogger(__name__)

MAX_QUESTION_CHARACTERS = 4_000
MAX_ANSWER_CHARACTERS = 10_000
MAX_REPLIES = 6
MAX_REPLY_CHARACTERS = 200

# Clients give up on a call that is silent for a minute, some after half of that.
_PROGRESS_SECONDS = 15.0
# Time to record that the question expired, before the tool's own limit.
_SECONDS_TO_CLOSE = 30.0
_KEY_PREFIX = "question-"

CONSOLE_PATH = "/mcp/tools/ask_user"
"""Where the console lists the questions."""


class AskUserInput(ToolInput):
    """Arguments of `ask_user`."""

    question: Annotated[
        str,
        Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS, pattern=r"\S"),
    ]
    replies: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=MAX_REPLY_CHARACTERS, pattern=r"\S")]]
        | None,
        Field(
            max_length=MAX_REPLIES,
            description="Likely answers; the user picks one with a click, or writes another.",
        ),
    ] = None


class AskUserOutput(ToolOutput):
    """The question and its answer."""

    request_id: OwnText
    question: OwnText
    answer: OwnText
    asked_at: OwnText
    answered_at: OwnText
    declined: Literal[True] | None = None
    """The user has read the question and will not answer it; `answer` says so, too."""


async def run(arguments: AskUserInput, call: Call) -> AskUserOutput:
    """Ask, wait until the question is closed, and return the answer."""
    desk, client = call.parts.desk, call.client
    question = await _take_up(desk, call)
    if question is None:
        question = await desk.ask(
            arguments.question, party_of(call), replies=arguments.replies or ()
        )
        if client is not None and client.elicits == "by_repetition":
            await client.elicit(
                _words_for_client(question), key=f"{_KEY_PREFIX}{question.question_id}"
            )
        question = await _wait(question, call)
    if question.answer is None:
        raise _unanswered(question)
    await desk.deliver(question)
    assert question.answered_at is not None, "an answer has its time"
    return AskUserOutput(
        request_id=question.question_id,
        question=question.text,
        answer=question.answer,
        asked_at=show_moment(question.asked_at),
        answered_at=show_moment(question.answered_at),
        declined=question.is_declined or None,
    )


async def _take_up(desk: Desk, call: Call) -> UserQuestion | None:
    """Return the question that this call repeats, settled with the reply it brings."""
    reply = call.client.reply if call.client is not None else None
    if reply is None or not reply.key.startswith(_KEY_PREFIX):
        return None
    question_id = reply.key.removeprefix(_KEY_PREFIX)
    question = await desk.find_question(question_id, owner=party_of(call).owner)
    return await _settle(desk, question, reply)


async def _wait(question: UserQuestion, call: Call) -> UserQuestion:
    """Return the question once it is closed, in the client or in the console."""
    desk, client = call.parts.desk, call.client
    failure: CitewellError | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_report_waiting, call)
        if client is not None and client.elicits == "now":
            tasks.start_soon(_ask_through_client, question, client, desk)
        try:
            question = await desk.wait_until_closed(question)
        except CitewellError as error:
            # Raised below, because a task group would wrap it in an ExceptionGroup.
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return question


async def _ask_through_client(question: UserQuestion, client: ClientPort, desk: Desk) -> None:
    reply = await client.elicit(
        _words_for_client(question), key=f"{_KEY_PREFIX}{question.question_id}"
    )
    if reply is None:
        return
    try:
        await _settle(desk, question, reply)
    except CitewellError:
        # The question is still open; the waiting call will report the error of the store.
        logger.exception("the reply of a person at a client could not be stored")


async def _settle(desk: Desk, question: UserQuestion, reply: PersonReply) -> UserQuestion:
    if reply.text is None:
        return await desk.cancel(question)
    try:
        return await desk.answer(
            question.question_id, reply.text[:MAX_ANSWER_CHARACTERS], owner=question.owner
        )
    except QuestionClosed:
        # The console was faster; its answer counts.
        return await desk.find_question(question.question_id, owner=question.owner)


async def _report_waiting(call: Call) -> None:
    # Even a client that gives up has shown where to answer.
    address = console_address(call.settings)
    place = f" at {address}" if address is not None else ""
    message = f"Waiting for the user to answer{place}"
    while True:
        await call.on_progress(
            Progress(phase="waiting", message=message, own_address=address or "")
        )
        await anyio.sleep(_PROGRESS_SECONDS)


def console_address(settings: Settings) -> str | None:
    """Return the URL of the console for questions; None over stdio."""
    if settings.mcp_transport == "stdio":
        return None
    base = settings.public_url or local_url(settings.mcp_host, settings.mcp_port)
    return f"{base.rstrip('/')}{CONSOLE_PATH}"


def _words_for_client(question: UserQuestion) -> str:
    """Return the question with the offered replies, which clients show as text."""
    return "\n".join((question.text, *(f"- {reply}" for reply in question.replies)))


def _unanswered(question: UserQuestion) -> AnswerTimeout | QuestionClosed:
    if question.state == "expired":
        return AnswerTimeout("timeout waiting for user response", request_id=question.question_id)
    return QuestionClosed("The user did not want to answer.", request_id=question.question_id)


def seconds_to_answer(settings: Settings) -> float:
    """Return the time limit of a call."""
    return settings.people_answer_timeout_seconds + _SECONDS_TO_CLOSE


def render(output: AskUserOutput, call: Call) -> str:
    """Return the answer as a model reads it."""
    if output.declined:
        return (
            "The user declined to answer: there is no answer. Go on without it; do not ask again.\n"
            f"(asked {output.asked_at}, declined {output.answered_at}, "
            f"request {output.request_id}, declined: true)"
        )
    return (
        f"The user answered: {output.answer}\n"
        f"(asked {output.asked_at}, answered {output.answered_at}, request {output.request_id})"
    )


TOOL = Tool(
    name="ask_user",
    toolset="people",
    title="Ask the user",
    description=f"""
        Ask the human and wait for the reply.
        Use when only the user can tell.
        Do not use when pages can: call answer.
        Returns at most one answer, or declined; a late one comes with your next call, under
            late_answers.
        If you need more, call again.
        Defaults: waits 5 minutes. Max: {MAX_QUESTION_CHARACTERS:,} characters.
    """,
    annotations=Annotations(read_only=False, idempotent=False, open_world=True),
    needs=("desk",),
    run=run,
    render=render,
    example={"question": "Which release should the notes cover?", "replies": ["2.1", "3.0"]},
    timeout_seconds=seconds_to_answer,
)
