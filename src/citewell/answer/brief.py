"""The brief: a research result as the text a model reads (seed A §6).

By default it is the list of quotes, each with its source; in full detail the blocks around them,
images, the pages that were followed and the statistics come with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.answer.disagreement_text import format_disagreements
from citewell.answer.nothing_found import format_nothing_found
from citewell.answer.numbering import number_sources, shown_of
from citewell.answer.stats import format_stats, format_summary
from citewell.answer.trace import format_trace
from citewell.core.boundary import NOTE_PLACE, SUPPLIED, Boundary, label, neutralise
from citewell.core.text import one_line
from citewell.core.tokens import count_tokens, truncate_to_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from citewell.core.records import Block, Image, Quote
    from citewell.core.results import OrchestrationResult

    Cost = Callable[[str], int]

# Headings of sections, and the note on what was left out.
_FRAME_TOKENS = 40
_LEAST_BLOCK_TOKENS = 40
_CUT = "[cut here]"
_CUT_BEFORE = "[cut before this]"


def format_brief(
    result: OrchestrationResult, *, token_budget: int, nonce: str | None = None
) -> str:
    """Return the brief of `result` within `token_budget` cl100k tokens.

    Sources and statistics are always whole; quotes, or blocks in full detail, fill what is left,
    best first; the expansion trace and images come in only where there is still room.
    """
    boundary = Boundary(nonce)
    whole = _compose(result, boundary, token_budget, lambda _text: 0)
    # No token is shorter than a byte, so most briefs fit uncounted: the first count loads the
    # vocabulary, which takes the shell longer than the search.
    if len(whole.encode("utf-8", "surrogatepass")) + _FRAME_TOKENS <= token_budget:
        return whole
    return _compose(result, boundary, token_budget, count_tokens)


def _compose(result: OrchestrationResult, boundary: Boundary, token_budget: int, cost: Cost) -> str:
    """Return the brief of what fits into the budget when each text has this cost."""
    numbers = number_sources(shown_of(result))
    is_full = bool(result.blocks)
    stats = (
        format_stats(result, boundary)
        if is_full or not result.answered
        else format_summary(result, boundary)
    )
    sources = _format_sources(result, numbers, boundary)
    disagreements = format_disagreements(result.disagreements, numbers, boundary)
    frame = cost("\n".join((boundary.note, *result.cautions, disagreements))) + _FRAME_TOKENS
    left = token_budget - cost(sources) - cost(stats) - frame
    quotes = [
        _format_quote(quote, result, numbers, boundary, is_first=quote is result.quotes[0])
        for quote in result.quotes
    ]
    if not result.answered:
        shown, _ = _fill(quotes, left, cost)
        sections = [sources, format_nothing_found(result, boundary, nearest=shown), stats]
    elif is_full:
        sections = _format_full(result, sources, stats, numbers, boundary, left, cost)
    else:
        evidence, _ = _fill(quotes, left, cost)
        sections = [
            sources,
            _format_evidence(evidence, len(quotes), "quotes", result, boundary),
            stats,
        ]
    sections.insert(len(sections) - 1, disagreements)
    return boundary.draw("\n\n".join(section for section in sections if section))


def _format_full(
    result: OrchestrationResult,
    sources: str,
    stats: str,
    numbers: dict[int, int],
    boundary: Boundary,
    left: int,
    cost: Cost,
) -> list[str]:
    citations = [_format_citation(quote, numbers, boundary) for quote in result.quotes]
    cited = "\n\n".join(["[CITATIONS]\n" + citations[0], *citations[1:]]) if citations else ""
    left -= cost(cited)
    parts = [_format_block(block, block.text, result, numbers, boundary) for block in result.blocks]
    if parts and cost(parts[0]) > left:
        room = max(left - cost(parts[0]) + result.blocks[0].tokens, _LEAST_BLOCK_TOKENS)
        text = truncate_to_tokens(result.blocks[0].text, room)
        short = _format_block(result.blocks[0], text, result, numbers, boundary)
        parts[0] = f"{short}\n(cut to fit the response budget)"
    shown, left = _fill(parts, left, cost)
    sections = [sources, _format_evidence(shown, len(parts), "chunks", result, boundary)]
    images = _format_images(result.blocks[: len(shown)], numbers, boundary)
    trace = format_trace(result, boundary) if result.steps else ""
    if trace and cost(trace) <= left:
        left -= cost(trace)
    elif trace:
        trace = f"[Expansion trace omitted — {result.iterations} iterations, see stats above]"
    if images and cost(images) <= left:
        sections.append(images)
    return [*sections, trace, cited, stats]


def _fill(parts: Sequence[str], left: int, cost: Cost) -> tuple[list[str], int]:
    """Return the first parts that fit, at least one, and what is left of the budget."""
    shown: list[str] = []
    for part in parts:
        taken = cost(part) + 1
        if shown and taken > left:
            break
        shown.append(part)
        left -= taken
    return shown, left


def _format_evidence(
    shown: Sequence[str], total: int, what: str, result: OrchestrationResult, boundary: Boundary
) -> str:
    notes = [f"Caution: {caution}" for caution in result.cautions]
    if what == "quotes" and any(map(_may_be_short, result.quotes[1 : len(shown)])):
        notes.append("A link [n]#… continues the URL of source [n].")
    if what == "quotes" and len(result.sub_queries) > 1:
        notes += [f"Part {n}: {one_line(part)}" for n, part in enumerate(result.sub_queries, 1)]
    lines = ["\n".join(["[EVIDENCE]", *notes]), *shown]
    total += result.omitted
    if len(shown) < total:
        lines.append(
            f"... (showing {len(shown)} of {total} {what} — remaining {total - len(shown)} omitted "
            "due to response budget)"
        )
    return "\n\n".join(lines)


def _format_quote(
    quote: Quote,
    result: OrchestrationResult,
    numbers: dict[int, int],
    boundary: Boundary,
    *,
    is_first: bool,
) -> str:
    marks = [] if quote.confidence is None else [f"confidence: {quote.confidence:.2f}"]
    if result.answered and len(result.sub_queries) > 1 and quote.sub_query in result.sub_queries:
        marks.append(f"part {result.sub_queries.index(quote.sub_query) + 1}")
    marks.append(f"id {quote.citation_id}")
    if quote.origin == "supplied":
        marks.append(SUPPLIED)
    cut = f" {_CUT}" if quote.is_cut else ""
    # The section is a page's word too: it goes inside the boundary, on a line of its own.
    heading = label(quote.heading_path[-1]) if quote.heading_path else ""
    number, link = numbers[quote.source_id], quote.link
    # The sources hold the URL; a quarter of a brief would be the same URLs again.
    if not is_first and _may_be_short(quote):
        link = f"[{number}]{link.removeprefix(quote.url)}"
    place = " ".join(part for part in (heading, neutralise(link)) if part)
    section = f"§ {place}\n" if place else ""
    if quote.columns:
        section += f"columns: {label(quote.columns)}\n"
    if quote.is_cut_before:
        section += f"{_CUT_BEFORE}\n"
    head = f"Source [{number}] ({', '.join(marks)}):"
    return f"{head}\n{boundary.around(section + neutralise(quote.text))}{cut}"


def _may_be_short(quote: Quote) -> bool:
    """Return whether the link of a quote is its source's URL with more behind it."""
    return quote.link.startswith(f"{quote.url}#")


