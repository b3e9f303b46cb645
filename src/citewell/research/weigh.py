"""What the caller wishes: constraints, what is known already, and a block for every part."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.words import content_words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from citewell.core.records import Block, RankedChunk
    from citewell.research.analyse import QueryAnalysis
    from citewell.retrieve.pipeline import Weigh

_WITHOUT_CODE = 0.5
_WITHOUT_FOCUS = 0.7
_WHOLLY_KNOWN = 0.4
# A block this much weaker than the best only costs the reader tokens.
_LEAST_SHARE_OF_BEST = 0.12


def weigh_by_wishes(analysis: QueryAnalysis) -> Weigh | None:
    """Return what adjusts the relevance of chunks to the caller's wishes; None without any."""
    if not (analysis.wants_code or analysis.focus_words or analysis.known_words):
        return None

    def weigh(ranked: Sequence[RankedChunk]) -> list[float]:
        return [each.relevance * _factor(each.chunk.text, analysis) for each in ranked]

    return weigh


def choose_blocks(blocks: Sequence[Block], *, parts: Sequence[str], limit: int) -> list[Block]:
    """Return at most `limit` of the blocks, which come best first, in that order.

    Each part of the question keeps its best block, so that a comparison has evidence for both
    sides.
    """
    own = [replace(block, sub_query=_part_of(block, parts)) for block in blocks]
    blocks = [block for block in own if _says_something(block)] or own
    if not blocks:
        return []
    floor = _LEAST_SHARE_OF_BEST * blocks[0].relevance
    required = [
        next((block for block in blocks if block.sub_query == part), None) for part in parts
    ]
    chosen = {id(block) for block in required[:limit] if block is not None}
    for block in blocks:
        if len(chosen) >= limit:
            break
        if block.relevance >= floor:
            chosen.add(id(block))
    return [block for block in blocks if id(block) in chosen]


def _says_something(block: Block) -> bool:
    """Return whether a block is more than the headings of sections that stand below it."""
    return any(line.strip() and not line.startswith("#") for line in block.text.splitlines())


def _part_of(block: Block, parts: Sequence[str]) -> str:
    if block.sub_query in parts or not parts:
        return block.sub_query
    held = frozenset(content_words(" ".join((block.title, *block.heading_path, block.text))))
    return max(parts, key=lambda part: _share_held(content_words(part), held))


def _share_held(words: Collection[str], held: Collection[str]) -> float:
    return sum(word in held for word in words) / (len(words) or 1)


def _factor(text: str, analysis: QueryAnalysis) -> float:
    factor = 1.0
    if analysis.wants_code and "```" not in text:
        factor *= _WITHOUT_CODE
    words = frozenset(content_words(text))
    if analysis.focus_words:
        held = len(analysis.focus_words & words) / len(analysis.focus_words)
        factor *= _WITHOUT_FOCUS + (1 - _WITHOUT_FOCUS) * held
    if analysis.known_words and words:
        new = len(words - analysis.known_words) / len(words)
        factor *= _WHOLLY_KNOWN + (1 - _WHOLLY_KNOWN) * new
    return factor
