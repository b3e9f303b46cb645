"""`citewell export` and `citewell import`: a library from one index to another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.shell import Shell, make_database

from citewell.cli.main import EXIT_TOOL_ERROR, main


def test_a_library_is_carried_to_another_index(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "library.zip"
    other = ("--database", f"sqlite:///{tmp_path / 'other.db'}", *shell.options[2:])
    main(["ingest", shell.site.url("/storage"), *shell.options])
    capsys.readouterr()

    exported = main(["export", str(file), *shell.options])
    told = capsys.readouterr().out
    imported = main(["import", "--json", str(file), *other])
    counts = json.loads(capsys.readouterr().out)
    found = main(["search", "ring mode", *other])

    assert (exported, imported, found) == (0, 0, 0)
    assert told.startswith("Exported 1 page, ")
    assert counts["pages_written"] == 1
    assert "newest burst" in capsys.readouterr().out


def test_a_damaged_file_is_refused_with_what_to_do(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "library.zip"
    file.write_bytes(b"PK\x03\x04 no library")

    code = main(["import", str(file), *shell.options])

    assert code == EXIT_TOOL_ERROR
    assert "damaged" in capsys.readouterr().err


@pytest.mark.parametrize("command", [("export",), ("receipt", "c1-0a1b2c3d-0-9", "--output")])
def test_another_file_is_not_overwritten(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    file = tmp_path / "notes.md"
    file.write_text("# Notes\n", encoding="utf-8")
    make_database(shell.options[1])

    assert main([*command, str(file), *shell.options]) == 2

    assert "notes.md exists and is not a" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == "# Notes\n"