def _format_block(
    block: Block,
    text: str,
    result: OrchestrationResult,
    numbers: dict[int, int],
    boundary: Boundary,
) -> str:
    marks = [f"relevance: {block.relevance:.2f}"]
    if block.confidence is not None:
        marks.append(f"confidence: {block.confidence:.2f}")
    if block.origin == "supplied":
        marks.append(SUPPLIED)
    if len(result.sub_queries) > 1:
        marks.append(f'sub-query: "{one_line(block.sub_query)}"')
    adjacent = " [adjacent context]" if block.matched_by == "locality" else ""
    head = f"Source [{numbers[block.source_id]}] ({', '.join(marks)}){adjacent}:"
    cut = f" {_CUT}" if block.is_cut else ""
    return f"{head}\n{boundary.quote(text.strip())}{cut}"


def _format_citation(quote: Quote, numbers: dict[int, int], boundary: Boundary) -> str:
    section = f" § {label(quote.heading_path[-1])}" if quote.heading_path else ""
    where = f"{label(quote.title) or 'Untitled'}, {neutralise(quote.link or quote.url)}{section}"
    return (
        f"[{numbers[quote.source_id]}] {boundary.quote(quote.text)}\n"
        f"    — {boundary.around(where)} (id {quote.citation_id})"
    )


def _format_sources(
    result: OrchestrationResult, numbers: dict[int, int], boundary: Boundary
) -> str:
    shown = shown_of(result)
    if not shown:
        return "[SOURCES]\n(none)"
    lines: list[str] = []
    for source_id, number in numbers.items():
        own = [each for each in shown if each.source_id == source_id]
        title = label(own[0].title) or "Untitled"
        version = f" ({label(own[0].release.label)})" if own[0].release.product else ""
        lines.append(f"[{number}] {title}{version} — {neutralise(own[0].url)}")
        if result.blocks:
            lines += [f"    § {heading}" for heading in _last_headings(own)]
    supplied = {each.source_id for each in shown if each.origin == "supplied"}
    listed = [number for source_id, number in numbers.items() if source_id in supplied]
    notes = [f"[{number}] was {SUPPLIED}." for number in listed]
    return "\n".join(["[SOURCES]", NOTE_PLACE, boundary.around("\n".join(lines)), *notes])


def _last_headings(shown: Iterable[Block | Quote]) -> list[str]:
    return list(dict.fromkeys(label(each.heading_path[-1]) for each in shown if each.heading_path))


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
