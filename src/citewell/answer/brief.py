"""The brief: a research result as the text a model reads (seed A §6)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from citewell.answer.nothing_found import format_nothing_found
from citewell.answer.numbering import number_sources
from citewell.answer.stats import format_stats
from citewell.answer.trace import format_trace
from citewell.core.boundary import NOTE_PLACE, Boundary, label, neutralise
from citewell.core.text import one_line
from citewell.core.tokens import count_tokens, truncate_to_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import Block, Image, Quote
    from citewell.core.results import OrchestrationResult

logger = logging.getLogger(__name__)

# Headings of sections, and the note on what was left out.
_FRAME_TOKENS = 40
_BLANK_LINE_TOKENS = 1
_LEAST_BLOCK_TOKENS = 40


def format_brief(
    result: OrchestrationResult, *, token_budget: int, nonce: str | None = None
) -> str:
    """Return the brief of `result` within `token_budget` cl100k tokens.

    Sources and statistics are always whole; evidence, each block with its citation, fills what is
    left, best first; the expansion trace and images come in only where there is still room.
    """
    numbers = number_sources(result.blocks)
    boundary = Boundary(nonce)
    sources = _format_sources(result.blocks, numbers, boundary)
    stats = format_stats(result, boundary)
    frame = count_tokens("\n".join((boundary.note, *result.cautions))) + _FRAME_TOKENS
    left = token_budget - count_tokens(sources) - count_tokens(stats) - frame
    evidence = _Evidence(result, numbers, boundary)
    evidence.fill(left)
    left -= evidence.tokens
    sections = [sources, evidence.text()]
    trace = format_trace(result, boundary) if result.steps else ""
    if trace and count_tokens(trace) <= left:
        left -= count_tokens(trace)
    elif trace:
        trace = f"[Expansion trace omitted — {result.iterations} iterations, see stats above]"
    images = _format_images(evidence.shown, numbers, boundary)
    if images and count_tokens(images) <= left:
        sections.append(images)
    sections += [trace, evidence.citations(), stats]
    brief = boundary.explain("\n\n".join(section for section in sections if section))
    logger.debug(
        "brief: %d of %d blocks, %d tokens of %d",
        len(evidence.shown),
        len(result.blocks),
        count_tokens(brief),
        token_budget,
    )
    return brief


class _Evidence:
    """Blocks and their citations, taken best first while they fit."""

    def __init__(
        self, result: OrchestrationResult, numbers: dict[int, int], boundary: Boundary
    ) -> None:
        self._result = result
        self._numbers = numbers
        self._boundary = boundary
        self._parts: list[str] = []
        self._citations: list[str] = []
        self.shown: list[Block] = []
        self.tokens = 0

    def fill(self, token_budget: int) -> None:
        for block in self._result.blocks:
            quotes = [quote for quote in self._result.quotes if _is_inside(quote, block)]
            citations = [self._format_citation(quote) for quote in quotes]
            part = self._format_block(block, block.text)
            cost = _cost(part, citations)
            if self.tokens + cost > token_budget and not self.shown:
                room = token_budget - (cost - block.tokens)
                text = truncate_to_tokens(block.text, max(room, _LEAST_BLOCK_TOKENS))
                part = self._format_block(block, text) + "\n(cut to fit the response budget)"
                cost = _cost(part, citations)
            elif self.tokens + cost > token_budget:
                return
            self._parts.append(part)
            self._citations += citations
            self.shown.append(block)
            self.tokens += cost

    def text(self) -> str:
        if not self._result.blocks:
            return format_nothing_found(self._result, self._boundary)
        cautions = [f"Caution: {caution}" for caution in self._result.cautions]
        lines = ["\n".join(["[EVIDENCE]", *cautions]), *self._parts]
        total, shown = len(self._result.blocks), len(self.shown)
        if shown < total:
            lines.append(
                f"... (showing {shown} of {total} chunks — remaining {total - shown} omitted "
                "due to response budget)"
            )
        return "\n\n".join(lines)

    def citations(self) -> str:
        return (
            "\n\n".join(["[CITATIONS]\n" + self._citations[0], *self._citations[1:]])
            if (self._citations)
            else ""
        )

    def _format_block(self, block: Block, text: str) -> str:
        marks = [f"relevance: {block.relevance:.2f}"]
        if block.confidence is not None:
            marks.append(f"confidence: {block.confidence:.2f}")
        if len(self._result.sub_queries) > 1:
            marks.append(f'sub-query: "{one_line(block.sub_query)}"')
        adjacent = " [adjacent context]" if block.matched_by == "locality" else ""
        number = self._numbers[block.source_id]
        head = f"Source [{number}] ({', '.join(marks)}){adjacent}:"
        return f"{head}\n{self._boundary.quote(text.strip())}"

    def _format_citation(self, quote: Quote) -> str:
        section = f" § {label(quote.heading_path[-1])}" if quote.heading_path else ""
        where = f"{label(quote.title) or 'Untitled'}, {neutralise(quote.url)}{section}"
        return (
            f"[{self._numbers[quote.source_id]}] {self._boundary.quote(quote.text)}\n"
            f"    — {self._boundary.around(where)} (id {quote.citation_id})"
        )


def _cost(part: str, citations: Sequence[str]) -> int:
    return sum(count_tokens(text) + _BLANK_LINE_TOKENS for text in (part, *citations))


def _format_sources(blocks: Sequence[Block], numbers: dict[int, int], boundary: Boundary) -> str:
    if not blocks:
        return "[SOURCES]\n(none)"
    lines: list[str] = []
    for source_id, number in numbers.items():
        own = [block for block in blocks if block.source_id == source_id]
        title = label(own[0].title) or "Untitled"
        lines.append(f"[{number}] {title} — {neutralise(own[0].url)}")
        headings = dict.fromkeys(
            label(block.heading_path[-1]) for block in own if block.heading_path
        )
        lines += [f"    § {heading}" for heading in headings]
    return "\n".join(["[SOURCES]", NOTE_PLACE, boundary.around("\n".join(lines))])


def _format_images(blocks: Sequence[Block], numbers: dict[int, int], boundary: Boundary) -> str:
    seen: dict[str, str] = {}
    for block in blocks:
        for image in block.images:
            seen.setdefault(image.url, _image_line(image, numbers[block.source_id]))
    return f"[IMAGES]\n{boundary.around(chr(10).join(seen.values()))}" if seen else ""


def _image_line(image: Image, number: int) -> str:
    caption = f" — {label(image.caption)}" if image.caption else ""
    alt = label(image.alt).replace("[", "(").replace("]", ")") or "Image"
    return f"- [{alt}]({neutralise(image.url)}){caption} (from Source [{number}])"


def _is_inside(quote: Quote, block: Block) -> bool:
    return (
        quote.source_id == block.source_id and block.start <= quote.start and quote.end <= block.end
    )
