"""Probe: the MCP adapters of LangChain."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from bench.clients.probe import REPLY, Host, Reply, Task, run_probe
from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from typing_extensions import override

# It brings the SDK 1.x.
types: Any = import_module("mcp.types")


class LangChain(Host):
    """The tools of one server; each call opens a session of its own."""

    def __init__(self, client: Any, steps: list[float]) -> None:
        self._client = client
        self.steps = steps

    @override
    async def tools(self) -> list[str]:
        return [tool.name for tool in await self._client.get_tools()]

    @override
    async def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        (tool,) = [tool for tool in await self._client.get_tools() if tool.name == name]
        call = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
        message = await tool.ainvoke(call)
        return Reply(text=str(message.content), structured=message.artifact)

    @override
    async def model_run(self, arguments: dict[str, Any]) -> str:
        # What a graph's tool node does with a model's call, and hands back as a ToolMessage.
        return (await self.call("answer", arguments)).text

    @override
    async def ask(self, question: str) -> str:
        return (await self.call("ask_user", {"question": question})).text

    @override
    async def read(self, uri: str) -> str:
        return str((await self._client.get_resources("citewell", uris=uri))[0].as_string())

    @override
    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        messages = await self._client.get_prompt("citewell", name, arguments=arguments)
        return str(messages[0].content)


@asynccontextmanager
async def open_host(task: Task) -> AsyncIterator[Host]:
    """Describe the server; sessions are opened as they are needed."""
    steps: list[float] = []

    async def note(progress: float, total: float | None, message: str | None, about: Any) -> None:
        steps.append(progress)

    async def reply(context: Any, params: Any, about: Any) -> Any:
        return types.ElicitResult(action="accept", content={"answer": REPLY})

    connection: dict[str, Any] = (
        {
            "transport": "stdio",
            "command": task.command,
            "args": task.arguments,
            "env": task.env,
        }
        if task.command
        else {"transport": "http", "url": task.url, "headers": task.headers}
    )
    callbacks = Callbacks(on_progress=note, on_elicitation=reply)
    yield LangChain(MultiServerMCPClient({"citewell": connection}, callbacks=callbacks), steps)


if __name__ == "__main__":
    run_probe(open_host)
