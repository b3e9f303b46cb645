"""`/mcp` of a docs server: the docs tools at once, the rest behind them, faults told in JSON-RPC."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tests.docsite.folders import write_folder
from tests.server.docs_serving import browsing_docs

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}


def request(method: str, **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "q-1", "method": method, "params": params}


def call(name: str, **arguments: object) -> dict[str, Any]:
    return request("tools/call", name=name, arguments=arguments)


async def test_a_plain_post_is_answered_in_plain_json(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path) as client:
        opened = await client.post("/mcp", json=request("initialize", protocolVersion="2025-03-26"))
        noted = await client.post(
            "/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}
        )
        unanswerable = await client.post("/mcp", json={"jsonrpc": "2.0", "method": "initialize"})
        found = await client.post("/mcp", json=call("search_docs", query="heron food"))

    assert opened.json()["id"] == "q-1"
    assert opened.json()["result"]["protocolVersion"] == "2025-03-26"
    assert opened.json()["result"]["capabilities"] == {"tools": {"listChanged": False}}
    assert noted.status_code == unanswerable.status_code == 202
    assert found.headers["content-type"] == "application/json"
    assert found.json()["result"]["content"][0]["text"].startswith("Found 2 results:\n")
    assert found.json()["result"]["structuredContent"]["results"][0]["section"] == "Food"
    assert not found.json()["result"]["isError"]


async def test_every_tool_is_listed_and_called_in_one_place(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, docs_all_tools=True) as client:
        listed = await client.post("/mcp", json=request("tools/list"))
        status = await client.post("/mcp", json=call("status"))

    names = [tool["name"] for tool in listed.json()["result"]["tools"]]
    assert {"answer", "search_docs", "get_doc_page", "list_doc_pages"} <= set(names)
    assert not status.json()["result"]["isError"]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_mcp_clients_of_both_eras_are_served(tmp_path: Path, mode: str) -> None:
    async with (
        browsing_docs(tmp_path) as http,
        Client(f"{http.base_url}/mcp", mode=mode) as client,
    ):
        listed = [tool.name for tool in (await client.list_tools()).tools]
        page = await client.call_tool("get_doc_page", {"path": "guide/owls.md"})
        wrong = await client.call_tool("get_doc_page", {"path": "guide/owl.md"})

    assert "search_docs" in listed
    assert page.structured_content is not None
    assert page.structured_content["title"] == "Owls"
    assert wrong.is_error


MALFORMED: list[tuple[bytes, int, object]] = [
    (b"", -32700, None),
    (b"{", -32700, None),
    (b"\xff\xfe", -32700, None),
    (b"[" * 9_000, -32700, None),
    (b"[]", -32600, None),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
    (b'"text"', -32600, None),
    (b'{"id":7,"method":"tools/list"}', -32600, 7),
    (b'{"jsonrpc":"1.0","id":7,"method":"tools/list"}', -32600, 7),
    (b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":7}', -32600, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":3}', -32600, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}', -32602, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call"}', -32602, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":1}}', -32602, 7),
    (
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search_docs","arguments":3}}',
        -32602,
        7,
    ),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"no_such"}}', -32602, 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"no/such"}', -32601, 7),
]


async def test_malformed_requests_get_the_standard_codes_and_tell_nothing(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path) as client:
        answers = [
            (await client.post("/mcp", content=body, headers=JSON)) for body, _, _ in MALFORMED
        ]

    told = [(answer.json()["error"]["code"], answer.json()["id"]) for answer in answers]
    assert told == [(code, request_id) for _, code, request_id in MALFORMED]
    for answer in answers:
        assert answer.json()["jsonrpc"] == "2.0"
        assert not {"Traceback", str(tmp_path), "citewell/"} & set(answer.text.split())


async def test_who_does_not_say_what_it_accepts_is_answered_in_json(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path) as client:
        del client.headers["accept"]
        answer = await client.post("/mcp", json=request("ping"))

    assert answer.json() == {"jsonrpc": "2.0", "id": "q-1", "result": {}}


async def test_a_request_larger_than_is_taken_is_refused(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path) as client:
        answer = await client.post("/mcp", content=b" " * 4_000_001, headers=JSON)

    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == -32600


async def test_who_asks_too_often_is_told_how_long_to_wait(tmp_path: Path) -> None:
    limits: dict[str, Any] = {"mcp_rate_limit_requests": 2, "mcp_rate_limit_window": 60}
    async with browsing_docs(tmp_path, **limits) as client:
        answers = [await client.post("/mcp", json=call("list_doc_pages")) for _ in range(3)]
        unreadable = await client.post("/mcp", content=b"{", headers=JSON)
        page = await client.get("/guide/owls.md")

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].json() == {
        "jsonrpc": "2.0",
        "id": "q-1",
        "error": {
            "code": -32000,
            "message": "Rate limit exceeded",
            "data": {"retryAfter": 30},
        },
    }
    assert answers[2].headers["retry-after"] == "30"
    assert unreadable.json()["id"] is None
    assert page.status_code == 200


async def test_without_mcp_there_is_the_website_only(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, mcp_enabled=False) as client:
        posted = await client.post("/mcp", json=call("list_doc_pages"))
        page = await client.get("/guide/owls.html")

    assert posted.status_code == 404
    assert page.status_code == 200


async def test_beyond_this_machine_only_the_docs_are_open_to_all(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, mcp_host="0.0.0.0") as client:
        listed = await client.post("/mcp", json=request("tools/list"))
        refused = await client.post("/mcp", json=call("status"))
        found = await client.post("/mcp", json=call("search_docs", query="owls"))

    names = [tool["name"] for tool in listed.json()["result"]["tools"]]
    assert names == ["search_docs", "get_doc_page", "list_doc_pages"]
    assert refused.status_code == 403
    assert "guide/owls.md" in found.text


async def test_when_the_database_cannot_be_opened_the_docs_are_still_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    broken = f"sqlite:///{tmp_path}/file/x.db"

    async with browsing_docs(tmp_path / "docs", database_url=broken) as client:
        found = await client.post("/mcp", json=call("search_docs", query="owls"))
        listed = await client.post("/mcp", json=request("tools/list"))

    assert "guide/owls.md" in found.text
    assert listed.status_code == 503
    assert listed.json()["error"]["code"] == -32603
    assert str(tmp_path) not in listed.text


async def test_changed_files_are_found_while_the_server_runs(tmp_path: Path) -> None:
    async with browsing_docs(tmp_path, watch=True) as client:
        write_folder(tmp_path, {"new.md": "# Bitterns\n\nThey boom.\n"})
        search = call("search_docs", query="bitterns")
        with anyio.fail_after(60):
            while "new.md" not in (found := await client.post("/mcp", json=search)).text:
                await anyio.lowlevel.checkpoint()

    assert "They boom." in found.text


async def test_the_folder_becomes_part_of_the_corpus(tmp_path: Path) -> None:
    question = call("search", query="What does the grey heron eat?")

    async with browsing_docs(
        tmp_path, mcp_rate_limit_requests=100_000, docs_all_tools=True
    ) as client:
        with anyio.fail_after(60):
            while "fish and frogs" not in (answer := await client.post("/mcp", json=question)).text:
                pass

    quote = json.loads(json.dumps(answer.json()["result"]["structuredContent"]))["sources"][0]
    assert quote["url"].startswith("http://127.0.0.1:")
    assert "/guide/herons.html" in quote["url"]
