"""Copy the pages and websites of one store into another, and check that all arrived."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from citewell.core.errors import CopyIncomplete
from citewell.core.frozen import frozen
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.core.records import SearchFilter
from citewell.ingest.archive.read import Imported, import_page, import_website
from citewell.ingest.archive.write import page_record, website_records

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.core.records import PageInfo
    from citewell.store.protocol import Store

_PAGES_AT_ONCE = 200
_WRITERS = 4


@frozen
class Copied:
    """What a copy did, and what both stores hold of the source's pages now."""

    pages_written: int
    pages_unchanged: int
    pages: int
    chunks: int
    vectors: int
    websites: int
    checksum: str
    """Of the texts, chunks and vectors of all pages; the same in both stores."""


async def copy_library(
    source: Store, target: Store, *, model: str | None, on_progress: OnProgress = no_progress
) -> Copied:
    """Copy every page with its vectors of `model`, and every website; both keep their ids.

    What the target already has unchanged is skipped: a copy that was cut short is finished by
    running it again. At the end every page is read back and compared.

    Raises:
        CopyIncomplete: the target does not hold what the source does.
        StoreError: a store could not be read or written.
    """
    imported = Imported()
    total = (await source.corpus_stats(SearchFilter())).pages
    projects: set[str] = set()
    done = 0
    async for infos in _listed(source):
        for start in range(0, len(infos), _WRITERS):
            group = infos[start : start + _WRITERS]
            async with anyio.create_task_group() as tasks:
                for info in group:
                    tasks.start_soon(_copy_page, info, source, target, model, imported)
            done += len(group)
            message = f"Copied {done} of {total} pages"
            await on_progress(Progress(phase="import", message=message, done=done, total=total))
        projects.update(info.project for info in infos)
    for project in sorted(projects):
        for source_id, record in await website_records(source, project):
            await import_website(
                record, imported, store=target, project=project, source_id=source_id
            )
    return await _verify(source, target, model=model, imported=imported, on_progress=on_progress)


async def _copy_page(
    info: PageInfo, source: Store, target: Store, model: str | None, imported: Imported
) -> None:
    record = await page_record(info, source, model)
    if record is None:
        return
    await import_page(
        record, imported, store=target, project=info.project, source_id=info.source_id
    )
    await _copy_response(info, source, target)


async def _copy_response(info: PageInfo, source: Store, target: Store) -> None:
    response = await source.responses.get_response(info.source_id)
    there = await target.find_page(info.url, project=info.project)
    # The response of another text would be worse than none.
    if response is not None and there is not None and there.text_hash == info.text_hash:
        await target.responses.put_response(there.source_id, response)


async def _verify(
    source: Store,
    target: Store,
    *,
    model: str | None,
    imported: Imported,
    on_progress: OnProgress,
) -> Copied:
    whole = hashlib.sha256()
    pages = chunks = vectors = 0
    async for infos in _listed(source):
        for info in infos:
            there = await target.find_page(info.url, project=info.project)
            if there is None:
                raise CopyIncomplete(f"{info.url} did not arrive.")
            kept = await _checksum(source, info, model)
            copied = await _checksum(target, replace(info, source_id=there.source_id), model)
            if kept != copied:
                raise CopyIncomplete(f"{info.url} is not the same in both databases.")
            whole.update(kept.digest)
            pages, chunks, vectors = pages + 1, chunks + kept.chunks, vectors + kept.vectors
        message = f"Checked {pages} pages"
        await on_progress(Progress(phase="import", message=message, done=pages))
    return Copied(
        pages_written=imported.pages_written,
        pages_unchanged=imported.pages_unchanged + imported.pages_newer,
        pages=pages,
        chunks=chunks,
        vectors=vectors,
        websites=imported.websites_added + imported.websites_known,
        checksum=whole.hexdigest(),
    )


@frozen
class _PageSum:
    digest: bytes
    chunks: int
    vectors: int


async def _checksum(store: Store, info: PageInfo, model: str | None) -> _PageSum:
    chunks = await store.chunks_of_page(info.source_id)
    ids = [chunk.chunk_id for chunk in chunks]
    vectors = await store.get_vectors(ids, model=model) if model is not None else {}
    page = hashlib.sha256(info.text_hash.encode())
    for chunk in chunks:
        page.update(f"{chunk.start} {chunk.end} {chunk.heading_path}\n".encode())
        page.update(chunk.text.encode())
        vector = vectors.get(chunk.chunk_id)
        if vector is not None:
            page.update(vector.astype("<f2").tobytes())
    return _PageSum(digest=page.digest(), chunks=len(chunks), vectors=len(vectors))


async def _listed(store: Store) -> AsyncIterator[list[PageInfo]]:
    last = 0
    while infos := await store.list_pages(
        SearchFilter(), limit=_PAGES_AT_ONCE, after_source_id=last
    ):
        yield infos
        last = infos[-1].source_id
