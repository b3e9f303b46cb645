"""Reading a fetched page, in a thread or in another process."""

from __future__ import annotations

import gc
import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
from anyio import to_process, to_thread

from citewell.core.errors import ExtractionError
from citewell.ingest.chunk import chunk_page
from citewell.ingest.entities import find_entities
from citewell.ingest.extract.extract import extract_page
from citewell.ingest.packed_page import ReadPage, pack_page, unpack_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.core.records import FetchedPage

logger = logging.getLogger(__name__)

# A process may be killed for what others do, such as filling the memory: once says little.
_ATTEMPTS = 2


def read_page(fetched: FetchedPage) -> ReadPage:
    """Return a fetched page as canonical text, chunks and entities; CPU only, touches nothing."""
    extracted = extract_page(fetched)
    return extracted, chunk_page(extracted), find_entities(extracted)


class PageReader:
    """Reads pages by `read`, a function that another process can import."""

    def __init__(self, read: Callable[[FetchedPage], ReadPage] = read_page) -> None:
        self._read = read
        self._reading = anyio.Lock()
        self._processes = anyio.CapacityLimiter(os.cpu_count() or 1)
        self._has_processes = True

    async def read(self, fetched: FetchedPage, *, in_process: bool) -> ReadPage:
        """Return the page, read in another process if asked and if processes can be had.

        Raises:
            ExtractionError: the page is damaged, or it ends every process that reads it.
            EmptyPage: it holds no readable text.
        """
        if in_process and self._has_processes:
            read = await self._read_in_process(fetched)
            if read is not None:
                return read
        # Reading is all Python: side by side, threads would only hand its lock to and fro.
        async with self._reading:
            return await to_thread.run_sync(self._read, fetched)

    async def _read_in_process(self, fetched: FetchedPage) -> ReadPage | None:
        """Return the page; None where processes cannot be had, and none is started from then on."""
        # Its text is read from here on; sending the bytes as well would take as long again.
        sent = replace(fetched, body=b"") if fetched.text else fetched
        for _ in range(_ATTEMPTS):
            try:
                packed = await to_process.run_sync(
                    _read_and_pack, self._read, sent, cancellable=True, limiter=self._processes
                )
            except anyio.BrokenWorkerProcess:
                logger.warning("the process that was reading %s broke", fetched.url)
            else:
                return unpack_page(packed)
        if await self._can_start_process():
            # Read in this process, it would end this one.
            raise ExtractionError(f"{fetched.final_url} ends the process that reads it")
        self._has_processes = False
        logger.warning("no process for reading can be started; pages are read in this one")
        return None

    async def _can_start_process(self) -> bool:
        """Return whether a process does other work; not so where our main module ends it."""
        try:
            await to_process.run_sync(os.getpid, cancellable=True, limiter=self._processes)
        except anyio.BrokenWorkerProcess:
            return False
        return True


def _read_and_pack(read: Callable[[FetchedPage], ReadPage], fetched: FetchedPage) -> bytes:
    """Read a page in a process that does nothing else, and pack it."""
    # Nearly all that reading makes lives until it ends: looking for garbage meanwhile finds none
    # and takes a tenth of the time.
    gc.disable()
    try:
        return pack_page(read(fetched))
    finally:
        gc.enable()
