"""Addresses that no store can have are refused with one clear error, and leave nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from citewell.core.errors import SettingsError, StoreError
from citewell.store.open import open_store

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mysql://me:secret@host/db", "does not support mysql databases: write sqlite"),
        ("postgresql+psycopg://me:secret@host/db", r"postgresql\+psycopg database"),
        ("citewell.db", "is not a URL: write sqlite"),
        ("sqlite:///a.db\nTOKEN=secret", "several lines"),
        ("postgresql://me:secret@[::1/db", "cannot be parsed"),
        ("sqlite://relative.db", "absolute path"),
        ("sqlite:///tmp/a%00b.db", "null character"),
    ],
)
async def test_an_address_of_no_store_is_refused(address: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        await open_store(address)

    assert "secret" not in caught.value.message


async def test_a_file_that_cannot_be_opened_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")

    with pytest.raises(StoreError):
        await open_store(f"sqlite://{tmp_path}/file/deeper/pages.db")

    assert names_in(tmp_path) == ["file"]


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


# A process whose files may not grow: the database's first transaction fails, as on a full disk.
OPEN_ON_A_FULL_DISK = """
import anyio, resource, signal, sys
from citewell.core.errors import StoreError
from citewell.store.open import open_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    anyio.run(open_store, sys.argv[1])
except StoreError as error:
    print(error.message)
"""


def test_an_opening_on_a_full_disk_leaves_neither_file_nor_folders(tmp_path: Path) -> None:
    address = f"sqlite://{tmp_path}/a/b/pages.db"

    result = subprocess.run(
        [sys.executable, "-c", OPEN_ON_A_FULL_DISK, address],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.strip() in (
        "the disk is full",
        "the database could not be read or written",
    )
    assert list(tmp_path.iterdir()) == []
