"""Probe: the Python SDK 2.x."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
from bench.clients.probe import REPLY, Host, Reply, Task, run_probe, sign_in
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.shared.subscriptions import ResourceUpdated
from pydantic import AnyUrl
from typing_extensions import override


class Sdk2(Host):
    """The client of the SDK."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.steps: list[float] = []

    @override
    async def instructions(self) -> str:
        return self._client.instructions or ""

    @override
    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self._client.list_tools()).tools]

    @override
    async def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        async def note(progress: float, total: float | None, message: str | None) -> None:
            self.steps.append(progress)

        result = await self._client.call_tool(name, arguments, progress_callback=note)
        block = result.content[0]
        assert isinstance(block, types.TextContent)
        return Reply(text=block.text, structured=result.structured_content)

    @override
    async def ask(self, question: str) -> str:
        return (await self.call("ask_user", {"question": question})).text

    @override
    async def read(self, uri: str) -> str:
        assert uri in [listed.uri for listed in (await self._client.list_resources()).resources]
        (contents,) = (await self._client.read_resource(uri)).contents
        assert isinstance(contents, types.TextResourceContents)
        return contents.text

    @override
    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        content = (await self._client.get_prompt(name, arguments)).messages[0].content
        assert isinstance(content, types.TextContent)
        return content.text

    @override
    async def follow(self, uri: str, make_change: Callable[[], Awaitable[None]]) -> str:
        async with self._client.listen(resource_subscriptions=[uri]) as changes:
            await make_change()
            event = await anext(changes)
        assert isinstance(event, ResourceUpdated)
        return event.uri


async def _reply(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"answer": REPLY})


class _Memory:
    """What the client remembers of its registration and its tokens."""

    client: OAuthClientInformationFull | None = None
    tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def _sign_in(task: Task) -> OAuthClientProvider:
    answers: list[dict[str, str]] = []

    async def redirect(address: str) -> None:
        answers.append(await sign_in(address))

    async def callback() -> AuthorizationCodeResult:
        answer = answers.pop()
        return AuthorizationCodeResult(
            code=answer["code"], state=answer.get("state"), iss=answer.get("iss")
        )

    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(task.redirect_uri)], client_name="probe")
    return OAuthClientProvider(task.url, metadata, _Memory(), redirect, callback)


@asynccontextmanager
async def open_host(task: Task) -> AsyncIterator[Host]:
    """Connect in the era that the client prefers."""
    if task.command:
        server = StdioServerParameters(command=task.command, args=task.arguments, env={**task.env})
        async with Client(server, elicitation_callback=_reply) as client:
            yield Sdk2(client)
        return
    auth = _sign_in(task) if task.redirect_uri else None
    async with (
        httpx2.AsyncClient(headers=task.headers, auth=auth, timeout=120) as http,
        Client(
            streamable_http_client(task.url, http_client=http), elicitation_callback=_reply
        ) as client,
    ):
        yield Sdk2(client)


if __name__ == "__main__":
    run_probe(open_host)
