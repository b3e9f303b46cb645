"""Answers the first questions of a stdio client from prepared JSON, while the SDK is loading.

Uses the standard library alone: importing the SDK takes longer than some clients' patience. At
the first message that it does not know, the server takes over and gets the messages so far.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.frozen import frozen
from citewell.server.jsonrpc import (
    VERSION_KEY,
    Fault,
    can_ask_user,
    encode,
    is_implementation,
    is_modern_envelope,
    parse_message,
)
from citewell.tools.early import EARLY_TOOLS
from citewell.tools.instructions import compose_instructions
from citewell.tools.prompts import offered_prompts
from citewell.tools.toolsets import (
    Requirement,
    has_scopes,
    hide_scope,
    is_shown,
    list_tools,
    spell_name,
)

if TYPE_CHECKING:
    from citewell.core.settings import Settings
    from citewell.server.stdio_channel import LineChannel

PREPARED_FILE = Path(__file__).with_name("tools_list.json")
RELEASED = "released"
"""In place of a digest: a distribution is built with its answers, and its sources never change."""

Json = dict[str, Any]

# The key of answers that differ for clients that can ask their user.
_WITH_PEOPLE = "with_people"
_LISTED = "listed"
# The first version whose results have structured content.
_EARLIEST_VERSION = "2025-06-18"


@frozen
class PreparedTool:
    """A tool as the front knows it."""

    name: str
    toolset: str
    in_default: bool
    requires: Requirement | None
    listing: Json
    """As the server lists it that has its dotted name, its scope and its output schema."""


@frozen
class EarlyCall:
    """A call that can be answered before the SDK is loaded."""

    tool: str
    listed: frozenset[str]
    """The names of all tools that the server lists."""
    is_modern: bool


@frozen
class Handover:
    """What the SDK's server needs to go on where the front has stopped."""

    lines: tuple[bytes, ...] = ()
    """The client's opening, then what is still to be answered."""
    answered_id: str | int | None = None
    """The id of the opening, whose answer the client has."""
    early: EarlyCall | None = None
    """What the last line calls, if that needs no SDK."""


def load_prepared_answers(settings: Settings) -> Json | None:
    """Return the answers of a server with these settings.

    None where nothing was prepared, or for other sources than these; the SDK then answers.

    Raises:
        SettingsError: the settings choose tools that do not exist.
    """
    try:
        prepared: Json = json.loads(PREPARED_FILE.read_text(encoding="utf-8"))
    except OSError:
        return None
    if prepared["sources"] != RELEASED and prepared["sources"] != sources_digest():
        return None
    chosen = list_tools([PreparedTool(**tool) for tool in prepared["tools"]], settings)
    lists, prepared[_WITH_PEOPLE] = (
        _lists_of(
            [
                tool
                for tool in chosen
                if is_shown(tool.toolset, toolsets=settings.mcp_toolsets, elicits=elicits)
            ],
            prepared["prompts"],
            settings,
        )
        for elicits in (False, True)
    )
    prepared[_LISTED] = frozenset(tool.name for tool in chosen)
    for era in ("handshake", "modern"):
        for method in prepared[era].keys() & lists.keys():
            prepared[era][method] |= lists[method]
    return prepared


def _lists_of(tools: list[PreparedTool], prompts: list[Json], settings: Settings) -> Json:
    """Return what differs with the tools, by method."""
    names = [tool.name for tool in tools]
    dotted = settings.mcp_tool_names == "dotted"
    instructions = {"instructions": compose_instructions(names, dotted=dotted)}
    offered = [prompt.name for prompt in offered_prompts(names)]
    return {
        "initialize": instructions,
        "server/discover": instructions,
        "tools/list": {"tools": [_shape(tool, settings) for tool in tools]},
        "prompts/list": {"prompts": [prompt for prompt in prompts if prompt["name"] in offered]},
    }


