"""Calls a running server as its clients do, and shows what came back."""

from __future__ import annotations

import argparse
import json
import ssl
from functools import partial
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

PLUMES = "How many golden plumes has the little egret?"
RADIO = "How is the radio range of a buoy checked?"
CONSOLE_QUESTIONS = "/mcp/tools/ask_user/api/requests"


async def check_answer(http: httpx2.AsyncClient, page: str, question: str) -> str:
    """Return the first quote of an answer from `page`, asked over streamable HTTP."""
    async with Client(streamable_http_client(f"{http.base_url}/mcp", http_client=http)) as client:
        result = await client.call_tool("answer", {"query": question, "url": page})
    assert result.structured_content is not None
    assert not result.is_error, result.content
    return str(result.structured_content["citations"][0]["text"])


async def check_stream(http: httpx2.AsyncClient) -> str:
    """Return what a person answered in the console, once the waiting call had shown its question.

    A proxy that held progress back until the call is over would let this wait for ever.
    """
    waiting = anyio.Event()
    answers: list[str] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        waiting.set()

    async def ask() -> None:
        async with Client(
            streamable_http_client(f"{http.base_url}/mcp", http_client=http)
        ) as client:
            arguments = {"question": "Publish?"}
            result = await client.call_tool("ask_user", arguments, progress_callback=note)
            answers.append(str((result.structured_content or {})["answer"]))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await waiting.wait()
        (question,) = (await http.get(CONSOLE_QUESTIONS)).json()["pending"]
        await http.post(f"{CONSOLE_QUESTIONS}/{question['id']}", json={"answer": "Yes."})
    return answers[0]


async def check_websocket(url: str, token: str, trust: ssl.SSLContext) -> str:
    """Return the subprotocol and the count of tools listed over a WebSocket."""
    client = {"name": "rehearsal", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    async with connect(
        url.replace("http", "ws", 1) + "/mcp",
        subprotocols=[Subprotocol("mcp")],
        additional_headers={"Authorization": f"Bearer {token}"},
        ssl=trust if url.startswith("https") else None,
    ) as socket:
        answers: list[dict[str, Any]] = []
        for number, method, params in ((1, "initialize", hello), (2, "tools/list", {})):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            await socket.send(json.dumps(message))
            answers.append(json.loads(await socket.recv()))
    return f"{socket.subprotocol}, {len(answers[-1]['result']['tools'])} tools"


async def run(url: str, token: str, site: str, *, ca: str | None, is_rendered: bool) -> None:
    """Do all checks against one server; the first that fails ends it."""
    trust = ssl.create_default_context(cafile=ca)
    headers = {"Authorization": f"Bearer {token}"}
    http = httpx2.AsyncClient(base_url=url, headers=headers, verify=trust, timeout=60)
    with anyio.fail_after(120):
        async with http:
            show("answer", await check_answer(http, f"{site}/deploy.html", RADIO))
            if is_rendered:
                show("rendered", await check_answer(http, f"{site}/scripted.html", PLUMES))
            show("console", (await http.get("/")).raise_for_status().headers["content-type"])
            show("question while it streams", await check_stream(http))
            show("websocket", await check_websocket(url, token, trust))


def show(name: str, value: str) -> None:
    """Print what a check brought, in one line."""
    print(f"    {name}: {value[:70]}")  # noqa: T201 - the result of this program


def main() -> None:
    """Check the server that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="of the server, without /mcp")
    parser.add_argument("token")
    parser.add_argument("site", help="site.py, as the server reaches it")
    parser.add_argument("--ca", help="certificate that is trusted", metavar="FILE")
    parser.add_argument("--rendered", help="ask a page with scripts too", action="store_true")
    given = parser.parse_args()
    anyio.run(
        partial(run, given.url, given.token, given.site, ca=given.ca, is_rendered=given.rendered)
    )


if __name__ == "__main__":
    main()
