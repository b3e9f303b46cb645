"""The limits of calls: their duration and the size of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.tools.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from citewell.core.settings import Settings
    from citewell.tools.tool import AfterCall, Tool

MAX_RESPONSE_BYTES = 400_000
"""Both forms of one result together."""

# For citations, sources and statistics, which are outside the budget of the evidence.
_TOKENS_BESIDE_EVIDENCE = 10_000


def limited_registry(
    tools: Iterable[Tool[Any, Any]],
    settings: Settings,
    *,
    unavailable: Mapping[str, str] | None = None,
    after_call: AfterCall | None = None,
) -> Registry:
    """Return the registry of `tools` with the limits from the settings."""
    return Registry(
        tools,
        unavailable=unavailable,
        after_call=after_call,
        timeout_seconds=settings.mcp_tool_timeout,
        max_response_bytes=MAX_RESPONSE_BYTES,
        max_response_tokens=settings.mcp_response_token_budget + _TOKENS_BESIDE_EVIDENCE,
    )
