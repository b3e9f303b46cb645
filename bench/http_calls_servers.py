"""The two servers that `bench.http_calls` compares, each with one tool that does nothing."""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from citewell.app.open import open_app
from citewell.app.parts import PART_NAMES
from citewell.core.settings import load_settings
from citewell.server.http_app import build_http_app
from citewell.server.http_server import settle
from citewell.server.listener import bind
from citewell.server.logging_setup import configure_logging
from citewell.server.mcp_server import build_server
from citewell.server.metrics import Metrics
from citewell.tools.registry import Registry
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput

RequestContext = ServerRequestContext[Any, Any]

KINDS = ("bare", "ours")

_SCHEMA = {"type": "object", "properties": {"words": {"type": "string"}}}


class Words(ToolInput):
    words: str = "heron"


class Said(ToolOutput):
    said: str


async def echo(given: Words, call: Call) -> Said:
    return Said(said=given.words)


TOOL: Tool[Words, Said] = Tool(
    name="echo",
    toolset="research",
    title="Echo",
    description="Echo.",
    annotations=Annotations(read_only=True),
    needs=(),
    run=echo,
    render=lambda said, call: said.said,
    example={},
)


async def serve_ours(listener: socket.socket) -> None:
    """Everything on: keys, both rate limits, metering, metrics, request ids, the log."""
    settings = load_settings(
        {"embedder": "none", "rate_limit_per_key": 10**9, "rate_limit_per_address": 10**9}
    )
    configure_logging(settings.mcp_log_level)
    registry = Registry([TOOL], timeout_seconds=60, max_response_bytes=400_000)
    metrics = Metrics()
    async with open_app(settings) as app:
        await app.open(*PART_NAMES)
        server = build_server(registry, app, settings=settings, metrics=metrics)
        asgi_app = build_http_app(server, registry, app, settings=settings, metrics=metrics)
        await settle()
        await run_uvicorn(asgi_app, listener)


async def serve_bare(listener: socket.socket) -> None:
    """The SDK's server as its examples have it, with nothing around."""

    async def list_tools(
        context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema=_SCHEMA)])

    async def call_tool(
        context: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        said = (params.arguments or {}).get("words", "heron")
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=said)]
        return types.CallToolResult(content=content, structured_content={"said": said})

    server = Server(
        "bare",
        version="1",
        get_tool_input_schema={"echo": _SCHEMA}.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    manager = StreamableHTTPSessionManager(server)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    class Endpoint:
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            await manager.handle_request(scope, receive, send)

    await run_uvicorn(Starlette(routes=[Route("/mcp", Endpoint())], lifespan=lifespan), listener)


async def run_uvicorn(app: Starlette, listener: socket.socket) -> None:
    sys.stderr.write(f"port {listener.getsockname()[1]}\n")
    sys.stderr.flush()
    config = uvicorn.Config(app, access_log=False, log_config=None, timeout_keep_alive=75)
    await uvicorn.Server(config).serve([listener])


def main() -> None:
    serve = {"bare": serve_bare, "ours": serve_ours}[sys.argv[1]]
    anyio.run(serve, bind("127.0.0.1", 0))


if __name__ == "__main__":
    main()
