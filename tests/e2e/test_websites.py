"""The website library through real MCP clients: both transports, both eras, a real site."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import mcp_types as types
import pytest
from mcp import Client
from tests.e2e.processes import EVERY_CONNECTION, ServerProcess, http_server, stdio_parameters
from tests.postgres import empty_library
from tests.site import Site, running_site
from tests.tools.websites.jobs_site import PAGES

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TOOLSET = {"CITEWELL_MCP_TOOLSETS": "websites,data", "CITEWELL_EMBEDDER": "none"}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with running_site(PAGES) as running:
        yield running


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("events") / "events.jsonl"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory, events: Path) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("http")
    with http_server(folder, CITEWELL_EVENTS=f"log,{events}", **TOOLSET) as server:
        yield server


@pytest.fixture(scope="module")
def http_on_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("http")
    with (
        empty_library() as address,
        http_server(folder, CITEWELL_DATABASE_URL=address, **TOOLSET) as server,
    ):
        yield server


async def _write(
    context: object, params: types.CreateMessageRequestParams
) -> types.CreateMessageResult:
    text = "They want five years of Python [1]. They also want a driving licence."
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(type="text", text=text), model="test"
    )


@asynccontextmanager
async def connected(
    transport: str, mode: str, http: ServerProcess, folder: Path
) -> AsyncIterator[Client]:
    where = f"{http.url}/mcp" if transport == "http" else stdio_parameters(folder, **TOOLSET)
    async with Client(where, mode=mode, sampling_callback=_write) as client:
        yield client


async def call(client: Client, name: str, **arguments: object) -> dict[str, Any]:
    """Call a tool and check its result against the schema that the server lists."""
    result = await client.call_tool(name, arguments)
    assert result.structured_content is not None
    schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
    if not result.is_error:
        jsonschema.validate(result.structured_content, schemas[name] or {})
    structured: dict[str, Any] = result.structured_content
    return structured


@EVERY_CONNECTION
async def test_a_library_is_kept_through_any_client(
    server: str,
    transport: str,
    mode: str,
    request: pytest.FixtureRequest,
    site: Site,
    tmp_path: Path,
) -> None:
    http: ServerProcess = request.getfixturevalue(server)
    url = site.url("/backend")
    async with connected(transport, mode, http, tmp_path) as client:
        processed = await call(
            client,
            "rag_process_website",
            url=url,
            content_type="job_posting",
            force_refresh=True,
        )
        cached = await call(client, "rag_process_website", url=url)
        found = await call(
            client,
            "rag_query_websites",
            query="How many years of Python?",
            include_synthesis=True,
        )
        listed = await call(client, "rag_list_websites")
        source_id = processed["source_id"]
        status = await call(client, "rag_get_website_status", source_id=source_id)
        refreshed = await call(client, "rag_refresh_website", source_id=source_id)
        row = await call(client, "data_read_website_source", source_id=source_id)
        deleted = await call(client, "rag_delete_website", source_id=source_id)
        gone = await call(client, "rag_get_website_status", source_id=source_id)

    assert processed["status"] == "completed"
    assert cached["is_cached"] is True
    assert found["results"][0]["source_url"] == url
    assert found["synthesis"] == "They want five years of Python [1]."
    assert found["synthesis_by"] == "client"
    assert source_id in [website["id"] for website in listed["websites"]]
    assert status["fields"]["company"] == [{"value": "Acme", "start": 22, "end": 26}]
    assert refreshed["message"] == "Nothing has changed."
    assert row["url"] == url
    assert deleted["message"] == "Deleted successfully"
    assert gone["error"]["type"] == "NotFoundError"


async def test_events_are_written_while_the_server_runs(
    http: ServerProcess, site: Site, events: Path
) -> None:
    async with Client(f"{http.url}/mcp") as client:
        await call(client, "rag_process_website", url=site.url("/article"))
        await call(client, "rag_process_website", url=site.url("/missing"))
        await call(client, "rag_query_websites", query="interviews")

    written = await anyio.Path(events).read_text(encoding="utf-8")
    told = [json.loads(line) for line in written.splitlines()]
    names = [event["event"] for event in told if event.get("url") != site.url("/backend")]
    assert "WebsiteProcessingFailed" in names
    assert names[-2:] == ["SemanticQueryStart", "SemanticQueryComplete"]
    assert all(event["source_app"] == "citewell" and event["timestamp"] for event in told)
