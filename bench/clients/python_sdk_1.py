"""Probe: the Python SDK 1.x, whose names are those of 2.x with other meanings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from bench.clients.probe import REPLY, Host, Reply, Task, run_probe, sign_in
from typing_extensions import override

mcp: Any = import_module("mcp")
types: Any = import_module("mcp.types")
auth: Any = import_module("mcp.client.auth")
shared_auth: Any = import_module("mcp.shared.auth")
stdio: Any = import_module("mcp.client.stdio")
streamable_http: Any = import_module("mcp.client.streamable_http")


class Sdk1(Host):
    """A session of the SDK."""

    def __init__(self, session: Any, instructions: str, changed: asyncio.Queue[str]) -> None:
        self._session = session
        self._instructions = instructions
        self._changed = changed
        self.steps: list[float] = []

    @override
    async def instructions(self) -> str:
        return self._instructions

    @override
    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self._session.list_tools()).tools]

    @override
    async def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        async def note(progress: float, total: float | None, message: str | None) -> None:
            self.steps.append(progress)

        result = await self._session.call_tool(name, arguments, progress_callback=note)
        return Reply(text=result.content[0].text, structured=result.structuredContent)

    @override
    async def ask(self, question: str) -> str:
        return (await self.call("ask_user", {"question": question})).text

    @override
    async def read(self, uri: str) -> str:
        resources = (await self._session.list_resources()).resources
        assert uri in [str(listed.uri) for listed in resources]
        return str((await self._session.read_resource(uri)).contents[0].text)

    @override
    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        return str((await self._session.get_prompt(name, arguments)).messages[0].content.text)

    @override
    async def follow(self, uri: str, make_change: Callable[[], Awaitable[None]]) -> str:
        await self._session.subscribe_resource(uri)
        await make_change()
        return await self._changed.get()


class _Memory:
    """What the client remembers of its registration and its tokens."""

    client: Any = None
    tokens: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


def _sign_in(task: Task) -> Any:
    answers: list[dict[str, str]] = []

    async def redirect(address: str) -> None:
        answers.append(await sign_in(address))

    async def callback() -> tuple[str, str | None]:
        answer = answers.pop()
        return answer["code"], answer.get("state")

    metadata = shared_auth.OAuthClientMetadata(
        redirect_uris=[task.redirect_uri], client_name="probe"
    )
    return auth.OAuthClientProvider(task.url, metadata, _Memory(), redirect, callback)


@asynccontextmanager
async def open_host(task: Task) -> AsyncIterator[Host]:
    """Open a session."""
    changed: asyncio.Queue[str] = asyncio.Queue()

    async def reply(context: Any, params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"answer": REPLY})

    async def take(message: Any) -> None:
        notification = getattr(message, "root", None)
        if isinstance(notification, types.ResourceUpdatedNotification):
            changed.put_nowait(str(notification.params.uri))

    async with (
        _open_streams(task) as (incoming, outgoing),
        mcp.ClientSession(
            incoming, outgoing, elicitation_callback=reply, message_handler=take
        ) as session,
    ):
        opened = await session.initialize()
        yield Sdk1(session, opened.instructions or "", changed)


@asynccontextmanager
async def _open_streams(task: Task) -> AsyncIterator[tuple[Any, Any]]:
    if task.command:
        server = mcp.StdioServerParameters(command=task.command, args=task.arguments, env=task.env)
        async with stdio.stdio_client(server) as streams:
            yield streams
        return
    provider = _sign_in(task) if task.redirect_uri else None
    async with streamable_http.streamablehttp_client(
        task.url, headers=task.headers, auth=provider
    ) as (incoming, outgoing, _):
        yield incoming, outgoing


if __name__ == "__main__":
    run_probe(open_host)
