"""Large pages that are stored, changed, moved and removed: nobody else waits long to write.

SQLite has one writer; with PostgreSQL nobody waits. The limit is that of an idle machine; under
load the waits measure the load.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from bench.redteam.attempt import Attempt, is_quick

from citewell.core.records import FetchedPage, PageDraft
from citewell.ingest.reading import read_page
from citewell.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from citewell.store.protocol import Store

NAME = "writers"
_LONGEST_WAIT_SECONDS = 0.25
_PAGE_BYTES = 2_000_000
_PAGES: dict[str, Callable[[str, int], str]] = {
    "sections": lambda word, i: f"<h2 id=s{i}>Name {i}</h2><p>About {word}{i}, one of {i % 97}.",
    "tiny sections": lambda word, i: f"<h2>n{word}{i}</h2>a{i}",
    "links": lambda word, i: f"<p><a href=/{word}{i}>l{i}</a> ",
    "words": lambda word, i: f"<p>{word}w{i} x{i * 7} y{i * 13} z{i * 17} q{i * 3} r{i * 5}.",
    "everything": lambda word, i: (
        f"<h2 id={word}{i}>{word}{i}</h2><a href=/{word}{i}>l{i}</a>"
        f"<img src=/{word}{i}.png alt=b{i}> a{i}"
    ),
    "symbols": lambda word, i: f"<dl class=py><dt id=m.{word}{i}>m.{word}{i}(a)<dd>Do {i}.</dl>",
}


async def attack() -> AsyncIterator[Attempt]:
    """Write each page anew, changed throughout, and moved by a paragraph; then remove it."""
    for what, piece in list(_PAGES.items())[: 2 if is_quick() else None]:
        with tempfile.TemporaryDirectory() as folder:
            address = f"sqlite://{Path(folder) / 'library.db'}"
            store = await open_store(address)
            other = await open_store(address)
            page = 0

            async def put(draft: PageDraft, store: Store = store) -> None:
                nonlocal page
                page = (await store.put_page(draft)).source_id

            for how, word, first in (("new", "a", ""), ("changed", "b", ""), ("moved", "b", "Hi.")):
                work = partial(put, _draft(piece, word, first))
                yield await _attempt(f"{what}, {how}", work, beside=other)
            yield await _attempt(f"{what}, removed", partial(store.delete_page, page), beside=other)
            await other.aclose()
            await store.aclose()


async def _attempt(what: str, work: Callable[[], Awaitable[object]], *, beside: Store) -> Attempt:
    waits = [0.0]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_write_beside, beside, waits)
        await work()
        tasks.cancel_scope.cancel()
    return Attempt(
        what=what,
        held=max(waits) <= _LONGEST_WAIT_SECONDS,
        outcome=f"another writer waited {1_000 * max(waits):.0f} ms",
    )


def _draft(piece: Callable[[str, int], str], word: str, first: str) -> PageDraft:
    pieces = [f"<title>T</title><main><p>{first}</p>"]
    length = 0
    while length < _PAGE_BYTES:
        pieces.append(piece(word, len(pieces)))
        length += len(pieces[-1])
    html = "".join(pieces)
    fetched = FetchedPage(
        url="https://site.example/page",
        final_url="https://site.example/page",
        status=200,
        kind="html",
        body=html.encode(),
        text=html,
        fetched_at=datetime.now(UTC),
    )
    extracted, chunks, entities = read_page(fetched)
    return PageDraft(
        url=fetched.url,
        fetched=replace(fetched, body=b""),
        extracted=extracted,
        chunks=chunks,
        entities=entities,
    )


async def _write_beside(store: Store, waits: list[float]) -> None:
    """Write as another process would, with a connection of its own."""
    now = datetime.now(UTC)
    while True:
        before = time.perf_counter()
        # A page that is not there: only the lock is waited for.
        await store.touch_page(0, fetched_at=now, etag=None, last_modified=None)
        waits.append(time.perf_counter() - before)
        await anyio.sleep(0.005)
