"""Messages of very many small values: refused before they are parsed, on every way in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import anyio
import httpx2
import pytest
from tests.hostile.little_cpu import short_steps
from tests.server.docs_serving import browsing_docs
from tests.server.test_websocket import dial
from tests.server.tiny import Aviary, serving

from citewell.server.jsonrpc import INVALID_REQUEST, MAX_REQUEST_BYTES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

# The client that sends eight bodies works in the same loop.
_PROMISED_SECONDS = 0.25
_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
_OBJECTS = "{" + ",".join(f'"a{number}":{{}}' for number in range(120_000)) + "}"


def ping(params: str) -> str:
    return '{"jsonrpc":"2.0","id":1,"method":"ping","params":' + params + "}"


BODIES = {
    "keys": ping(_OBJECTS),
    "a list": ping('{"a":[' + "[]," * 600_000 + "[]]}"),
    "texts": ping('{"a":[' + '"",' * 600_000 + '""]}'),
    "metadata of a call": '{"jsonrpc":"2.0","id":1,"method":"tools/call",'
    '"params":{"name":"say","_meta":' + _OBJECTS + "}}",
    "no message": _OBJECTS,
    "a batch": "[" + "[]," * 600_000 + "[]]",
}


async def post_eight(http: httpx2.AsyncClient, body: str) -> set[tuple[int, int]]:
    """Return the statuses and codes of the answers to a body that is sent eight times at once."""
    answers: set[tuple[int, int]] = set()

    async def post() -> None:
        answer = await http.post("/mcp", content=body.encode(), headers=_HEADERS)
        answers.add((answer.status_code, answer.json()["error"]["code"]))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(post)
    return answers


@pytest.mark.parametrize("what", BODIES)
async def test_eight_at_once_hold_nobody_up_over_http(what: str) -> None:
    assert len(BODIES[what]) < MAX_REQUEST_BYTES

    async with (
        serving(Aviary()) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
        short_steps(_PROMISED_SECONDS),
    ):
        answers = await post_eight(http, BODIES[what])

    assert answers == {(400, INVALID_REQUEST)}


async def test_eight_at_once_hold_nobody_up_on_a_docs_server(tmp_path: Path) -> None:
    async with (
        browsing_docs(tmp_path, {"index.md": "# Herons"}) as http,
        short_steps(_PROMISED_SECONDS),
    ):
        answers = await post_eight(http, BODIES["keys"])

    assert answers == {(400, INVALID_REQUEST)}


async def test_they_are_refused_over_a_websocket() -> None:
    async with serving(Aviary()) as base, dial(base) as socket, short_steps(_PROMISED_SECONDS):
        await socket.send(BODIES["keys"])
        answer = json.loads(await socket.recv())

    assert answer["error"]["code"] == INVALID_REQUEST
    assert "Send less at once" in answer["error"]["message"]
