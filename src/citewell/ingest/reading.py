"""Reading a fetched page, in a process that can be killed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anyio import to_thread

from citewell.ingest.chunk import chunk_page
from citewell.ingest.entities import find_entities
from citewell.ingest.extract.extract import extract_page
from citewell.ingest.extract.whole_text import extract_whole_text
from citewell.ingest.packed_page import ReadPage, pack_page, unpack_page
from citewell.ingest.site_learning import Repeats
from citewell.ingest.site_titles import title_among

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.core.records import ExtractedPage, FetchedPage
    from citewell.web.sandbox import Sandbox

# Unpacking so much takes a few milliseconds; changing threads takes as long on a busy machine.
_AT_ONCE_BYTES = 500_000


_NOTHING = Repeats()


def read_page(fetched: FetchedPage, repeats: Repeats = _NOTHING) -> ReadPage:
    """Return a fetched page as canonical text, chunks and entities; CPU only, touches nothing.

    What it has in common with other pages of its site does not name it, and is in no chunk.
    """
    extracted = extract_page(fetched)
    title = title_among(extracted, fetched.final_url, repeats.names)
    if title != extracted.title:
        extracted = replace(extracted, title=title)
    return extracted, chunk_page(extracted, repeated=repeats.lines), find_entities(extracted)


def extract_only(fetched: FetchedPage, _repeats: Repeats = _NOTHING) -> ReadPage:
    """Return a fetched page as canonical text alone."""
    return extract_page(fetched), (), ()


class PageReader:
    """Reads pages by `read`, a function that the processes of `sandbox` can import."""

    def __init__(
        self, sandbox: Sandbox, read: Callable[[FetchedPage, Repeats], ReadPage] = read_page
    ) -> None:
        self._sandbox = sandbox
        self._read = read

    async def read(self, fetched: FetchedPage, repeats: Repeats = _NOTHING) -> ReadPage:
        """Return the page with its chunks and entities, told apart from others by `repeats`.

        Raises:
            ExtractionError: the page is damaged, takes too long or too much memory, or ends every
                process that reads it.
            EmptyPage: it holds no readable text.
        """
        return await self._run(self._read, fetched, repeats)

    async def extract(self, fetched: FetchedPage) -> ExtractedPage:
        """Return the canonical text of the page, for one who does not store it.

        Raises:
            ExtractionError, EmptyPage: as `read`.
        """
        extracted, _, _ = await self._run(extract_only, fetched, _NOTHING)
        return extracted

    async def extract_whole_text(self, fetched: FetchedPage) -> str:
        """Return all that a reader of the page can see, its furniture included.

        Raises:
            ExtractionError, EmptyPage: as `read`.
        """
        return await self._sandbox.run(extract_whole_text, fetched)

    async def _run(
        self,
        read: Callable[[FetchedPage, Repeats], ReadPage],
        fetched: FetchedPage,
        repeats: Repeats,
    ) -> ReadPage:
        # Its text is read from here on; sending the bytes as well would take as long again.
        sent = replace(fetched, body=b"") if fetched.text else fetched
        packed = await self._sandbox.run(read_and_pack, read, sent, repeats)
        if len(packed) <= _AT_ONCE_BYTES:
            return unpack_page(packed)
        return await to_thread.run_sync(unpack_page, packed)


def read_and_pack(
    read: Callable[[FetchedPage, Repeats], ReadPage],
    fetched: FetchedPage,
    repeats: Repeats,
) -> bytes:
    """Read a page in a process that does nothing else, and pack it."""
    return pack_page(read(fetched, repeats))
