"""The quotes of the evidence tools: slices of passages, bounded and cited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic.json_schema import SkipJsonSchema

from citewell.answer.links import link_to_span
from citewell.answer.spans import PassageText
from citewell.app.citations import CitedQuote
from citewell.core.boundary import NOTE_PLACE, SUPPLIED, enclose
from citewell.core.frozen import frozen
from citewell.core.off_loop import in_thread
from citewell.core.page_slice import column_names, starts_inside
from citewell.core.text_fragment import link_to_section
from citewell.core.tokens import count_tokens
from citewell.tools.release_label import ReleaseLabel, shape_release
from citewell.tools.supplied import Supplied, is_supplied
from citewell.tools.tool import ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.answer.quote import QuoteLimits
    from citewell.app.scratch import Passage
    from citewell.core.records import Page
    from citewell.core.records import PageText as PageTextRecord
    from citewell.store.protocol import Store
    from citewell.tools.tool import Call

# For the ids and URLs of a quote; longer URLs leave room for fewer quotes.
_TOKENS_BESIDE_QUOTE = 150
# The maximum number of quotes of the maximum length, and one long URL.
MAX_RESULT_TOKENS = 6_000


class QuoteShape(ToolOutput):
    """A quote, word for word from the page at `url`."""

    quote: PageText
    passage_id: OwnText
    section_id: OwnText
    title: PageLabel
    uri: OwnText
    url: PageUrl
    link: PageUrl
    """Opens the page at the quote."""
    version: ReleaseLabel = None
    confidence: float
    is_cut: Annotated[bool | None, SkipJsonSchema()] = None
    """Whether the sentence, row or program goes on after the quote."""
    is_cut_before: Annotated[bool | None, SkipJsonSchema()] = None
    """Whether the sentence or row begins before the quote."""
    columns: Annotated[PageLabel | None, SkipJsonSchema()] = None
    """Of the table that the quote is rows of, without its header."""
    supplied: Supplied = None


class EvidenceOutput(ToolOutput):
    """The quotes that answer a question, best first."""

    quotes: list[QuoteShape]
    notes: list[OwnText] | None = None


@frozen
class PassageQuote:
    """A slice of a passage, from `start` to `end` of its text."""

    passage: Passage
    start: int
    end: int
    confidence: float
    is_cut: bool = False

    @property
    def text(self) -> str:
        """The quoted words."""
        return self.passage.text[self.start : self.end]


async def shape_quotes(
    quotes: Sequence[PassageQuote], *, limits: QuoteLimits, store: Store
) -> list[QuoteShape]:
    """Return as many quotes as fit the limits, each with a link into its page."""
    pages = await store.page_texts(list({quote.passage.place.source_id for quote in quotes}))
    # Finding the words of a link on a long page takes milliseconds.
    return await in_thread(_shape_fitting, quotes, limits, pages)


def _shape_fitting(
    quotes: Sequence[PassageQuote], limits: QuoteLimits, pages: Mapping[int, PageTextRecord]
) -> list[QuoteShape]:
    left = limits.max_quotes * (limits.longest_tokens + _TOKENS_BESIDE_QUOTE)
    shaped: list[QuoteShape] = []
    for passage_quote in quotes:
        quote = _shape(passage_quote, pages.get(passage_quote.passage.place.source_id))
        cost = count_tokens(quote.model_dump_json())
        if shaped and cost > left:
            continue
        shaped.append(quote)
        left -= cost
    return shaped


def remember_quotes(
    shown: Sequence[QuoteShape],
    quotes: Sequence[PassageQuote],
    *,
    call: Call,
    tool: str,
    question: str,
) -> None:
    """Remember the quotes that are shown to the caller."""
    ids = {(shape.passage_id, shape.quote) for shape in shown}
    call.parts.citations.remember(
        [
            CitedQuote(
                source_id=quote.passage.place.source_id,
                page_hash=quote.passage.place.page_hash,
                start=quote.passage.place.start + quote.start,
                text=quote.text,
                section=(quote.passage.place.heading_path or ("",))[-1],
            )
            for quote in quotes
            if (quote.passage.passage_id, quote.text) in ids
        ],
        caller=call.caller,
        tool=tool,
        question=question,
    )


def passage_text(passage: Passage) -> PassageText:
    """Return a passage in the form that evidence is searched in."""
    return PassageText(text=passage.text, path=(passage.place.title, *passage.place.heading_path))


def link_into(passage: Passage, page: Page | PageTextRecord | None, *, start: int, end: int) -> str:
    """Return a link to a slice of a passage, or to its section if the page has changed."""
    place = passage.place
    if page is None or page.info.text_hash != place.page_hash:
        return link_to_section(place.url, place.anchor)
    return link_to_span(page, place.anchor, start=place.start + start, end=place.start + end)


def _shape(quote: PassageQuote, page: PageTextRecord | None) -> QuoteShape:
    passage, place = quote.passage, quote.passage.place
    return QuoteShape(
        quote=quote.text,
        passage_id=passage.passage_id,
        section_id=place.section_id,
        title=place.title,
        uri=passage.uri,
        url=place.url,
        link=link_into(passage, page, start=quote.start, end=quote.end),
        version=shape_release(place.release),
        confidence=round(quote.confidence, 2),
        is_cut=True if quote.is_cut else None,
        is_cut_before=True if starts_inside(quote.passage.text, quote.start) else None,
        columns=_columns(quote, page),
        supplied=is_supplied(place.origin),
    )


def _columns(quote: PassageQuote, page: PageTextRecord | None) -> str | None:
    place = quote.passage.place
    if page is None or page.info.text_hash != place.page_hash:
        return column_names(quote.passage.text, quote.start) or None
    return column_names(page.text, place.start + quote.start) or None


def render(output: EvidenceOutput, call: Call) -> str:
    """Return two lines for each quote: its words and its source."""
    if not output.quotes:
        nothing = "No evidence found. Call status to see what is indexed, or answer with a URL."
        return "\n".join([nothing, *(f"Note: {note}" for note in output.notes or ())])
    lines = [NOTE_PLACE]
    for number, quote in enumerate(output.quotes, start=1):
        ids = f"passage {quote.passage_id}, section {quote.section_id}, {quote.confidence:.2f}"
        ids += f", {SUPPLIED}" if quote.supplied else ""
        before = "[cut before this] " if quote.is_cut_before else ""
        after = " [cut here]" if quote.is_cut else ""
        lines.append(f"[{number}] {before}{quote.quote}{after}")
        version = f", {quote.version}" if quote.version else ""
        columns = f", columns: {quote.columns}" if quote.columns else ""
        where = enclose(f"{quote.title or 'Untitled'}{version}, {quote.link}{columns}")
        lines.append(f"    — {where} ({ids})")
    lines += [f"Note: {note}" for note in output.notes or ()]
    return "\n".join(lines)
