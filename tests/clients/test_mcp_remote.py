"""mcp-remote: a host that can only start programs reaches the HTTP server through it."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from tests.clients.conftest import Company
from tests.clients.node import environment, program
from tests.e2e.processes import run_citewell
from tests.site import Site

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def printed_bridge(company: Company, home: Path) -> StdioServerParameters:
    """Return what `citewell config` prints, started by the tests' own Node.js instead of npx."""
    port = company.url.rpartition(":")[2].removesuffix("/mcp")
    settings = {"CITEWELL_MCP_PORT": port, "CITEWELL_MCP_AUTH_TOKEN": "of-the-server"}
    printed = run_citewell(home, "config", "claude-desktop", "--http", **settings)
    entry = json.loads(printed.stdout)["mcpServers"]["citewell"]
    assert (entry["command"], entry["args"][:2]) == ("npx", ["-y", "mcp-remote"])
    command, *first = program("mcp-remote/dist/proxy.js")
    header = entry["env"]["AUTH_HEADER"].replace("YOUR_TOKEN", company.key)
    return StdioServerParameters(
        command=command,
        args=[*first, *entry["args"][2:]],
        env=environment(home, AUTH_HEADER=header),
    )


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_host_is_answered_told_of_progress_and_asked_through_the_bridge(
    mode: str, company: Company, site: Site, tmp_path: Path
) -> None:
    told: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def reply(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"answer": "Soup."})

    server = printed_bridge(company, tmp_path)
    given = {"url": site.url("/heron"), "query": "What does the grey heron eat?"}
    with anyio.fail_after(120):
        async with Client(server, mode=mode, elicitation_callback=reply) as client:
            answer = await client.call_tool("answer", given, progress_callback=note)
            asked = await client.call_tool("ask_user", {"question": "What to eat?"})

    assert answer.structured_content is not None
    assert answer.structured_content["answered"]
    assert sorted(told) == list(range(1, len(told) + 1))
    assert len(told) > 1
    assert asked.structured_content is not None
    assert asked.structured_content["answer"] == "Soup."
