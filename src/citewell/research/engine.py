"""The engine behind `answer` and `search`: evidence for a question, with its citations."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import anyio

from citewell.core.errors import ToolTimeout
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.research.analyse import analyse_query
from citewell.research.assemble import assemble
from citewell.research.run import ResearchRun

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.core.errors import CitewellError
    from citewell.core.results import OrchestrationResult, Question
    from citewell.ingest.outcome import IngestOutcome
    from citewell.research.parts import Limits, Parts

logger = logging.getLogger(__name__)

# What is kept back of a call's time to assemble the answer.
_RESERVED_SHARE = 0.1
_MOST_RESERVED_SECONDS = 5.0


class Engine:
    """Answers questions with evidence; one instance serves every call."""

    def __init__(self, parts: Parts, limits: Limits) -> None:
        self._parts = parts
        self._limits = limits

    async def answer(
        self,
        question: Question,
        *,
        deadline: float = float("inf"),
        on_progress: OnProgress = no_progress,
    ) -> OrchestrationResult:
        """Ingest the URLs that are not fresh, follow links while evidence is thin, and cite.

        Shortly before `deadline` (of anyio.current_time()) it stops and returns what it has.

        Raises:
            CitewellError: none of the URLs could be read.
            ToolTimeout: none of them could be read in time.
        """
        run = await self._start(question, on_progress)
        left = deadline - anyio.current_time()
        reserved = min(_MOST_RESERVED_SECONDS, _RESERVED_SHARE * left)
        with anyio.CancelScope(deadline=deadline - reserved) as scope:
            await run.gather()
        if scope.cancelled_caught:
            logger.warning("time nearly up: stopped with %d pages read", len(run.source_ids))
        if not run.source_ids:
            raise _first_error(run.outcomes.values())
        if run.found is None:
            await run.search()
        return _logged(await assemble(run, partial=scope.cancelled_caught))

    async def search(
        self, question: Question, *, limit: int, on_progress: OnProgress = no_progress
    ) -> OrchestrationResult:
        """Return the evidence that stored pages hold, all or those of `question.urls`; no fetch."""
        run = await self._start(question, on_progress, max_blocks=limit)
        await run.search_stored()
        return _logged(await assemble(run))

    async def _start(
        self, question: Question, on_progress: OnProgress, *, max_blocks: int | None = None
    ) -> ResearchRun:
        started = time.monotonic()
        analysis = analyse_query(
            question.query,
            intent=question.intent,
            constraints=question.constraints,
            known_context=question.known_context,
        )
        run = ResearchRun(
            parts=self._parts,
            limits=self._limits,
            max_blocks=max_blocks or self._limits.max_blocks,
            question=question,
            analysis=analysis,
            on_progress=on_progress,
            started=started,
        )
        run.spent.query_analysis_ms = (time.monotonic() - started) * 1000
        count = len(analysis.sub_queries)
        message = f"Analyzing query — decomposed into {count} sub-queries"
        await on_progress(Progress(phase="analysis", message=message))
        return run


def _logged(result: OrchestrationResult) -> OrchestrationResult:
    if not result.answered:
        logger.warning("nothing found supports the question; stopped: %s", result.stop_reason)
    logger.info(
        "research done in %.0f ms: %d blocks of %d pages, mode %s, stopped: %s",
        result.timing.total_ms,
        len(result.blocks),
        result.documents_searched,
        result.mode,
        result.stop_reason,
    )
    return result


def _first_error(outcomes: Iterable[IngestOutcome]) -> CitewellError:
    for outcome in outcomes:
        if outcome.error is not None:
            return outcome.error
    return ToolTimeout("Citewell ran out of time before any page could be read.")
