"""Probe: the MCP servers of openai-agents, with strict schemas and a scripted model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from bench.clients.probe import Host, Reply, Task, run_probe
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from typing_extensions import override

# Its default of 5 seconds is over before a page is fetched.
_SESSION_SECONDS = 120


class _Script(Model):  # type: ignore[misc]  # its package is not installed here
    """A model that calls one tool, keeps what comes back, and ends."""

    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        self._name = name
        self._arguments = arguments
        self.told = ""

    async def get_response(
        self, system_instructions: Any, input: Any, *rest: Any, **more: Any
    ) -> Any:
        outputs = [
            item["output"]
            for item in (input if isinstance(input, list) else [])
            if item.get("type") == "function_call_output"
        ]
        if outputs:
            self.told = json.dumps(outputs[-1], ensure_ascii=False)
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            message = ResponseOutputMessage(
                id="2", content=[text], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)
        call = ResponseFunctionToolCall(
            call_id="1",
            name=self._name,
            arguments=json.dumps(self._arguments),
            type="function_call",
        )
        return ModelResponse(output=[call], usage=Usage(), response_id=None)

    def stream_response(self, *given: Any, **more: Any) -> Any:
        raise NotImplementedError("the script is not streamed")


class OpenAiAgents(Host):
    """A connected server."""

    def __init__(self, server: Any) -> None:
        self._server = server

    @override
    async def tools(self) -> list[str]:
        return [tool.name for tool in await self._server.list_tools()]

    @override
    async def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        result = await self._server.call_tool(name, arguments)
        return Reply(text=result.content[0].text, structured=result.structured_content)

    @override
    async def model_run(self, arguments: dict[str, Any]) -> str:
        model = _Script("answer", arguments)
        agent = Agent(
            name="probe",
            model=model,
            mcp_servers=[self._server],
            mcp_config={"convert_schemas_to_strict": True},
        )
        await Runner.run(agent, "Go on.")
        return model.told

    @override
    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        result = await self._server.get_prompt(name, arguments)
        return str(result.messages[0].content.text)

    @override
    async def read(self, uri: str) -> str:
        resources = (await self._server.list_resources()).resources
        assert uri in [str(listed.uri) for listed in resources]
        return str((await self._server.read_resource(uri)).contents[0].text)


@asynccontextmanager
async def open_host(task: Task) -> AsyncIterator[Host]:
    """Connect the server."""
    set_tracing_disabled(True)
    limit = {"client_session_timeout_seconds": _SESSION_SECONDS}
    server: Any = (
        MCPServerStdio({"command": task.command, "args": task.arguments, "env": task.env}, **limit)
        if task.command
        else MCPServerStreamableHttp({"url": task.url, "headers": task.headers}, **limit)
    )
    async with server:
        yield OpenAiAgents(server)


if __name__ == "__main__":
    run_probe(open_host)
