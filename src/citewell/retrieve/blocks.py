"""Gathering ranked chunks into blocks: neighbouring chunks of one section, as one slice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.records import Block
from citewell.retrieve.duplicates import SeenTexts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.core.records import MatchedBy, PageText, RankedChunk, StoredChunk

MAX_BLOCK_TOKENS = 800


@frozen
class BlockPlan:
    """The chunks a block will be made of, in page order, before its text is cut from the page."""

    chunks: tuple[StoredChunk, ...]
    relevance: float
    confidence: float | None
    matched_by: MatchedBy
    sub_query: str

    @property
    def source_id(self) -> int:
        """The page it lies on."""
        return self.chunks[0].source_id

    @property
    def tokens(self) -> int:
        """How many tokens its chunks are."""
        return sum(chunk.tokens for chunk in self.chunks)

    def may_take(self, chunk: StoredChunk) -> bool:
        """Return whether `chunk` adjoins it in the same section and leaves it short enough."""
        first, last = self.chunks[0], self.chunks[-1]
        return (
            chunk.source_id == first.source_id
            and chunk.page_hash == first.page_hash
            and chunk.section == first.section
            and chunk.ordinal in (first.ordinal - 1, last.ordinal + 1)
            and self.tokens + chunk.tokens <= MAX_BLOCK_TOKENS
        )

    def take(self, chunk: StoredChunk) -> BlockPlan:
        """Return the plan with `chunk` at the end it adjoins."""
        if chunk.ordinal < self.chunks[0].ordinal:
            return replace(self, chunks=(chunk, *self.chunks))
        return replace(self, chunks=(*self.chunks, chunk))


def plan_blocks(ranked: Sequence[RankedChunk], *, limit: int, calibrated: bool) -> list[BlockPlan]:
    """Return up to `limit` blocks, best first; near-duplicates of better ones are left out."""
    plans: list[BlockPlan] = []
    seen = SeenTexts()
    for candidate in ranked:
        at = _adjoining(plans, candidate.chunk)
        if at is not None:
            plans[at] = plans[at].take(candidate.chunk)
        elif len(plans) == limit or seen.holds(candidate.chunk.text):
            continue
        else:
            plans.append(_plan_of(candidate, calibrated=calibrated))
        seen.add(candidate.chunk.text)
    return plans


def cut_blocks(plans: Sequence[BlockPlan], pages: Mapping[int, PageText]) -> list[Block]:
    """Return the planned blocks as slices of their pages.

    A page that was replaced since its chunks were read loses its blocks: their offsets no longer
    point at what was ranked.
    """
    return [
        _cut(plan, page)
        for plan in plans
        if (page := pages.get(plan.source_id)) is not None
        and page.info.text_hash == plan.chunks[0].page_hash
    ]


def _adjoining(plans: Sequence[BlockPlan], chunk: StoredChunk) -> int | None:
    for at, plan in enumerate(plans):
        if plan.may_take(chunk):
            return at
    return None


def _plan_of(candidate: RankedChunk, *, calibrated: bool) -> BlockPlan:
    return BlockPlan(
        chunks=(candidate.chunk,),
        relevance=candidate.relevance,
        confidence=candidate.confidence if calibrated else None,
        matched_by=candidate.matched_by,
        sub_query=candidate.sub_query,
    )


def _cut(plan: BlockPlan, page: PageText) -> Block:
    first, last = plan.chunks[0], plan.chunks[-1]
    return Block(
        source_id=first.source_id,
        url=first.url,
        title=first.title,
        page_hash=first.page_hash,
        fetched_at=first.fetched_at,
        heading_path=first.heading_path,
        anchor=first.anchor,
        section=first.section,
        start=first.start,
        end=last.end,
        text=page.text[first.start : last.end],
        tokens=plan.tokens,
        relevance=plan.relevance,
        confidence=plan.confidence,
        matched_by=plan.matched_by,
        sub_query=plan.sub_query,
        images=tuple(image for image in page.images if first.start <= image.start < last.end),
        origin=first.origin,
        release=first.release,
    )
