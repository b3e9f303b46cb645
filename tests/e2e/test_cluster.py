"""Two servers on one PostgreSQL, and a client whose every second request goes to the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from itertools import cycle
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextResourceContents
from tests.e2e.processes import ServerProcess, http_server
from tests.messages import INITIALIZE
from tests.postgres import empty_library
from tests.site import Site, running_site
from typing_extensions import override

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ANN = {"Authorization": "Bearer ann:helper@sk-ann-1111111111111111"}
BEN = {"Authorization": "Bearer ben:helper@sk-ben-2222222222222222"}
QUESTIONS = "/mcp/tools/ask_user/api/requests"
DIRECTIVES = "/mcp/tools/get_user_requests/api/requests"
SETTINGS = {
    "CITEWELL_MCP_TOOLSETS": "all",
    "CITEWELL_MCP_SESSIONS": "false",
    "CITEWELL_EMBEDDER": "none",
    "CITEWELL_WEB_RENDER": "never",
}


def _page(title: str, *paragraphs: str) -> str:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f"<html><head><title>{title}</title></head>"
        f"<body><main><h1>{title}</h1>{body}</main></body></html>"
    )


PAGES = {
    "/heron": _page(
        "Herons",
        "The grey heron eats fish, frogs and small mammals, which it swallows whole.",
        "Herons breed in colonies called heronries, high in the trees, early in spring.",
    ),
    "/long": _page(
        "Rivers", *[f"Paragraph {n} tells of river number {n} and its banks." for n in range(120)]
    ),
    "/egret": _page(
        "Egrets", "Egrets are white herons with plumes that were worth more than gold."
    ),
}

Pair = tuple[ServerProcess, ServerProcess]


class _Alternating(httpx2.AsyncHTTPTransport):
    """Sends one request here and the next one there, as a load balancer may."""

    def __init__(self, servers: Pair) -> None:
        super().__init__()
        self._next = cycle([httpx2.URL(server.url) for server in servers])

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        at = next(self._next)
        request.url = request.url.copy_with(host=at.host, port=at.port)
        return await super().handle_async_request(request)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with running_site(PAGES) as running:
        yield running


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with empty_library() as address, ExitStack() as stack:
        one, other = (
            stack.enter_context(
                http_server(
                    tmp_path_factory.mktemp(name), CITEWELL_DATABASE_URL=address, **SETTINGS
                )
            )
            for name in ("one", "other")
        )
        yield one, other


@asynccontextmanager
async def balanced(
    servers: Pair, mode: str, headers: dict[str, str] = ANN
) -> AsyncIterator[Client]:
    http = httpx2.AsyncClient(transport=_Alternating(servers), headers=headers, timeout=120)
    url = f"{servers[0].url}/mcp"
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        yield client


async def call(client: Client, name: str, **arguments: object) -> dict[str, Any]:
    """Call a tool, which must succeed, and return the structured result."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    return dict(result.structured_content or {})


both_eras = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@both_eras
async def test_what_one_replica_found_is_read_at_the_other(
    servers: Pair, site: Site, mode: str
) -> None:
    async with balanced(servers, mode) as client:
        await call(client, "ingest", url=site.url("/heron"))
        await call(client, "ingest", url=site.url("/egret"))
        found = [
            await call(client, "kb_search", query="herons", page_size=1, top_k=3) for _ in range(2)
        ]
        assert found[0]["next_cursor"]
        rest = [
            await call(
                client,
                "kb_search",
                query="herons",
                page_size=1,
                top_k=3,
                cursor=found[0]["next_cursor"],
            )
            for _ in range(2)
        ]
        passage = found[0]["results"][0]
        passage_id = passage["passage_id"]
        read = [await call(client, "kb_read_excerpt", passage_id=passage_id) for _ in range(2)]
        grown = [await call(client, "kb_expand_excerpt", passage_id=passage_id) for _ in range(2)]
        resources = [await client.read_resource(passage["scratch_uri"]) for _ in range(2)]

    assert found[0]["results"] == found[1]["results"]
    assert rest[0]["results"] == rest[1]["results"] != found[0]["results"]
    assert read[0] == read[1]
    assert grown[0] == grown[1]
    for resource in resources:
        (content,) = resource.contents
        assert isinstance(content, TextResourceContents)
        assert read[0]["excerpt"] in content.text


async def test_nobody_reads_at_one_replica_what_another_caller_found_at_the_other(
    servers: Pair, site: Site
) -> None:
    async with balanced(servers, "legacy") as client:
        await call(client, "ingest", url=site.url("/heron"))
        found = await call(client, "kb_search", query="herons")
    passage_id = found["results"][0]["passage_id"]

    async with balanced(servers, "legacy", BEN) as client:
        results = [
            await client.call_tool("kb_read_excerpt", {"passage_id": passage_id}) for _ in range(2)
        ]

    for result in results:
        assert result.structured_content is not None
        assert result.structured_content["error"]["code"] == "NOT_FOUND"


