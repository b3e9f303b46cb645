"""Memory that the HTTP server keeps after pages made to be slow and large: nearly none.

Each page is read several times at once; most of the calls end at their time limit.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from bench.redteam.attempt import Attempt, is_quick
from bench.redteam.callers import DOCUMENTS, call, client_of
from tests.e2e.processes import http_server, make_key
from tests.site import running_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx2

NAME = "memory"
_AT_ONCE = 8
_TOOLS = ("web_fetch", "ingest")
_MOST_MEGABYTES = 64
# The server looks every ten seconds; what it wrote to its database is cached for good.
_LATER_SECONDS = 30


async def attack() -> AsyncIterator[Attempt]:
    """Compare the memory of the server before and after; what it has at most is shown too."""

    documents = dict(list(DOCUMENTS.items())[:: 3 if is_quick() else 1])
    pages = {
        f"/{number}/{copy}": document
        for number, document in enumerate(documents.values())
        for copy in range(_AT_ONCE)
    }
    with tempfile.TemporaryDirectory() as name, running_site(pages) as site:
        folder = Path(name)
        key = make_key(folder, "one", "--scope", "write")
        settings = {
            "CITEWELL_MCP_TOOL_TIMEOUT": "8",
            # A model, and what it embeds meanwhile, would stay.
            "CITEWELL_EMBEDDER": "none",
            "CITEWELL_RATE_LIMIT_PER_KEY": "0",
            "CITEWELL_RATE_LIMIT_PER_ADDRESS": "0",
        }
        with http_server(folder, **settings) as server, running_site({}) as small:
            small.default = "<h1>Birds</h1><p>Herons wade.</p>"
            client = client_of(server.url, key)
            for tool in _TOOLS:
                await call(client, tool, small.url(f"/{tool}"))
            before = most = _resident_megabytes(server.process.pid)
            for tool in _TOOLS:
                for number in range(len(documents)):
                    async with anyio.create_task_group() as tasks:
                        for copy in range(_AT_ONCE):
                            url = site.url(f"/{number}/{copy}")
                            tasks.start_soon(_call, client, tool, url)
                    most = max(most, _resident_megabytes(server.process.pid))
            await anyio.sleep(_LATER_SECONDS)
            after = _resident_megabytes(server.process.pid)
            await client.aclose()
    yield Attempt(
        what=f"{_AT_ONCE} × {len(documents)} pages by {len(_TOOLS)} tools",
        held=after <= before + _MOST_MEGABYTES,
        outcome=f"{before} MB before, {most} at most, {after} MB {_LATER_SECONDS} s later",
    )


async def _call(client: httpx2.AsyncClient, tool: str, url: str) -> None:
    await call(client, tool, url, may_fail=True)


def _resident_megabytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024
