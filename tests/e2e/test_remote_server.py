"""The HTTP server as a company runs it: keys from the shell, real clients, an orderly end."""

from __future__ import annotations

import csv
import io
import json
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.e2e.processes import (
    ServerProcess,
    http_server,
    make_key,
    run_citewell,
)
from tests.site import Response, running_site, wait_until
from websockets.sync.client import connect
from websockets.typing import Subprotocol

PAGE = "<html><head><title>Herons</title></head><body><h1>Herons</h1><p>{}</p></body></html>"
SLOW = Response(
    body=PAGE.format("The grey heron eats fish, frogs and the young of other birds.").encode(),
    headers={"Content-Type": "text/html"},
    wait_seconds=1.5,
)


def call(number: int, name: str, **arguments: object) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def post(server: ServerProcess, message: dict[str, Any], token: str) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.post(f"{server.url}/mcp", json=message, headers=headers, timeout=120)


def status_of(server: ServerProcess, token: str) -> int:
    return post(server, {"jsonrpc": "2.0", "id": 1, "method": "ping"}, token).status_code


def test_beyond_loopback_nothing_is_served_without_a_guard(tmp_path: Path) -> None:
    serve = ("serve", "--transport", "streamable-http", "--port", "0", "--host", "0.0.0.0")

    refused = run_citewell(tmp_path, *serve)

    assert refused.returncode == 2
    complaint = refused.stderr.splitlines()[-1]
    for remedy in (
        "CITEWELL_MCP_AUTH_TOKEN",
        "citewell keys create",
        "CITEWELL_BILLING_URL",
        "CITEWELL_MCP_ALLOW_ANONYMOUS",
    ):
        assert remedy in complaint


@pytest.mark.slow
@pytest.mark.anyio
async def test_keys_are_made_used_metered_and_revoked(tmp_path: Path) -> None:
    ann = make_key(tmp_path, "ann")
    reader = make_key(tmp_path, "reader", "--scope", "read")

    with http_server(
        tmp_path, CITEWELL_MCP_HOST="0.0.0.0", CITEWELL_MCP_LOG_FORMAT="json"
    ) as server:
        headers = {"Authorization": f"Bearer ann@x.org:bot@{ann}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
            async with Client(transport) as client:
                result = await client.call_tool("status", {})
        forbidden = post(server, call(1, "ingest", url="https://a.example/"), reader)
        run_citewell(tmp_path, "keys", "revoke", "reader")
        wait_until(lambda: status_of(server, reader) == 401, seconds=60)
        still = status_of(server, ann)
        code = server.stop()

    used = run_citewell(tmp_path, "usage", "--csv", "--key", "ann")
    rows = list(csv.DictReader(io.StringIO(used.stdout)))
    lines = [json.loads(line) for line in server.log.splitlines()]
    assert not result.is_error
    assert (forbidden.status_code, still, code) == (403, 200, 0)
    assert [(row["name"], row["tool"], row["calls"]) for row in rows] == [("ann", "status", "1")]
    assert any("request_id" in line and "tool call status" in line["message"] for line in lines)
    assert ann not in server.log.decode()


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["http", "websocket"])
def test_a_running_call_ends_before_the_server_does(tmp_path: Path, transport: str) -> None:
    answers: list[dict[str, Any]] = []

    with running_site({"/": SLOW}) as site:
        token = make_key(tmp_path, "ann")
        ingest = call(7, "ingest", url=site.url("/"))
        with http_server(
            tmp_path, CITEWELL_EMBEDDER="none", CITEWELL_WEB_TIMEOUT_SECONDS="10"
        ) as server:
            ask = ask_over_http if transport == "http" else ask_over_websocket
            asking = threading.Thread(target=lambda: answers.append(ask(server, ingest, token)))
            asking.start()
            wait_until(lambda: "/" in site.paths())
            server.process.terminate()
            asking.join(120)
            code = server.wait()

    used = json.loads(run_citewell(tmp_path, "usage", "--json").stdout)
    assert code == 0
    assert not answers[0]["result"]["isError"]
    assert [(total["tool"], total["outcome"]) for total in used] == [("ingest", "ok")]


def ask_over_http(server: ServerProcess, message: dict[str, Any], token: str) -> dict[str, Any]:
    answer: dict[str, Any] = post(server, message, token).json()
    return answer


def ask_over_websocket(
    server: ServerProcess, message: dict[str, Any], token: str
) -> dict[str, Any]:
    client = {"name": "t", "version": "1"}
    handshake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake}
    headers = {"Authorization": f"Bearer {token}"}
    address = server.url.replace("http", "ws") + "/mcp"
    with connect(address, subprotocols=[Subprotocol("mcp")], additional_headers=headers) as socket:
        socket.send(json.dumps(opening))
        socket.recv()
        socket.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        socket.send(json.dumps(message))
        answer: dict[str, Any] = json.loads(socket.recv())
        return answer
