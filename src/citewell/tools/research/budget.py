"""Cut a research result so that both of its forms fit the budget with the same evidence."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.app.citations import CitedQuote
from citewell.core.ids import citation_id
from citewell.core.tokens import count_tokens, truncate_to_tokens
from citewell.tools.research.shapes import render_brief, shape_result

if TYPE_CHECKING:
    from citewell.core.records import Block, Quote
    from citewell.core.results import OrchestrationResult
    from citewell.tools.tool import Call

# Shorter evidence is not worth showing, however small the budget is.
_LEAST_TOKENS = 40


def hand_out(
    result: OrchestrationResult,
    call: Call,
    *,
    tool: str,
    question: str,
    is_shown_again: bool = False,
) -> OrchestrationResult:
    """Return the result within the budget, and remember its quotes as handed out."""
    fitting = fit_budget(result, call)
    call.parts.citations.remember(
        map(CitedQuote.of, fitting.quotes),
        caller=call.caller,
        tool=tool,
        question=question,
        is_shown_again=is_shown_again,
    )
    return fitting


def fit_budget(result: OrchestrationResult, call: Call) -> OrchestrationResult:
    """Return `result` with its best evidence, as much as the budget allows in either form.

    The best piece always stays; where it alone is too long, its text is cut.
    """
    pieces = len(result.blocks or result.quotes)
    if pieces == 0 or _excess(result, call) <= 0:
        return result
    fitting, too_many = 0, pieces
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        if _excess(_first(result, middle), call) <= 0:
            fitting = middle
        else:
            too_many = middle
    if fitting:
        return _first(result, fitting)
    best = _first(result, 1)
    return _cut_text(best, by_tokens=_excess(best, call))


def _first(result: OrchestrationResult, count: int) -> OrchestrationResult:
    """Return the result with its first `count` pieces of evidence and the quotes inside them."""
    if not result.blocks:
        return replace(result, quotes=result.quotes[:count], omitted=len(result.quotes) - count)
    blocks = result.blocks[:count]
    inside = [quote for quote in result.quotes if any(_holds(block, quote) for block in blocks)]
    return replace(result, blocks=blocks, quotes=tuple(inside), omitted=len(result.blocks) - count)


def _holds(block: Block, quote: Quote) -> bool:
    is_same_page = block.source_id == quote.source_id
    return is_same_page and block.start <= quote.start and quote.end <= block.end


def _cut_text(result: OrchestrationResult, *, by_tokens: int) -> OrchestrationResult:
    """Return the result with its only piece shortened, still a slice of its page."""
    piece = (result.blocks or result.quotes)[0]
    text = truncate_to_tokens(piece.text, max(_LEAST_TOKENS, count_tokens(piece.text) - by_tokens))
    end = piece.start + len(text)
    if result.blocks:
        block = replace(
            result.blocks[0], text=text, end=end, tokens=count_tokens(text), is_cut=True
        )
        inside = tuple(quote for quote in result.quotes if _holds(block, quote))
        return replace(result, blocks=(block,), quotes=inside)
    quote = result.quotes[0]
    name = citation_id(quote.source_id, quote.page_hash, quote.start, end)
    return replace(
        result, quotes=(replace(quote, text=text, end=end, citation_id=name, is_cut=True),)
    )


def _excess(result: OrchestrationResult, call: Call) -> int:
    """Return how many tokens the longer form exceeds the budget by; 0 or less if it fits."""
    budget = call.settings.mcp_response_token_budget
    structured = shape_result(result, call).model_dump(mode="json")
    forms = (render_brief(result, call), json.dumps(structured, ensure_ascii=False))
    # No token is shorter than a byte, so a short form need not be counted.
    if all(len(form.encode("utf-8", "surrogatepass")) <= budget for form in forms):
        return 0
    return max(count_tokens(form) for form in forms) - budget
