"""Probe: the MCP toolset of pydantic-ai, in an agent whose model is a function."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bench.clients.probe import REPLY, Host, Reply, Task, run_probe
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp_types import ElicitResult
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from typing_extensions import override


class PydanticAi(Host):
    """An open toolset."""

    def __init__(self, toolset: Any, steps: list[float]) -> None:
        self._toolset = toolset
        self.steps = steps

    @override
    async def instructions(self) -> str:
        return str(self._toolset.instructions)

    @override
    async def tools(self) -> list[str]:
        return [tool.name for tool in await self._toolset.list_tools()]

    @override
    async def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        return Reply(text=await self._run(name, arguments))

    @override
    async def model_run(self, arguments: dict[str, Any]) -> str:
        return await self._run("answer", arguments)

    @override
    async def ask(self, question: str) -> str:
        return await self._run("ask_user", {"question": question})

    @override
    async def read(self, uri: str) -> str:
        assert uri in [str(listed.uri) for listed in await self._toolset.list_resources()]
        return str(await self._toolset.read_resource(uri))

    async def _run(self, name: str, arguments: dict[str, Any]) -> str:
        """Return what a model that calls the tool is given, result or failure."""
        told: list[str] = []

        def decide(messages: list[Any], info: Any) -> Any:
            parts = messages[-1].parts
            if isinstance(parts[0], ToolReturnPart) or "RetryPrompt" in type(parts[0]).__name__:
                told.append(str(parts[0].content))
                return ModelResponse(parts=[TextPart("done")])
            return ModelResponse(parts=[ToolCallPart(name, arguments)])

        await Agent(FunctionModel(decide), toolsets=[self._toolset]).run("Go on.")
        return told[0]


@asynccontextmanager
async def open_host(task: Task) -> AsyncIterator[Host]:
    """Open the toolset."""
    steps: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async def reply(*asked: Any) -> Any:
        return ElicitResult(action="accept", content={"answer": REPLY})

    transport: Any = (
        StdioTransport(task.command, task.arguments, env=task.env)
        if task.command
        else StreamableHttpTransport(task.url, headers=task.headers)
    )
    toolset = MCPToolset(transport, progress_handler=note, elicitation_handler=reply)
    async with toolset:
        yield PydanticAi(toolset, steps)


if __name__ == "__main__":
    run_probe(open_host)
