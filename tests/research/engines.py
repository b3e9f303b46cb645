"""An engine over a real site on loopback, with a store of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.hashing_embedder import HashingEmbedder

from citewell.core.progress import Progress
from citewell.core.results import OrchestrationResult, Question
from citewell.ingest.pipeline import Ingester
from citewell.research.engine import Engine
from citewell.research.parts import Limits, Parts
from citewell.store.open import open_store
from citewell.store.protocol import Store
from citewell.web.fetcher import Fetcher

LIMITS = Limits(max_blocks=12, max_depth=2, pages_per_round=3, max_pages=8, full_context_tokens=0)


@dataclass(kw_only=True)
class Research:
    """An open engine, its store, and what it told while it worked."""

    engine: Engine
    store: Store
    told: list[Progress] = field(default_factory=list)

    async def note(self, progress: Progress) -> None:
        self.told.append(progress)

    async def answer(
        self, *urls: str, query: str, deadline: float = float("inf"), **wishes: object
    ) -> OrchestrationResult:
        question = replace(Question(urls=urls, query=query, project="default"), **wishes)  # type: ignore[arg-type]  # the fields of Question
        return await self.engine.answer(question, deadline=deadline, on_progress=self.note)

    async def search(self, *urls: str, query: str) -> OrchestrationResult:
        question = Question(urls=urls, query=query, project="default", expansion_budget=0)
        return await self.engine.search(question, limit=10, on_progress=self.note)

    def messages(self) -> list[str]:
        return [progress.message for progress in self.told]


@asynccontextmanager
async def open_research(
    folder: Path, *, timeout_seconds: float = 60.0, stale_after_days: float = 30, **limits: int
) -> AsyncIterator[Research]:
    """Give an engine that may fetch from loopback."""
    embedder = HashingEmbedder()
    store = await open_store(f"sqlite://{folder}/pages.db", model=embedder.name)
    fetcher = Fetcher(
        allowed_private_hosts=("127.0.0.1",), timeout_seconds=timeout_seconds, max_retries=0
    )
    try:
        async with (
            fetcher,
            Ingester(
                store=store,
                fetcher=fetcher,
                embedder=embedder,
                stale_after_days=stale_after_days,
            ) as ingester,
        ):
            parts = Parts(store=store, ingester=ingester, embedder=embedder, reranker=None)
            yield Research(engine=Engine(parts, replace(LIMITS, **limits)), store=store)
    finally:
        await store.aclose()
