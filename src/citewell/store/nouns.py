"""The nouns of a store that are plain rows, each imported when it is first used."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.store.access import AccessStore
    from citewell.store.citations import CitationStore
    from citewell.store.crawls import CrawlStore
    from citewell.store.jobs import JobStore
    from citewell.store.library import DeletePage, LibraryStore
    from citewell.store.materials import MaterialStore
    from citewell.store.people import PeopleStore
    from citewell.store.releases import ReleaseStore
    from citewell.store.renders import RenderStore
    from citewell.store.responses import ResponseStore
    from citewell.store.session import Database
    from citewell.store.symbols import SymbolStore


class Nouns:
    """The part of a `Store` that both databases share."""

    def __init__(self, database: Database, *, delete_page: DeletePage) -> None:
        self.__database = database
        self.__delete_page = delete_page

    @cached_property
    def access(self) -> AccessStore:
        """Keys, and the calls made with them."""
        from citewell.store.access import AccessStore

        return AccessStore(self.__database)

    @cached_property
    def people(self) -> PeopleStore:
        """Questions to users and directives from them."""
        from citewell.store.people import PeopleStore

        return PeopleStore(self.__database)

    @cached_property
    def materials(self) -> MaterialStore:
        """Texts that callers pasted."""
        from citewell.store.materials import MaterialStore

        return MaterialStore(self.__database)

    @cached_property
    def library(self) -> LibraryStore:
        """The websites that somebody keeps."""
        from citewell.store.library import LibraryStore

        return LibraryStore(self.__database, delete_page=self.__delete_page)

    @cached_property
    def crawls(self) -> CrawlStore:
        """How far each site of the library has been crawled."""
        from citewell.store.crawls import CrawlStore

        return CrawlStore(self.__database)

    @cached_property
    def jobs(self) -> JobStore:
        """Work in the background."""
        from citewell.store.jobs import JobStore

        return JobStore(self.__database)

    @cached_property
    def responses(self) -> ResponseStore:
        """What the sites sent for the pages."""
        from citewell.store.responses import ResponseStore

        return ResponseStore(self.__database)

    @cached_property
    def renders(self) -> RenderStore:
        """Pages that one process asks for and another one renders."""
        from citewell.store.renders import RenderStore

        return RenderStore(self.__database)

    @cached_property
    def releases(self) -> ReleaseStore:
        """Products and their versions."""
        from citewell.store.releases import ReleaseStore

        return ReleaseStore(self.__database, delete_page=self.__delete_page)

    @cached_property
    def symbols(self) -> SymbolStore:
        """The symbols that pages define."""
        from citewell.store.symbols import SymbolStore

        return SymbolStore(self.__database)

    @cached_property
    def citations(self) -> CitationStore:
        """Quotes that were handed out."""
        from citewell.store.citations import CitationStore

        return CitationStore(self.__database)
