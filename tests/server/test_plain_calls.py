"""Calls that are answered without the SDK get the results that the SDK would send."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest
from tests.server.tiny import Aviary, serving

from citewell.core.settings import Settings
from citewell.server.jsonrpc import VERSION_KEY

pytestmark = pytest.mark.anyio

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
CLIENT = {"name": "t", "version": "1"}
OPENING = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": CLIENT}
ENVELOPE = {
    VERSION_KEY: MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
BOTH = {"Accept": "application/json, text/event-stream"}
# A call whose client asks for progress is served by the SDK.
FOR_THE_SDK = {"progressToken": 1}
in_both_eras = pytest.mark.parametrize("version", [HANDSHAKE, MODERN])


class Caller:
    """A client of either era, with nothing between it and the bytes."""

    def __init__(self, http: httpx2.AsyncClient, version: str) -> None:
        self._http = http
        self._is_modern = version == MODERN
        self.headers = {**BOTH, "MCP-Protocol-Version": version}

    async def open(self) -> None:
        if self._is_modern:
            return
        opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OPENING}
        opened = await self._http.post("/mcp", json=opening, headers=BOTH)
        self.headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
        await self._post({"method": "notifications/initialized"})

    async def call(self, name: str, arguments: object, **meta: object) -> httpx2.Response:
        routing = {"Mcp-Method": "tools/call", "Mcp-Name": name} if self._is_modern else {}
        envelope = {**ENVELOPE, **meta} if self._is_modern else meta
        params = {"name": name, "arguments": arguments, "_meta": envelope}
        return await self._post({"id": 7, "method": "tools/call", "params": params}, **routing)

    async def set_level(self) -> None:
        await self._post({"id": 8, "method": "logging/setLevel", "params": {"level": "error"}})

    async def leave(self) -> None:
        await self._http.delete("/mcp", headers=self.headers)

    async def _post(self, message: dict[str, Any], **headers: str) -> httpx2.Response:
        sent = {"jsonrpc": "2.0", **message}
        return await self._http.post("/mcp", json=sent, headers={**self.headers, **headers})


def result_of(response: httpx2.Response) -> dict[str, Any]:
    text = response.text
    if response.headers["content-type"] == "text/event-stream":
        *_, text = (line[5:] for line in text.splitlines() if line.startswith("data:"))
    result: dict[str, Any] = json.loads(text)
    return result


@in_both_eras
async def test_results_are_those_of_the_sdk(version: str) -> None:
    shapes = [Settings(), Settings(mcp_structured_output_enabled=False)]
    calls = [("say", {"words": "鷺"}), ("say", {"wings": 2}), ("bird_count", None)]
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = []

    for settings in shapes:
        async with (
            serving(Aviary(), settings) as base,
            httpx2.AsyncClient(base_url=base) as http,
        ):
            caller = Caller(http, version)
            await caller.open()
            for name, arguments in calls:
                plain = await caller.call(name, arguments)
                assert plain.headers["content-type"] == "application/json"
                by_sdk = await caller.call(name, arguments, **FOR_THE_SDK)
                pairs.append((result_of(plain), result_of(by_sdk)))

    assert [plain for plain, _ in pairs] == [by_sdk for _, by_sdk in pairs]
    assert pairs[0][0]["result"]["structuredContent"] == {"said": "鷺"}


async def test_both_ways_see_the_same_caller() -> None:
    aviary = Aviary()

    async with serving(aviary) as base, httpx2.AsyncClient(base_url=base) as http:
        for version in (HANDSHAKE, MODERN):
            caller = Caller(http, version)
            await caller.open()
            await caller.call("say", {})
            await caller.call("say", {}, **FOR_THE_SDK)

    in_session, also_in_session, without, also_without = aviary.callers
    assert (in_session, without) == (also_in_session, also_without)
    assert in_session.session != without.session


@in_both_eras
@pytest.mark.parametrize(
    "wrong",
    [
        {"Mcp-Session-Id": "another", "Mcp-Name": "sing"},
        {"Accept": "application/json"},
        {"MCP-Protocol-Version": "1999-01-01"},
    ],
    ids=["names", "accept", "version"],
)
async def test_requests_with_a_fault_are_refused_as_before(
    version: str, wrong: dict[str, str]
) -> None:
    async with serving(Aviary()) as base, httpx2.AsyncClient(base_url=base) as http:
        caller = Caller(http, version)
        await caller.open()
        caller.headers |= wrong
        if "Mcp-Name" in wrong and version == MODERN:
            refused = await caller._post(
                {"id": 7, "method": "tools/call", "params": {"name": "say", "_meta": ENVELOPE}},
                **{"Mcp-Method": "tools/call"},
            )
        else:
            refused = await caller.call("say", {})

    assert 400 <= refused.status_code < 500


async def test_a_session_that_ended_or_wants_messages_is_the_sdks() -> None:
    async with serving(Aviary()) as base, httpx2.AsyncClient(base_url=base) as http:
        caller = Caller(http, HANDSHAKE)
        await caller.open()
        await caller.set_level()
        with_messages = await caller.call("say", {"wings": 2})
        await caller.leave()
        after_the_end = await caller.call("say", {})

    assert "notifications/message" in with_messages.text
    assert after_the_end.status_code == 404


@pytest.mark.parametrize("meta", [{}, FOR_THE_SDK], ids=["plain", "by the SDK"])
async def test_the_end_of_a_session_ends_its_calls(meta: dict[str, object]) -> None:
    aviary = Aviary()

    async with (
        serving(aviary) as base,
        httpx2.AsyncClient(base_url=base) as http,
        anyio.create_task_group() as tasks,
    ):
        caller = Caller(http, HANDSHAKE)
        await caller.open()
        tasks.start_soon(partial(caller.call, "wait", {}, **meta))
        await aviary.started.wait()
        await caller.leave()
        with anyio.fail_after(60):
            await aviary.stopped.wait()


@pytest.mark.parametrize("meta", [{}, FOR_THE_SDK], ids=["plain", "by the SDK"])
async def test_a_call_whose_client_goes_is_counted(meta: dict[str, object]) -> None:
    aviary = Aviary()

    async with serving(aviary) as base:
        async with httpx2.AsyncClient(base_url=base) as http, anyio.create_task_group() as tasks:
            tasks.start_soon(partial(Caller(http, MODERN).call, "wait", {}, **meta))
            await aviary.started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(60):
            await aviary.stopped.wait()
        async with httpx2.AsyncClient(base_url=base) as http:
            counted = await http.get("/metrics")

    assert 'citewell_calls_total{outcome="UNFINISHED",tool="wait"} 1.0' in counted.text


async def test_values_that_cannot_be_looked_up_are_refused_by_the_sdk() -> None:
    async with serving(Aviary()) as base, httpx2.AsyncClient(base_url=base) as http:
        in_session, without = Caller(http, HANDSHAKE), Caller(http, MODERN)
        await in_session.open()
        cancelled = await in_session._post(
            {"method": "notifications/cancelled", "params": {"requestId": [7]}}
        )
        unversioned = await without.call("say", {}, **{VERSION_KEY: [MODERN]})
        answered = await in_session.call("say", {})

    assert cancelled.status_code == 202
    assert unversioned.status_code == 400
    assert answered.status_code == 200
