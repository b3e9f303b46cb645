"""`citewell config CLIENT --write`: other people's files, changed as little as possible."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.cli.client_files import merge_entry
from citewell.cli.clients import CLIENTS
from citewell.cli.main import main

OLD = """{
  // Servers that I use every day.
  "mcpServers": {
    "other": {"command": "other", "args": ["a//b", "{,}"]}, /* keep */
  },
  "theme": "dark", // and this
}
"""


def write(client: str, file: Path) -> int:
    return main(["config", client, "--write", "--file", str(file)])


@pytest.mark.parametrize("client", CLIENTS)
def test_a_file_that_is_not_there_is_made(client: str, tmp_path: Path) -> None:
    file = tmp_path / "deep" / "settings"

    assert write(client, file) == 0

    text = file.read_text(encoding="utf-8")
    if CLIENTS[client].form == "json":
        assert "serve" in json.loads(text)[CLIENTS[client].servers_key]["citewell"]["args"]
    elif CLIENTS[client].form == "toml":
        assert "serve" in tomllib.loads(text)["mcp_servers"]["citewell"]["args"]
    else:
        assert text.startswith("extensions:\n  citewell:\n    type: ")


def test_only_the_owner_can_read_a_new_file_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    new, shared = tmp_path / "new.json", tmp_path / "shared.json"
    shared.write_text(OLD, encoding="utf-8")
    shared.chmod(0o640)

    assert write("cursor", new) == write("cursor", shared) == 0

    assert [stat.S_IMODE(file.stat().st_mode) for file in (new, shared)] == [0o600, 0o640]


@pytest.mark.parametrize(
    ("client", "file", "setting", "mode"),
    [
        ("claude-code", None, None, 0o644),
        ("cursor", ".cursor/mcp.json", None, 0o644),
        ("claude-code", None, "key", 0o600),
        ("cursor", None, None, 0o600),
        ("cursor", "../mcp.json", None, 0o600),
    ],
)
def test_a_file_of_the_project_can_be_shared_unless_it_holds_settings(
    client: str,
    file: str | None,
    setting: str | None,
    mode: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path))
    if setting is not None:
        monkeypatch.setenv("CITEWELL_EMBEDDER_API_KEY", setting)
    before = os.umask(0o022)
    try:
        assert main(["config", client, "--write", *(["--file", file] if file else [])]) == 0
    finally:
        os.umask(before)

    [written] = tmp_path.rglob("*.json")
    assert stat.S_IMODE(written.stat().st_mode) == mode


def test_other_servers_comments_and_order_stay_and_a_copy_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(OLD, encoding="utf-8")

    assert write("cursor", file) == 0

    text = file.read_text(encoding="utf-8")
    for line in OLD.splitlines():
        assert line in text.splitlines()
    [backup] = tmp_path.glob("*.bak")
    assert backup.read_text(encoding="utf-8") == OLD
    assert str(backup) in capsys.readouterr().out


@pytest.mark.parametrize("old", [OLD, '{"mcpServers":{"other":{"command":"x"}}}'])
def test_writing_twice_changes_nothing_more(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(old, encoding="utf-8")
    write("cursor", file)
    text = file.read_text(encoding="utf-8")

    assert write("cursor", file) == 0

    assert file.read_text(encoding="utf-8") == text
    assert "already" in capsys.readouterr().out
    assert len(list(tmp_path.glob("*.bak"))) == 1


def test_an_entry_that_is_there_is_replaced_in_its_place() -> None:
    text = '{"mcpServers": {"citewell": {"command": "old"}, "z": 1}}'

    merged = merge_entry(text, ("mcpServers", "citewell"), {"command": "new"}, form="json")

    assert json.loads(merged) == {"mcpServers": {"citewell": {"command": "new"}, "z": 1}}
    assert merged.index("new") < merged.index('"z"')


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"mcpServers": []}', '{"mcpServers": {}} {}', "not json"]
)
def test_a_file_of_another_form_is_left_alone(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(text, encoding="utf-8")

    assert write("cursor", file) == 2

    assert f"{file} was not changed" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == text


def test_codex_keeps_its_other_tables(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    old = (
        '# mine\nmodel = "o"\n\n[mcp_servers.citewell]\ncommand = "old"\n\n[mcp_servers.b]\nx = 1\n'
    )
    file.write_text(old, encoding="utf-8")

    assert write("codex", file) == 0

    text = file.read_text(encoding="utf-8")
    servers = tomllib.loads(text)["mcp_servers"]
    assert text.startswith('# mine\nmodel = "o"\n')
    assert servers["b"] == {"x": 1}
    assert servers["citewell"]["args"] == ["serve"]


def test_goose_keeps_its_other_extensions(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    old = (
        "GOOSE_MODEL: x\nextensions:\n    citewell:\n        cmd: old\n    memory:\n"
        "        enabled: true\nother: 1\n"
    )
    file.write_text(old, encoding="utf-8")

    assert write("goose", file) == 0

    text = file.read_text(encoding="utf-8")
    assert "cmd: old" not in text
    assert text.count("    citewell:\n") == 1
    assert text.endswith("    memory:\n        enabled: true\nother: 1\n")


def test_a_link_into_a_repository_of_dotfiles_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text("{}", encoding="utf-8")
    link = tmp_path / "mcp.json"
    link.symlink_to(target)

    assert write("cursor", link) == 0

    assert link.is_symlink()
    assert "citewell" in target.read_text(encoding="utf-8")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(
    others=st.dictionaries(st.text(), VALUES),
    servers=st.none() | st.dictionaries(st.text(), VALUES),
    indent=st.sampled_from([None, 2, 4, "\t"]),
)
def test_merging_adds_the_entry_and_nothing_else(
    others: dict[str, object], servers: dict[str, object] | None, indent: int | str | None
) -> None:
    before = others | ({} if servers is None else {"mcpServers": servers})
    before.pop("mcpServers", None) if servers is None else None
    entry = {"command": "citewell"}

    merged = merge_entry(
        json.dumps(before, indent=indent), ("mcpServers", "citewell"), entry, form="json"
    )

    assert json.loads(merged) == before | {"mcpServers": {**(servers or {}), "citewell": entry}}


def test_line_ends_and_the_byte_order_mark_stay(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b'\xef\xbb\xbf{\r\n  "theme": "dark"\r\n}\r\n')

    assert write("gemini", file) == 0

    written = file.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf{\r\n")
    assert written.count(b"\n") == written.count(b"\r\n") > 4
    assert b"citewell" in written


def test_a_database_is_named_by_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["config", "cursor", "--database", "mine.db"]) == 0

    entry = json.loads(capsys.readouterr().out)["mcpServers"]["citewell"]
    assert entry["env"] == {"CITEWELL_DATABASE_URL": f"sqlite://{tmp_path}/mine.db"}
