"""JSON-RPC as it comes off the wire: a message, or what is wrong with it."""

from __future__ import annotations

import json
from dataclasses import field
from typing import TYPE_CHECKING, Any

from citewell.core.bounded_json import TooManyValues, parse_bounded_json
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
RATE_LIMITED = -32000

MAX_REQUEST_BYTES = 2_000_000
"""Of one message, over any transport that carries messages of others.

Four times what the arguments of a call may take: clients escape what is not ASCII.
"""
MAX_VALUES = 10_000
"""Of one message, counting keys: several times what the largest call needs.

The worst message of so many takes 15 ms of the event loop, so eight at once delay others by an
eighth of a second.
"""

# Twice the longest of the protocol; the answer to one that is unknown repeats it.
_MOST_METHOD_CHARACTERS = 100

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""Where a message of the sessionless era names its version of the protocol."""
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"


@frozen
class Fault:
    """Why a message cannot be served, with the id to answer to when there is one."""

    code: int
    message: str
    request_id: str | int | None = None
    data: Mapping[str, int] | None = None
    status: int = 400
    """Of the HTTP response that carries it, with the headers of that."""
    headers: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Return the JSON-RPC error as bytes, without a line end."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = dict(self.data)
        return encode({"jsonrpc": "2.0", "id": self.request_id, "error": error})


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as one line of JSON; half of a character is escaped, as JSON can."""
    return compact_json(message).encode("utf-8", "backslashreplace")


def compact_json(value: Mapping[str, Any]) -> str:
    """Return JSON without spaces between its parts, and with all letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parse_message(raw: bytes) -> dict[str, Any] | Fault:
    """Return the one request, notification or response that `raw` holds.

    Batches are refused: the protocol dropped them in 2025-06-18.
    """
    if len(raw) > MAX_REQUEST_BYTES:
        text = f"Invalid request: at most {MAX_REQUEST_BYTES:,} bytes are taken."
        return Fault(code=INVALID_REQUEST, message=text)
    try:
        message = parse_bounded_json(raw, max_values=MAX_VALUES)
    except TooManyValues:
        return Fault(
            code=INVALID_REQUEST,
            message=f"Invalid request: a message may have {MAX_VALUES:,} values and keys, and this "
            "one has more. Send less at once; a long text counts as one value.",
        )
    # Besides syntax: bad UTF-8, integers of more than a hundred digits, nesting without end.
    except ValueError:
        return Fault(code=PARSE_ERROR, message="Parse error: the message is not JSON.")
    if not isinstance(message, dict):
        return Fault(code=INVALID_REQUEST, message="Invalid request: send one JSON object.")
    fault = _find_fault(message)
    # Only an escape can spell half of a character, and few messages have one.
    if fault is None and rb"\ud" in raw.lower():
        fault = _find_half_character(message)
    return fault or message


def _find_half_character(message: dict[str, Any]) -> Fault | None:
    """Refuse parameters that no answer could repeat, such as the name of an unknown tool."""
    params = message.get("params", {})
    if message.get("method") == "tools/call":
        # The tool itself says which of its arguments is wrong.
        params = {name: value for name, value in params.items() if name != "arguments"}
    if is_unicode(compact_json(params)):
        return None
    text = "Invalid params: a text holds half of a character."
    return Fault(code=INVALID_PARAMS, message=text, request_id=message.get("id"))


def _find_fault(message: dict[str, Any]) -> Fault | None:
    named = message.get("id")
    request_id = named if isinstance(named, str | int) and not isinstance(named, bool) else None
    if isinstance(request_id, str) and not is_unicode(request_id):
        return _invalid("id holds half of a character", None)
    if message.get("jsonrpc") != "2.0":
        return _invalid("jsonrpc must be '2.0'", request_id)
    if "id" in message and request_id is None and "error" not in message:
        return _invalid("id must be a string or an integer", None)
    if not isinstance(message.get("params", {}), dict):
        text = "Invalid params: params must be an object."
        return Fault(code=INVALID_PARAMS, message=text, request_id=request_id)
    if "method" not in message:
        return _find_fault_of_response(message, request_id)
    if not isinstance(message["method"], str):
        return _invalid("method must be a string", request_id)
    if len(message["method"]) > _MOST_METHOD_CHARACTERS:
        return _invalid("there is no method with so long a name", request_id)
    if not is_unicode(message["method"]):
        return _invalid("method holds half of a character", request_id)
    return None


def _find_fault_of_response(message: dict[str, Any], request_id: str | int | None) -> Fault | None:
    if "result" not in message and "error" not in message:
        return _invalid("method is missing", request_id)
    is_null = "error" in message and message.get("id", "") is None
    if request_id is None and not is_null:
        return _invalid("an answer needs the id of its request", None)
    if "error" in message:
        error = message["error"]
        named = (error.get("code"), error.get("message")) if isinstance(error, dict) else ()
        if [type(part) for part in named] != [int, str]:
            return _invalid("error must have a code and a message", request_id)
        return None
    is_object = isinstance(message["result"], dict)
    return None if is_object else _invalid("result must be an object", request_id)


def is_unicode(text: str) -> bool:
    """Return whether `text` can be sent back: JSON can spell halves of a character, UTF-8 not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _invalid(reason: str, request_id: str | int | None) -> Fault:
    return Fault(code=INVALID_REQUEST, message=f"Invalid request: {reason}.", request_id=request_id)


def is_modern_envelope(meta: Mapping[str, Any], versions: Collection[str]) -> bool:
    """Return whether `_meta` says all that a message of the sessionless era must say."""
    version = meta.get(VERSION_KEY)
    return (
        isinstance(version, str)
        and version in versions
        and isinstance(meta.get(_CAPABILITIES_KEY), dict)
        and (_CLIENT_KEY not in meta or is_implementation(meta[_CLIENT_KEY]))
    )


def can_ask_user(meta: Mapping[str, Any]) -> bool:
    """Return whether the client that sent such an envelope can ask its user."""
    return "elicitation" in meta[_CAPABILITIES_KEY]


def is_implementation(value: object) -> bool:
    """Return whether a value names a client, or a server, and its version."""
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("name"), str) and isinstance(value.get("version"), str)
