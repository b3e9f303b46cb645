"""Import the library of an archive into a store; a second import changes nothing."""

from __future__ import annotations

import stat
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from citewell.core.errors import ArchiveRefused, SuppliedTextRefused
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.ingest.archive.format import DAMAGE, WEBSITES, check_parts, read_manifest, read_part
from citewell.ingest.archive.page_records import (
    origin_of,
    page_from_record,
    vectors_from_record,
    website_from_record,
)
from citewell.ingest.archive.response_records import response_from_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from citewell.core.library import WebsiteStatus
    from citewell.core.records import PageInfo
    from citewell.ingest.archive.format import Manifest
    from citewell.store.protocol import Store


@dataclass(slots=True, kw_only=True)
class Imported:
    """What an import did."""

    pages_written: int = 0
    pages_unchanged: int = 0
    """They were already there, unchanged."""
    pages_newer: int = 0
    """The store has one that was fetched later, or fetched at all, which stays."""
    chunks: int = 0
    websites_added: int = 0
    websites_known: int = 0


async def import_archive(
    path: Path,
    *,
    store: Store,
    project: str,
    response_max_bytes: int = 0,
    on_progress: OnProgress = no_progress,
) -> Imported:
    """Import the archive at `path` into `project`.

    The responses of its pages are kept too, up to `response_max_bytes`.

    The whole file is checked before anything is written. An import that was cut short is finished
    by running it again: what is there already is passed over.

    Raises:
        ArchiveRefused: the file is missing, damaged, or of a newer version.
        StoreError: the store could not be written.
    """
    with _open_zip(path) as zipped:
        manifest = read_manifest(zipped)
        await to_thread.run_sync(check_parts, zipped, manifest)
        imported = Imported()
        for name in sorted(set(manifest.parts) - {WEBSITES}):
            async for record in _records(zipped, name):
                with _refusing_nonsense():
                    if not response_max_bytes:
                        record.pop("response", None)
                    await import_page(record, imported, store=store, project=project)
                await _report(imported, manifest, on_progress)
        if WEBSITES in manifest.parts:
            async for record in _records(zipped, WEBSITES):
                with _refusing_nonsense():
                    await import_website(record, imported, store=store, project=project)
    if response_max_bytes:
        await store.responses.drop_oldest_responses(max_bytes=response_max_bytes)
    return imported


def _open_zip(path: Path) -> zipfile.ZipFile:
    try:
        # A device or a pipe can be endless.
        if not stat.S_ISREG(path.stat().st_mode):
            raise ArchiveRefused(f"{path} is not a file.")
        return zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise ArchiveRefused(
            f"There is no file {path}.", suggestion="Check the path of the file."
        ) from error
    except DAMAGE as error:
        raise ArchiveRefused(f"{path.name} is damaged or not a Citewell library.") from error


@contextmanager
def _refusing_nonsense() -> Iterator[None]:
    try:
        yield
    except DAMAGE as error:
        raise ArchiveRefused("The file is damaged: it has an invalid entry.") from error


async def _records(zipped: zipfile.ZipFile, name: str) -> AsyncIterator[dict[str, Any]]:
    records = read_part(zipped, name)
    while (record := await to_thread.run_sync(next, records, None)) is not None:
        yield record


async def import_page(
    record: dict[str, Any],
    imported: Imported,
    *,
    store: Store,
    project: str,
    source_id: int | None = None,
) -> None:
    """Write one page with its vectors, unless the store has the same or a newer one; count it.

    A new page gets `source_id` if that is free.

    Raises:
        ArchiveRefused: the record is invalid.
    """
    known = await store.find_page(record["url"], project=project)
    if known is not None and _is_newer(known, record):
        imported.pages_newer += 1
        return
    vectors = vectors_from_record(record)
    if known is not None and _is_same(known, record, len(vectors)):
        imported.pages_unchanged += 1
        return
    try:
        draft = await to_thread.run_sync(partial(page_from_record, record, project=project))
        response = await to_thread.run_sync(response_from_record, record)
        put = await store.put_page(replace(draft, source_id=source_id, response=response))
    except SuppliedTextRefused:
        # A fetched page is better evidence than supplied text.
        imported.pages_newer += 1
        return
    if vectors and record["model"]:
        chunks = await store.chunks_of_page(put.source_id)
        by_id = {
            chunk.chunk_id: vectors[chunk.ordinal] for chunk in chunks if chunk.ordinal in vectors
        }
        await store.put_vectors(by_id, model=record["model"])
    imported.pages_written += 1
    imported.chunks += put.chunks


def _is_newer(known: PageInfo, record: dict[str, Any]) -> bool:
    is_later = known.fetched_at > datetime.fromisoformat(record["fetched_at"])
    if known.origin == "supplied" and origin_of(record) != "supplied":
        return False
    return is_later and known.text_hash != record["text_hash"]


def _is_same(known: PageInfo, record: dict[str, Any], vectors: int) -> bool:
    return (
        known.text_hash == record["text_hash"]
        and known.origin == origin_of(record)
        and known.chunks == len(record["chunks"])
        and known.embedded_chunks >= vectors
        and set(record["tags"]) <= set(known.tags)
    )


async def import_website(
    record: dict[str, Any],
    imported: Imported,
    *,
    store: Store,
    project: str,
    source_id: int | None = None,
) -> None:
    """Add one entry, with its pages (already imported) as members; count it.

    A new entry whose URL is not a page gets `source_id` if that is free.
    """
    now = datetime.now(UTC)
    draft = replace(website_from_record(record, project=project), source_id=source_id)
    website, created = await store.library.add_website(draft, now=now)
    fetched: list[datetime] = []
    for member in record["members"]:
        page = await store.find_page(member["url"], project=project)
        if page is not None:
            fetched.append(page.fetched_at)
            await store.library.join_page(
                website.source_id, page.source_id, fields=member["fields"]
            )
    imported.websites_added += created
    imported.websites_known += not created
    # Work that ran where the file was written does not run here.
    ended: dict[str, WebsiteStatus] = {
        "completed": "completed",
        "failed": "failed",
        "stopped": "stopped",
    }
    status = ended.get(record["status"], "pending")
    if created or website.status == "pending":
        await store.library.finish_website(
            website.source_id,
            status,
            # A site is as old as its newest page, not as new as its import.
            now=max(fetched, default=now),
            title=record["title"],
            error_message=record["error_message"],
        )


async def _report(imported: Imported, manifest: Manifest, on_progress: OnProgress) -> None:
    done = imported.pages_written + imported.pages_unchanged + imported.pages_newer
    message = f"Imported {done} of {manifest.pages} pages"
    await on_progress(Progress(phase="import", message=message, done=done, total=manifest.pages))
