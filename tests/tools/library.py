"""A small library of pages behind the real application, and calls to its tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from tests.drafts import draft

from citewell.app.open import App, already_open, open_app
from citewell.app.parts import PART_NAMES, Opener, PartName, Parts
from citewell.core.records import Caller, PageDraft
from citewell.core.settings import Settings
from citewell.inference.protocols import Embedder
from citewell.tools.catalog import open_registry
from citewell.tools.results import ToolResult

ME = Caller(session="me")
SOMEONE_ELSE = Caller(session="someone else")

HERONS = draft(
    "https://birds.example/herons.html",
    "The grey heron eats fish. It stands still for hours. A heron nests in tall trees.",
    "Young herons leave the nest after fifty days. They learn to fish alone.",
    title="Herons",
    heading="Grey heron",
    tags=("birds", "water"),
)
EGRETS = draft(
    "https://birds.example/egrets.html",
    "The little egret eats small fish and frogs. It has yellow feet.",
    title="Egrets",
    heading="Little egret",
    tags=("birds",),
)
OWLS = draft(
    "https://night.example/wood/owls.html",
    "The tawny owl eats mice. Its nest is a hollow tree.",
    title="Owls",
    heading="Tawny owl",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """An application with all parts open, and a shorter way to call a tool."""

    app: App
    parts: Parts

    async def call(self, name: str, *, caller: Caller = ME, **arguments: object) -> dict[str, Any]:
        """Return the structured result of a call."""
        return (await self.result(name, caller=caller, **arguments)).structured

    async def result(self, name: str, *, caller: Caller = ME, **arguments: object) -> ToolResult:
        """Return both forms of a call's result."""
        registry = open_registry(replace(self.app.settings, mcp_toolsets=("all",)))
        return await registry.call(name, arguments, app=self.app, caller=caller)

    async def put(self, *pages: PageDraft) -> None:
        """Store pages."""
        for page in pages:
            await self.parts.store.put_page(page)


@asynccontextmanager
async def open_library(
    *pages: PageDraft,
    embedder: Embedder | None = None,
    replaced: Mapping[PartName, Opener] | None = None,
    **settings: Any,
) -> AsyncIterator[Library]:
    """Give a library of `pages`; without an embedder it is searched by words."""
    chosen: dict[str, Any] = {"database_url": "sqlite://", "embedder": "none", **settings}
    openers = {**(replaced or {}), "embedder": already_open(embedder)}
    async with open_app(Settings(**chosen), replaced=openers) as app:
        library = Library(app=app, parts=await app.open(*PART_NAMES))
        await library.put(*(pages or (HERONS, EGRETS, OWLS)))
        if embedder is not None:
            await _embed(library.parts, embedder)
        yield library


async def _embed(parts: Parts, embedder: Embedder) -> None:
    waiting: Sequence[tuple[int, str]] = await parts.store.chunks_to_embed(
        model=embedder.name, limit=1_000
    )
    vectors = await embedder.embed_passages([text for _, text in waiting])
    ids = [chunk_id for chunk_id, _ in waiting]
    await parts.store.put_vectors(dict(zip(ids, vectors, strict=True)), model=embedder.name)
