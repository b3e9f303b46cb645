"""The MCP Inspector in its shell form, over both transports."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.clients.conftest import SETTINGS, Company
from tests.clients.node import environment, program
from tests.e2e.processes import stdio_parameters
from tests.site import Site

pytestmark = pytest.mark.slow

INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
TOOL_FAILED = 5
NOT_ALLOWED = 3


def inspect(home: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code and what was printed: the result, or else the error."""
    run = subprocess.run(
        [*program(INSPECTOR), "--cli", "--format", "json", "--quiet", *arguments],
        env=environment(home),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return run.returncode, json.loads(run.stdout or run.stderr)


def over_http(company: Company) -> list[str]:
    return [
        company.url,
        "--transport",
        "http",
        "--header",
        f"Authorization: {company.authorization}",
    ]


def over_stdio(folder: Path, **settings: str) -> list[str]:
    server = stdio_parameters(folder, **settings)
    pairs = [f"{name}={value}" for name, value in (server.env or {}).items()]
    options = [option for pair in pairs for option in ("-e", pair)]
    return [*options, "--", server.command, *server.args]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_tools_are_listed_and_called_over_http(
    era: str, company: Company, site: Site, tmp_path: Path
) -> None:
    speaking = ["--protocol-era", era, *over_http(company)]
    call = ["--method", "tools/call", "--tool-name", "answer"]
    given = json.dumps({"url": site.url("/heron"), "query": "What does the grey heron eat?"})

    _, listed = inspect(tmp_path, *speaking, "--method", "tools/list")
    code, called = inspect(tmp_path, *speaking, *call, "--tool-args-json", given)

    assert [tool["name"] for tool in listed["result"]["tools"]][:2] == ["answer", "search"]
    assert (code, called["result"]["structuredContent"]["answered"]) == (0, True)


def test_a_tool_is_called_over_stdio(tmp_path: Path) -> None:
    call = ["--method", "tools/call", "--tool-name", "status"]

    code, called = inspect(tmp_path, *call, *over_stdio(tmp_path, **SETTINGS))

    assert (code, called["result"]["structuredContent"]["documents"]) == (0, 0)


def test_the_schema_of_every_tool_is_one_that_all_hosts_take(tmp_path: Path) -> None:
    every = over_stdio(tmp_path, CITEWELL_MCP_TOOLSETS="all")

    code, listed = inspect(tmp_path, "--method", "tools/list", "--strict", *every)

    assert code == 0, listed
    assert len(listed["result"]["tools"]) > 30


def test_a_failed_tool_is_told_by_the_exit_code(company: Company, tmp_path: Path) -> None:
    call = [
        "--method",
        "tools/call",
        "--tool-name",
        "ingest",
        "--tool-arg",
        "url=http://127.0.0.1:1/",
    ]

    code, called = inspect(tmp_path, *over_http(company), *call)

    assert code == TOOL_FAILED
    assert called["result"]["structuredContent"]["error"]["code"] == "BACKEND_UNAVAILABLE"


def test_without_a_key_the_client_is_told_that_it_needs_one(
    company: Company, tmp_path: Path
) -> None:
    code, refused = inspect(
        tmp_path, company.url, "--transport", "http", "--stored-auth-only", "--method", "tools/list"
    )

    assert (code, refused["error"]["code"]) == (NOT_ALLOWED, "auth_required")
