"""Errors as text that a model can pass on instead of guessing (seed A §8)."""

from __future__ import annotations

from citewell.core.errors import (
    BudgetExceeded,
    CitewellError,
    FetchError,
    InferenceError,
    InvalidArgument,
    StoreError,
    ToolTimeout,
)

_FAILURE = """\
[ERROR]
Citewell encountered an error during retrieval.

Error type: {type}
Code: {code}
Details: {message}

The knowledge retrieval service was unable to complete this query. Possible causes:
{causes}

Suggestion: {suggestion}

Please inform the user of this error. Do not attempt to answer from memory — the tool was called \
because specific source material was needed."""

_TIMEOUT = """\
[ERROR]
{message}

The orchestration pipeline did not complete within the allowed time. This may indicate:
- A very large page requiring extensive indexing.
- Many expansion iterations with slow external APIs.
- Network latency to external services.

Suggestion: {suggestion}"""

_SHORT = """\
[ERROR]
{message}

Code: {code}
Suggestion: {suggestion}"""

_CAUSES: dict[type[CitewellError], str] = {
    FetchError: "- The URL may be unreachable or return an error.",
    InferenceError: "- An external API (embedding, reranker) may be temporarily unavailable.",
    StoreError: "- The database connection may have failed.",
}


def format_error(error: CitewellError) -> str:
    """Return the text of a failed call: what happened, and what to try."""
    return _SHORT.format(message=error.message, code=error.code, suggestion=error.suggestion)


def format_research_error(error: CitewellError) -> str:
    """Return the text of a failed `answer` or `search`, which also says why perhaps."""
    if isinstance(error, ToolTimeout):
        return _TIMEOUT.format(message=error.message, suggestion=error.suggestion)
    if isinstance(error, InvalidArgument | BudgetExceeded):
        return format_error(error)
    # Causes that cannot be would send the reader the wrong way.
    causes = [cause for kind, cause in _CAUSES.items() if isinstance(error, kind)]
    return _FAILURE.format(
        type=type(error).__name__,
        code=error.code,
        message=error.message,
        causes="\n".join(causes or _CAUSES.values()),
        suggestion=error.suggestion,
    )
