"""The registry as an MCP server, whatever the transport: tools listed, called and cancelled.

What stands beside the tools (resources, prompts, completion) has modules of its own.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import REQUEST_CANCELLED
from mcp.shared.exceptions import MCPError
from starlette.requests import Request

from citewell import __version__
from citewell.app.client_port import ClientMustAnswer
from citewell.server.call_messages import SERVER_NAME, SERVER_TITLE, Json, shape_result
from citewell.server.calls import Calls
from citewell.server.client_log import ClientLog
from citewell.server.client_port import RequestClient, can_elicit
from citewell.server.departure import DEPARTURE_KEY
from citewell.server.plain_calls import ToolCalls
from citewell.server.prompt_handlers import PromptHandlers
from citewell.server.resource_handlers import ResourceHandlers
from citewell.server.subscriptions import Subscriptions
from citewell.tools.instructions import compose_instructions
from citewell.tools.limits import MAX_RESPONSE_BYTES
from citewell.tools.toolsets import has_scopes, is_shown, spell_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from citewell.app.parts import OpensParts
    from citewell.core.progress import Progress
    from citewell.core.records import Caller
    from citewell.core.settings import Settings
    from citewell.server.departure import Departure
    from citewell.server.metrics import Metrics
    from citewell.tools.registry import Registry
    from citewell.tools.results import ToolResult
    from citewell.tools.tool import Tool

    RequestContext = ServerRequestContext[Any, Any]

# What a client of each era sends first; the answer says how to use this server.
_OPENINGS = ("initialize", "server/discover")
# Claude Code shows a model only the first 2 kB of a result of more than some 50,000 characters,
# unless the tool names a higher limit. Every result is bounded here already.
_SIZE_HINT = {"anthropic/maxResultSizeChars": MAX_RESPONSE_BYTES}


def build_server(
    registry: Registry,
    app: OpensParts,
    *,
    settings: Settings,
    metrics: Metrics | None = None,
) -> Server[Any]:
    """Return the MCP server of the registry's tools; it opens nothing until a tool is called.

    Calls are counted in `metrics` where given.
    """
    dotted = settings.mcp_tool_names == "dotted"
    structured = settings.mcp_structured_output_enabled
    calls = Calls(
        app=app,
        project=settings.project,
        timeout_seconds=settings.mcp_tool_timeout,
        has_sessions=settings.mcp_sessions,
    )
    tool_calls = ToolCalls(registry, app, metrics)
    client_log = ClientLog(calls)
    resources = ResourceHandlers(calls)
    subscriptions = Subscriptions(calls)
    prompts = PromptHandlers(registry=registry, calls=calls, dotted=dotted)

    listings = _Listings(registry, settings)

    def visible_tools(context: RequestContext) -> list[Tool[Any, Any]]:
        caller = calls.identify(context)
        shows = partial(
            is_shown,
            toolsets=settings.mcp_toolsets,
            elicits=can_elicit(context),
            of_key=caller.toolsets,
        )
        return [tool for tool in registry.tools_for(caller) if shows(tool.toolset)]

    async def list_tools(
        context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        visible = visible_tools(context)
        return types.ListToolsResult(tools=[listings.of(tool) for tool in visible])

    async def call_tool(
        context: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if registry.find(params.name) is None and not registry.why_unavailable(params.name):
            raise _unknown_tool(params.name, registry.tools, dotted=dotted)
        client = RequestClient(context, params)
        caller = calls.identify(context)
        result, links = await _call(tool_calls, caller, context, params=params, client=client)
        await client_log.report(context, params.name, result)
        if client.asked:
            return types.InputRequiredResult(input_requests=client.asked)
        if result is None:
            raise MCPError(code=REQUEST_CANCELLED, message="The client has gone.")
        shaped = shape_result(result, links, structured=structured)
        return types.CallToolResult.model_validate(shaped)

    async def instruct(ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method not in _OPENINGS or not isinstance(result, dict):
            return result
        visible = [tool.name for tool in visible_tools(ctx)]
        return {**result, "instructions": compose_instructions(visible, dotted=dotted)}

    server: Server[Any] = Server(
        SERVER_NAME,
        version=__version__,
        title=SERVER_TITLE,
        get_tool_input_schema=listings.input_schema_of,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=resources.list,
        on_list_resource_templates=resources.list_templates,
        on_read_resource=resources.read,
        on_list_prompts=prompts.list,
        on_get_prompt=prompts.get,
        on_completion=prompts.complete,
        on_subscriptions_listen=subscriptions.listen,
        on_subscribe_resource=subscriptions.subscribe if settings.mcp_sessions else None,
        on_unsubscribe_resource=subscriptions.unsubscribe if settings.mcp_sessions else None,
    )
    server.middleware.append(instruct)
    server.add_request_handler(
        "logging/setLevel", types.SetLevelRequestParams, client_log.set_level
    )
    return server


def _unknown_tool(name: str, tools: Iterable[Tool[Any, Any]], *, dotted: bool) -> MCPError:
    known = ", ".join(spell_name(tool.name, dotted=dotted) for tool in tools)
    message = f"Unknown tool: {name[:80]}. The tools are: {known}."
    return MCPError(code=types.INVALID_PARAMS, message=message)


async def _call(
    tool_calls: ToolCalls,
    caller: Caller,
    context: RequestContext,
    *,
    params: types.CallToolRequestParams,
    client: RequestClient,
) -> tuple[ToolResult | None, list[Json]]:
    """Run the tool until it is done; return its result and what that names.

    There is no result when the client has gone, or must answer something first.
    """
    sent = 0

    async def report(progress: Progress) -> None:
        nonlocal sent
        sent += 1
        # Phases follow one another with counts of their own; the protocol wants one number that
        # only grows, and how many messages there will be is not known.
        await context.session.report_progress(sent, message=progress.message)

    result: ToolResult | None = None
    links: list[Json] = []
    with _until_client_goes(context), suppress(ClientMustAnswer):
        result, links = await tool_calls.run(
            params.name, params.arguments or {}, caller=caller, on_progress=report, client=client
        )
        if sent:
            await context.session.report_progress(sent + 1, total=sent + 1, message="Done")
    return result, links


def _until_client_goes(context: RequestContext) -> AbstractContextManager[None]:
    """Return what ends the work inside it when the client goes, where that can be known."""
    request = context.request
    if not isinstance(request, Request) or DEPARTURE_KEY not in request.scope:
        return nullcontext()
    departure: Departure = request.scope[DEPARTURE_KEY]
    return departure.ends_this()


class _Listings:
    """The tools as clients see them, each made when first asked for.

    Over stdio that is mostly never: the front lists the tools.
    """

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry = registry
        self._settings = settings
        self._made: dict[str, types.Tool] = {}

    def of(self, tool: Tool[Any, Any]) -> types.Tool:
        """Return a tool as it is listed."""
        if tool.name not in self._made:
            self._made[tool.name] = _list_tool(tool, self._settings)
        return self._made[tool.name]

    def input_schema_of(self, name: str) -> Mapping[str, Any] | None:
        """Return the schema of a tool's arguments; None if there is no such tool."""
        tool = self._registry.find(name)
        return None if tool is None else self.of(tool).input_schema


def _list_tool(tool: Tool[Any, Any], settings: Settings) -> types.Tool:
    return types.Tool(
        name=spell_name(tool.name, dotted=settings.mcp_tool_names == "dotted"),
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema(with_scope=has_scopes(settings)),
        output_schema=tool.output_schema() if settings.mcp_structured_output_enabled else None,
        _meta=_SIZE_HINT,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.annotations.read_only,
            destructive_hint=tool.annotations.destructive,
            idempotent_hint=tool.annotations.idempotent,
            open_world_hint=tool.annotations.open_world,
        ),
    )
