"""Adding what stands next to strong hits: an answer often begins before or ends after the match."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import StoredChunk
    from citewell.retrieve.blocks import BlockPlan
    from citewell.store.protocol import Store

_STRONG_BLOCKS = 3
_STRONG_SHARE = 0.5
# A strong hit shorter than this is mostly a heading or a lead-in; what it leads to comes next.
_LEAD_IN_TOKENS = 60
_NEXT_SHARE = 0.5


async def add_locality(plans: Sequence[BlockPlan], *, store: Store, limit: int) -> list[BlockPlan]:
    """Return `plans` with the strong ones grown by their neighbours, at most `limit`, best first.

    A neighbour in the same section joins the block; the chunk after a strong lead-in becomes a
    block of its own, matched by locality.
    """
    grown = list(plans)
    after: list[BlockPlan] = []
    taken = {chunk.chunk_id for plan in plans for chunk in plan.chunks}

    async def grow(at: int) -> None:
        plan = grown[at]
        around = await store.chunks_of_page(
            plan.source_id,
            first_ordinal=max(0, plan.chunks[0].ordinal - 1),
            last_ordinal=plan.chunks[-1].ordinal + 1,
        )
        free = [chunk for chunk in around if chunk.chunk_id not in taken]
        # What follows a match explains it more often than what comes before.
        for chunk in sorted(free, key=lambda chunk: -chunk.ordinal):
            if plan.may_take(chunk):
                plan = plan.take(chunk)
                taken.add(chunk.chunk_id)
        grown[at] = plan
        if (follower := _follower(plan, free)) is not None and follower.chunk_id not in taken:
            taken.add(follower.chunk_id)
            after.append(_next_to(plan, follower))

    async with anyio.create_task_group() as tasks:
        for at in _strong(plans):
            tasks.start_soon(grow, at)
    return sorted([*grown, *after], key=lambda plan: -plan.relevance)[:limit]


def _strong(plans: Sequence[BlockPlan]) -> list[int]:
    if not plans:
        return []
    floor = _STRONG_SHARE * plans[0].relevance
    return [at for at, plan in enumerate(plans[:_STRONG_BLOCKS]) if plan.relevance >= floor]


def _follower(plan: BlockPlan, around: Sequence[StoredChunk]) -> StoredChunk | None:
    last = plan.chunks[-1]
    if plan.tokens >= _LEAD_IN_TOKENS:
        return None
    for chunk in around:
        if chunk.ordinal == last.ordinal + 1 and chunk.page_hash == last.page_hash:
            return chunk
    return None


def _next_to(plan: BlockPlan, chunk: StoredChunk) -> BlockPlan:
    return replace(
        plan,
        chunks=(chunk,),
        relevance=_NEXT_SHARE * plan.relevance,
        confidence=None,
        matched_by="locality",
    )
