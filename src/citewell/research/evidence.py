"""Choosing what to show: constraints, what is known already, every side of a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.answer.definitions import asked_terms, defines, raise_definitions
from citewell.core.words import content_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from citewell.core.records import Block
    from citewell.research.analyse import QueryAnalysis

_WITHOUT_CODE = 0.5
_WITHOUT_FOCUS = 0.7
_WHOLLY_KNOWN = 0.4
# A block this much weaker than the best only costs the reader tokens.
_LEAST_SHARE_OF_BEST = 0.12


def weigh_blocks(blocks: Iterable[Block], analysis: QueryAnalysis) -> list[Block]:
    """Return the blocks with their relevance adjusted to the caller's wishes, best first.

    A block that the question as a whole brought is given to the sub-query it says most about.
    """
    weighed = [
        replace(
            block,
            relevance=block.relevance * _factor(block, analysis),
            sub_query=_part_of(block, analysis.sub_queries),
        )
        for block in blocks
    ]
    raised = _raise_definitions(weighed, analysis.sub_queries)
    return sorted(raised, key=lambda block: -block.relevance)


def choose_blocks(
    blocks: Sequence[Block],
    *,
    sub_queries: Sequence[str],
    pages: Iterable[int],
    limit: int,
) -> list[Block]:
    """Return at most `limit` of the blocks, which come best first, in that order.

    Each sub-query keeps its best block, so that a comparison has evidence for both sides, and so
    does each of `pages`.
    """
    blocks = [block for block in blocks if _says_something(block)] or blocks
    if not blocks:
        return []
    floor = _LEAST_SHARE_OF_BEST * blocks[0].relevance
    required = [
        next((block for block in blocks if block.sub_query == query), None) for query in sub_queries
    ] + [
        next((block for block in blocks if block.source_id == source_id), None)
        for source_id in pages
    ]
    chosen = {id(block) for block in required[:limit] if block is not None}
    for block in blocks:
        if len(chosen) >= limit:
            break
        if block.relevance >= floor:
            chosen.add(id(block))
    return [block for block in blocks if id(block) in chosen]


def _raise_definitions(blocks: Sequence[Block], sub_queries: Iterable[str]) -> list[Block]:
    """Return the blocks, those that define what a sub-query is about near the top of its own."""
    relevance = [block.relevance for block in blocks]
    for query in sub_queries:
        terms = asked_terms(query)
        # A block that is about one side of a comparison may define the other as well.
        concerned = [
            at
            for at, block in enumerate(blocks)
            if block.sub_query == query or defines(block.text, terms)
        ]
        raised = raise_definitions(
            [blocks[at].relevance for at in concerned],
            [blocks[at].text for at in concerned],
            terms,
        )
        for at, score in zip(concerned, raised, strict=True):
            is_own = blocks[at].sub_query == query
            relevance[at] = score if is_own else max(score, relevance[at])
    return [replace(block, relevance=score) for block, score in zip(blocks, relevance, strict=True)]


def _says_something(block: Block) -> bool:
    """Return whether a block is more than the headings of sections that stand below it."""
    return any(line.strip() and not line.startswith("#") for line in block.text.splitlines())


def _part_of(block: Block, sub_queries: Sequence[str]) -> str:
    if block.sub_query in sub_queries:
        return block.sub_query
    held = frozenset(content_words(" ".join((block.title, *block.heading_path, block.text))))
    return max(sub_queries, key=lambda query: _share_held(content_words(query), held))


def _share_held(words: Collection[str], held: Collection[str]) -> float:
    return sum(word in held for word in words) / (len(words) or 1)


def _factor(block: Block, analysis: QueryAnalysis) -> float:
    factor = 1.0
    if analysis.wants_code and "```" not in block.text:
        factor *= _WITHOUT_CODE
    if not analysis.focus_words and not analysis.known_words:
        return factor
    words = frozenset(content_words(block.text))
    if analysis.focus_words:
        held = len(analysis.focus_words & words) / len(analysis.focus_words)
        factor *= _WITHOUT_FOCUS + (1 - _WITHOUT_FOCUS) * held
    if analysis.known_words and words:
        new = len(words - analysis.known_words) / len(words)
        factor *= _WHOLLY_KNOWN + (1 - _WHOLLY_KNOWN) * new
    return factor
