"""Probe: the client of fastmcp."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bench.clients.probe import REPLY, Host, Reply, Task, run_probe, sign_in
from fastmcp import Client
from fastmcp.client.auth import OAuth
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.client.auth import AuthorizationCodeResult
from typing_extensions import override


class FastMcp(Host):
    """The client of fastmcp."""

    def __init__(self, client: Any, steps: list[float]) -> None:
        self._client = client
        self.steps = steps

    @override
    async def instructions(self) -> str:
        return str(self._client.instructions)

    @override
    async def tools(self) -> list[str]:
        return [tool.name for tool in await self._client.list_tools()]

    @override
    async def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        result = await self._client.call_tool(name, arguments, raise_on_error=False)
        return Reply(text=result.content[0].text, structured=result.structured_content)

    @override
    async def ask(self, question: str) -> str:
        return (await self.call("ask_user", {"question": question})).text

    @override
    async def read(self, uri: str) -> str:
        assert uri in [str(listed.uri) for listed in await self._client.list_resources()]
        return str((await self._client.read_resource(uri))[0].text)

    @override
    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        return str((await self._client.get_prompt(name, arguments)).messages[0].content.text)


class PersonalOAuth(OAuth):  # type: ignore[misc]  # its package is not installed here
    """Signs in by way of stdin instead of a browser and a listening port."""

    @override
    async def redirect_handler(self, authorization_url: str) -> None:
        self._answer = await sign_in(authorization_url)

    @override
    async def callback_handler(self) -> AuthorizationCodeResult:
        answer = self._answer
        return AuthorizationCodeResult(
            code=answer["code"], state=answer.get("state"), iss=answer.get("iss")
        )


@asynccontextmanager
async def open_host(task: Task) -> AsyncIterator[Host]:
    """Connect as the client does by default."""
    steps: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async def reply(message: str, response_type: Any, params: Any, context: Any) -> Any:
        return {"answer": REPLY}

    transport: Any = (
        StdioTransport(task.command, task.arguments, env=task.env)
        if task.command
        else StreamableHttpTransport(task.url, headers=task.headers)
    )
    auth = PersonalOAuth(task.url) if task.redirect_uri else None
    async with Client(
        transport, progress_handler=note, elicitation_handler=reply, timeout=120, auth=auth
    ) as client:
        yield FastMcp(client, steps)


if __name__ == "__main__":
    run_probe(open_host)
