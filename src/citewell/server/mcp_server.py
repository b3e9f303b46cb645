"""The registry as an MCP server, whatever the transport: tools listed, called and cancelled."""

from __future__ import annotations

import json
import logging
import secrets
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import REQUEST_CANCELLED
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request

from citewell import __version__
from citewell.core.errors import CitewellError
from citewell.core.records import Caller
from citewell.tools.catalog import INSTRUCTIONS
from citewell.tools.registry import ToolResult, error_result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext

    from citewell.core.results import Progress
    from citewell.core.settings import Settings
    from citewell.server.late_services import LateServices
    from citewell.tools.registry import Registry, Tool
    from citewell.tools.services import Services

    RequestContext = ServerRequestContext[Any, Any]

logger = logging.getLogger(__name__)

SERVER_NAME = "citewell"

GONE_KEY = "citewell.gone"
"""Where the HTTP layer keeps, in a request's scope, the event that its client went away."""

KEY_HASH_KEY = "citewell.key_hash"
"""Where the HTTP layer keeps, in a request's scope, the hash of the key it was allowed by."""


def build_server(registry: Registry, services: LateServices, *, settings: Settings) -> Server[Any]:
    """Return the MCP server of the registry's tools; it opens nothing until a tool is called."""
    dotted = settings.mcp_tool_names == "dotted"
    structured = settings.mcp_structured_output_enabled
    listed = [_list_tool(tool, dotted=dotted, structured=structured) for tool in registry.tools]
    input_schemas = {
        name: tool.input_schema()
        for tool in registry.tools
        for name in (tool.name, tool.underscored_name)
    }
    process_session = secrets.token_hex(16)

    async def list_tools(
        context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        context: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if registry.find(params.name) is None:
            known = ", ".join(tool.name for tool in listed)
            message = f"Unknown tool: {params.name[:80]}. The tools are: {known}."
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        caller = _identify(context, process_session, project=settings.project)
        result = await _call(registry, services, context, params=params, caller=caller)
        return _shape_result(result, structured=structured)

    return Server(
        SERVER_NAME,
        version=__version__,
        title="Citewell",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=input_schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _call(
    registry: Registry,
    services: LateServices,
    context: RequestContext,
    *,
    params: types.CallToolRequestParams,
    caller: Caller,
) -> ToolResult:
    """Run the tool until it is done or its client has gone."""
    sent = 0

    async def report(progress: Progress) -> None:
        nonlocal sent
        sent += 1
        # Phases follow one another with counts of their own; the protocol wants one number that
        # only grows, and how many messages there will be is not known.
        await context.session.report_progress(sent, message=progress.message)

    result: ToolResult | None = None
    async with anyio.create_task_group() as tasks:
        if isinstance(context.request, Request) and GONE_KEY in context.request.scope:
            gone: anyio.Event = context.request.scope[GONE_KEY]
            tasks.start_soon(_cancel_when_set, gone, tasks.cancel_scope)
        opened = await _open(services)
        if isinstance(opened, ToolResult):
            result = opened
        else:
            result = await registry.call(
                params.name,
                params.arguments or {},
                services=opened,
                caller=caller,
                on_progress=report,
            )
            if sent:
                await context.session.report_progress(sent + 1, total=sent + 1, message="Done")
        tasks.cancel_scope.cancel()
    if result is None:
        raise MCPError(code=REQUEST_CANCELLED, message="The client has gone.")
    return result


async def _open(services: LateServices) -> Services | ToolResult:
    """Return the open services, or the result that says why they cannot be opened."""
    try:
        return await services.get()
    except CitewellError as error:
        logger.exception("engine start failed")
        return error_result(error)
    except Exception:
        logger.exception("engine start failed")
        return error_result(CitewellError("The server met an unexpected error."))


async def _cancel_when_set(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _identify(context: RequestContext, process_session: str, *, project: str) -> Caller:
    request = context.request
    if not isinstance(request, Request):
        return Caller(session=process_session, project=project)
    # Only the handshake era has sessions, and its transport has checked that this one exists; in
    # the other era anyone could name the session of someone else.
    has_session = context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    session = request.headers.get("mcp-session-id") if has_session else None
    return Caller(
        session=session or secrets.token_hex(16),
        key_hash=request.scope.get(KEY_HASH_KEY),
        project=project,
    )


def _list_tool(tool: Tool[Any, Any, Any], *, dotted: bool, structured: bool) -> types.Tool:
    return types.Tool(
        name=tool.name if dotted else tool.underscored_name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema(),
        output_schema=tool.output_schema() if structured else None,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.annotations.read_only,
            destructive_hint=tool.annotations.destructive,
            idempotent_hint=tool.annotations.idempotent,
            open_world_hint=tool.annotations.open_world,
        ),
    )


def _shape_result(result: ToolResult, *, structured: bool) -> types.CallToolResult:
    text = result.text if structured else _minified(result.structured)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=result.structured if structured else None,
        is_error=result.is_error,
    )


def _minified(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
