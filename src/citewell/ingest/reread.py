"""Reading stored pages again with a newer extractor, from the responses kept beside them."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from citewell.core.errors import CitewellError, StoreError
from citewell.core.frozen import frozen
from citewell.core.library import ChangeReport, PageChange
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.ingest.extract.version import EXTRACTOR_VERSION
from citewell.ingest.refresh import compare_pages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

    from citewell.core.records import PageInfo
    from citewell.ingest.library_pages import ReadFields
    from citewell.ingest.pipeline import Ingester
    from citewell.store.protocol import Store

logger = logging.getLogger(__name__)

_LISTED_AT_ONCE = 200
_REPORTED_PAGES = 100


@frozen
class Rereading:
    """What reading pages again has brought."""

    report: ChangeReport
    without_response: int
    """Pages left as they were, because the response that they were made of is not kept."""
    changed_ids: tuple[int, ...] = ()

    @property
    def read(self) -> int:
        """How many pages were read again."""
        return self.report.changed + self.report.unchanged


async def reread_pages(
    store: Store,
    ingester: Ingester,
    *,
    now: datetime,
    everything: bool = False,
    parallel: int = 1,
    extract_fields: ReadFields | None = None,
    on_progress: OnProgress = no_progress,
) -> Rereading:
    """Read again the pages of all projects that an older extractor made, `parallel` at a time.

    With `everything`, those of the current version too. `extract_fields` reads the fields that the
    content types of their websites ask for again. A page that cannot be read stays as it
    was, and is tried again next time.
    """
    version = EXTRACTOR_VERSION + everything
    pages = [page async for page in _list_outdated(store, version)]
    tally = _Tally()
    waiting = iter(pages)

    async def work() -> None:
        for page in waiting:
            await _reread_page(store, ingester, page, tally, extract_fields)
            message = f"Read {tally.done} of {len(pages)} pages again"
            await on_progress(
                Progress(phase="ingest", message=message, done=tally.done, total=len(pages))
            )

    async with anyio.create_task_group() as tasks:
        for _ in range(min(parallel, len(pages))):
            tasks.start_soon(work)
    return tally.finish(now=now)


async def _list_outdated(store: Store, version: int) -> AsyncIterator[PageInfo]:
    after = 0
    while pages := await store.list_outdated_pages(
        version, limit=_LISTED_AT_ONCE, after_source_id=after
    ):
        for page in pages:
            yield page
        after = pages[-1].source_id


async def _reread_page(
    store: Store,
    ingester: Ingester,
    page: PageInfo,
    tally: _Tally,
    extract_fields: ReadFields | None,
) -> None:
    before = await store.get_page(page.source_id)
    try:
        outcome = await ingester.reread(page)
    except StoreError:
        raise
    except CitewellError as error:
        logger.warning("%s stays as it was read before: %s", page.url, error.message)
        tally.failed += 1
        tally.changes.append(
            PageChange(url=page.url, source_id=page.source_id, kind="failed", error=error.message)
        )
        return
    if outcome is None:
        tally.without_response += 1
        return
    if outcome.read is not None and extract_fields is not None:
        for website_id, content_type in (
            await store.library.typed_websites_of(page.source_id)
        ).items():
            fields = await to_thread.run_sync(extract_fields, *outcome.read, content_type)
            await store.library.join_page(website_id, page.source_id, fields=fields)
    tally.chunks_added += outcome.chunks_added
    tally.chunks_removed += outcome.chunks_removed
    after = await store.get_page(page.source_id) if outcome.changed else None
    if before is None or after is None:
        tally.unchanged += 1
        return
    tally.changed_ids.append(page.source_id)
    tally.changes.append(compare_pages(before, after))


@dataclass(slots=True)
class _Tally:
    unchanged: int = 0
    failed: int = 0
    without_response: int = 0
    chunks_added: int = 0
    chunks_removed: int = 0
    changed_ids: list[int] = field(default_factory=list)
    changes: list[PageChange] = field(default_factory=list)

    @property
    def done(self) -> int:
        return self.unchanged + self.failed + self.without_response + len(self.changed_ids)

    def finish(self, *, now: datetime) -> Rereading:
        return Rereading(
            report=ChangeReport(
                checked_at=now,
                unchanged=self.unchanged,
                changed=len(self.changed_ids),
                failed=self.failed,
                chunks_removed=self.chunks_removed,
                chunks_added=self.chunks_added,
                pages=tuple(self.changes[:_REPORTED_PAGES]),
            ),
            without_response=self.without_response,
            changed_ids=tuple(self.changed_ids),
        )
