"""WebSearch: the chosen engines in order, the next when one fails, and what was found lately."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import anyio

from citewell.core.errors import WebSearchFailed
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from citewell.web.search.protocol import SearchEngine, SearchResult

logger = logging.getLogger(__name__)

_KEPT_SEARCHES = 1_000


@frozen
class FoundPages:
    """What a search brought, by which engine and when."""

    query: str
    engine: str
    created_at: datetime
    results: tuple[SearchResult, ...]


class WebSearch:
    """Asks the first engine, and those after it only when it fails."""

    def __init__(
        self,
        engines: Sequence[SearchEngine],
        *,
        cache_seconds: float,
        close: Callable[[], Awaitable[None]],
    ) -> None:
        self.engines = tuple(engines)
        self._cache_seconds = cache_seconds
        self._close = close
        self.asked = 0
        """How many searches there were."""
        self.remembered = 0
        """How many of them were not sent, for the same had been found lately."""
        self._lately: OrderedDict[tuple[str, int], tuple[float, FoundPages]] = OrderedDict()

    async def search(self, query: str, *, limit: int = 10) -> FoundPages:
        """Return what the first engine that answers has found, or what was found lately.

        Raises:
            WebSearchFailed: every engine failed; the last failure is the cause.
        """
        key = (" ".join(query.split()).casefold(), limit)
        known = self._lately.get(key)
        self.asked += 1
        if known is not None and anyio.current_time() < known[0]:
            self.remembered += 1
            # The same but for spaces and capitals; the answer names the question as it was put.
            return replace(known[1], query=query)
        results = await self._ask(query, limit=limit)
        self._lately[key] = (anyio.current_time() + self._cache_seconds, results)
        self._lately.move_to_end(key)
        while len(self._lately) > _KEPT_SEARCHES:
            self._lately.popitem(last=False)
        return results

    async def aclose(self) -> None:
        """Close the connections."""
        await self._close()

    async def _ask(self, query: str, *, limit: int) -> FoundPages:
        failures: list[WebSearchFailed] = []
        for engine in self.engines:
            try:
                results = await engine.search(query, limit=limit)
            except WebSearchFailed as error:
                logger.warning("web search: %s", error.message)
                failures.append(error)
                continue
            return FoundPages(
                query=query,
                engine=engine.name,
                created_at=datetime.now(UTC),
                results=tuple(results[:limit]),
            )
        if len(failures) == 1:
            raise failures[0]
        reasons = "; ".join(failure.message for failure in failures)
        raise WebSearchFailed(f"no search engine answered: {reasons}") from failures[-1]
