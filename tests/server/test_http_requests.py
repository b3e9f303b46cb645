"""Plain HTTP requests: who is let in, and what is answered to what is not MCP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from tests.server.tiny import Aviary, serving

from citewell.core.errors import SettingsError
from citewell.core.hosts import is_loopback
from citewell.core.settings import Settings
from citewell.server.auth import check_binding
from citewell.server.jsonrpc import MAX_REQUEST_BYTES

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
CLIENT = {"name": "t", "version": "1"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT},
}


def call(name: str, **arguments: object) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


@asynccontextmanager
async def browsing(
    settings: Settings | None = None, aviary: Aviary | None = None
) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        serving(aviary or Aviary(), settings) as base,
        httpx2.AsyncClient(base_url=base, follow_redirects=False, timeout=60) as http,
    ):
        yield http


async def test_a_plain_post_is_answered_in_plain_json() -> None:
    async with browsing() as http:
        listed = await http.post("/mcp", json=LIST)
        called = await http.post("/mcp", json=call("say", words="egret"))

    assert listed.headers["content-type"] == "application/json"
    assert listed.json()["result"]["tools"][0]["name"] == "say"
    assert called.json()["result"]["structuredContent"] == {"said": "egret"}


async def test_the_list_of_tools_is_the_same_to_the_byte_each_time() -> None:
    async with browsing() as http:
        first = await http.post("/mcp", json=LIST)
    async with browsing() as http:
        second = await http.post("/mcp", json=LIST)

    assert first.content == second.content
    assert "nextCursor" not in first.json()["result"]


async def test_annotations_are_listed() -> None:
    async with browsing() as http:
        listed = await http.post("/mcp", json=LIST)

    assert listed.json()["result"]["tools"][2]["annotations"] == {
        "title": "Lose",
        "readOnlyHint": False,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }


async def test_a_slash_at_the_end_is_served_without_a_redirect() -> None:
    async with browsing() as http:
        answer = await http.post("/mcp/", json=LIST)

    assert answer.status_code == 200


async def test_health_is_told_to_anyone() -> None:
    async with browsing(Settings(mcp_auth_token="wren-7")) as http:
        answer = await http.get("/healthz", headers={"Host": "10.0.0.7:80"})

    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


async def test_without_the_token_every_method_is_refused() -> None:
    answers: list[httpx2.Response] = []

    async with browsing(Settings(mcp_auth_token="wren-7")) as http:
        for method in ("GET", "POST", "DELETE", "PUT", "OPTIONS"):
            for given in ("", "Bearer wrong", "Basic wren-7", "Bearer", "wren-7"):
                headers = {**JSON, "Authorization": given}
                answers.append(await http.request(method, "/mcp", headers=headers, json=LIST))

    assert {answer.status_code for answer in answers} == {401}
    challenges = {answer.headers["www-authenticate"] for answer in answers}
    assert challenges == {
        'Bearer realm="citewell"',
        'Bearer realm="citewell", error="invalid_token"',
    }


async def test_with_the_token_a_request_passes() -> None:
    async with browsing(Settings(mcp_auth_token="wren-7")) as http:
        headers = {"Authorization": "bearer wren-7"}
        answer = await http.post("/mcp", json=LIST, headers=headers)

    assert answer.status_code == 200


async def test_only_known_hosts_and_origins_are_served() -> None:
    settings = Settings(
        mcp_allow_anonymous=True,
        mcp_allowed_hosts=("docs.example",),
        mcp_allowed_origins=("https://app.example",),
    )
    expected = [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "localhost:8765"}, 200),
        ({"Host": "localhost"}, 200),
        ({"Origin": "http://localhost:6274"}, 200),
        ({"Host": "docs.example:443"}, 200),
        ({"Origin": "https://app.example"}, 200),
    ]

    async with browsing(settings) as http:
        answers = [await http.post("/mcp", json=LIST, headers=given) for given, _ in expected]

    assert [answer.status_code for answer in answers] == [status for _, status in expected]


async def test_a_browser_page_may_read_the_session_id_only_from_a_known_origin() -> None:
    ask = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "mcp-x"}

    async with browsing(Settings(mcp_auth_token="wren-7")) as http:
        known = await http.options("/mcp", headers={"Origin": "http://localhost:3000", **ask})
        unknown = await http.options("/mcp", headers={"Origin": "https://evil.example", **ask})

    assert known.headers["access-control-allow-origin"] == "http://localhost:3000"
    assert "access-control-allow-origin" not in unknown.headers


async def test_what_is_not_a_good_request_gets_its_json_rpc_code() -> None:
    expected: list[tuple[bytes, int, int | None]] = [
        (b"{nonsense", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[" * 9_000, -32700, None),
        (b"", -32700, None),
        (b"[]", -32600, None),
        (json.dumps([LIST]).encode(), -32600, None),
        (b"7", -32600, None),
        (b'{"id": 5, "method": "ping"}', -32600, 5),
        (b'{"jsonrpc": "2.0", "id": 5}', -32600, 5),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": [1]}', -32602, 5),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "sing"}', -32601, 5),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {}}', -32602, 5),
        (json.dumps(call("sing")).encode(), -32602, 2),
    ]

    async with browsing() as http:
        answers = [
            (await http.post("/mcp", content=body, headers=JSON)).json() for body, _, _ in expected
        ]
        after = await http.post("/mcp", json=LIST)

    got = [(answer["error"]["code"], answer["id"]) for answer in answers]
    assert got == [(code, request_id) for _, code, request_id in expected]
    assert after.status_code == 200


async def test_a_body_that_is_too_large_is_refused() -> None:
    async with browsing() as http:
        declared = await http.post("/mcp", content=b"x" * (MAX_REQUEST_BYTES + 1), headers=JSON)
        streamed = await http.post("/mcp", content=_endless(), headers=JSON)

    assert (declared.status_code, streamed.status_code) == (413, 413)


async def _endless() -> AsyncIterator[bytes]:
    for _ in range(MAX_REQUEST_BYTES // 100_000 + 1):
        yield b"x" * 100_000


async def test_a_body_that_is_not_json_by_name_is_refused() -> None:
    async with browsing() as http:
        answer = await http.post("/mcp", content=json.dumps(LIST))

    assert answer.status_code == 400


async def test_an_unknown_session_is_not_found() -> None:
    async with browsing() as http:
        answer = await http.post("/mcp", json=LIST, headers={"Mcp-Session-Id": "gone"})

    assert answer.status_code == 404


async def test_a_session_that_is_deleted_is_gone() -> None:
    accept = {"Accept": "application/json, text/event-stream"}

    async with browsing() as http:
        opened = await http.post("/mcp", json=INITIALIZE, headers=accept)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        deleted = await http.delete("/mcp", headers=session)
        after = await http.post("/mcp", json=LIST, headers=session | accept)

    assert (deleted.status_code, after.status_code) == (200, 404)


async def test_a_client_without_session_and_key_is_known_by_its_address() -> None:
    aviary = Aviary()

    async with browsing(Settings(project="birds"), aviary) as http:
        await http.post("/mcp", json=call("say"))
        await http.post("/mcp", json=call("say"))

    first, second = aviary.callers
    assert first == second
    assert "127.0.0.1" in first.session
    assert (first.project, first.key_hash) == ("birds", None)


async def test_nobody_can_take_a_session_in_the_era_that_has_none() -> None:
    aviary = Aviary()
    named = {"Mcp-Session-Id": "of-someone-else", "MCP-Protocol-Version": "2026-07-28"}
    named |= {"Accept": "application/json, text/event-stream", "Mcp-Method": "tools/call"}
    named |= {"Mcp-Name": "say"}
    message = call("say")
    message["params"]["_meta"] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }

    async with browsing(aviary=aviary) as http:
        answer = await http.post("/mcp", json=message, headers=named)

    assert answer.json()["result"]["structuredContent"] == {"said": "heron"}
    assert aviary.callers[0].session != "of-someone-else"


async def test_a_tool_stops_when_its_client_drops_the_stream_of_a_session() -> None:
    aviary = Aviary()
    accept = {"Accept": "application/json, text/event-stream"}

    async with browsing(aviary=aviary) as http:
        opened = await http.post("/mcp", json=INITIALIZE, headers=accept)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        async with http.stream("POST", "/mcp", json=call("wait"), headers=accept | session):
            await aviary.started.wait()
        with anyio.fail_after(60):
            await aviary.stopped.wait()

    assert aviary.stopped.is_set()


async def test_a_tool_stops_when_its_plain_client_hangs_up() -> None:
    aviary = Aviary()

    async with browsing(aviary=aviary) as http:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: http.post("/mcp", json=call("wait")))
            await aviary.started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(60):
            await aviary.stopped.wait()

    assert aviary.stopped.is_set()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
async def test_binding_beyond_loopback_without_a_token_is_refused(host: str) -> None:
    with pytest.raises(
        SettingsError, match=r"CITEWELL_MCP_AUTH_TOKEN.*CITEWELL_MCP_ALLOW_ANONYMOUS"
    ):
        check_binding(Settings(mcp_host=host))

    check_binding(Settings(mcp_host=host, mcp_auth_token="wren-7"))
    check_binding(Settings(mcp_host=host, mcp_allow_anonymous=True))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
async def test_loopback_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    check_binding(Settings(mcp_host=host))
