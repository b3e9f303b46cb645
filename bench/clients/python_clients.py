"""Python clients of the matrix, each a probe in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.clients.environments import ROOT, installed_version, python_environment
from bench.clients.surroundings import Outcomes, Surroundings, merge
from tests.clients.node import program
from tests.clients.signing_in import sign_in_through, sign_in_with_mcp_remote

_SECONDS = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonClient:
    """A package, and the module that probes it."""

    label: str
    package: str
    requirement: str
    module: str
    signs_in: bool = False

    def run(self, around: Surroundings) -> tuple[str, Outcomes]:
        """Return the version and what worked, over stdio and HTTP."""
        python = python_environment(self.module, self.requirement)
        tasks = around.tasks(self.module)
        outcomes = merge({name: self._probe(python, task) for name, task in tasks.items()})
        outcomes["OAuth"] = self._sign_in(python, around) if self.signs_in else None
        return installed_version(python, self.package), outcomes

    def _probe(self, python: Path, task: dict[str, Any]) -> Outcomes:
        run = subprocess.run(
            self._command(python, task),
            env=_environment(),
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            timeout=_SECONDS,
            check=False,
        )
        if run.returncode:
            return {"tools": run.stderr.strip().splitlines()[-1]}
        outcomes: Outcomes = json.loads(run.stdout.splitlines()[-1])
        return outcomes

    def _sign_in(self, python: Path, around: Surroundings) -> str | None:
        authority = around.authority
        task = {
            "page": around.page,
            "changing_page": around.changing_page,
            "url": authority.mcp,
            "redirect_uri": authority.redirect_uri,
        }
        seen = sign_in_through(self._command(python, task), env=_environment(), folder=ROOT)
        outcome: str | None = seen["tools"]
        return outcome

    def _command(self, python: Path, task: dict[str, Any]) -> list[str]:
        return [str(python), "-m", f"bench.clients.{self.module}", json.dumps(task)]


class McpRemote:
    """The bridge for hosts that can only start programs, with the Python SDK as the host."""

    label = "mcp-remote"

    def run(self, around: Surroundings) -> tuple[str, Outcomes]:
        """Return the version and what worked through the bridge."""
        command, *first = program("mcp-remote/dist/proxy.js")
        home = around.home_of("mcp-remote")
        python = python_environment(SDK_2.module, SDK_2.requirement)
        header = f"Authorization: Bearer {around.key}"
        task = {
            **around.tasks("mcp-remote")["stdio"],
            "command": command,
            "arguments": [*first, around.url, "--allow-http", "--header", header],
            "env": {"HOME": str(home), "PATH": os.environ["PATH"]},
        }
        outcomes = SDK_2._probe(python, task)
        log = sign_in_with_mcp_remote(around.authority, around.home_of("mcp-remote-oauth"))
        is_in = "Connected successfully" in log
        outcomes["OAuth"] = "ok" if is_in else log.strip().splitlines()[-1]
        return npm_version("mcp-remote"), outcomes


def npm_version(package: str) -> str:
    """Return the version of a package that `make test` installs."""
    described = Path(program(f"{package}/package.json")[-1]).read_text(encoding="utf-8")
    return str(json.loads(described)["version"])


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}


SDK_2 = PythonClient(
    label="Python SDK 2",
    package="mcp",
    requirement="mcp>=2",
    module="python_sdk_2",
    signs_in=True,
)
PYTHON_CLIENTS = [
    PythonClient(
        label="Python SDK 1",
        package="mcp",
        requirement="mcp<2",
        module="python_sdk_1",
        signs_in=True,
    ),
    SDK_2,
    PythonClient(
        label="fastmcp",
        package="fastmcp",
        requirement="fastmcp",
        module="fastmcp_client",
        signs_in=True,
    ),
    PythonClient(
        label="pydantic-ai",
        package="pydantic-ai-slim",
        requirement="pydantic-ai-slim[mcp]",
        module="pydantic_ai_toolset",
    ),
    PythonClient(
        label="openai-agents",
        package="openai-agents",
        requirement="openai-agents",
        module="openai_agents",
    ),
    PythonClient(
        label="langchain-mcp-adapters",
        package="langchain-mcp-adapters",
        requirement="langchain-mcp-adapters",
        module="langchain_adapters",
    ),
]
