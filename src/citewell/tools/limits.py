"""How long a call may take and how much it may return, as it is set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.tools.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from citewell.core.settings import Settings
    from citewell.tools.tool import AfterCall, Tool

MAX_RESPONSE_BYTES = 400_000
"""Of one tool result, both content forms together."""

# Citations, sources and statistics, which the budget of a brief's evidence does not count.
_TOKENS_BESIDE_EVIDENCE = 10_000


def limited_registry(
    tools: Iterable[Tool[Any, Any]],
    settings: Settings,
    *,
    unavailable: Mapping[str, str] | None = None,
    after_call: AfterCall | None = None,
) -> Registry:
    """Return the registry of `tools` with the limits that `settings` name."""
    return Registry(
        tools,
        unavailable=unavailable,
        after_call=after_call,
        timeout_seconds=settings.mcp_tool_timeout,
        max_response_bytes=MAX_RESPONSE_BYTES,
        max_response_tokens=settings.mcp_response_token_budget + _TOKENS_BESIDE_EVIDENCE,
    )
