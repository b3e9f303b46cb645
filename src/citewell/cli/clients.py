"""The MCP clients that Citewell knows how to be added to: which file, which form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

Form = Literal["json", "toml", "yaml"]


@frozen
class Client:
    """Where and how one MCP client configures its servers."""

    title: str
    file: tuple[str, ...]
    """The parts of its file's path; the first is a place that `client_file` knows."""
    then: str
    """What to do once the file is written."""
    servers_key: str = "mcpServers"
    form: Form = "json"
    states_type: bool = False
    url_key: str | None = "url"
    """Where the address of a running server goes; None where the client starts programs only."""
    token: str = "Bearer ${CITEWELL_MCP_AUTH_TOKEN}"
    """How the client's file refers to the token, so that it need not stand in it."""
    inputs: tuple[Mapping[str, object], ...] = ()


_PROMPT = {
    "type": "promptString",
    "id": "citewell-token",
    "description": "Token of the Citewell server",
    "password": True,
}

CLIENTS = {
    "claude-desktop": Client(
        title="Claude Desktop",
        file=("config", "Claude", "claude_desktop_config.json"),
        then="Restart Claude Desktop.",
        url_key=None,
        token="${AUTH_HEADER}",
    ),
    "claude-code": Client(
        title="Claude Code",
        file=("project", ".mcp.json"),
        then="Start Claude Code in this folder and approve the server.",
        states_type=True,
    ),
    "vscode": Client(
        title="VS Code",
        file=("config", "Code", "User", "mcp.json"),
        then="Run “MCP: List Servers” in VS Code to start it.",
        servers_key="servers",
        states_type=True,
        token="Bearer ${input:citewell-token}",
        inputs=(_PROMPT,),
    ),
    "cursor": Client(
        title="Cursor",
        file=("home", ".cursor", "mcp.json"),
        then="Check it in Cursor › Settings › MCP.",
        token="Bearer ${env:CITEWELL_MCP_AUTH_TOKEN}",
    ),
    "windsurf": Client(
        title="Windsurf",
        file=("home", ".codeium", "windsurf", "mcp_config.json"),
        then="Press Refresh in Windsurf › Settings › Cascade › MCP servers.",
        url_key="serverUrl",
        token="Bearer ${env:CITEWELL_MCP_AUTH_TOKEN}",
    ),
    "zed": Client(
        title="Zed",
        file=("dot-config", "zed", "settings.json"),
        then="Zed starts it as soon as the file is saved.",
        servers_key="context_servers",
    ),
    "codex": Client(
        title="Codex",
        file=("home", ".codex", "config.toml"),
        then="Restart Codex.",
        servers_key="mcp_servers",
        form="toml",
    ),
    "gemini": Client(
        title="Gemini CLI",
        file=("home", ".gemini", "settings.json"),
        then="Restart gemini; /mcp lists the server.",
        url_key="httpUrl",
    ),
    "continue": Client(
        title="Continue",
        file=("project", ".continue", "mcpServers", "citewell.json"),
        then="Continue reads it in agent mode, in this workspace.",
        states_type=True,
    ),
    "goose": Client(
        title="Goose",
        file=("dot-config", "goose", "config.yaml"),
        then="Start a new goose session.",
        servers_key="extensions",
        form="yaml",
        url_key="uri",
    ),
    "jetbrains": Client(
        title="JetBrains (Junie)",
        file=("home", ".junie", "mcp", "mcp.json"),
        then=(
            "Check it in Settings › Tools › Junie › MCP Settings. For AI Assistant, paste the\n"
            "same JSON in Settings › Tools › AI Assistant › Model Context Protocol."
        ),
        url_key=None,
        token="${AUTH_HEADER}",
    ),
}


def is_of_project(client: Client, file: Path) -> bool:
    """Return whether a file belongs to the project in this folder, for all who work on it."""
    folder = Path.cwd()
    is_own = client.file[0] != "project" and file == client_file(client)
    is_below_home = not Path.home().resolve().is_relative_to(folder)
    return not is_own and is_below_home and file.resolve().is_relative_to(folder)


def client_file(client: Client) -> Path:
    """Return the client's file on this machine; it need not exist."""
    place, *parts = client.file
    match place:
        case "project":
            root = Path.cwd()
        case "home":
            root = Path.home()
        case "dot-config":
            # Also on macOS, where other programs use ~/Library/Application Support.
            root = Path.home() / ".config"
        case _:
            from platformdirs import user_config_path

            root = user_config_path(appauthor=False, roaming=True)
    return root.joinpath(*parts)
