"""Write a project's library into one file."""

from __future__ import annotations

import os
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from citewell import __version__
from citewell.core.errors import ArchiveRefused
from citewell.core.library import WebsiteQuery
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.core.records import SearchFilter
from citewell.ingest.archive.format import PAGES_A_PART, WEBSITES, ArchiveWriter, Manifest
from citewell.ingest.archive.page_records import page_to_record, website_to_record
from citewell.ingest.archive.response_records import response_to_record

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.core.library import Member
    from citewell.core.records import PageInfo
    from citewell.store.protocol import Store

_MEMBERS_AT_ONCE = 500
_WEBSITES_AT_ONCE = 100


async def write_archive(
    path: Path,
    *,
    store: Store,
    project: str,
    model: str | None,
    on_progress: OnProgress = no_progress,
) -> Manifest:
    """Write all pages and websites of `project` to `path`, with the vectors of `model`.

    The file appears whole or not at all: it is written beside its place and then moved there.

    Raises:
        ArchiveRefused: the file cannot be written.
        StoreError: the store could not be read.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        # Readable by its owner only; sharing it is a decision.
        handle = os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600)
        with (
            os.fdopen(handle, "w+b") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as zipped,
        ):
            manifest = await _fill(
                ArchiveWriter(zipped),
                store=store,
                project=project,
                model=model,
                on_progress=on_progress,
            )
        partial.replace(path)
    except OSError as error:
        raise ArchiveRefused(
            f"{path.name} cannot be written: {error.strerror}",
            suggestion="Check free disk space and permissions.",
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return manifest


async def _fill(
    writer: ArchiveWriter,
    *,
    store: Store,
    project: str,
    model: str | None,
    on_progress: OnProgress,
) -> Manifest:
    where = SearchFilter(project=project)
    total = (await store.corpus_stats(where)).pages
    pages = chunks = part = last = 0
    while listed := await store.list_pages(where, limit=PAGES_A_PART, after_source_id=last):
        records = [record for info in listed if (record := await _whole_record(info, store, model))]
        await to_thread.run_sync(writer.add, f"pages/{part:05}.jsonl", records)
        pages += len(records)
        chunks += sum(len(record["chunks"]) for record in records)
        part += 1
        last = listed[-1].source_id
        message = f"Exported {pages} of {total} pages"
        await on_progress(Progress(phase="export", message=message, done=pages, total=total))
    websites = [record for _, record in await website_records(store, project)]
    await to_thread.run_sync(writer.add, WEBSITES, websites)
    return writer.finish(
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        written_by=f"citewell {__version__}",
        pages=pages,
        chunks=chunks,
        websites=len(websites),
    )


async def _whole_record(info: PageInfo, store: Store, model: str | None) -> dict[str, Any] | None:
    """Return a page as a record, with the response that is kept beside it."""
    record = await page_record(info, store, model)
    response = await store.responses.get_response(info.source_id)
    hashes = await store.text_hashes([info.source_id])
    # The response of another text would be worse than none.
    if (
        record is not None
        and response is not None
        and hashes.get(info.source_id) == record["text_hash"]
    ):
        record["response"] = await to_thread.run_sync(response_to_record, response)
    return record


async def page_record(info: PageInfo, store: Store, model: str | None) -> dict[str, Any] | None:
    """Return a page as a record, with its vectors of `model`; None when it is gone."""
    while (page := await store.get_page(info.source_id)) is not None:
        chunks = await store.chunks_of_page(info.source_id)
        ids = [chunk.chunk_id for chunk in chunks]
        embedded_texts = await store.embedded_texts(ids)
        vectors = await store.get_vectors(ids, model=model) if model is not None else {}
        # Another process can have replaced the page between these reads; then read it again.
        is_complete = len(chunks) == page.info.chunks and embedded_texts.keys() >= set(ids)
        if is_complete and all(chunk.page_hash == page.info.text_hash for chunk in chunks):
            return page_to_record(
                page, chunks, embedded_texts=embedded_texts, vectors=vectors, model=model
            )
    return None  # deleted since it was listed


async def website_records(store: Store, project: str) -> list[tuple[int, dict[str, Any]]]:
    """Return all entries of a project as records, each with the id it has here."""
    records: list[tuple[int, dict[str, Any]]] = []
    while True:
        query = WebsiteQuery(
            project=project, order_by="url", limit=_WEBSITES_AT_ONCE, offset=len(records)
        )
        listed = await store.library.list_websites(query)
        if not listed.websites:
            return records
        records += [
            (
                website.source_id,
                website_to_record(website, await _members(store, website.source_id)),
            )
            for website in listed.websites
        ]


async def _members(store: Store, website_id: int) -> list[Member]:
    members: list[Member] = []
    while listed := await store.library.list_members(
        website_id,
        limit=_MEMBERS_AT_ONCE,
        after_source_id=members[-1].source_id if members else 0,
    ):
        members += listed
    return members
