"""The tools, prompts and resources that the conformance suite calls, on the SDK's server."""

from __future__ import annotations

import json
import secrets
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from tests.conformance.input_rounds import ROUNDS, play_round

Context = ServerRequestContext[Any, Any]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
EVERY_2020_12_KEYWORD: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "json_schema_2020_12_tool": EVERY_2020_12_KEYWORD,
    "test_sampling": {"type": "object", "properties": {"prompt": {"type": "string"}}},
    "test_elicitation": {"type": "object", "properties": {"message": {"type": "string"}}},
    "test_header_echo": {
        "type": "object",
        "properties": {"text": {"type": "string", "x-mcp-header": "Text"}},
    },
    **dict.fromkeys(
        (
            "test_simple_text",
            "test_image_content",
            "test_audio_content",
            "test_embedded_resource",
            "test_multiple_content_types",
            "test_tool_with_logging",
            "test_logging_tool",
            "test_tool_with_progress",
            "test_error_handling",
            "test_reconnection",
            "test_elicitation_sep1034_defaults",
            "test_elicitation_sep1330_enums",
            "test_streaming_elicitation",
            "test_missing_capability",
            "test_trigger_tool_change",
            "test_trigger_prompt_change",
            *ROUNDS,
        ),
        NOTHING,
    ),
}
DEFAULTS: dict[str, Any] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_LEVELS = [{"const": "low", "title": "Low"}, {"const": "high", "title": "High"}]
ENUMS: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": _LEVELS},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": _LEVELS}},
}
RESOURCES: dict[str, types.TextResourceContents | types.BlobResourceContents] = {
    "test://static-text": types.TextResourceContents(
        uri="test://static-text",
        mime_type="text/plain",
        text="This is the content of the static text resource.",
    ),
    "test://static-binary": types.BlobResourceContents(
        uri="test://static-binary", mime_type="image/png", blob=PIXEL
    ),
    "test://watched-resource": types.TextResourceContents(
        uri="test://watched-resource", mime_type="text/plain", text="Watched."
    ),
}
TEMPLATE = "test://template/{id}/data"
PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PIXEL, mime_type="image/png")


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return types.EmbeddedResource(type="resource", resource=contents)


CONTENTS: dict[str, list[types.ContentBlock]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [types.AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        image(),
        embedded(
            "test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json"
        ),
    ],
    "json_schema_2020_12_tool": [text("ok")],
}


