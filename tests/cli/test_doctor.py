"""`citewell doctor`: each problem with its fix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import Shell

from citewell.cli.main import main


def findings(
    capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, dict[str, dict[str, Any]]]:
    code = main(["doctor", "--json", *arguments])
    listed = json.loads(capsys.readouterr().out)["findings"]
    return code, {finding["name"]: finding for finding in listed}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    return folder


def test_a_healthy_machine_has_no_problem(
    shell: Shell, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = findings(capsys, "--url", shell.site.url("/storage"), *shell.options)

    assert code == 0
    assert found["network"]["state"] == "ok"
    assert found["database"]["message"] == "0 pages, 0 chunks"
    assert found["model"]["state"] == "ok"
    assert found["clients"]["fix"] == "citewell config CLIENT --write"


def test_a_page_that_cannot_be_fetched_is_a_problem_with_a_fix(
    shell: Shell, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = findings(capsys, "--url", "http://127.0.0.1:9/", *shell.options)

    assert code == 1
    assert found["network"]["state"] == "problem"
    assert found["network"]["fix"]


def test_a_database_that_is_none_is_a_problem(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is no database, but long enough to look like a file" * 40)

    code, found = findings(capsys, "--offline", "--database", f"sqlite:///{broken}")

    assert code == 1
    assert found["database"]["state"] == "problem"


def test_a_database_that_is_not_there_is_not_made(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing.db"

    code, found = findings(capsys, "--offline", "--database", f"sqlite:///{missing}")

    assert (code, found["database"]["state"]) == (0, "note")
    assert not missing.exists()


def test_a_client_that_starts_a_command_which_is_gone_is_pointed_out(
    shell: Shell, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "gemini", "--write", *shell.options]) == 0
    (home / ".cursor").mkdir()
    entry = {"mcpServers": {"citewell": {"command": "/gone/citewell", "args": ["serve"]}}}
    (home / ".cursor/mcp.json").write_text(json.dumps(entry), encoding="utf-8")
    (home / ".mcp.json").write_text("{}", encoding="utf-8")
    capsys.readouterr()

    code, found = findings(capsys, "--offline", *shell.options)

    assert code == 1
    assert found["gemini"]["state"] == "ok"
    assert "/gone/citewell does not exist" in found["cursor"]["message"]
    assert found["cursor"]["fix"] == "citewell config cursor --write"
    assert found["claude-code"]["state"] == "note"
