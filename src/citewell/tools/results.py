"""The result of a call, as every transport gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from citewell.answer.error_text import format_error, format_research_error

if TYPE_CHECKING:
    from citewell.core.errors import CitewellError

EXPLAINED_AT_LENGTH = frozenset({"answer", "search"})
"""Tools whose errors use the wording of seed A, which asks not to answer from memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """Both forms of a result; each suffices on its own."""

    text: str
    structured: dict[str, Any]
    is_error: bool = False


def outcome_of(result: ToolResult | None) -> str:
    """Return how a call ended: `ok`, the code of its error, or that it has no result."""
    if result is None:
        return "UNFINISHED"
    return str(result.structured["error"]["code"]) if result.is_error else "ok"


def error_result(error: CitewellError, *, tool: str = "") -> ToolResult:
    """Return an error as the result of a call of `tool`."""
    body: dict[str, Any] = {
        "code": error.code,
        "type": error.type,
        "message": error.message,
        "details": error.details,
        "suggestion": error.suggestion,
    }
    in_words = format_research_error if tool in EXPLAINED_AT_LENGTH else format_error
    return ToolResult(text=in_words(error), structured={"error": body}, is_error=True)
