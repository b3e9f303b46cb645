"""Make receipts for citations of the library, and verify receipts from anywhere."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from citewell.core.errors import ArchiveRefused, InvalidArgument, NotFound
from citewell.core.frozen import frozen
from citewell.core.ids import parse_citation_id
from citewell.ingest.receipt.container import MAX_RECEIPT_BYTES
from citewell.ingest.receipt.signing import LibraryKey
from citewell.ingest.receipt.verify import verify_receipt
from citewell.ingest.receipt.write import CitedPage, refuse_private, write_receipt
from citewell.ingest.regular_file import read_regular_file
from citewell.web.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from citewell.core.ids import CitedSpan
    from citewell.core.records import PageInfo
    from citewell.ingest.receipt.verify import Verification
    from citewell.store.protocol import Store


@frozen
class Receipt:
    """A receipt that was made and verified."""

    data: bytes
    fingerprint: str
    verification: Verification


async def make_receipt(
    citations: Sequence[str],
    *,
    store: Store,
    secret: bytes,
    may_see: Callable[[PageInfo], bool],
) -> Receipt:
    """Return one file that proves these citations; it has already been verified.

    Raises:
        InvalidArgument: a citation id is not Citewell's, or its page cannot be proved.
        NotFound: its page is not there, has changed since, or its response is not kept.
    """
    by_page: dict[int, list[tuple[str, CitedSpan]]] = {}
    for citation in dict.fromkeys(citations):
        span = parse_citation_id(citation)
        if span is None:
            raise InvalidArgument(
                f"{citation[:80]!r} is not a citation id from Citewell.",
                suggestion="Each result has the ids of its quotes; `citewell citations` lists all.",
            )
        by_page.setdefault(span.source_id, []).append((citation.strip(), span))
    pages = [
        await _find_cited(source_id, cited, store=store, may_see=may_see)
        for source_id, cited in by_page.items()
    ]
    key = LibraryKey.of_secret(secret)
    data = await to_thread.run_sync(lambda: write_receipt(pages, key, now=datetime.now(UTC)))
    verification = await verify_data(data, known_keys=(key.fingerprint,))
    if verification.has_failed:
        failed = next(step for step in verification.steps if step.outcome == "failed")
        raise NotFound(
            f"The receipt would prove nothing: {failed.explanation}",
            suggestion="Ingest the page again with force, then use the new citation.",
        )
    return Receipt(data=data, fingerprint=key.fingerprint, verification=verification)


async def verify_data(
    data: bytes, *, known_keys: Collection[str], must_be_known: bool = False
) -> Verification:
    """Replay a receipt in a separate process, without a library or a network.

    Raises:
        ArchiveRefused: it is cut, huge, of a newer version, or not a receipt.
    """
    sandbox = Sandbox(preload=("citewell.ingest.reading",))
    try:
        return await verify_receipt(
            data, sandbox=sandbox, known_keys=known_keys, must_be_known=must_be_known
        )
    finally:
        await sandbox.aclose()


async def read_receipt_file(path: Path) -> bytes:
    """Return the bytes of a receipt.

    Raises:
        ArchiveRefused: the file cannot be read, or is larger than any receipt.
    """
    try:
        return await to_thread.run_sync(
            partial(read_regular_file, path, max_bytes=MAX_RECEIPT_BYTES)
        )
    except OSError as error:
        raise ArchiveRefused(
            f"{path} cannot be read: {error.strerror or 'it is no regular file'}.",
            suggestion="Pass the path of a receipt that `citewell receipt` wrote.",
        ) from error


async def _find_cited(
    source_id: int,
    citations: Sequence[tuple[str, CitedSpan]],
    *,
    store: Store,
    may_see: Callable[[PageInfo], bool],
) -> CitedPage:
    page = await store.get_page(source_id)
    if page is None or not may_see(page.info):
        raise NotFound(
            f"The page of {citations[0][0]} is not indexed.",
            suggestion="Ingest its URL, then use the new citation.",
        )
    for citation, span in citations:
        if not page.info.text_hash.startswith(span.page_hash):
            raise NotFound(
                f"The page of {citation} has changed since, and its old version is not kept.",
                suggestion="Search again and make a receipt of the new citation.",
            )
        if not 0 <= span.start < span.end <= len(page.text):
            raise InvalidArgument(f"{citation!r} names no words of its page.")
    response = refuse_private(page, await store.responses.get_response(source_id))
    return CitedPage(page=page, response=response, citations=tuple(citations))
