"""Quotes as the evidence tools return them: cut from passages, bounded, cited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.answer.spans import PassageText
from citewell.core.boundary import NOTE_PLACE, SUPPLIED, enclose
from citewell.core.tokens import count_tokens
from citewell.tools.registry import ToolOutput
from citewell.tools.supplied import Supplied, is_supplied
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.answer.quote import QuoteLimits
    from citewell.app.scratch import Passage
    from citewell.tools.registry import Call

# What a quote may cost with its ids and addresses; long URLs are paid for by fewer quotes.
_TOKENS_BESIDE_QUOTE = 100
# The most quotes of the greatest length, and one long URL.
MAX_RESULT_TOKENS = 6_000


class QuoteShape(ToolOutput):
    """A quote, word for word from the page at `url`."""

    quote: PageText
    passage_id: OwnText
    section_id: OwnText
    title: PageLabel
    uri: OwnText
    url: PageUrl
    confidence: float
    supplied: Supplied = None


class EvidenceOutput(ToolOutput):
    """The quotes that answer a question, best first."""

    quotes: list[QuoteShape]
    notes: list[OwnText] | None = None


def shape_quotes(
    quotes: Iterable[tuple[Passage, str, float]], *, limits: QuoteLimits
) -> list[QuoteShape]:
    """Return quotes, given with their passage and confidence, as many as fit the limits."""
    left = limits.max_quotes * (limits.longest_tokens + _TOKENS_BESIDE_QUOTE)
    shaped: list[QuoteShape] = []
    for passage, text, confidence in quotes:
        quote = _shape(passage, text, confidence=confidence)
        cost = count_tokens(quote.model_dump_json())
        if shaped and cost > left:
            continue
        shaped.append(quote)
        left -= cost
    return shaped


def passage_text(passage: Passage) -> PassageText:
    """Return a passage as evidence is looked for in it."""
    return PassageText(text=passage.text, path=(passage.place.title, *passage.place.heading_path))


def _shape(passage: Passage, quote: str, *, confidence: float) -> QuoteShape:
    place = passage.place
    return QuoteShape(
        quote=quote,
        passage_id=passage.passage_id,
        section_id=place.section_id,
        title=place.title,
        uri=passage.uri,
        url=place.url,
        confidence=round(confidence, 2),
        supplied=is_supplied(place.origin),
    )


def render(output: EvidenceOutput, call: Call) -> str:
    """Return two lines for each quote: its words, and where they stand."""
    if not output.quotes:
        nothing = "No evidence found. Call status to see what is indexed, or answer with a URL."
        return "\n".join([nothing, *(f"Note: {note}" for note in output.notes or ())])
    lines = [NOTE_PLACE]
    for number, quote in enumerate(output.quotes, start=1):
        ids = f"passage {quote.passage_id}, section {quote.section_id}, {quote.confidence:.2f}"
        ids += f", {SUPPLIED}" if quote.supplied else ""
        lines.append(f"[{number}] {quote.quote}")
        where = enclose(f"{quote.title or 'Untitled'}, {quote.url}")
        lines.append(f"    — {where} ({ids})")
    lines += [f"Note: {note}" for note in output.notes or ()]
    return "\n".join(lines)
