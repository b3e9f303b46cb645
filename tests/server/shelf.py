"""The real tools over a few stored pages, ready to be served."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from tests.drafts import draft

from citewell.app.open import App, already_open, open_app
from citewell.app.parts import Opener, PartName
from citewell.app.scratch import ScratchStore
from citewell.core.records import PageDraft
from citewell.core.settings import Settings
from citewell.tools.catalog import open_registry
from citewell.tools.registry import Registry

HERONS = draft(
    "https://birds.example/herons",
    "The grey heron eats fish. It stands still for hours.",
    "Young herons leave the nest after fifty days.",
    title="Herons",
    heading="Grey heron",
)
OWLS = draft(
    "https://night.example/owls",
    "The tawny owl eats mice.",
    title="Owls of the wood",
    heading="Owl",
)
HIDDEN = draft(
    "https://birds.example/secret", "The heron's diary.", title="Secret", project="other"
)


class Shelf:
    """The real registry and application; searched by words."""

    def __init__(
        self, *pages: PageDraft, scratch: ScratchStore | None = None, **settings: Any
    ) -> None:
        self._scratch = scratch
        self.settings = replace(
            Settings(database_url="sqlite://", embedder="none", mcp_toolsets=("all",)), **settings
        )
        self.pages = pages or (HERONS, OWLS, HIDDEN)

    def registry(self) -> Registry:
        return open_registry(self.settings)

    @asynccontextmanager
    async def open_app(self, settings: Settings) -> AsyncIterator[App]:
        replaced: dict[PartName, Opener] = (
            {} if self._scratch is None else {"scratch": already_open(self._scratch)}
        )
        async with open_app(settings, replaced=replaced) as app:
            store = (await app.open("store")).store
            for page in self.pages:
                await store.put_page(page)
            yield app
