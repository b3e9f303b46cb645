"""`tools/call` as messages: the call that a message asks for, and its result as JSON.

Imports no more than that takes, so that a server can answer before it has loaded the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from citewell.server.jsonrpc import compact_json, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.tools.registry import Registry
    from citewell.tools.results import ToolResult

Json = dict[str, Any]

SERVER_NAME = "citewell"
SERVER_TITLE = "Citewell"

_PARAMS = frozenset({"name", "arguments", "_meta"})
# By these a client asks for notifications besides the result.
_PROGRESS = "progressToken"
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"


@dataclass(frozen=True, slots=True)
class PlainCall:
    """A call that one message answers."""

    request_id: str | int
    name: str
    arguments: Json


def find_call(
    message: Json, registry: Registry, *, ignores_progress: bool = False
) -> PlainCall | None:
    """Return the call of a tool in `registry` that a valid message asks for.

    None for any other message, and for a call that is answered with more than one message.
    """
    if message.get("method") != "tools/call" or "id" not in message:
        return None
    params = message.get("params", {})
    name, arguments, meta = (params.get(key) for key in ("name", "arguments", "_meta"))
    arguments, meta = arguments or {}, meta or {}
    if not (isinstance(name, str) and isinstance(arguments, dict) and isinstance(meta, dict)):
        return None
    if not _PARAMS.issuperset(params) or _LOG_LEVEL in meta:
        return None
    if _PROGRESS in meta and not ignores_progress:
        return None
    tool = registry.find(name)
    if tool is None or not tool.only_reads_library:
        return None
    return PlainCall(message["id"], name, arguments)


def shape_result(result: ToolResult, links: Sequence[Json], *, structured: bool) -> Json:
    """Return the JSON of a result: both of its forms with links, or one block of JSON."""
    if not structured:
        # It contains the URIs of the links already.
        text = compact_json(result.structured)
        return {"content": [{"type": "text", "text": text}], "isError": result.is_error}
    return {
        "content": [{"type": "text", "text": result.text}, *links],
        "structuredContent": result.structured,
        "isError": result.is_error,
    }


def encode_result(request_id: str | int, result: Json) -> bytes:
    """Return the JSON-RPC response to a request."""
    return encode({"jsonrpc": "2.0", "id": request_id, "result": result})
