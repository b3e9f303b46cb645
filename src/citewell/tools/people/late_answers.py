"""Answers that came after `ask_user` had stopped waiting: they go with the next result."""

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
"""Where structuredContent of any tool has them; each is of the shape that `ask_user` returns."""


async def add_late_answers(result: ToolResult, call: Call) -> ToolResult:
    """Return the result with the late answers that the caller has not been given yet."""
    try:
        party = party_of(call)
        questions = await call.parts.desk.take_late_answers(party.owner, asker=party.asker)
    except AccessRefused:
        return result
    except StoreError:
        # They stay where they are; the tool's own result must not suffer.
        logger.exception("late answers could not be read")
        return result
    if not questions:
        return result
    return replace(
        result,
        text="\n\n".join([result.text, *(_tell(question) for question in questions)]),
        structured={
            **result.structured,
            LATE_ANSWERS_KEY: [_shape(question) for question in questions],
        },
    )


def _tell(question: UserQuestion) -> str:
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
    }


LATE_ANSWERS = AfterCall(needs=("desk",), run=add_late_answers)
