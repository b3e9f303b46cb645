"""Clients of the matrix that run on Node.js: the TypeScript SDKs, the Inspector, Claude Code."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.clients.claude_terminal import sign_in_at_terminal
from bench.clients.environments import npm_program
from bench.clients.probe import DEFAULT_TOOLS, QUESTION, QUOTE, REPLY
from bench.clients.python_clients import npm_version
from bench.clients.surroundings import Client, Outcomes, Surroundings, merge
from tests.clients.node import environment, program, script
from tests.clients.signing_in import sign_in_through

_INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeScriptClient:
    """An SDK in TypeScript, which holds the conversation of `tests/clients`."""

    label: str
    package: str
    script: str

    def run(self, around: Surroundings) -> tuple[str, Outcomes]:
        """Return the version and what worked, over stdio and HTTP."""
        home = around.home_of(self.script)
        servers = {
            "stdio": around.stdio_server(self.script),
            "HTTP": {"url": around.url, "headers": around.headers},
        }
        outcomes = merge({name: self._talk(server, around) for name, server in servers.items()})
        authority = around.authority
        server = {"url": authority.mcp, "redirectUri": authority.redirect_uri}
        command = self._command({"topic": "list", "server": server})
        seen = sign_in_through(command, env=environment(home))
        outcomes["OAuth"] = _tick("search" in seen["tools"], "no tools after signing in")
        return npm_version(self.package), outcomes

    def _talk(self, server: dict[str, Any], around: Surroundings) -> Outcomes:
        pages = {
            "page": around.page,
            "slowPage": around.slow_page,
            "changingPage": around.changing_page,
        }
        run = subprocess.run(
            self._command({"topic": "everything", "server": server, **pages}),
            env=environment(around.home),
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        if run.returncode:
            return {"tools": run.stderr.strip().splitlines()[-1]}
        seen = json.loads(run.stdout)
        answer, failed = seen["answer"], json.dumps(seen["failed"])
        shelves, changes = seen["shelves"], seen["changes"]
        return {
            "tools": _tick(set(seen["tools"]) >= DEFAULT_TOOLS, "some are not listed"),
            "instructions": _tick("Prefer Citewell" in seen["instructions"], "not shown"),
            "answer": _tick(
                QUOTE in answer["content"][0]["text"]
                and QUOTE in json.dumps(answer["structuredContent"]),
                "no quote",
            ),
            # These clients drop the progress that they read together with the result.
            "progress": _tick(seen["abandoned"]["sign"]["progress"] == 1, "none arrived"),
            "errors": _tick("127.0.0.1" in failed, "no reason"),
            "ask_user": _tick(REPLY in json.dumps(seen["afterwards"]), "no reply"),
            "resources": _tick("heron" in shelves["text"], "the page is not there"),
            "prompts": _tick(around.page in shelves["prompt"], "the page is not named"),
            "changes": _tick(changes["announced"] == changes["uri"], "none is announced"),
        }

    def _command(self, task: dict[str, Any]) -> list[str]:
        return [*script(self.script), json.dumps({**task, "negotiation": "auto"})]


class Inspector:
    """The MCP Inspector in its shell form."""

    label = "MCP Inspector"

    def run(self, around: Surroundings) -> tuple[str, Outcomes]:
        """Return the version and what worked, over HTTP with a key."""
        home = around.home_of("inspector")
        given = json.dumps({"url": around.page, "query": QUESTION})
        prompt = ["--prompt-name", "research", "--prompt-args", f"url={around.page}"]
        listed = self._inspect(around, home, "tools/list")
        answered = self._inspect(
            around, home, "tools/call", "--tool-name", "answer", "--tool-args-json", given
        )
        failed = self._inspect(
            *(around, home, "tools/call", "--tool-name", "ingest"),
            *("--tool-arg", "url=http://127.0.0.1:1/"),
        )
        resources = self._inspect(around, home, "resources/list")
        prompted = self._inspect(
            around, home, "prompts/get", *prompt, "--prompt-args", "question=What?"
        )
        names = {tool for tool in DEFAULT_TOOLS if f'"name": "{tool}"' in listed}
        return npm_version("@modelcontextprotocol/inspector"), {
            "tools": _tick(names == DEFAULT_TOOLS, "some are not listed"),
            "answer": _tick(QUOTE in answered, "no quote"),
            "errors": _tick("BACKEND_UNAVAILABLE" in failed, "no reason"),
            "resources": _tick("citewell://page/" in resources, "no page"),
            "prompts": _tick(around.page in prompted, prompted[:200]),
        }

    def _inspect(self, around: Surroundings, home: Path, method: str, *options: str) -> str:
        server = [around.url, "--transport", "http"]
        key = ["--header", f"Authorization: Bearer {around.key}"]
        call = ["--cli", "--format", "json", "--quiet", *server, *key, "--method", method]
        run = subprocess.run(
            [*program(_INSPECTOR), *call, *options],
            env=environment(home),
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        return json.dumps(json.loads(run.stdout or run.stderr), ensure_ascii=False)


class ClaudeCode:
    """The `mcp` commands of Claude Code, which need no account."""

    label = "Claude Code"

    def run(self, around: Surroundings) -> tuple[str, Outcomes]:
        """Return the version, and whether it connects and signs in."""
        claude = str(npm_program("claude-code", "@anthropic-ai/claude-code", ".bin/claude"))
        home = around.home_of("claude-code")
        env = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "TERM": "xterm",
            # Nothing but the servers under test is spoken to.
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

        def run(*arguments: str) -> str:
            ended = subprocess.run(
                [claude, *arguments],
                env=env,
                cwd=home,
                capture_output=True,
                encoding="utf-8",
                timeout=300,
                check=False,
            )
            return ended.stdout + ended.stderr

        server = around.stdio_server("claude-code")
        variables = [f"--env={name}={value}" for name, value in server["env"].items()]
        run("mcp", "add", "stdio", *variables, "--", server["command"], *server["args"])
        header = f"Authorization: Bearer {around.key}"
        run("mcp", "add", "--transport", "http", "keyed", around.url, "--header", header)
        run("mcp", "add", "--transport", "http", "signed-in", around.authority.mcp)
        before = run("mcp", "list")
        log = sign_in_at_terminal([claude, "mcp", "login", "signed-in", "--no-browser"], env, home)
        after = run("mcp", "list")
        connected = [_is_connected(name, before) for name in ("stdio", "keyed")]
        asked = re.search(r"^signed-in: .*Needs authentication", before, flags=re.MULTILINE)
        is_in = asked is not None and _is_connected("signed-in", after)
        return run("--version").split()[0], {
            "tools": _tick(all(connected), before[-300:]),
            "OAuth": _tick(is_in, log[-300:]),
        }


def _is_connected(name: str, listing: str) -> bool:
    return re.search(rf"^{name}: .*Connected$", listing, flags=re.MULTILINE) is not None


def _tick(is_so: bool, otherwise: str) -> str:
    return "ok" if is_so else otherwise


NODE_CLIENTS: list[Client] = [
    TypeScriptClient(
        label="TypeScript SDK 1", package="@modelcontextprotocol/sdk", script="sdk1.cjs"
    ),
    TypeScriptClient(
        label="TypeScript client 2", package="@modelcontextprotocol/client", script="client2.cjs"
    ),
    Inspector(),
    ClaudeCode(),
]
