"""Answers the first questions of a stdio client from prepared JSON, while the SDK is loading.

Uses the standard library alone: importing the SDK takes longer than some clients' patience. At
the first message that it does not know, the SDK's server takes over and is told what was said.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from citewell import __version__
from citewell.core.settings import Settings
from citewell.server.jsonrpc import Fault, parse_message

if TYPE_CHECKING:
    from citewell.server.stdio_channel import LineChannel

PREPARED_FILE = "tools_list.json"

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"

# The settings that decide which tools are listed, and how.
_DECIDE_LISTING = (
    "mcp_toolsets",
    "mcp_tool_names",
    "mcp_structured_output_enabled",
    "mcp_kb_v2_enabled",
    "docs_root",
    "web_search_engines",
    "web_search_google_api_key",
    "web_search_google_cx",
    "web_search_brave_api_key",
    "web_search_tavily_api_key",
    "web_search_searxng_url",
)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """What the SDK's server needs to go on where the front has stopped."""

    lines: tuple[bytes, ...] = ()
    """The client's opening, then what is still to be answered."""
    answered_id: str | int | None = None
    """The id of the opening, whose answer the client has."""


def load_prepared_answers(settings: Settings) -> Json | None:
    """Return the prepared answers, None when they are not those of these settings."""
    default = Settings()
    if any(getattr(settings, name) != getattr(default, name) for name in _DECIDE_LISTING):
        return None
    text = resources.files("citewell.server").joinpath(PREPARED_FILE).read_text("utf-8")
    prepared: Json = json.loads(text)
    return prepared if prepared["version"] == __version__ else None


def answer_until_unknown(channel: LineChannel, prepared: Json) -> Handover | None:
    """Answer what `prepared` knows, then return the handover; None when the client has gone."""
    front = Front(prepared)
    while (line := channel.read_line()) is not None:
        message = parse_message(line)
        if isinstance(message, Fault) or not front.takes(message, line):
            return Handover(lines=(*front.opening, line), answered_id=front.answered_id)
        result = front.result_of(message)
        if result is not None:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
            try:
                channel.write_line(text.encode())
            except OSError:
                return None
    return None


class Front:
    """One client's connection, up to the first message that the front does not know."""

    def __init__(self, prepared: Json) -> None:
        self._prepared = prepared
        self._results: Json = {}
        self.opening: list[bytes] = []
        """The lines that tell the SDK's server which era, version and client it has."""
        self.answered_id: str | int | None = None

    def takes(self, message: Json, line: bytes) -> bool:
        """Tell whether the message is one of ours, and keep it if it opens the connection."""
        if not self.opening:
            return self._opens(message, line)
        if message.get("method") == "notifications/initialized" and self._completes_handshake():
            self.opening.append(line)
            return True
        return self._is_plain_request(message)

    def result_of(self, message: Json) -> Json | None:
        """Return the result of a message that `takes` took; a notification has none."""
        if "id" not in message:
            return None
        result: Json = self._results[message["method"]]
        if message["method"] != "initialize":
            return result
        asked, known = message["params"]["protocolVersion"], self._prepared["handshake_versions"]
        return {**result, "protocolVersion": asked if asked in known else known[-1]}

    def _opens(self, message: Json, line: bytes) -> bool:
        is_handshake = _is_handshake(message)
        self._results = self._prepared["handshake" if is_handshake else "modern"]
        if not is_handshake and not self._is_plain_request(message):
            return False
        self.opening.append(line)
        self.answered_id = message["id"]
        return True

    def _completes_handshake(self) -> bool:
        return self._results is self._prepared["handshake"] and len(self.opening) == 1

    def _is_plain_request(self, message: Json) -> bool:
        params = message.get("params", {})
        envelope = params.get("_meta", {})
        if message.get("method") not in self._results or "id" not in message:
            return False
        if set(params) - {"_meta"} or not isinstance(envelope, dict):
            return False
        if self._results is self._prepared["handshake"]:
            return message["method"] != "initialize" and _VERSION_KEY not in envelope
        return (
            envelope.get(_VERSION_KEY) in self._prepared["modern_versions"]
            and isinstance(envelope.get(_CAPABILITIES_KEY), dict)
            and (_CLIENT_KEY not in envelope or _is_implementation(envelope[_CLIENT_KEY]))
        )


def _is_handshake(message: Json) -> bool:
    params = message.get("params", {})
    return (
        message.get("method") == "initialize"
        and "id" in message
        and isinstance(params.get("protocolVersion"), str)
        and isinstance(params.get("capabilities"), dict)
        and _is_implementation(params.get("clientInfo"))
    )


def _is_implementation(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("name"), str) and isinstance(value.get("version"), str)
