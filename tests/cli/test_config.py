"""`citewell config`: what a client's file must hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from citewell.cli.clients import CLIENTS
from citewell.cli.main import main

COMMAND = str(Path(sys.executable).with_name("citewell"))
ROOT = Path(__file__).resolve().parents[2]


def configuration(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["config", *arguments]) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return made


@pytest.fixture
def env_file(tmp_path: Path) -> str:
    path = tmp_path / "server.env"
    path.write_text(
        "CITEWELL_MCP_PORT=9000\nCITEWELL_MCP_AUTH_TOKEN=very-secret\n", encoding="utf-8"
    )
    return str(path)


@pytest.mark.parametrize("client", ["claude-desktop", "cursor"])
def test_a_client_that_starts_programs_gets_the_absolute_command(
    client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"command": COMMAND, "args": ["serve"]}

    assert configuration(capsys, client) == {"mcpServers": {"citewell": entry}}


def test_claude_code_and_vs_code_are_told_the_transport(
    capsys: pytest.CaptureFixture[str],
) -> None:
    entry = {"type": "stdio", "command": COMMAND, "args": ["serve"]}

    assert configuration(capsys, "claude-code") == {"mcpServers": {"citewell": entry}}
    assert configuration(capsys, "vscode") == {"servers": {"citewell": entry}}


@pytest.mark.parametrize(
    ("client", "key", "entry"),
    [
        ("claude-code", "mcpServers", {"type": "http", "url": "http://127.0.0.1:8765/mcp"}),
        ("vscode", "servers", {"type": "http", "url": "http://127.0.0.1:8765/mcp"}),
        ("cursor", "mcpServers", {"url": "http://127.0.0.1:8765/mcp"}),
        (
            "claude-desktop",
            "mcpServers",
            {"command": "npx", "args": ["-y", "mcp-remote", "http://127.0.0.1:8765/mcp"]},
        ),
    ],
)
def test_with_http_the_client_gets_the_address_of_the_server(
    client: str, key: str, entry: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert configuration(capsys, client, "--http") == {key: {"citewell": entry}}


def test_the_bridge_is_told_that_a_server_elsewhere_speaks_plain_http(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "settings.env"
    file.write_text("CITEWELL_MCP_HOST=::1\n", encoding="utf-8")

    made = configuration(capsys, "claude-desktop", "--http", "--env-file", str(file))

    url = "http://[::1]:8765/mcp"
    assert made["mcpServers"]["citewell"]["args"] == ["-y", "mcp-remote", url, "--allow-http"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_token_is_asked_for_but_never_written_out(
    client: str, env_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", client, "--http", "--env-file", env_file]) == 0

    text = capsys.readouterr().out
    assert "http://127.0.0.1:9000/mcp" in text
    assert "Authorization" in text or "bearer_token_env_var" in text
    assert "very-secret" not in text


def test_vs_code_prompts_for_the_token(env_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = configuration(capsys, "vscode", "--http", "--env-file", env_file)

    [prompt] = made["inputs"]
    header = made["servers"]["citewell"]["headers"]["Authorization"]
    assert header == f"Bearer ${{input:{prompt['id']}}}"


def test_the_settings_file_is_passed_on_and_its_values_stay_in_it(
    env_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = configuration(capsys, "cursor", "--env-file", env_file)

    entry = made["mcpServers"]["citewell"]
    assert entry["args"] == ["serve", "--env-file", env_file]
    assert "env" not in entry


def test_every_setting_that_is_not_the_default_is_carried_over(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_SCOPE_TAGS", "python,web")
    monkeypatch.setenv("CITEWELL_WEB_RESPECT_ROBOTS", "false")
    monkeypatch.setenv("CITEWELL_PROJECT", "default")
    monkeypatch.setenv("CITEWELL_MCP_AUTH_TOKEN", "very-secret")

    made = configuration(capsys, "cursor", "--database", "sqlite:////tmp/notes.db")

    assert made["mcpServers"]["citewell"]["env"] == {
        "CITEWELL_DATABASE_URL": "sqlite:////tmp/notes.db",
        "CITEWELL_SCOPE_TAGS": "python,web",
        "CITEWELL_WEB_RESPECT_ROBOTS": "false",
    }


def test_a_key_in_the_file_is_pointed_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_EMBEDDER_API_KEY", "sk-1")

    main(["config", "cursor"])

    assert "private: it holds CITEWELL_EMBEDDER_API_KEY" in capsys.readouterr().err


@pytest.mark.parametrize("client", CLIENTS)
def test_where_to_paste_it_is_told_on_stderr(
    client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["config", client])

    assert CLIENTS[client].file[-1] in capsys.readouterr().err


def test_the_command_it_names_can_be_started(capsys: pytest.CaptureFixture[str]) -> None:
    entry = configuration(capsys, "cursor")["mcpServers"]["citewell"]

    result = subprocess.run(
        [entry["command"], *entry["args"], "--help"], capture_output=True, timeout=120, check=False
    )

    assert result.returncode == 0


def test_under_uvx_the_client_starts_uvx_and_not_what_its_cache_holds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", "/home/ann/.cache/uv/archive-v0/prVYT2gwd8WSCyvw")

    entry = configuration(capsys, "cursor")["mcpServers"]["citewell"]

    assert Path(entry["command"]).name == "uvx"
    assert entry["args"] == ["--from", str(ROOT), "citewell", "serve"]
