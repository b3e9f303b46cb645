"""`citewell config`: the configuration that adds Citewell to a client, ready to paste."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from citewell.core.settings import Settings

DESCRIPTION = """\
Print the configuration that adds Citewell to an MCP client. The JSON goes to stdout, where to
paste it to stderr. Options such as --database are written into it."""

EXAMPLES = """\
  citewell config claude-desktop
  citewell config vscode > .vscode/mcp.json
  citewell config claude-code --http      # for a server that runs already"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """How one MCP client is configured with a server."""

    where: str
    servers_key: str = "mcpServers"
    states_type: bool = False
    token: str
    """How the client's file refers to the token, so that it need not stand in it."""
    inputs: tuple[Mapping[str, object], ...] = ()


CLIENTS = {
    "claude-desktop": Client(
        where=(
            "Merge this into claude_desktop_config.json (Settings › Developer › Edit Config),\n"
            "then restart Claude Desktop. The file is in\n"
            "  macOS    ~/Library/Application Support/Claude/\n"
            "  Windows  %APPDATA%\\Claude\\\n"
            "  Linux    ~/.config/Claude/"
        ),
        token="${AUTH_HEADER}",
    ),
    "claude-code": Client(
        where="Save this as .mcp.json in your project, or run:",
        states_type=True,
        token="Bearer ${CITEWELL_MCP_AUTH_TOKEN}",
    ),
    "vscode": Client(
        where=(
            "Save this as .vscode/mcp.json in your workspace, or merge it into the file that\n"
            "“MCP: Open User Configuration” opens."
        ),
        servers_key="servers",
        states_type=True,
        token="Bearer ${input:citewell-token}",
        inputs=(
            {
                "type": "promptString",
                "id": "citewell-token",
                "description": "Token of the Citewell server",
                "password": True,
            },
        ),
    ),
    "cursor": Client(
        where="Save this as ~/.cursor/mcp.json, or as .cursor/mcp.json in your project.",
        token="Bearer ${env:CITEWELL_MCP_AUTH_TOKEN}",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `config`."""
    parser.add_argument("client", metavar="CLIENT", choices=CLIENTS, help=", ".join(CLIENTS))
    parser.add_argument(
        "--http",
        action="store_true",
        help="connect to a running HTTP server at CITEWELL_MCP_HOST and CITEWELL_MCP_PORT",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the configuration."""
    client = CLIENTS[arguments.client]
    if arguments.http:
        entry = _http_entry(arguments.client, settings)
    else:
        entry = _stdio_entry(client, arguments)
    configuration: dict[str, object] = {client.servers_key: {"citewell": entry}}
    if client.inputs and "headers" in entry:
        configuration["inputs"] = client.inputs
    print(client.where, file=sys.stderr)
    if arguments.client == "claude-code":
        print(f"  claude mcp add-json citewell {quote(json.dumps(entry))}", file=sys.stderr)
    print(json.dumps(configuration, indent=2, ensure_ascii=False))
    return 0


def _stdio_entry(client: Client, arguments: argparse.Namespace) -> dict[str, object]:
    command, *first = _own_command()
    options: list[str] = []
    if hasattr(arguments, "database_url"):
        options += ["--database", arguments.database_url]
    if hasattr(arguments, "env_file"):
        # The client starts the server in a folder of its own.
        options += ["--env-file", str(arguments.env_file.absolute())]
    stated = {"type": "stdio"} if client.states_type else {}
    return {**stated, "command": command, "args": [*first, "serve", *options]}


def _http_entry(name: str, settings: Settings) -> dict[str, object]:
    client = CLIENTS[name]
    host = "127.0.0.1" if settings.mcp_host in ("0.0.0.0", "::") else settings.mcp_host
    url = f"http://{f'[{host}]' if ':' in host else host}:{settings.mcp_port}/mcp"
    has_token = settings.mcp_auth_token is not None
    if name == "claude-desktop":
        is_local = host in ("127.0.0.1", "localhost")
        return _bridge_entry(url, token=client.token if has_token else None, is_local=is_local)
    entry: dict[str, object] = {"type": "http"} if client.states_type else {}
    entry["url"] = url
    if has_token:
        entry["headers"] = {"Authorization": client.token}
    return entry


def _bridge_entry(url: str, *, token: str | None, is_local: bool) -> dict[str, object]:
    # Claude Desktop's file starts programs only; mcp-remote is one that speaks HTTP for it.
    arguments = ["-y", "mcp-remote", url]
    if not is_local:
        # Elsewhere it wants TLS unless told otherwise; it takes ::1 for elsewhere too.
        arguments.append("--allow-http")
    entry: dict[str, object] = {"command": "npx", "args": arguments}
    if token is not None:
        arguments += ["--header", f"Authorization:{token}"]
        entry["env"] = {"AUTH_HEADER": "Bearer YOUR_TOKEN"}
    return entry


def _own_command() -> list[str]:
    """Return how to start the Citewell that runs now, from any folder."""
    started = Path(sys.argv[0])
    if started.stem == "citewell" and started.is_file():
        return [str(started.absolute())]
    beside = Path(sys.executable).with_name(f"citewell{Path(sys.executable).suffix}")
    if beside.is_file():
        return [str(beside)]
    return [sys.executable, "-m", "citewell"]
