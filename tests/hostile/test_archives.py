"""Files that are no archive of ours, or were made to look like one."""

from __future__ import annotations

import json
import tracemalloc
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bench.redteam.archive_files import (
    PAGE,
    PAGES,
    broken_files,
    manifest_of,
    write_large_manifest,
    write_library,
    write_zip,
    wrong_records,
)

from citewell.core.errors import ArchiveRefused
from citewell.core.records import SearchFilter
from citewell.ingest.archive.format import MANIFEST
from citewell.ingest.archive.read import import_archive
from citewell.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

EVERYTHING = SearchFilter()


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    opened = await open_store("sqlite://")
    yield opened
    await opened.aclose()


async def refusal(path: Path, store: Store) -> str:
    """Return why the archive is refused, or nothing if it is read."""
    try:
        await import_archive(path, store=store, project="default", response_max_bytes=10_000)
    except ArchiveRefused as error:
        return error.message
    return ""


async def test_a_right_archive_is_read(tmp_path: Path, store: Store) -> None:
    assert await refusal(write_library(tmp_path / "library.zip"), store) == ""
    assert (await store.corpus_stats(EVERYTHING)).pages == 1


async def test_files_that_are_no_library_are_refused_in_one_line(
    tmp_path: Path, store: Store
) -> None:
    tried = 0
    for what, path in broken_files(tmp_path):
        message = await refusal(path, store)

        tried += 1
        assert message.endswith("."), what
        assert "\n" not in message, what
    assert tried > 30
    assert (await store.corpus_stats(EVERYTHING)).pages == 0


async def test_a_folder_is_refused_by_its_name(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert await refusal(Path(), store) == ". is not a file."


async def test_every_cut_and_changed_byte_of_a_zip_is_refused(tmp_path: Path, store: Store) -> None:
    parts = {PAGES: b"{}\n"}
    files = {MANIFEST: manifest_of(parts, more=1), **parts}
    whole = write_zip(tmp_path / "whole.zip", files).read_bytes()
    path = tmp_path / "library.zip"

    for place in range(len(whole)):
        for body in (
            whole[:place],
            whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :],
        ):
            path.write_bytes(body)
            assert await refusal(path, store), place


async def test_a_wrong_value_in_any_field_is_refused_before_anything_is_written(
    tmp_path: Path, store: Store
) -> None:
    """What is taken in all the same is a value that the field may have; the red team tries all."""
    tried, taken_in = 0, []
    for what, records in islice(wrong_records(), 0, None, 5):
        if not await refusal(write_library(tmp_path / "library.zip", **records), store):
            taken_in.append(what)
            [info] = await store.list_pages(EVERYTHING, limit=2)
            assert await store.get_page(info.source_id)
            await store.delete_page(info.source_id)
        assert (await store.corpus_stats(EVERYTHING)).pages == 0, what
        tried += 1

    harmless = ("= None", "= []", "= True", "= 'javascript:alert(1)'")
    assert tried > 150
    assert [what for what in taken_in if not what.endswith(harmless)] == []
    assert not [what for what in taken_in if "url" in what and "javascript" in what]


async def refusal_and_memory(path: Path, store: Store) -> tuple[str, int]:
    """Why an archive was refused, and the most bytes that this took."""
    tracemalloc.start()
    message = await refusal(path, store)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return message, peak


async def test_a_manifest_far_too_large_is_refused_unread(tmp_path: Path, store: Store) -> None:
    path = write_large_manifest(tmp_path / "library.zip", megabytes=100)

    message, peak = await refusal_and_memory(path, store)

    assert "manifest is too large" in message
    assert peak < 20_000_000


async def test_a_part_that_unpacks_into_much_more_is_refused_unread(
    tmp_path: Path, store: Store
) -> None:
    lines = json.dumps(PAGE).encode() + b"\n" + b" " * 100_000_000
    files = {MANIFEST: manifest_of({PAGES: lines}), PAGES: lines}
    path = write_zip(tmp_path / "library.zip", files)
    del lines, files

    message, peak = await refusal_and_memory(path, store)

    assert "unpacks into too much" in message
    assert peak < 20_000_000
