"""Cutting weaker blocks down to the sentences around their quotes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.text import sentence_spans
from citewell.core.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import Block, Quote

# Tokens of the best block, the second and so on; the last holds for all that follow. Chosen on
# bench/brief_size.py and bench/quotes.py.
_TOKENS_BY_RANK = (350, 150, 80, 50)


def shorten_blocks(blocks: Sequence[Block], quotes: Sequence[Quote]) -> list[Block]:
    """Return the blocks, best first, each cut to its share; all quotes stay inside."""
    last = len(_TOKENS_BY_RANK) - 1
    return [
        _excerpt(block, quotes, max_tokens=_TOKENS_BY_RANK[min(rank, last)])
        for rank, block in enumerate(blocks)
    ]


def _excerpt(block: Block, quotes: Sequence[Quote], *, max_tokens: int) -> Block:
    own = [
        quote
        for quote in quotes
        if quote.source_id == block.source_id and block.start <= quote.start < block.end
    ]
    if block.tokens <= max_tokens or not own:
        return block
    spans = sentence_spans(block.text)
    low = min(quote.start for quote in own) - block.start
    high = max(quote.end for quote in own) - block.start
    first = next(at for at, span in enumerate(spans) if span[1] > low)
    after = next((at for at, span in enumerate(spans) if span[0] >= high), len(spans))
    tokens = count_tokens(block.text[spans[first][0] : spans[after - 1][1]])
    # What follows a match explains it more often than what comes before.
    for step in (1, -1):
        while 0 <= (at := after if step > 0 else first - 1) < len(spans):
            tokens += count_tokens(block.text[spans[at][0] : spans[at][1]])
            if tokens > max_tokens:
                break
            first, after = (first, after + 1) if step > 0 else (first - 1, after)
    return _slice(block, min(spans[first][0], low), max(spans[after - 1][1], high))


def _slice(block: Block, low: int, high: int) -> Block:
    start, end = block.start + low, block.start + high
    text = block.text[low:high]
    return replace(
        block,
        start=start,
        end=end,
        text=text,
        tokens=count_tokens(text),
        images=tuple(image for image in block.images if start <= image.start < end),
    )
