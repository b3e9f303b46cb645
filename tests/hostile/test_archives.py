"""Files that are no archive of ours, or were made to look like one."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import pytest

from citewell.core.errors import ArchiveRefused
from citewell.ingest.archive.format import FORMAT, MANIFEST, VERSION
from citewell.ingest.archive.read import read_archive
from citewell.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.anyio

MANIFEST_FIELDS = {"format": FORMAT, "version": VERSION, "parts": {}}


def write_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, body in files.items():
            zipped.writestr(name, body)
    return path


MANIFESTS: dict[str, bytes] = {
    "no JSON": b"\xff\xfe{",
    "a list": b"[]",
    "nested without end": b"[" * 100_000,
    "a number": b"1" * 5_000,
    "parts that are no object": json.dumps({**MANIFEST_FIELDS, "parts": [1]}).encode(),
    "digests that are no text": json.dumps({**MANIFEST_FIELDS, "parts": {"a": 1}}).encode(),
    "a version that is no number": json.dumps({**MANIFEST_FIELDS, "version": "x"}).encode(),
    "fields that nobody knows": json.dumps({**MANIFEST_FIELDS, "more": 1}).encode(),
}


@pytest.mark.parametrize("what", MANIFESTS)
async def test_a_manifest_that_makes_no_sense_is_refused(what: str, tmp_path: Path) -> None:
    path = write_zip(tmp_path / "library.zip", {MANIFEST: MANIFESTS[what]})

    await refused(path)


@pytest.mark.parametrize("body", [b"", b"PK\x05\x06", b"PK\x03\x04" + b"\xff" * 200, b"text"])
async def test_a_file_that_is_no_zip_is_refused(body: bytes, tmp_path: Path) -> None:
    path = tmp_path / "library.zip"
    path.write_bytes(body)

    await refused(path)


async def test_every_cut_and_changed_byte_of_a_zip_is_refused(tmp_path: Path) -> None:
    manifest = json.dumps({**MANIFEST_FIELDS, "more": 1}).encode()
    whole = write_zip(tmp_path / "whole.zip", {MANIFEST: manifest, "a": b"{}"}).read_bytes()
    path = tmp_path / "library.zip"

    for place in range(len(whole)):
        path.write_bytes(whole[:place])
        await refused(path)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        await refused(path)


async def test_a_manifest_of_a_gigabyte_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "library.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped,
        zipped.open(MANIFEST, "w") as file,
    ):
        for _ in range(200):
            file.write(b" " * 1_000_000)
    tracemalloc.start()

    message = await refused(path)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "manifest is too large" in message
    assert peak < 20_000_000


async def refused(path: Path) -> str:
    store = await open_store("sqlite://")
    try:
        with pytest.raises(ArchiveRefused) as caught:
            await read_archive(path, store=store, project="default")
    finally:
        await store.aclose()
    assert "\n" not in caught.value.message
    return caught.value.message