@both_eras
async def test_a_live_page_is_read_on_at_the_other_replica(
    servers: Pair, site: Site, mode: str
) -> None:
    pieces: list[str] = []
    cursor: str | None = None
    async with balanced(servers, mode) as client:
        while cursor is not None or not pieces:
            given = {"url": site.url("/long"), "max_tokens": 400}
            if cursor is not None:
                given["cursor"] = cursor
            piece = await call(client, "web_fetch", **given)
            pieces.append(piece["text"])
            cursor = piece.get("next_cursor")

    assert len(pieces) > 2
    whole = "\n\n".join(pieces)
    assert [whole.count(f"river number {n} ") for n in range(120)] == [1] * 120


@both_eras
async def test_a_question_asked_here_is_answered_there(servers: Pair, mode: str) -> None:
    here, there = servers
    answers: list[dict[str, Any]] = []
    waiting = anyio.Event()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        waiting.set()

    async def ask() -> None:
        async with balanced((here, here), mode) as client:
            result = await client.call_tool(
                "ask_user", {"question": "Publish?"}, progress_callback=note
            )
            answers.append(result.structured_content or {})

    with anyio.fail_after(300):
        async with (
            httpx2.AsyncClient(base_url=there.url, headers=ANN, timeout=120) as http,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(ask)
            # That it waits is told while the call runs: without sessions there is progress too.
            await waiting.wait()
            (question,) = (await http.get(QUESTIONS)).json()["pending"]
            await http.post(f"{QUESTIONS}/{question['id']}", json={"answer": "Yes."})

    assert [answer["answer"] for answer in answers] == ["Yes."]


async def test_each_directive_is_taken_once_whichever_replica_is_asked(servers: Pair) -> None:
    taken: list[str] = []

    async def take(server: ServerProcess) -> None:
        async with balanced((server, server), "legacy") as client:
            for _ in range(10):
                result = await call(client, "get_user_request")
                taken.extend([result["content"]] if result.get("content") else [])

    async with httpx2.AsyncClient(transport=_Alternating(servers), headers=ANN, timeout=60) as http:
        for number in range(12):
            body = {"content": f"directive {number}"}
            posted = await http.post(f"{servers[0].url}{DIRECTIVES}", json=body)
            assert posted.status_code == 201
    async with anyio.create_task_group() as tasks:
        for server in servers:
            tasks.start_soon(take, server)

    assert sorted(taken) == sorted(f"directive {number}" for number in range(12))


@both_eras
async def test_a_website_added_here_is_watched_and_queried_there(
    servers: Pair, site: Site, mode: str
) -> None:
    url = site.url(f"/egret?{mode}")
    async with balanced(servers, mode) as client:
        processed = await call(client, "rag_process_website", url=url)
        source_id = processed["source_id"]
        statuses = [
            await call(client, "rag_get_website_status", source_id=source_id) for _ in range(2)
        ]
        found = [await call(client, "rag_query_websites", query="plumes") for _ in range(2)]

    assert [each["processing_status"] for each in statuses] == ["completed", "completed"]
    assert all("gold" in str(each["results"]) for each in found)


async def test_why_a_page_cannot_be_read_is_told_whoever_tried(servers: Pair, site: Site) -> None:
    codes: list[str] = []

    async def process(number: int) -> None:
        async with balanced(servers, "legacy") as client:
            url = site.url(f"/missing-{number}")
            result = await client.call_tool("rag_process_website", {"url": url})
        assert result.structured_content is not None
        codes.append(result.structured_content["error"]["code"])

    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(process, number)

    assert codes == ["NOT_FOUND"] * 4


async def test_without_sessions_there_is_none_to_listen_to(servers: Pair) -> None:
    accepts = {"Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(base_url=servers[0].url, headers=ANN, timeout=60) as http:
        streamed = await http.post("/mcp", json=INITIALIZE, headers=accepts)
        plain = await http.post("/mcp", json=INITIALIZE, headers={"Accept": "application/json"})
        listened = await http.get("/mcp", headers={"Accept": "text/event-stream"})
        spoofed = await http.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
            headers={**accepts, "Mcp-Session-Id": "made-up"},
        )

    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert plain.json()["result"]["serverInfo"]["name"] == "citewell"
    assert "mcp-session-id" not in streamed.headers
    assert "mcp-session-id" not in plain.headers
    assert (listened.status_code, spoofed.status_code) == (405, 200)