class Fixtures:
    """The handlers of the suite's server, and the bus that its change events go over."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()

    def server(self) -> Server[Any]:
        """Return the server of these fixtures."""
        server: Server[Any] = Server(
            "conformance-fixtures",
            version="1",
            get_tool_input_schema=SCHEMAS.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._accept,
            on_unsubscribe_resource=self._accept,
            on_subscriptions_listen=ListenHandler(self._bus),
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
        )
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._accept)
        security = RequestStateSecurity(keys=[secrets.token_bytes(32)])
        server.middleware.append(RequestStateBoundary(security, default_audience="fixtures"))
        return server

    async def _accept(self, context: Context, params: types.RequestParams) -> types.EmptyResult:
        return types.EmptyResult()

    async def _list_tools(self, context: Context, params: object) -> types.ListToolsResult:
        tools = [
            types.Tool(name=name, description=f"Fixture {name}.", input_schema=schema)
            for name, schema in SCHEMAS.items()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        name, arguments = params.name, params.arguments or {}
        if name in CONTENTS:
            return types.CallToolResult(content=CONTENTS[name])
        if name in ROUNDS:
            return play_round(params)
        if name == "test_error_handling":
            words = "This tool intentionally returns an error for testing"
            return types.CallToolResult(content=[text(words)], is_error=True)
        if name == "test_header_echo":
            return types.CallToolResult(content=[text(str(arguments.get("text", "")))])
        said = await self._say(name, arguments, context)
        return types.CallToolResult(content=[text(said)])

    async def _say(self, name: str, arguments: dict[str, Any], context: Context) -> str:
        match name:
            case "test_sampling":
                return await _sample(str(arguments["prompt"]), context)
            case "test_elicitation":
                form: dict[str, Any] = {"response": {"type": "string"}}
                return await _elicit(str(arguments["message"]), form, context)
            case "test_elicitation_sep1034_defaults":
                return await _elicit("Please review", DEFAULTS, context)
            case "test_elicitation_sep1330_enums":
                return await _elicit("Please choose", ENUMS, context)
            case "test_trigger_tool_change":
                await self._bus.publish(ToolsListChanged())
            case "test_trigger_prompt_change":
                await self._bus.publish(PromptsListChanged())
            case _:
                await _notify(name, context)
        return "done"

    async def _list_resources(self, context: Context, params: object) -> types.ListResourcesResult:
        resources = [
            types.Resource(uri=uri, name=uri, mime_type=each.mime_type)
            for uri, each in RESOURCES.items()
        ]
        return types.ListResourcesResult(resources=resources)

    async def _list_templates(
        self, context: Context, params: object
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(name="template", uri_template=TEMPLATE)
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        before, after = TEMPLATE.split("{id}")
        if uri.startswith(before) and uri.endswith(after):
            name = uri.removeprefix(before).removesuffix(after)
            words = json.dumps({"id": name, "templateTest": True, "data": f"Data for ID: {name}"})
            contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=words)
            return types.ReadResourceResult(contents=[contents])
        if uri not in RESOURCES:
            raise MCPError(code=types.INVALID_PARAMS, message="Not found", data={"uri": uri})
        return types.ReadResourceResult(contents=[RESOURCES[uri]])

    async def _list_prompts(self, context: Context, params: object) -> types.ListPromptsResult:
        prompts = [
            types.Prompt(
                name=name,
                description=f"Fixture {name}.",
                arguments=[types.PromptArgument(name=each, required=True) for each in arguments],
            )
            for name, arguments in PROMPTS.items()
        ]
        return types.ListPromptsResult(prompts=prompts)

    async def _get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        given = params.arguments or {}
        blocks: list[types.ContentBlock]
        match params.name:
            case "test_simple_prompt":
                blocks = [text("This is a simple prompt for testing.")]
            case "test_prompt_with_arguments":
                words = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
                blocks = [text(words)]
            case "test_prompt_with_embedded_resource":
                blocks = [embedded(given["resourceUri"], "Embedded resource content for testing.")]
            case "test_prompt_with_image":
                blocks = [image(), text("Please analyze the image above.")]
            case "test_input_required_result_prompt":
                played = play_round(params)
                if isinstance(played, types.InputRequiredResult):
                    return played
                blocks = list(played.content)
            case _:
                raise MCPError(code=types.INVALID_PARAMS, message="Unknown prompt")
        messages = [types.PromptMessage(role="user", content=block) for block in blocks]
        return types.GetPromptResult(messages=messages)

    async def _complete(
        self, context: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        return types.CompleteResult(completion=types.Completion(values=[], total=0))


async def _notify(name: str, context: Context) -> None:
    """Send what the fixture is for along with its result."""
    match name:
        case "test_tool_with_logging" | "test_logging_tool" | "test_streaming_elicitation":
            for words in ("started", "processing", "completed"):
                await _log(context, words)
        case "test_tool_with_progress":
            for done in (0, 50, 100):
                await context.session.report_progress(done, 100, f"Completed step {done} of 100")
        case "test_reconnection":
            if context.close_sse_stream is not None:
                await context.close_sse_stream()
            await anyio.sleep(0.2)
        case "test_missing_capability":
            _require_sampling(context)
        case _:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {name}")


async def _log(context: Context, words: str) -> None:
    params = types.LoggingMessageNotificationParams(level="info", data=f"Tool execution {words}")
    if context.protocol_version < "2026":
        await context.session.send_notification(
            types.LoggingMessageNotification(params=params), related_request_id=context.request_id
        )


async def _sample(prompt: str, context: Context) -> str:
    message = types.SamplingMessage(role="user", content=text(prompt))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    request = types.CreateMessageRequest(params=params)
    related = ServerMessageMetadata(related_request_id=context.request_id)
    answer = await context.session.send_request(
        request, types.CreateMessageResult, metadata=related
    )
    return f"LLM response: {getattr(answer.content, 'text', '')}"


async def _elicit(message: str, properties: dict[str, Any], context: Context) -> str:
    answer = await context.session.elicit_form(
        message,
        {"type": "object", "properties": properties, "required": []},
        related_request_id=context.request_id,
    )
    return f"User response: action={answer.action}, content={json.dumps(answer.content or {})}"


def _require_sampling(context: Context) -> None:
    sampling = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not context.session.check_client_capability(sampling):
        raise MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool needs a client that samples.",
            data={"requiredCapabilities": {"sampling": {}}},
        )
