"""Research through real MCP clients: both transports, both eras, one loopback site."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent
from tests.e2e.processes import EVERY_CONNECTION, ServerProcess, http_server, stdio_parameters
from tests.postgres import empty_library
from tests.site import Answer, Response, Site, running_site

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

HERON = """<html><head><title>Herons</title></head><body><main><h1>Herons</h1>
<h2>Food</h2><p>The grey heron eats fish, frogs and small mammals. It stands still at the water's
edge and waits until its prey comes near.</p>
<h2>Nests</h2><p>Herons breed in colonies called heronries, high in the trees. The female lays three
to five eggs, which hatch after twenty-six days.</p></main></body></html>"""
EGRET = """<html><head><title>Egrets</title></head><body><main><h1>Egrets</h1>
<p>Egrets are white herons. Their plumes were once worth more than gold to the makers of hats, which
nearly ended them.</p></main></body></html>"""

PAGES: dict[str, Answer] = {
    "/heron": HERON,
    "/egret": EGRET,
    "/broken": "<html><body><h1>Cranes<p>Cranes dance <b>all year<div>and trumpet loudly.",
    "/empty": Response(headers={"Content-Type": "text/html"}),
    "/binary": Response(body=bytes(range(256)) * 9, headers={"Content-Type": "image/png"}),
    "/slow": Response(body=b"late", wait_seconds=600),
    "/to-private": Response(status=302, headers={"Location": "http://10.0.0.1/"}),
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with running_site(PAGES) as running:
        yield running


@pytest.fixture(scope="module")
def http_on_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("http")
    with empty_library() as address, http_server(folder, CITEWELL_DATABASE_URL=address) as server:
        yield server


@asynccontextmanager
async def connected(
    transport: str, mode: str, http: ServerProcess, folder: Path
) -> AsyncIterator[Client]:
    where = f"{http.url}/mcp" if transport == "http" else stdio_parameters(folder)
    async with Client(where, mode=mode) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def error_of(result: CallToolResult) -> dict[str, Any]:
    assert result.is_error, result
    assert result.structured_content is not None
    error: dict[str, Any] = result.structured_content["error"]
    return error


@EVERY_CONNECTION
async def test_a_page_is_answered_from_then_searched_without_asking_the_site_again(
    server: str,
    transport: str,
    mode: str,
    request: pytest.FixtureRequest,
    site: Site,
    tmp_path: Path,
) -> None:
    http: ServerProcess = request.getfixturevalue(server)
    heron = site.url(f"/heron?{transport}-{mode}")
    messages: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message)

    async with connected(transport, mode, http, tmp_path) as client:
        schemas = {t.name: t.output_schema for t in (await client.list_tools()).tools}
        question = {"url": heron, "query": "What does the grey heron eat?"}
        answered = await client.call_tool("answer", question, progress_callback=note)
        asked = len(site.requests)
        search = {"query": "How long until heron eggs hatch?", "source_urls": [heron]}
        found = await client.call_tool("search", search)
        status = await client.call_tool("status", {"source_url": heron})

    assert len(site.requests) == asked
    for result, name in ((answered, "answer"), (found, "search"), (status, "status")):
        assert not result.is_error, text_of(result)
        jsonschema.validate(result.structured_content, schemas[name] or {})
    brief = text_of(answered)
    assert brief.index("[SOURCES]") < brief.index("[EVIDENCE]") < brief.index("[STATS]")
    assert "fish, frogs and small mammals" in brief
    assert "twenty-six days" in text_of(found)
    assert "Herons" in text_of(status)
    assert any("heron" in (message or "") for message in messages)


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_several_pages_are_ingested_and_answered_from_together(
    transport: str, http: ServerProcess, site: Site, tmp_path: Path
) -> None:
    urls = [site.url("/heron"), site.url("/egret"), site.url("/missing")]

    async with connected(transport, "legacy", http, tmp_path) as client:
        ingested = await client.call_tool("ingest", {"url": urls})
        question = {"url": urls[:2], "query": "What were egret plumes worth?"}
        answered = await client.call_tool("answer", question)

    assert ingested.structured_content is not None
    assert [page["status"] for page in ingested.structured_content["pages"]] == [
        "indexed",
        "indexed",
        "failed",
    ]
    assert "worth more than gold" in text_of(answered)


@pytest.mark.parametrize(
    ("transport", "mode"), [("stdio", "legacy"), ("http", "legacy"), ("http", "2026-07-28")]
)
async def test_a_cancelled_answer_leaves_nothing_behind(
    transport: str, mode: str, http: ServerProcess, site: Site, tmp_path: Path
) -> None:
    slow = site.url(f"/slow?{transport}-{mode}")

    async with connected(transport, mode, http, tmp_path) as client:
        await client.call_tool("status", {})
        started = anyio.Event()

        async def note(progress: float, total: float | None, message: str | None) -> None:
            started.set()

        async def ask() -> None:
            await client.call_tool("answer", {"url": slow, "query": "?"}, progress_callback=note)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(300):
            status = await client.call_tool("status", {"source_url": slow})

    assert error_of(status)["code"] == "NOT_FOUND"


async def test_bad_input_gets_an_error_with_a_suggestion_and_the_server_goes_on(
    http: ServerProcess, site: Site
) -> None:
    query = "What?"
    expected: list[tuple[str, dict[str, Any], str]] = [
        ("answer", {"url": "not a url", "query": query}, "INVALID_ARGUMENT"),
        ("answer", {"url": "ftp://127.0.0.1/", "query": query}, "INVALID_ARGUMENT"),
        ("answer", {"url": "http://127.0.0.1:1/", "query": query}, "BACKEND_UNAVAILABLE"),
        ("answer", {"url": site.url("/missing"), "query": query}, "NOT_FOUND"),
        ("answer", {"url": site.url("/slow"), "query": query}, "TIMEOUT"),
        ("answer", {"url": "http://10.0.0.1/", "query": query}, "INVALID_ARGUMENT"),
        ("answer", {"url": site.url("/to-private"), "query": query}, "INVALID_ARGUMENT"),
        ("answer", {"url": site.url("/empty"), "query": query}, "NOT_FOUND"),
        ("answer", {"url": site.url("/binary"), "query": query}, "INVALID_ARGUMENT"),
        ("answer", {"url": site.url("/heron"), "query": ""}, "INVALID_ARGUMENT"),
        ("answer", {"url": site.url("/heron"), "query": "x" * 100_000}, "INVALID_ARGUMENT"),
        ("answer", {"url": site.url("/heron")}, "INVALID_ARGUMENT"),
        ("answer", {"url": 7, "query": query}, "INVALID_ARGUMENT"),
        ("search", {"query": query, "limit": 5}, "INVALID_ARGUMENT"),
        ("search", {"query": query, "top_k": "many"}, "INVALID_ARGUMENT"),
        ("ingest", {"url": []}, "INVALID_ARGUMENT"),
    ]

    async with Client(f"{http.url}/mcp", mode="legacy") as client:
        results = [await client.call_tool(name, given) for name, given, _ in expected]
        broken = await client.call_tool(
            "answer",
            {"url": site.url("/broken"), "query": "When do cranes dance?"},
        )
        status = await client.call_tool("status", {})

    errors = [error_of(result) for result in results]
    assert [error["code"] for error in errors] == [code for _, _, code in expected]
    assert all(error["suggestion"] for error in errors)
    assert "[ERROR]" in text_of(results[0])
    assert "all year" in text_of(broken)
    assert not status.is_error
