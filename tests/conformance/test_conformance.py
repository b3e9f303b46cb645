"""The official conformance suite, stable and newest, against the server and its plumbing."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from tests.clients.node import environment, program
from tests.conformance.fixtures import Fixtures
from tests.server.shelf import Shelf
from tests.server.tiny import serving

from citewell.app.open import open_app
from citewell.core.settings import Settings
from citewell.server.http_app import build_http_app
from citewell.server.listener import bind
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
    listener = bind("127.0.0.1", 0)
    async with open_app(settings) as app, anyio.create_task_group() as tasks:
        asgi_app = build_http_app(Fixtures().server(), registry, app, settings=settings)
        server = uvicorn.Server(
            uvicorn.Config(asgi_app, log_config=None, timeout_graceful_shutdown=1)
        )
        tasks.start_soon(server.serve, [listener])
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True


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


@pytest.mark.parametrize(("suite", "version"), RUNS)
async def test_the_server_passes_what_needs_no_fixture(
    suite: str, version: str, tmp_path: Path
) -> None:
    shelf = Shelf(mcp_toolsets=("default",))
    async with serving(shelf, shelf.settings) as url:
        failed = await run_suite(suite, url, version, tmp_path)

    compare(failed, EXPECTED["server"])