def sources_digest() -> str:
    """Return what changes whenever a module of the package does."""
    folders, states = [str(PREPARED_FILE.parent.parent)], []
    while folders:
        # Not pathlib: it takes longer than all that the front does.
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    state = entry.stat()
                    states.append(f"{entry.path} {state.st_size} {state.st_mtime_ns}")
                elif entry.is_dir():
                    folders.append(entry.path)
    return blake2b("\n".join(sorted(states)).encode(), digest_size=16).hexdigest()


def _shape(tool: PreparedTool, settings: Settings) -> Json:
    listing = dict(tool.listing)
    listing["name"] = spell_name(tool.name, dotted=settings.mcp_tool_names == "dotted")
    if not has_scopes(settings):
        listing["inputSchema"] = hide_scope(listing["inputSchema"])
    if not settings.mcp_structured_output_enabled:
        del listing["outputSchema"]
    return listing


def answer_until_unknown(channel: LineChannel, prepared: Json) -> Handover | None:
    """Answer what `prepared` knows, then return the handover; None when the client has gone."""
    front = Front(prepared)
    while (line := channel.read_line()) is not None:
        message = parse_message(line)
        if isinstance(message, Fault) or not front.takes(message, line):
            return Handover(
                lines=(*front.opening, line),
                answered_id=front.answered_id,
                early=None if isinstance(message, Fault) else front.find_early(message),
            )
        result = front.result_of(message)
        if result is not None:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            try:
                channel.write_line(encode(answer))
            except OSError:
                return None
    return None


class Front:
    """One client's connection, up to the first message that the front does not know."""

    def __init__(self, prepared: Json) -> None:
        self._prepared = prepared
        self._results: Json = {}
        self.opening: list[bytes] = []
        """The lines from which the SDK's server learns the era, version and client."""
        self.answered_id: str | int | None = None
        self._elicits_since_opening = False
        self._version = ""

    def takes(self, message: Json, line: bytes) -> bool:
        """Return whether the message is one of ours, and keep it if it opens the connection."""
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
        method = message["method"]
        result: Json = self._results[method]
        if self._elicits(message):
            result = {**result, **self._prepared[_WITH_PEOPLE].get(method, {})}
        if method != "initialize":
            return result
        asked, known = message["params"]["protocolVersion"], self._prepared["handshake_versions"]
        self._version = asked if asked in known else known[-1]
        return {**result, "protocolVersion": self._version}

    def find_early(self, message: Json) -> EarlyCall | None:
        """Return the call that a message makes, if no SDK is needed for it."""
        params = message.get("params", {})
        tool, listed = str(params.get("name")), self._prepared[_LISTED]
        if message.get("method") != "tools/call" or tool not in listed & EARLY_TOOLS.keys():
            return None
        meta = params.get("_meta", {})
        if not (self._is_open() and isinstance(meta, dict)):
            return None
        is_modern = self._results is self._prepared["modern"]
        if is_modern and not is_modern_envelope(meta, self._prepared["modern_versions"]):
            return None
        if not is_modern and (VERSION_KEY in meta or self._version < _EARLIEST_VERSION):
            return None
        return EarlyCall(tool=tool, listed=listed, is_modern=is_modern)

    def _is_open(self) -> bool:
        is_handshake = self._results is self._prepared["handshake"]
        return len(self.opening) == (2 if is_handshake else 1)

    def _elicits(self, message: Json) -> bool:
        """Return whether the client can ask its user; in the newer era each message says so."""
        params = message.get("params", {})
        if message["method"] == "initialize":
            self._elicits_since_opening = "elicitation" in params["capabilities"]
        if self._results is self._prepared["handshake"]:
            return self._elicits_since_opening
        return can_ask_user(params["_meta"])

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
            return message["method"] != "initialize" and VERSION_KEY not in envelope
        return is_modern_envelope(envelope, self._prepared["modern_versions"])


def _is_handshake(message: Json) -> bool:
    params = message.get("params", {})
    return (
        message.get("method") == "initialize"
        and "id" in message
        and isinstance(params.get("protocolVersion"), str)
        and isinstance(params.get("capabilities"), dict)
        and is_implementation(params.get("clientInfo"))
    )
