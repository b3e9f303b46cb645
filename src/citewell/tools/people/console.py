"""What users do at the desk: answer questions, queue and remove directives.

Not tools: the consoles and their JSON APIs call these. A key that can call the tool can also be
used at this end.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from citewell.core.errors import InvalidArgument
from citewell.core.people import DECLINED, DEFAULT_TASK, Directive
from citewell.people.desk import MOST_LISTED as MOST_LISTED
from citewell.people.plain_text import plain_text
from citewell.tools.people import ask_user, get_user_request
from citewell.tools.people.ask_user import MAX_ANSWER_CHARACTERS
from citewell.tools.people.get_user_request import MAX_DIRECTIVE_CHARACTERS, MAX_TASK_ID_CHARACTERS
from citewell.tools.people.party import party_of, show_moment

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from citewell.app.parts import PartName
    from citewell.core.people import DirectiveTemplate, UserQuestion
    from citewell.tools.tool import Call, Tool

Json = dict[str, Any]

HISTORY_AT_ONCE = 50
DESK_NEEDS: tuple[PartName, ...] = ("desk",)


async def list_questions(call: Call) -> dict[str, list[Json]]:
    """Return the caller's `pending` questions, oldest first, and the `history`, newest first."""
    pending, history = await call.parts.desk.list_questions(_owner(call, ask_user.TOOL))
    return {
        "pending": [shape_question(question) for question in pending],
        "history": [shape_question(question) for question in history],
    }


async def search_history(call: Call, *, matching: str, before: str | None) -> list[Json]:
    """Return the next questions of the history that contain `matching`, newest first."""
    questions = await call.parts.desk.search_history(
        _owner(call, ask_user.TOOL), matching=matching, before=before, limit=HISTORY_AT_ONCE
    )
    return [shape_question(question) for question in questions]


async def answer_question(
    call: Call, question_id: str, *, answer: object, is_declined: bool = False
) -> Json:
    """Store an answer, or that there will be none, and return the question.

    Raises:
        InvalidArgument: the answer is empty or too long.
        NotFound, QuestionClosed: there is no such question, or it has been answered.
    """
    owner = _owner(call, ask_user.TOOL)
    text = DECLINED if is_declined else _text(answer, name="answer", most=MAX_ANSWER_CHARACTERS)
    return shape_question(await call.parts.desk.answer(question_id, text, owner=owner))


async def list_directives(call: Call) -> dict[str, list[Json]]:
    """Return the caller's `pending` directives, newest first, and the `consumed`, last first."""
    pending, consumed = await call.parts.desk.list_directives(_owner(call, get_user_request.TOOL))
    return {
        "pending": [shape_directive(directive) for directive in pending],
        "consumed": [shape_directive(directive) for directive in consumed],
    }


async def add_directive(
    call: Call, *, content: object, task_id: object = None, is_last: bool = False
) -> Json:
    """Add a directive and return it; it is delivered next, or after all that wait.

    Raises:
        InvalidArgument: the content or the task id is empty or too long.
    """
    get_user_request.TOOL.refuse_others(call.caller)
    directive = await call.parts.desk.add_directive(
        _content(content), party_of(call), task_id=_task(task_id), is_last=is_last
    )
    return shape_directive(directive)


async def restore_directive(call: Call, deleted: Mapping[str, str], *, place: int) -> None:
    """Put a directive back that the caller has deleted, as `shape_directive` showed it.

    Raises:
        InvalidArgument: it is not a directive.
    """
    party = party_of(call)
    get_user_request.TOOL.refuse_others(call.caller)
    consumed_at = _moment(deleted.get("consumed_at") or None)
    directive = Directive(
        directive_id="",
        owner=party.owner,
        content=_content(deleted.get("content")),
        task_id=_task(deleted.get("task_id")),
        state="pending" if consumed_at is None else "consumed",
        user=party.user,
        key_hint=party.key_hint,
        created_at=_moment(deleted.get("created_at")) or datetime.now(UTC),
        consumed_at=consumed_at,
    )
    await call.parts.desk.restore_directive(directive, place=0 if consumed_at else place)


