"""Pages that one key has read at once, made to be slow: another key's small page is not delayed.

Each attack is compared with the same calls on the same server just before it; on a busy machine the
slowest calls measure the load.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import httpx2
from bench.redteam.attempt import Attempt, is_quick
from tests.e2e.processes import http_server, make_key
from tests.hostile.test_slow_documents import nested_forms
from tests.site import Response, running_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.site import Answer

NAME = "callers"
_AT_ONCE = 8
_CALLS = 15
_MOST_SECONDS = 30
_MOST_DELAY_SECONDS = 0.25
_PATIENCE_SECONDS = 300
_TOOLS = ("web_fetch", "ingest")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def _document(body: bytes, content_type: str) -> Response:
    return Response(body=body, headers={"Content-Type": content_type})


def _substitutions() -> bytes:
    lines = [f".. |a{i}| replace:: {f'|a{i - 1}| ' * 8}" for i in range(1, 9)]
    return ("Birds\n=====\n\n.. |a0| replace:: x\n" + "\n".join(lines) + "\n\n|a8|\n").encode()


DOCUMENTS: dict[str, Answer] = {
    "PDF": _document(nested_forms(), "application/pdf"),
    "reST": _document(_substitutions() + b"``a " * 20_000, "text/x-rst"),
    "rules of style": "<style>"
    + "".join(f"{a} {b} {c}{{color:red}}" for a in _ALPHABET for b in _ALPHABET for c in "pqr")
    + "</style>"
    + "<b><i>" * 500
    + "<p>heron</p>" * 2_000,
    "table of 3 MB": "<table>" + "<tr><td>a<td>b" * 200_000 + "</table>",
    "200,000 links": "<p>" + "<a href=/a>a</a> " * 200_000,
    "80,000 headings": "".join(f"<h2>h{i}</h2><p>Heron {i} wades.</p>" for i in range(80_000)),
    "one word of 10 MB": "<p>" + "a" * 10_000_000,
}


async def attack() -> AsyncIterator[Attempt]:
    """Call each tool with each document several times at once, beside a caller of small pages."""
    pages: dict[str, Answer] = {}
    documents = list(DOCUMENTS)[:: 3 if is_quick() else 1]
    for number, what in enumerate(documents):
        document = DOCUMENTS[what]
        pages |= {f"/{number}/{i}": document for i in range(_AT_ONCE)}
    with tempfile.TemporaryDirectory() as name, running_site(pages) as site:
        folder = Path(name)
        keys = [make_key(folder, who, "--scope", "write") for who in ("one", "another")]
        settings = {
            "CITEWELL_WEB_TIMEOUT_SECONDS": "60",
            "CITEWELL_MCP_TOOL_TIMEOUT": "20",
            "CITEWELL_EMBEDDER": "none",
            "CITEWELL_RATE_LIMIT_PER_KEY": "0",
            "CITEWELL_RATE_LIMIT_PER_ADDRESS": "0",
        }
        with running_site({}) as small, http_server(folder, **settings) as server:
            small.default = "<h1>Birds</h1><p>Herons wade.</p>"
            clients = [client_of(server.url, key) for key in keys]
            for tool in _TOOLS:
                for number, what in enumerate(documents):
                    urls = [site.url(f"/{number}/{i}") for i in range(_AT_ONCE)]
                    delay = await _delay(tool, urls, small.url(f"/{tool}/{number}"), clients)
                    yield Attempt(
                        what=f"{tool} of {_AT_ONCE} × {what}",
                        held=delay < _MOST_DELAY_SECONDS,
                        outcome=f"a small page takes {delay:.2f} s longer",
                    )
            for client in clients:
                await client.aclose()


async def _delay(
    tool: str, urls: list[str], small: str, clients: list[httpx2.AsyncClient]
) -> float:
    """Return how much longer calls for small pages take beside the others, 95 of 100 of them."""
    one, another = clients
    before = [await call(another, tool, f"{small}/before/{i}") for i in range(_CALLS)]
    during: list[float] = []
    left = len(urls)

    async def read_slow_document(url: str) -> None:
        nonlocal left
        await call(one, tool, url, may_fail=True)
        left -= 1

    with anyio.move_on_after(_MOST_SECONDS):
        async with anyio.create_task_group() as tasks:
            for url in urls:
                tasks.start_soon(read_slow_document, url)
            while left or len(during) < _CALLS:
                during.append(await call(another, tool, f"{small}/during/{len(during)}"))
    return statistics.quantiles(during, n=20)[-1] - statistics.median(before)


async def call(client: httpx2.AsyncClient, tool: str, url: str, *, may_fail: bool = False) -> float:
    """Return the seconds that a call takes."""
    params = {"name": tool, "arguments": {"url": url}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    started = time.perf_counter()
    answer = await client.post("/mcp", json=message)
    seconds = time.perf_counter() - started
    result = answer.raise_for_status().json()["result"]
    assert may_fail or not result["isError"], result
    return seconds


def client_of(url: str, key: str) -> httpx2.AsyncClient:
    headers = {
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {key}",
    }
    return httpx2.AsyncClient(base_url=url, headers=headers, timeout=_PATIENCE_SECONDS)
