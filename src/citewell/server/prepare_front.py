"""Writes the answers that the stdio front gives: `python -m citewell.server.prepare_front`."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from citewell import __version__
from citewell.core.settings import Settings
from citewell.server.late_services import late_services
from citewell.server.mcp_server import build_server
from citewell.server.stdio_front import PREPARED_FILE
from citewell.tools.catalog import open_registry

_CLIENT = {"name": "prepare", "version": "1"}
_HANDSHAKE = {
    "protocolVersion": HANDSHAKE_PROTOCOL_VERSIONS[-1],
    "capabilities": {},
    "clientInfo": _CLIENT,
}
_ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN_PROTOCOL_VERSIONS[-1],
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": _CLIENT,
    }
}


_LISTS = ("tools/list", "prompts/list", "resources/templates/list")


async def prepare_answers() -> dict[str, Any]:
    """Return what the SDK's server answers, with default settings, before any tool is called."""
    return {
        "version": __version__,
        "handshake_versions": list(HANDSHAKE_PROTOCOL_VERSIONS),
        "modern_versions": list(MODERN_PROTOCOL_VERSIONS),
        "handshake": await _ask(
            {"initialize": _HANDSHAKE, "ping": {}, **{method: {} for method in _LISTS}}
        ),
        "modern": await _ask(dict.fromkeys(("server/discover", *_LISTS), _ENVELOPE)),
    }


async def _ask(questions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the server's result for each method, asked in order over one connection."""
    settings = Settings()
    results: dict[str, Any] = {}
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage]()
    async with late_services(settings) as services, anyio.create_task_group() as tasks:
        server = build_server(open_registry(settings), services, settings=settings)
        options = server.create_initialization_options()
        tasks.start_soon(server.run, incoming, outgoing, options)
        async with to_server, from_server:
            for method, params in questions.items():
                request = types.JSONRPCRequest(jsonrpc="2.0", id=1, method=method, params=params)
                await to_server.send(SessionMessage(request))
                answer = (await from_server.receive()).message
                assert isinstance(answer, types.JSONRPCResponse), answer
                results[method] = answer.result
    return results


def main() -> None:
    """Write the answers beside the front."""
    answers = anyio.run(prepare_answers)
    with resources.as_file(resources.files("citewell.server")) as folder:
        text = json.dumps(answers, ensure_ascii=False, indent=1)
        Path(folder, PREPARED_FILE).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
