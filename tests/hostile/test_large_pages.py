"""Pages that take long to read: the call ends in time, others go on, and the process is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from tests.e2e.processes import ServerProcess, http_server
from tests.process_tree import private_bytes, processes_below
from tests.site import running_site, wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

_PATIENCE_SECONDS = 240
PAGES = {
    "/table": "<table>" + "<tr><td>a<td>b" * 200_000 + "</table>",
    "/links": "<p>" + "<a href=/a>a</a> " * 200_000,
}


def fetch(url: str) -> dict[str, Any]:
    params = {"name": "web_fetch", "arguments": {"url": url}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


async def test_a_call_ends_in_time_while_others_are_answered_and_its_process_is_killed(
    tmp_path: Path,
) -> None:
    with (
        running_site(PAGES) as site,
        http_server(
            tmp_path,
            CITEWELL_MCP_TOOLSETS="web",
            CITEWELL_MCP_TOOL_TIMEOUT="1",
            CITEWELL_WEB_TIMEOUT_SECONDS="60",
        ) as server,
    ):
        async with httpx2.AsyncClient(base_url=server.url, timeout=_PATIENCE_SECONDS) as http:
            for path in PAGES:
                code, others = await answer_beside_others(http, site.url(path))

                assert code == "TIMEOUT"
                assert others >= 3, "nobody else was answered meanwhile"
        wait_until(lambda: not busy_readers(server), seconds=_PATIENCE_SECONDS)
        assert private_bytes(server.process.pid) < 500 * 1024**2


async def answer_beside_others(http: httpx2.AsyncClient, url: str) -> tuple[str, int]:
    """Return the error of a call, and how many others were answered before it."""
    codes: list[str] = []
    others = 0
    async with anyio.create_task_group() as tasks:

        async def call() -> None:
            headers = {"Accept": "application/json, text/event-stream"}
            answer = await http.post("/mcp", json=fetch(url), headers=headers)
            codes.append(answer.json()["result"]["structuredContent"]["error"]["code"])

        tasks.start_soon(call)
        while not codes:
            health = await http.get("/healthz")
            assert health.status_code == 200
            others += not codes
    return codes[0], others


def busy_readers(server: ServerProcess) -> list[int]:
    """Return the processes that still hold what a large page takes."""
    return [
        pid
        for pid, command in processes_below(server.process.pid).items()
        if "sandbox_process" in command and private_bytes(pid) > 200 * 1024**2
    ]
