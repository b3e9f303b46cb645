"""Loopback is not trust: what a server without keys offers through a proxy, and to this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.server.console.serving import DIRECTIVES
from tests.server.docs_serving import browsing_docs
from tests.server.tiny import Aviary, serving

from citewell.access.keys import OPERATOR, KeyTerms, create_key
from citewell.core.settings import Settings
from citewell.store.open import open_store

pytestmark = pytest.mark.anyio

PUBLIC = "docs.example.org"
DOCS_TOOLS = ["search_docs", "get_doc_page", "list_doc_pages"]
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
# What a reverse proxy on this machine sends on, as different proxies do.
PROXIED: list[dict[str, str]] = [
    {"X-Forwarded-For": "203.0.113.9"},
    {"X-Forwarded-For": "127.0.0.1"},
    {"X-Forwarded-Proto": "https"},
    {"X-Real-IP": "203.0.113.9"},
    {"Forwarded": "for=203.0.113.9"},
    {"Via": "1.1 caddy"},
    {"CF-Connecting-IP": "203.0.113.9"},
    {"CDN-Loop": "cloudflare"},
    {"X-Client-IP": "203.0.113.9"},
    {"X-Envoy-External-Address": "203.0.113.9"},
    {"X-Original-Host": "docs.example"},
    {"Origin": "https://evil.example"},
]
through_each_proxy = pytest.mark.parametrize("headers", PROXIED, ids=lambda given: "".join(given))


def call(name: str, **arguments: object) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


def names(listed: httpx2.Response) -> list[str]:
    return [tool["name"] for tool in listed.json()["result"]["tools"]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database_url=f"sqlite://{tmp_path}/access.db")


@asynccontextmanager
async def browsing(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        serving(Aviary(), settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        yield http


async def raw_status(base: str, request: str) -> bytes:
    """Send a request as it is written; return the first line of the answer."""
    host, _, port = base.removeprefix("http://").partition(":")
    async with await anyio.connect_tcp(host, int(port)) as stream:
        await stream.send(request.encode())
        answer = await stream.receive()
    return answer.split(b"\r\n", 1)[0]


async def test_a_program_on_this_machine_can_do_all(settings: Settings) -> None:
    async with browsing(settings) as http:
        listed = await http.post("/mcp", json=LIST)
        metrics = await http.get("/metrics")
        health = await http.get("/healthz")
        console = await http.get(f"{DIRECTIVES}/api/requests")

    assert "lose" in names(listed)
    assert metrics.status_code == console.status_code == 200
    assert "version" in health.json()


@through_each_proxy
async def test_a_caller_behind_a_proxy_is_told_how_to_get_a_key(
    settings: Settings, headers: dict[str, str]
) -> None:
    allowed = replace(settings, mcp_allowed_origins=("https://evil.example",))

    async with browsing(allowed) as http:
        listed = await http.post("/mcp", json=LIST, headers=headers)
        claimed = await http.post(
            "/mcp", json=LIST, headers={**headers, "Authorization": "Bearer anything"}
        )
        metrics = await http.get("/metrics", headers=headers)
        health = await http.get("/healthz", headers=headers)
        console = await http.get(f"{DIRECTIVES}/api/requests", headers=headers)

    assert listed.status_code == claimed.status_code == metrics.status_code == 401
    assert console.status_code == 401
    assert "citewell keys create" in listed.json()["how_to_get_access"]
    assert health.json() == {"status": "ok"}


async def test_a_proxy_that_hides_itself_is_known_by_its_old_protocol(settings: Settings) -> None:
    async with serving(Aviary(), settings) as base:
        host = base.removeprefix("http://")
        nginx = await raw_status(base, f"GET /metrics HTTP/1.0\r\nHost: {host}\r\n\r\n")
        local = await raw_status(
            base, f"GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )

    assert b" 401 " in nginx
    assert b" 200 " in local


@pytest.mark.parametrize(
    "public",
    [
        {"mcp_allowed_hosts": (PUBLIC,)},
        {"docs_base_url": f"https://{PUBLIC}"},
        {"public_url": f"https://{PUBLIC}"},
        {"mcp_host": "0.0.0.0"},
    ],
    ids=lambda given: "".join(given),
)
async def test_on_a_server_with_a_public_name_nobody_is_local(
    settings: Settings, public: dict[str, Any]
) -> None:
    async with browsing(replace(settings, **public)) as http:
        listed = await http.post("/mcp", json=LIST)
        metrics = await http.get("/metrics")

    assert listed.status_code == metrics.status_code == 401


async def test_who_serves_anyone_does_not_hand_out_the_server_itself(settings: Settings) -> None:
    anyone = replace(settings, mcp_allow_anonymous=True, mcp_allowed_hosts=(PUBLIC,))

    async with browsing(anyone) as http:
        listed = await http.post("/mcp", json=LIST, headers={"Host": PUBLIC})
        metrics = await http.get("/metrics", headers={"Host": PUBLIC})

    assert "lose" in names(listed)
    assert metrics.status_code == 403


@pytest.mark.parametrize("headers", [{}, {"Host": PUBLIC}, *PROXIED[:3]], ids=str)
async def test_a_docs_server_offers_the_docs_tools_without_a_key(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    public: dict[str, Any] = {"docs_base_url": f"https://{PUBLIC}", "mcp_allowed_hosts": (PUBLIC,)}
    async with browsing_docs(tmp_path, **public) as http:
        listed = await http.post("/mcp", json=LIST, headers=headers)
        fetched = await http.post(
            "/mcp", json=call("web_fetch", url="https://a.example/"), headers=headers
        )
        found = await http.post("/mcp", json=call("search_docs", query="owls"), headers=headers)

    assert names(listed) == DOCS_TOOLS
    assert fetched.status_code == 403
    assert "citewell keys create" in fetched.json()["error"]["message"]
    assert "guide/owls.md" in found.text


async def test_a_key_opens_the_other_tools_of_a_docs_server(tmp_path: Path) -> None:
    database = f"sqlite://{tmp_path}/docs.db"
    store = await open_store(database)
    key = await create_key(store.access, "ann", KeyTerms(), by=OPERATOR)
    await store.aclose()
    (tmp_path / "docs").mkdir()

    async with browsing_docs(tmp_path / "docs", database_url=database) as http:
        anonymous = await http.post("/mcp", json=LIST)
        known = await http.post("/mcp", json=LIST, headers={"Authorization": f"Bearer {key.token}"})
        wrong = await http.post("/mcp", json=LIST, headers={"Authorization": "Bearer wrong"})

    assert names(anonymous) == DOCS_TOOLS
    assert {"answer", *DOCS_TOOLS} <= set(names(known))
    assert wrong.status_code == 401


async def test_a_docs_server_offers_all_tools_where_its_operator_says_so(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, docs_all_tools=True) as http:
        local = await http.post("/mcp", json=LIST)
        proxied = await http.post("/mcp", json=LIST, headers=PROXIED[0])

    assert {"answer", "ingest", *DOCS_TOOLS} <= set(names(local))
    assert {"answer", "ingest", *DOCS_TOOLS} <= set(names(proxied))