async def edit_directive(
    call: Call, directive_id: str, *, content: object, task_id: object = None
) -> None:
    """Edit a waiting directive.

    Raises:
        InvalidArgument: the content or the task id is empty or too long.
        NotFound: the caller has no such directive, or it was delivered.
    """
    await call.parts.desk.edit_directive(
        directive_id,
        owner=_owner(call, get_user_request.TOOL),
        content=_content(content),
        task_id=_task(task_id),
    )


async def move_directive(call: Call, directive_id: str, *, earlier: bool) -> None:
    """Move a directive before or after its neighbour in the queue.

    Raises:
        NotFound: the caller has no such directive, or it was delivered.
    """
    owner = _owner(call, get_user_request.TOOL)
    await call.parts.desk.move_directive(directive_id, owner=owner, earlier=earlier)


async def list_templates(call: Call) -> list[DirectiveTemplate]:
    """Return the saved templates of the caller, newest first."""
    return await call.parts.desk.list_templates(_owner(call, get_user_request.TOOL))


async def add_template(call: Call, *, content: object, task_id: object = None) -> None:
    """Save a directive as a template.

    Raises:
        InvalidArgument: the content or the task id is empty or too long.
    """
    owner = _owner(call, get_user_request.TOOL)
    await call.parts.desk.add_template(_content(content), owner=owner, task_id=_task(task_id))


async def delete_template(call: Call, number: int) -> None:
    """Remove a template.

    Raises:
        NotFound: the caller has no such template.
    """
    await call.parts.desk.delete_template(number, owner=_owner(call, get_user_request.TOOL))


async def delete_directive(call: Call, directive_id: str) -> None:
    """Remove one directive.

    Raises:
        NotFound: the caller has no such directive.
    """
    await call.parts.desk.delete_directive(directive_id, owner=_owner(call, get_user_request.TOOL))


async def delete_directives(call: Call) -> int:
    """Remove all directives of the caller; return how many there were."""
    return await call.parts.desk.delete_directives(_owner(call, get_user_request.TOOL))


def watch_desk(call: Call) -> AsyncGenerator[int]:
    """Yield a number now and after every change of the caller's questions or directives."""
    return call.parts.desk.watch(party_of(call).owner)


def shape_question(question: UserQuestion) -> Json:
    """Return a question as the API shows it."""
    return {
        "id": question.question_id,
        "question": question.text,
        "replies": list(question.replies),
        "status": question.state,
        "asked_at": show_moment(question.asked_at),
        "expires_at": show_moment(question.expires_at),
        "answer": question.answer,
        "answered_at": _shown(question.answered_at),
        "delivered_at": _shown(question.delivered_at),
        "late": question.is_late,
        "declined": question.is_declined,
        "user_identity": question.user,
        "ai_identity": question.agent,
        "key_hint": question.key_hint,
    }


def shape_directive(directive: Directive) -> Json:
    """Return a directive as the API shows it."""
    return {
        "id": directive.directive_id,
        "content": directive.content,
        "task_id": directive.task_id,
        "status": directive.state,
        "created_at": show_moment(directive.created_at),
        "consumed_at": _shown(directive.consumed_at),
        "user_identity": directive.user,
        "key_hint": directive.key_hint,
    }


def _owner(call: Call, tool: Tool[Any, Any]) -> str:
    """Return the owner of the caller's desk, if its key can call the tool at the other end."""
    tool.refuse_others(call.caller)
    return party_of(call).owner


def _shown(moment: datetime | None) -> str | None:
    return None if moment is None else show_moment(moment)


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError as error:
        raise InvalidArgument("the time is not valid ISO 8601") from error


def _content(value: object) -> str:
    return _text(value, name="content", most=MAX_DIRECTIVE_CHARACTERS)


def _task(value: object) -> str:
    task = DEFAULT_TASK if value is None else value
    return _text(task, name="task_id", most=MAX_TASK_ID_CHARACTERS)


def _text(value: object, *, name: str, most: int) -> str:
    if value is not None and not isinstance(value, str):
        raise InvalidArgument(f"{name} must be text")
    text = plain_text(value or "").strip()
    if not text:
        raise InvalidArgument(f"{name} cannot be empty")
    if len(text) > most:
        raise InvalidArgument(f"{name} is {len(text):,} characters; at most {most:,} are taken")
    return text
