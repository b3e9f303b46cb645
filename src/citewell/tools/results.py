"""Results of calls, which every transport gets in the same form."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from citewell.answer.error_text import format_error, format_research_error
from citewell.core.boundary import NOTE_PLACE, Boundary, mark_foreign, without_own_brackets
from citewell.core.errors import MAX_MESSAGE_CHARACTERS, MAX_SUGGESTION_CHARACTERS
from citewell.core.frozen import frozen
from citewell.core.redaction import redact, summarise_arguments
from citewell.core.request_id import request_id
from citewell.core.text import one_line
from citewell.tools.untrusted import envelope_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.access.meter import MeteredCall
    from citewell.core.errors import CitewellError

logger = logging.getLogger(__name__)

UNEXPECTED = "The server met an unexpected error."
"""What callers see of a programming error; the log has the details."""
EXPLAINED_AT_LENGTH = frozenset({"answer", "search"})
"""Tools whose errors also ask the model not to answer from memory."""

_LOGGED_CHARACTERS = 300


@frozen
class ToolResult:
    """Both forms of a result; each is complete."""

    text: str
    structured: dict[str, Any]
    error: CitewellError | None = None
    """What the call failed with."""

    @property
    def is_error(self) -> bool:
        """Whether the call failed."""
        return self.error is not None


def outcome_of(result: ToolResult | None) -> str:
    """Return the outcome of a call: `ok`, the code of its error, or UNFINISHED."""
    if result is None:
        return "UNFINISHED"
    return str(result.structured["error"]["code"]) if result.is_error else "ok"


def record_end(call: MeteredCall, result: ToolResult | None) -> None:
    """Record the outcome of a call, and the redacted message of an error.

    For an unexpected one also the request, which the server's log has the details of.
    """
    message = ""
    if result is not None and result.is_error:
        message = str(result.structured["error"]["message"])
        if message == UNEXPECTED and (name := request_id.get()) is not None:
            message = f"{message} Request: {name}"
    call.end(
        outcome=outcome_of(result),
        text="" if result is None else result.text,
        message=one_line(redact(message), limit=_LOGGED_CHARACTERS),
    )


def error_result(
    error: CitewellError, *, tool: str = "", arguments: Mapping[str, object] | None = None
) -> ToolResult:
    """Return an error as the result of a call of `tool`.

    URLs and details in it that the caller did not name, such as the target of a redirect, the type
    of a file or the names that a suggestion lists, count as page words.
    """
    known = json.dumps(arguments or {}, default=str, ensure_ascii=False)
    own = {"message": error.message, "suggestion": error.suggestion}
    words = {name: value for name, value in error.details.items() if isinstance(value, str)}
    details = {name: without_own_brackets(value) for name, value in words.items()}
    said = {name: without_own_brackets(value) for name, value in own.items()}
    body = {**error.as_json(), **said, "details": {**error.details, **details}}
    mark_in = partial(mark_foreign, known=known, foreign=[*details.values(), *_cut(said)])
    in_words = format_research_error if tool in EXPLAINED_AT_LENGTH else format_error
    text = mark_in(without_own_brackets(in_words(error)))
    foreign = [name for name, value in {**said, **details}.items() if mark_in(value) != value]
    return ToolResult(
        text=Boundary().draw(text.replace("[ERROR]\n", f"[ERROR]\n{NOTE_PLACE}\n", 1)),
        structured={**envelope_of(foreign), "error": body},
        error=error,
    )


def _cut(said: Mapping[str, str]) -> list[str]:
    """Return what of an error is cut: names in it may not be whole, and are not found in it."""
    limits = {"message": MAX_MESSAGE_CHARACTERS, "suggestion": MAX_SUGGESTION_CHARACTERS}
    return [said[name] for name, limit in limits.items() if len(said[name]) >= limit]


def log_call(
    name: str, arguments: Mapping[str, object], result: ToolResult | None, *, seconds: float
) -> None:
    """Log an ended call in one line; the result is None if it was cancelled."""
    failed = result is not None and result.is_error
    level = logging.ERROR if failed else logging.INFO
    if not logger.isEnabledFor(level):
        return
    ended = outcome_of(result)
    if result is not None and not failed:
        ended = f"{len(result.text)} characters"
        logger.debug("response preview %s: %s", name, result.text[:500])
    summary = summarise_arguments(arguments)
    logger.log(level, "tool call %s %s: %s in %.0f ms", name, summary, ended, seconds * 1000)
