"""What the engine works with, and how far it may go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from citewell.core.frozen import frozen
from citewell.core.progress import OnProgress, no_progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.inference.protocols import Embedder, Reranker
    from citewell.ingest.outcome import IngestOutcome
    from citewell.store.protocol import Store


class Ingests(Protocol):
    """Makes sure that pages are stored and fresh."""

    async def ingest(
        self,
        url: str,
        *,
        project: str,
        tags: tuple[str, ...] = (),
        on_progress: OnProgress = no_progress,
    ) -> IngestOutcome:
        """Return what became of `url`, which is fetched when it is not stored or not fresh.

        Raises:
            CitewellError: it is not stored and could not be read.
        """

    async def search_site(
        self, url: str, weights: Mapping[str, float], *, limit: int
    ) -> list[tuple[str, str]]:
        """Return URL and title of the pages that the site of `url` names for weighted words.

        Best first, by the site's own search index; none where it has none.
        """


@frozen
class Parts:
    """What a run works with."""

    store: Store
    ingester: Ingests
    embedder: Embedder | None
    reranker: Reranker | None


@frozen
class Limits:
    """How far a run may go."""

    max_blocks: int = 12
    max_depth: int = 2
    pages_per_round: int = 4
    max_pages: int = 8
    full_context_tokens: int = 600
    """Pages of fewer tokens than this in all are shown whole."""
