"""Keys over HTTP: what each may see and call, how often, and what is recorded of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.access.billing_server import billing_server
from tests.messages import INITIALIZE
from tests.server.shelf import Shelf
from tests.server.tiny import Aviary, serving

from citewell.access.keys import OPERATOR, KeyTerms, create_key
from citewell.core.settings import Settings
from citewell.store.open import open_store

pytestmark = pytest.mark.anyio

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}

in_both_eras = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


def call(name: str, **arguments: object) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def make_keys(settings: Settings, **terms: KeyTerms) -> dict[str, str]:
    """Make keys in the store of `settings`, and return their tokens."""
    store = await open_store(settings.database_url)
    tokens = {
        name: (await create_key(store.access, name, each, by=OPERATOR)).token
        for name, each in terms.items()
    }
    await store.aclose()
    return tokens


@asynccontextmanager
async def browsing(
    settings: Settings, aviary: Aviary | None = None
) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        serving(aviary or Aviary(), settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        yield http


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database_url=f"sqlite://{tmp_path}/access.db")


def names(listed: httpx2.Response) -> list[str]:
    return [tool["name"] for tool in listed.json()["result"]["tools"]]


async def test_a_key_for_reading_neither_sees_nor_calls_what_writes(settings: Settings) -> None:
    tokens = await make_keys(settings, reader=KeyTerms(scope="read"), writer=KeyTerms())
    reader, writer = bearer(tokens["reader"]), bearer(tokens["writer"])

    async with browsing(settings) as http:
        seen = [names(await http.post("/mcp", json=LIST, headers=who)) for who in (reader, writer)]
        refused = await http.post("/mcp", json=call("lose"), headers=reader)
        allowed = await http.post("/mcp", json=call("lose"), headers=writer)

    assert seen == [["say", "bird_count", "wait"], ["say", "bird_count", "lose", "wait"]]
    assert refused.status_code == 403
    assert 'error="insufficient_scope", scope="write"' in refused.headers["www-authenticate"]
    assert "needs a key with the scope 'write'" in refused.json()["error"]["message"]
    assert "It flew away." in allowed.text


async def test_a_key_for_other_toolsets_sees_none_of_these_tools(settings: Settings) -> None:
    tokens = await make_keys(settings, kb=KeyTerms(toolsets=frozenset({"kb"})))

    async with browsing(settings) as http:
        listed = await http.post("/mcp", json=LIST, headers=bearer(tokens["kb"]))
        refused = await http.post("/mcp", json=call("say"), headers=bearer(tokens["kb"]))

    assert names(listed) == []
    assert (refused.status_code, "toolset 'research'" in refused.text) == (403, True)


async def test_the_caller_of_a_tool_is_who_the_header_says(settings: Settings) -> None:
    tokens = await make_keys(settings, birds=KeyTerms(project="birds"))
    aviary = Aviary()
    header = {b"Authorization": f"Bearer 鷺:bot@x.org@{tokens['birds']}".encode()}

    async with browsing(settings, aviary) as http:
        await http.post("/mcp", json=call("say"), headers=header)

    (caller,) = aviary.callers
    assert (caller.user, caller.agent, caller.project) == ("鷺", "bot@x.org", "birds")
    assert caller.key_hint == tokens["birds"][-4:]


@in_both_eras
async def test_a_client_of_either_era_calls_with_its_key(settings: Settings, mode: str) -> None:
    tokens = await make_keys(settings, reader=KeyTerms(scope="read"))
    aviary = Aviary()
    http = httpx2.AsyncClient(headers=bearer(f"ann:bot@{tokens['reader']}"), timeout=60)

    async with serving(aviary, settings) as base, http:
        transport = streamable_http_client(f"{base}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("say", {})

    assert "lose" not in listed
    assert not result.is_error
    assert aviary.callers[0].user == "ann"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_instructions_and_prompts_are_those_of_the_key(settings: Settings, mode: str) -> None:
    settings = replace(settings, embedder="none", mcp_toolsets=("default",))
    tokens = await make_keys(settings, reader=KeyTerms(scope="read"), writer=KeyTerms())
    shelf = Shelf(database_url=settings.database_url, mcp_toolsets=("default",))
    instructions: dict[str, str] = {}
    prompts: dict[str, list[str]] = {}

    async with serving(shelf, settings) as base:
        for name, token in tokens.items():
            async with httpx2.AsyncClient(headers=bearer(token), timeout=60) as http:
                transport = streamable_http_client(f"{base}/mcp", http_client=http)
                async with Client(transport, mode=mode) as client:
                    instructions[name] = client.instructions or ""
                    listed = (await client.list_prompts()).prompts
                    prompts[name] = [prompt.name for prompt in listed]

    assert "A question and a URL: answer." in instructions["writer"]
    assert "research" in prompts["writer"]
    assert "URL: answer." not in instructions["reader"]
    assert "this caller cannot add any" in instructions["reader"]
    assert prompts["reader"] == ["check_citation"]


async def test_a_session_belongs_to_the_key_that_opened_it(settings: Settings) -> None:
    tokens = await make_keys(settings, ann=KeyTerms(), bob=KeyTerms())
    ann, bob = (ACCEPT | bearer(tokens[name]) for name in ("ann", "bob"))

    async with browsing(settings) as http:
        opened = await http.post("/mcp", json=INITIALIZE, headers=ann)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        taken = [
            await http.post("/mcp", json=call("say"), headers=bob | session),
            await http.request("DELETE", "/mcp", headers=bob | session),
        ]
        own = await http.post("/mcp", json=LIST, headers=ann | session)

    assert [answer.status_code for answer in taken] == [404, 404]
    assert own.status_code == 200


async def test_too_many_requests_of_a_key_are_told_when_to_come_again(settings: Settings) -> None:
    tokens = await make_keys(settings, ann=KeyTerms(), bob=KeyTerms())

    async with browsing(replace(settings, rate_limit_per_key=2)) as http:
        answers = [
            await http.post("/mcp", json=LIST, headers=bearer(tokens["ann"])) for _ in range(3)
        ]
        other = await http.post("/mcp", json=LIST, headers=bearer(tokens["bob"]))

    assert ["result" in answer.json() for answer in answers] == [True, True, False]
    fault = answers[2].json()
    assert (answers[2].status_code, fault["id"], fault["error"]["code"]) == (200, 1, -32000)
    assert 1 <= fault["error"]["data"]["retryAfter"] <= 60
    assert "result" in other.json()


@in_both_eras
async def test_a_client_sees_the_limit_as_an_error_of_the_protocol(
    settings: Settings, mode: str
) -> None:
    limited = replace(settings, rate_limit_per_key=3)
    tokens = await make_keys(settings, ann=KeyTerms())
    http = httpx2.AsyncClient(headers=bearer(tokens["ann"]), timeout=60)

    async with serving(Aviary(), limited) as base, http:
        transport = streamable_http_client(f"{base}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            error = await first_error(client)

    assert error.code == -32000
    assert error.data is not None
    assert error.data["retryAfter"] >= 1


async def first_error(client: Client) -> types.ErrorData:
    try:
        while True:
            await client.call_tool("say", {})
    except MCPError as error:
        return error.error


async def test_an_address_that_sends_too_much_gets_429(settings: Settings) -> None:
    async with browsing(
        replace(settings, rate_limit_per_address=2, mcp_allow_anonymous=True)
    ) as http:
        answers = [await http.post("/mcp", json=LIST) for _ in range(3)]
        elsewhere = await http.post("/mcp", json=LIST, headers={"X-Forwarded-For": "203.0.113.9"})
        health = await http.get("/healthz")

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 60
    assert (elsewhere.status_code, health.status_code) == (200, 200)


async def test_a_quota_that_is_used_up_is_an_error_of_the_call(settings: Settings) -> None:
    tokens = await make_keys(settings, ann=KeyTerms(monthly_units=1))

    async with browsing(settings) as http:
        first, second = [
            await http.post("/mcp", json=call("say"), headers=bearer(tokens["ann"]))
            for _ in range(2)
        ]

    assert first.json()["result"]["structuredContent"] == {"said": "heron"}
    error = second.json()["result"]["structuredContent"]["error"]
    assert error["code"] == "BUDGET_EXCEEDED"
    assert "1 of 1 units" in error["message"]


async def test_every_call_is_recorded_when_the_server_has_stopped(settings: Settings) -> None:
    tokens = await make_keys(settings, ann=KeyTerms())

    async with browsing(settings) as http:
        for name in ("say", "say", "lose"):
            await http.post("/mcp", json=call(name), headers=bearer(tokens["ann"]))
    store = await open_store(settings.database_url)
    totals = await store.access.usage()
    await store.aclose()

    assert [(each.name, each.tool, each.outcome, each.calls, each.units) for each in totals] == [
        ("ann", "lose", "NOT_FOUND", 1, 0),
        ("ann", "say", "ok", 2, 2),
    ]


async def test_the_billing_service_lets_in_and_pays(settings: Settings) -> None:
    with billing_server() as service:
        service.quotas["sk-paid"] = 5
        billed = replace(settings, billing_url=service.url, tool_prices=("say=3", "*=0"))
        async with browsing(billed) as http:
            stranger = await http.post("/mcp", json=LIST, headers=bearer("sk-other"))
            paid, refused = [
                await http.post("/mcp", json=call("say"), headers=bearer("sk-paid"))
                for _ in range(2)
            ]
            free = await http.post("/mcp", json=call("bird_count"), headers=bearer("sk-paid"))

    assert stranger.status_code == 401
    assert "error" not in paid.json()["result"]["structuredContent"]
    error = refused.json()["result"]["structuredContent"]["error"]
    assert error["message"] == "billing check failed: insufficient quota"
    assert free.json()["result"]["structuredContent"] == {"said": "3"}
    assert service.charges == [("sk-paid", 3, "say")]


async def test_a_request_has_a_name_that_is_sent_back(settings: Settings) -> None:
    async with browsing(settings) as http:
        named = await http.get("/healthz", headers={"X-Request-Id": "order-66"})
        odd = await http.get("/healthz", headers={"X-Request-Id": "a b\tc"})

    assert named.headers["x-request-id"] == "order-66"
    assert len(odd.headers["x-request-id"]) == 16


async def test_metrics_tell_of_calls_and_refusals(settings: Settings) -> None:
    guarded = replace(settings, mcp_auth_token="wren-7")

    async with browsing(guarded) as http:
        for name in ("say", "say", "lose"):
            await http.post("/mcp", json=call(name), headers=bearer("wren-7"))
        await http.post("/mcp", json=LIST)
        told = await http.get("/metrics", headers=bearer("wren-7"))

    lines = told.text.splitlines()
    assert 'citewell_calls_total{outcome="ok",tool="say"} 2.0' in lines
    assert 'citewell_calls_total{outcome="NOT_FOUND",tool="lose"} 1.0' in lines
    assert 'citewell_call_seconds_count{tool="say"} 2.0' in lines
    assert 'citewell_refusals_total{reason="unauthorized"} 1.0' in lines
    assert "citewell_running_requests 0.0" in lines
    assert 'citewell_jobs{state="waiting"} 0.0' in lines
    assert 'citewell_renders{state="waiting"} 0.0' in lines
    assert "citewell_render_workers 0.0" in lines
    assert 'citewell_web_searches_total{answered_by="cache"} 0.0' in lines


@pytest.mark.parametrize("place", [{}, {"X-Forwarded-For": "203.0.113.9"}], ids=["here", "afar"])
async def test_where_there_are_keys_metrics_are_told_only_to_an_admin(
    settings: Settings, place: dict[str, str]
) -> None:
    tokens = await make_keys(
        settings,
        reader=KeyTerms(scope="read"),
        writer=KeyTerms(),
        birds=KeyTerms(scope="admin", project="birds"),
        admin=KeyTerms(scope="admin"),
    )
    senders = ({}, bearer("cw-wrong"), *(bearer(token) for token in tokens.values()))

    async with browsing(settings) as http:
        answers = [await http.get("/metrics", headers=place | sender) for sender in senders]
        rebound = await http.get("/metrics", headers={"Host": "evil.example"})

    assert [answer.status_code for answer in answers] == [401, 401, 403, 403, 403, 200]
    assert rebound.status_code == 401


async def test_a_server_is_ready_while_its_store_answers(settings: Settings) -> None:
    aviary = Aviary(fail_opening=True)

    async with browsing(settings, aviary) as http:
        before = await http.get("/readyz")
        aviary.fail_opening = False
        after = await http.get("/readyz")

    assert (before.status_code, after.status_code) == (503, 200)
