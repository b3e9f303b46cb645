"""The parts of a running Citewell: their names, types and openers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, get_args

import anyio.to_thread

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AsyncExitStack

    from citewell.access.open import Access
    from citewell.app.citations import CitationMemory
    from citewell.app.content_watch import ContentWatch
    from citewell.app.live_pages import LivePages
    from citewell.app.scratch import ScratchStore
    from citewell.core.settings import Settings
    from citewell.docsite.folder import DocsFolder
    from citewell.events.emitter import Events
    from citewell.inference.protocols import Embedder, Reranker, Synthesizer
    from citewell.ingest.pipeline import Ingester
    from citewell.jobs.library import Library
    from citewell.people.desk import Desk
    from citewell.research.engine import Engine
    from citewell.store.protocol import Store
    from citewell.web.fetcher import Fetcher
    from citewell.web.search.web_search import WebSearch

PartName = Literal[
    "store",
    "secret",
    "scratch",
    "embedder",
    "reranker",
    "synthesizer",
    "fetcher",
    "web_search",
    "ingester",
    "live_pages",
    "library",
    "engine",
    "access",
    "desk",
    "watch",
    "events",
    "docs",
    "citations",
    "background",
]

PART_NAMES: tuple[PartName, ...] = get_args(PartName)

OPENERS: Mapping[PartName, str] = {
    "store": "citewell.app.corpus:open_store_part",
    "secret": "citewell.app.corpus:open_secret",
    "scratch": "citewell.app.corpus:open_scratch",
    "embedder": "citewell.app.models:open_embedder_part",
    "reranker": "citewell.app.models:open_reranker_part",
    "synthesizer": "citewell.app.models:open_synthesizer_part",
    "fetcher": "citewell.app.web:open_fetcher",
    "web_search": "citewell.app.web:open_web_search_part",
    "ingester": "citewell.app.ingesting:open_ingester",
    "live_pages": "citewell.app.ingesting:open_live_pages",
    "library": "citewell.app.library:open_library_part",
    "engine": "citewell.app.research:open_engine",
    "access": "citewell.app.access:open_access_part",
    "desk": "citewell.app.people:open_desk",
    "watch": "citewell.app.corpus:open_watch",
    "events": "citewell.app.notices:open_events_part",
    "docs": "citewell.app.docs_folder:open_docs_part",
    "citations": "citewell.app.corpus:open_citations",
    "background": "citewell.app.background:open_background",
}
"""Module and function of each part; imported when the part is first needed."""

Role = Literal["command", "server", "worker"]
"""A command does no background work; a worker also does the work that other processes left."""

Opener = Callable[["Assembly"], AbstractAsyncContextManager[Any]]
OpenLater = Callable[..., Awaitable["Parts"]]


class Parts:
    """The open parts that were asked for; any other raises RuntimeError."""

    settings: Settings
    store: Store
    secret: bytes
    """Signs what callers hand back; all processes of a database share it."""
    scratch: ScratchStore
    embedder: Embedder | None
    """None when searches use words only."""
    reranker: Reranker | None
    synthesizer: Synthesizer | None
    """None when no language model is configured."""
    fetcher: Fetcher
    web_search: WebSearch | None
    """None when no search engine is configured."""
    ingester: Ingester
    live_pages: LivePages
    library: Library
    engine: Engine
    access: Access
    desk: Desk
    watch: ContentWatch
    events: Events
    docs: DocsFolder | None
    """None when no docs folder is served."""
    citations: CitationMemory
    background: None
    """While open, jobs are run and the pages of the docs folder are stored."""

    def __init__(self, settings: Settings, opened: Mapping[str, object]) -> None:
        self.settings = settings
        self.__dict__.update(opened)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Name the part that was not asked for."""
            raise RuntimeError(f"the part {name!r} was not asked for: add it to `needs`")


class OpensParts(Protocol):
    """Opens parts on request: the application, or a smaller one."""

    @property
    def settings(self) -> Settings:
        """The settings that the parts are opened with."""

    async def open(self, *names: PartName) -> Parts:
        """Return the named parts; those that are not open yet are opened first.

        Raises:
            CitewellError: a setting is wrong, or a part cannot be opened.
        """


@frozen
class Assembly:
    """Opens parts; used by the one task that also closes them."""

    settings: Settings
    stack: AsyncExitStack
    """Closes the parts."""
    role: Role
    replaced: Mapping[PartName, Opener]
    """Openers that stand in for those of `OPENERS`."""
    open_later: OpenLater
    """For parts that need other parts in use, not to open."""
    _opened: dict[PartName, object] = field(default_factory=dict, init=False)

    def has(self, *names: PartName) -> bool:
        """Return whether all of these parts are open."""
        return self._opened.keys() >= set(names)

    def parts(self, *names: PartName) -> Parts:
        """Return the named parts, which are open."""
        return Parts(self.settings, {name: self._opened[name] for name in names})

    async def open(self, *names: PartName) -> Parts:
        """Return the named parts; those that are not open yet are opened first.

        Raises:
            CitewellError: a setting is wrong, or a part cannot be opened.
        """
        for name in names:
            if name not in self._opened:
                opener = self.replaced.get(name) or await _load_opener(name)
                self._opened[name] = await self.stack.enter_async_context(opener(self))
        return self.parts(*names)


async def _load_opener(name: PartName) -> Opener:
    module, _, function = OPENERS[name].partition(":")
    # In a thread: some parts import parsers and numpy while the server answers other calls.
    loaded = await anyio.to_thread.run_sync(import_module, module)
    opener: Opener = getattr(loaded, function)
    return opener
