"""Store: what a database must promise, in terms of pages and hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from citewell.store.graph_protocol import GraphStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import numpy as np
    import numpy.typing as npt

    from citewell.core.library import LooseFolder, PageList, PageQuery
    from citewell.core.records import (
        Hit,
        Page,
        PageDraft,
        PageInfo,
        PageText,
        SearchFilter,
        StoredChunk,
    )
    from citewell.core.storage import CorpusStats, PutResult
    from citewell.store.access import AccessStore
    from citewell.store.citations import CitationStore
    from citewell.store.crawls import CrawlStore
    from citewell.store.host_protocol import HostStore
    from citewell.store.jobs import JobStore
    from citewell.store.library import LibraryStore
    from citewell.store.materials import MaterialStore
    from citewell.store.people import PeopleStore
    from citewell.store.releases import ReleaseStore
    from citewell.store.renders import RenderStore
    from citewell.store.responses import ResponseStore
    from citewell.store.symbols import SymbolStore


class Store(GraphStore, Protocol):
    """Pages, chunks, vectors, links and entities, written whole or not at all.

    Every method may raise StoreError. A page is known by its URL within its project. Methods that
    take a filter apply it before ranking, never after.
    """

    hosts: HostStore | None
    """Turns on websites' hosts; None where the database is one machine's own."""

    @property
    def access(self) -> AccessStore:
        """Keys, and the calls made with them."""

    @property
    def people(self) -> PeopleStore:
        """Questions to users and directives from them."""

    @property
    def materials(self) -> MaterialStore:
        """Texts that callers pasted."""

    @property
    def library(self) -> LibraryStore:
        """The websites that somebody keeps."""

    @property
    def crawls(self) -> CrawlStore:
        """How far each site of the library has been crawled."""

    @property
    def jobs(self) -> JobStore:
        """Work in the background."""

    @property
    def responses(self) -> ResponseStore:
        """What the sites sent for the pages."""

    @property
    def renders(self) -> RenderStore:
        """Pages that one process asks for and another one renders."""

    @property
    def releases(self) -> ReleaseStore:
        """Products and their versions."""

    @property
    def symbols(self) -> SymbolStore:
        """The symbols that pages define."""

    @property
    def citations(self) -> CitationStore:
        """Quotes that were handed out."""

    async def put_page(self, draft: PageDraft) -> PutResult:
        """Write a page with all its rows in one transaction, replacing its previous version.

        Readers see the old page or the new, never half. The source_id of a URL stays the same.
        Chunks whose `embedded_text` is unchanged keep their ids and vectors. A chunk that is not
        the slice of the page's text it claims to be is a ValueError, and nothing is written.

        Raises:
            SuppliedTextRefused: the text is supplied, and its URL leads to a page of another
                origin. The reverse is allowed: a fetched page replaces supplied text.
        """

    async def touch_page(
        self, source_id: int, *, fetched_at: datetime, etag: str | None, last_modified: str | None
    ) -> None:
        """Record that the page was fetched again and had not changed.

        A validator that is None was not sent again, and stays as it was.
        """

    async def delete_page(self, source_id: int, *, of_website: int | None = None) -> bool:
        """Remove a page and all it implies; return whether it was removed.

        A page that is removed with an entry, `of_website`, stays if another entry holds it.
        """

    async def find_page(self, url: str, *, project: str) -> PageInfo | None:
        """Return the page stored under `url` (as put, or as the address its redirects ended at).

        Supplied text comes after any page of another origin.
        """

    async def get_page(self, source_id: int) -> Page | None:
        """Return a page with its text, sections, links and images."""

    async def page_texts(self, source_ids: Sequence[int]) -> dict[int, PageText]:
        """Return these pages as they are quoted from; those that are gone are left out."""

    async def text_hashes(self, source_ids: Sequence[int]) -> dict[int, str]:
        """Return the `text_hash` of these pages; those that are not there are left out."""

    async def page_titles(self, urls: Sequence[str], *, project: str) -> dict[str, str]:
        """Return the titles of the pages put under these URLs; those not there are left out."""

    async def list_pages(
        self, where: SearchFilter, *, limit: int, after_source_id: int = 0
    ) -> list[PageInfo]:
        """Return pages by rising source_id, those after `after_source_id` only."""

    async def browse_pages(self, where: SearchFilter, query: PageQuery) -> PageList:
        """Return one screen of pages in the order asked (ties by source_id), and the total."""

    async def loose_folders(self, where: SearchFilter) -> list[LooseFolder]:
        """Return the folders of the pages that belong to no entry, by URL."""

    async def list_outdated_pages(
        self,
        extractor: int,
        *,
        limit: int,
        after_source_id: int = 0,
        with_response: bool = False,
    ) -> list[PageInfo]:
        """Return pages made by an older version of the extractor, by rising source_id.

        Supplied text, which no extractor made, is left out. `with_response` returns only pages
        that can be read again without a fetch.
        """

    async def corpus_stats(self, where: SearchFilter) -> CorpusStats:
        """Return how many pages, chunks, tokens and vectors pass the filter."""

    async def count_pages(self, where: SearchFilter) -> int:
        """Return how many pages pass the filter."""

    async def search_words(
        self, words: Sequence[str], *, where: SearchFilter, limit: int
    ) -> list[Hit]:
        """Return the chunks that best match `words` (of core.words) by BM25, best first.

        A chunk need not hold all of the words. A word in the title or a heading weighs more than
        one in the body. A score is higher for a better match. A word given twice counts once, and
        of a very long query only the first few hundred words count.
        """

    async def words_held(self, words: Sequence[str], *, where: SearchFilter) -> frozenset[str]:
        """Return those of `words` (of core.words) that any chunk which passes `where` holds."""

    async def vectors_ready(self, *, model: str) -> bool:
        """Return whether a search by vectors need not wait for what it keeps in memory.

        If it must, loading starts now.
        """

    async def search_vectors(
        self, vector: npt.NDArray[np.float32], *, model: str, where: SearchFilter, limit: int
    ) -> list[Hit]:
        """Return the chunks whose vectors of `model` are nearest to `vector`; score = cosine."""

    async def compare_vectors(
        self, chunk_ids: Sequence[int], vector: npt.NDArray[np.float32], *, model: str
    ) -> dict[int, float]:
        """Return the cosine to `vector` of those of these chunks that have one of `model`."""

    async def load_chunks(self, chunk_ids: Sequence[int]) -> list[StoredChunk]:
        """Return the chunks with these ids, in the order asked; ids that are gone are left out."""

    async def chunks_of_page(
        self, source_id: int, *, first_ordinal: int = 0, last_ordinal: int | None = None
    ) -> list[StoredChunk]:
        """Return a page's chunks from `first_ordinal` through `last_ordinal`, in order."""

    async def get_vectors(
        self, chunk_ids: Sequence[int], *, model: str
    ) -> dict[int, npt.NDArray[np.float32]]:
        """Return the vectors of `model` that these chunks have: unit length, half precision."""

    async def put_vectors(
        self, vectors: Mapping[int, npt.NDArray[np.float32]], *, model: str
    ) -> int:
        """Store the vectors of chunks in one transaction; return how many chunks still exist.

        A chunk has one vector: that of another model is replaced. A vector that is not finite, or
        not of the length of the model's others, is a ValueError, and nothing is written.
        """

    async def pass_over(self, chunk_ids: Sequence[int], *, model: str) -> None:
        """Note that `model` does not embed these chunks: only words find them, nothing waits."""

    async def chunks_to_embed(
        self, *, model: str, limit: int, source_ids: Sequence[int] | None = None
    ) -> list[tuple[int, str]]:
        """Return (chunk_id, embedded_text) of chunks without a vector of `model`, oldest first.

        Chunks that were passed over for it are left out.
        """

    async def embedded_texts(self, chunk_ids: Sequence[int]) -> dict[int, str]:
        """Return what the embedder should see of these chunks."""

    async def aclose(self) -> None:
        """Close the database; later calls raise StoreError."""
