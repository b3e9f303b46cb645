"""Writes the answers that the stdio front gives: `python -m citewell.server.prepare_front`."""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from citewell.app.open import open_app
from citewell.core.settings import Settings
from citewell.server.jsonrpc import encode
from citewell.server.mcp_server import build_server
from citewell.server.stdio_front import (
    PREPARED_FILE,
    RELEASED,
    load_prepared_answers,
    sources_digest,
)
from citewell.tools.catalog import ALL_TOOLS, open_registry

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

# Every tool is listed, and in the form from which the front makes the others.
_LISTS_ALL = Settings(
    mcp_toolsets=("all",),
    mcp_tool_names="dotted",
    docs_root="docs",
    scope_environment="scratch",
    web_search_engines=("duckduckgo",),
)


async def prepare_answers() -> dict[str, Any]:
    """Return all that the front needs to answer as the SDK's server would, whatever the settings.

    The lists of tools and prompts, which settings shorten, stand beside the answers.
    """
    answers = await ask_server(_LISTS_ALL)
    lists = [answers[era] for era in ("handshake", "modern")]
    tools, same_tools = (results["tools/list"].pop("tools") for results in lists)
    prompts, same_prompts = (results["prompts/list"].pop("prompts") for results in lists)
    assert (tools, prompts) == (same_tools, same_prompts), "the eras list the same"
    return {
        "handshake_versions": list(HANDSHAKE_PROTOCOL_VERSIONS),
        "modern_versions": list(MODERN_PROTOCOL_VERSIONS),
        **answers,
        "prompts": prompts,
        "tools": [
            {
                "name": tool.name,
                "toolset": tool.toolset,
                "in_default": tool.in_default,
                "requires": tool.requires,
                "listing": listing,
            }
            for tool, listing in zip(ALL_TOOLS, tools, strict=True)
        ],
    }


async def ask_server(settings: Settings) -> dict[str, Any]:
    """Return what the SDK's server answers in each era before any tool is called."""
    handshake = {"initialize": _HANDSHAKE, "ping": {}, **{method: {} for method in _LISTS}}
    modern = dict.fromkeys(("server/discover", *_LISTS), _ENVELOPE)
    return {"handshake": await _ask(handshake, settings), "modern": await _ask(modern, settings)}


async def _ask(questions: dict[str, dict[str, Any]], settings: Settings) -> dict[str, Any]:
    """Return the server's result for each method, asked in order over one connection."""
    results: dict[str, Any] = {}
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage]()
    async with open_app(settings) as app, anyio.create_task_group() as tasks:
        server = build_server(open_registry(settings), app, settings=settings)
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


def write_prepared_answers(*, for_release: bool = False) -> None:
    """Write the answers beside the front, unless those of these sources are there."""
    sources = RELEASED if for_release else sources_digest()
    if not for_release and load_prepared_answers(Settings()) is not None:
        return
    answers = {"sources": sources, **anyio.run(prepare_answers)}
    # A server that starts meanwhile reads the old file or the new one, never half of it.
    part = PREPARED_FILE.with_suffix(f".{os.getpid()}")
    part.write_bytes(encode(answers))
    part.replace(PREPARED_FILE)


def main() -> None:
    """Write the answers; `--for-release` says that the sources will not change."""
    write_prepared_answers(for_release="--for-release" in sys.argv[1:])


if __name__ == "__main__":
    main()
