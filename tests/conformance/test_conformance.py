"""The official conformance suite, stable and newest, against the server and its plumbing."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.clients.node import environment, program
from tests.conformance.fixtures import Fixtures
from tests.server.shelf import Shelf
from tests.server.tiny import listening, serving

from citewell.app.open import open_app
from citewell.core.settings import Settings
from citewell.server.http_app import build_http_app
from citewell.tools.registry import Registry

pytestmark = pytest.mark.anyio

STABLE = "conformance/dist/index.js"
NEXT = "conformance-next/dist/index.js"
RUNS = [
    pytest.param(STABLE, "2025-11-25", id="stable, 2025-11-25"),
    pytest.param(NEXT, "2025-11-25", id="next, 2025-11-25"),
    pytest.param(NEXT, "2026-07-28", id="next, 2026-07-28"),
]
# The stable suite has 32, the newest has more for each version.
FEWEST_SCENARIOS = 32
# The suite adds the moment to the name of each scenario.
_WHEN = re.compile(r"-\d{4}-\d{2}-\d{2}T.*")
EXPECTED: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("expected_failures.json").read_text(encoding="utf-8")
)


@asynccontextmanager
async def serving_fixtures() -> AsyncIterator[str]:
    """Serve the suite's fixtures over our HTTP application; gives the base URL."""
    settings = Settings(database_url="sqlite://", embedder="none")
    registry = Registry([], timeout_seconds=60, max_response_bytes=1_000_000)
    async with open_app(settings) as app:
        asgi_app = build_http_app(Fixtures().server(), registry, app, settings=settings)
        async with listening(asgi_app) as url:
            yield url


async def run_suite(suite: str, url: str, version: str, folder: Path) -> dict[str, list[str]]:
    """Return the checks that failed in each scenario of the suite that `version` has."""
    command = [
        *program(suite),
        *("server", "--url", f"{url}/mcp", "--suite", "all"),
        *("--spec-version", version, "--output-dir", str(folder)),
    ]
    with anyio.fail_after(300):
        ended = await anyio.run_process(command, check=False, env=environment(folder))
    failed = read_failures(folder)
    assert failed, ended.stdout.decode() + ended.stderr.decode()
    return failed


def read_failures(folder: Path) -> dict[str, list[str]]:
    """Return the ids of the failed checks by scenario."""
    failed: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("checks.json")):
        checks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        scenario = _WHEN.sub("", path.parent.name.removeprefix("server-"))
        failed[scenario] = [each["id"] for each in checks if each["status"] == "FAILURE"]
    return failed


def compare(failed: dict[str, list[str]], expected: dict[str, str]) -> None:
    unexpected = {name: ids for name, ids in failed.items() if ids and name not in expected}
    mended = sorted(name for name in expected if name in failed and not failed[name])
    assert len(failed) >= FEWEST_SCENARIOS
    assert unexpected == {}
    assert mended == [], "these pass now: take them off the list"


@pytest.mark.parametrize(("suite", "version"), RUNS)
async def test_the_plumbing_passes_every_scenario(suite: str, version: str, tmp_path: Path) -> None:
    async with serving_fixtures() as url:
        failed = await run_suite(suite, url, version, tmp_path)

    compare(failed, EXPECTED["plumbing"])


@pytest.mark.parametrize("tool", ["test_sampling", "test_elicitation"])
async def test_the_fixtures_ask_on_the_stream_of_the_call(tool: str) -> None:
    # The suite's client opens its other stream beside its first call: what is sent there is lost
    # when the call comes first, as it does on a loaded machine.
    capabilities: dict[str, object] = {"sampling": {}, "elicitation": {}}
    arguments = {"prompt": "Which bird?", "message": "Which bird?"}
    accept = {"Accept": "application/json, text/event-stream"}

    async with serving_fixtures() as url, httpx2.AsyncClient(headers=accept) as http:
        opened = await http.post(
            f"{url}/mcp",
            json=request(
                "initialize",
                protocolVersion="2025-11-25",
                capabilities=capabilities,
                clientInfo={"name": "test", "version": "1"},
            ),
        )
        http.headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
        call = request("tools/call", name=tool, arguments=arguments)
        with anyio.fail_after(30):
            async with http.stream("POST", f"{url}/mcp", json=call) as stream:
                asked = await first_message(stream)

    assert asked["method"] in {"sampling/createMessage", "elicitation/create"}


def request(method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def first_message(stream: httpx2.Response) -> Any:
    """Return the first JSON-RPC message of a stream of events."""
    async for line in stream.aiter_lines():
        if data := line.removeprefix("data:").strip() if line.startswith("data:") else "":
            return json.loads(data)
    raise AssertionError("the stream ended without a message")


@pytest.mark.parametrize(("suite", "version"), RUNS)
async def test_the_server_passes_what_needs_no_fixture(
    suite: str, version: str, tmp_path: Path
) -> None:
    shelf = Shelf(mcp_toolsets=("default",))
    async with serving(shelf, shelf.settings) as url:
        failed = await run_suite(suite, url, version, tmp_path)

    compare(failed, EXPECTED["server"])
