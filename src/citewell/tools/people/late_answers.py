"""Add answers that came after `ask_user` stopped waiting to the next result."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from citewell.core.errors import AccessRefused, StoreError
from citewell.tools.people.party import party_of, show_moment
from citewell.tools.tool import AfterCall, Call

if TYPE_CHECKING:
    from citewell.core.people import UserQuestion
    from citewell.tools.results import ToolResult

logger = logging.getLogger(__name__)

LATE_ANSWERS_KEY = "late_answers"
"""The key of structuredContent that has them, each in the shape that `ask_user` returns."""


async def add_late_answers(result: ToolResult, call: Call) -> ToolResult:
    """Return the result with the late answers that the caller has not got yet."""
    try:
        party = party_of(call)
        questions = await call.parts.desk.take_late_answers(party.owner, asker=party.asker)
    except AccessRefused:
        return result
    except StoreError:
        # They stay in the store, and the result of the tool is not affected.
        logger.exception("late answers could not be read")
        return result
    if not questions:
        return result
    return replace(
        result,
        text="\n\n".join([result.text, *(_in_words(question) for question in questions)]),
        structured={
            **result.structured,
            LATE_ANSWERS_KEY: [_shape(question) for question in questions],
        },
    )


def _in_words(question: UserQuestion) -> str:
    if question.is_declined:
        return (
            "[LATE ANSWER] The user declined to answer a question that you asked before.\n"
            f"Question: {question.text}"
        )
    return (
        "[LATE ANSWER] The user has answered a question that you asked before.\n"
        f"Question: {question.text}\nAnswer: {question.answer}"
    )


def _shape(question: UserQuestion) -> dict[str, Any]:
    assert question.answered_at is not None, "an answer has its time"
    return {
        "request_id": question.question_id,
        "question": question.text,
        "answer": question.answer,
        "asked_at": show_moment(question.asked_at),
        "answered_at": show_moment(question.answered_at),
        **({"declined": True} if question.is_declined else {}),
    }


LATE_ANSWERS = AfterCall(needs=("desk",), run=add_late_answers)
