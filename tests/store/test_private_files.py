"""What is private on disk: only its owner can read the database and its folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.drafts import draft

from citewell.store.open import open_store

pytestmark = [
    pytest.mark.anyio,
]

OPEN_THE_DEFAULT = """
import anyio
from citewell.store.open import open_store
async def main():
    store = await open_store("")
    await store.access.server_secret()
    print("open", flush=True)
    input()
    await store.aclose()
anyio.run(main)
"""


@pytest.fixture(autouse=True)
def generous_mask() -> Iterator[None]:
    """Let new files be readable by everyone, as far as their maker does not say otherwise."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """The permissions of a folder and of what is in it, as `ls` shows them."""
    paths = [folder, *sorted(folder.iterdir())]
    return {path.name: stat.filemode(path.stat().st_mode) for path in paths}


def share(path: Path) -> None:
    """Let a group read a file and its folder."""
    path.chmod(0o640)
    path.parent.chmod(0o750)


async def test_a_new_database_is_private_with_the_folder_that_is_made_for_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "library"
    store = await open_store(f"sqlite://{folder}/pages.db")
    try:
        await store.put_page(draft("https://birds.example/", "Herons wade."))

        assert modes(folder) == {
            "library": "drwx------",
            "pages.db": "-rw-------",
            "pages.db-shm": "-rw-------",
            "pages.db-wal": "-rw-------",
        }
    finally:
        await store.aclose()


async def test_a_folder_and_a_database_that_somebody_shares_stay_shared(tmp_path: Path) -> None:
    path = tmp_path / "pages.db"
    await (await open_store(f"sqlite://{path}")).aclose()
    share(path)

    await (await open_store(f"sqlite://{path}")).aclose()

    assert modes(tmp_path) == {tmp_path.name: "drwxr-x---", "pages.db": "-rw-r-----"}


def test_the_default_database_is_made_private_if_it_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", OPEN_THE_DEFAULT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        (found,) = tmp_path.rglob("citewell.db")
        shown = modes(found.parent)
        process.communicate("\n", timeout=120)

        assert shown == {
            "citewell": "drwx------",
            "citewell.db": "-rw-------",
            "citewell.db-shm": "-rw-------",
            "citewell.db-wal": "-rw-------",
        }
        found.parent.chmod(0o755)
        found.chmod(0o644)
