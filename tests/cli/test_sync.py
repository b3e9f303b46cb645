"""`citewell sync`: a project's packages become searchable, in the versions it uses."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import rmtree

import pytest
from tests.cli.shell import run_citewell
from tests.ingest.packages.project_folder import install, make_project

pytestmark = pytest.mark.slow

WORDS_ONLY = {"CITEWELL_EMBEDDER": "none"}


def test_packages_are_indexed_once_and_found_by_search(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "shop")

    shown = run_citewell(tmp_path, "sync", str(folder), **WORDS_ONLY)
    first = run_citewell(tmp_path, "sync", str(folder), "--yes", "--json", **WORDS_ONLY)
    again = run_citewell(tmp_path, "sync", str(folder), "--yes", **WORDS_ONLY)
    answer = run_citewell(
        tmp_path, "search", "How does a heron wade into water?", "--json", **WORDS_ONLY
    )

    assert "2 packages can be indexed" in shown.stdout
    reports = json.loads(first.stdout)["packages"]
    assert [(each["package"], each["symbols"], each["failed"]) for each in reports] == [
        ("heron-watch", 3, {}),
        ("egret", 3, {}),
    ]
    assert "Nothing to do: 2 packages are indexed" in again.stdout
    assert "pypi:heron-watch@1.2.0/herons._birds" in answer.stdout


def test_vectors_that_a_run_did_not_make_are_made_by_the_next(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "shop")
    run_citewell(tmp_path, "sync", str(folder), "--yes", **WORDS_ONLY)

    shown = run_citewell(tmp_path, "sync", str(folder))
    finished = run_citewell(tmp_path, "sync", str(folder), "--yes")
    again = run_citewell(tmp_path, "sync", str(folder), "--yes")

    assert "5 pages still lack vectors: run `citewell sync --yes` to finish." in shown.stdout
    assert "Made the vectors of 5 pages that lacked them." in finished.stdout
    assert "Nothing to do: 2 packages are indexed as installed." in again.stdout


def upgrade(folder: Path, newer: str) -> None:
    """Install version 2 of heron-watch, whose module is `newer`, instead of the first."""
    site = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    rmtree(site / "heron_watch-1.2.0.dist-info")
    install(site, "heron_watch", "2.0.0", {"herons/__init__.py": newer})


def test_an_upgrade_replaces_the_old_version_when_asked(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "shop")
    run_citewell(tmp_path, "sync", str(folder), "--yes", **WORDS_ONLY)

    upgrade(folder, '"""Tools for watching herons from boats."""\n')
    run_citewell(tmp_path, "sync", str(folder), "--yes", "--drop-old", **WORDS_ONLY)
    status = run_citewell(tmp_path, "status", **WORDS_ONLY)

    assert "heron-watch@2.0.0" in status.stdout
    assert "heron-watch@1.2.0" not in status.stdout


def test_a_package_that_the_project_does_not_use_is_an_error(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "shop")

    refused = run_citewell(tmp_path, "sync", str(folder), "--package", "stork", **WORDS_ONLY)

    assert refused.returncode != 0
    assert "the project does not use stork" in refused.stderr


def test_versions_are_listed_asked_for_and_dropped(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "shop")
    run_citewell(tmp_path, "sync", str(folder), "--yes", **WORDS_ONLY)
    upgrade(folder, '"""Watching herons from boats, no longer from the shore."""\n')
    run_citewell(tmp_path, "sync", str(folder), "--yes", **WORDS_ONLY)

    question = "What are herons watched from?"
    own = run_citewell(tmp_path, "search", question, **WORDS_ONLY)
    older = run_citewell(tmp_path, "search", question, "--version", "heron-watch<2", **WORDS_ONLY)
    none = run_citewell(tmp_path, "search", question, "--version", "9.9", **WORDS_ONLY)
    listed = run_citewell(tmp_path, "packages", "--json", **WORDS_ONLY)
    dropped = run_citewell(tmp_path, "packages", "drop", "--old", **WORDS_ONLY)
    left = run_citewell(tmp_path, "packages", **WORDS_ONLY)

    assert "(heron-watch 2.0.0)" in own.stdout
    assert "heron-watch 1.2.0" not in own.stdout
    assert "heron-watch 2.0.0" not in older.stdout
    assert "Indexed are egret 2.0.1, heron-watch 1.2.0, heron-watch 2.0.0" in none.stderr
    assert [
        (each["product"], each["version"], each["used_in"])
        for each in json.loads(listed.stdout)["packages"]
    ] == [
        ("npm:egret", "2.0.1", [str(folder)]),
        ("pypi:heron-watch", "1.2.0", []),
        ("pypi:heron-watch", "2.0.0", [str(folder)]),
    ]
    assert "Dropped heron-watch 1.2.0: 3 pages." in dropped.stdout
    assert "1.2.0" not in left.stdout


def test_dropping_what_is_not_indexed_is_an_error(tmp_path: Path) -> None:
    run_citewell(tmp_path, "keys", "create", "ann", **WORDS_ONLY)
    refused = run_citewell(tmp_path, "packages", "drop", "stork@1", **WORDS_ONLY)

    assert refused.returncode != 0
    assert "No indexed package is called 'stork@1'" in refused.stderr


@pytest.mark.parametrize("name", ["Cargo.lock", "pyproject.toml"])
def test_a_file_that_cannot_be_parsed_fails_the_sync_of_what_can_be_read(
    tmp_path: Path, name: str
) -> None:
    folder = make_project(tmp_path / "shop")
    (folder / name).write_text("[[package]\n", encoding="utf-8")

    first = run_citewell(tmp_path, "sync", str(folder), "--yes", **WORDS_ONLY)
    again = run_citewell(tmp_path, "sync", str(folder), "--yes", **WORDS_ONLY)

    assert f"- {name} cannot be parsed: " in first.stdout
    assert "egret 2.0.1: indexed 2 " in first.stdout
    assert (first.returncode, again.returncode) == (1, 1)
