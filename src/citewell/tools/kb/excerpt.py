"""Bounded excerpts of passages with their citation, to read and expand passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import WithJsonSchema

from citewell.core.boundary import SUPPLIED, enclose
from citewell.core.tokens import count_tokens, truncate_to_tokens
from citewell.tools.kb.evidence import link_into
from citewell.tools.supplied import Supplied, is_supplied
from citewell.tools.tool import ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from citewell.app.scratch import Passage
    from citewell.tools.tool import Call

DEFAULT_EXCERPT_TOKENS = 300
MAX_EXCERPT_TOKENS = 800
MAX_EXCERPT_BYTES = 32_768
# The excerpt with its citation, whose URL can be long.
MAX_RESULT_TOKENS = 4_000
# Ordinary text has fewer characters per token; cutting here first keeps counting cheap.
_CHARACTERS_PER_TOKEN = 12
_BYTES_PER_CHARACTER = 4


class ExcerptCitation(ToolOutput):
    """Where an excerpt is from."""

    section_id: OwnText
    doc_tag: OwnText
    title: PageLabel
    uri: OwnText
    url: PageUrl
    link: PageUrl
    """Opens the page at the excerpt."""
    supplied: Supplied = None


class ExcerptOutput(ToolOutput):
    """A piece of a page, word for word; characters count from the start of the passage."""

    passage_id: OwnText
    excerpt: PageText
    truncated: bool
    start_char: int | None = None
    next_start_char: int | None = None
    citation: Annotated[ExcerptCitation | None, WithJsonSchema({"type": "object"})] = None


async def cite(passage: Passage, call: Call, *, start: int, end: int) -> ExcerptCitation:
    """Return the citation of an excerpt, which can reach beyond either end of the passage."""
    place = passage.place
    pages = await call.parts.store.page_texts([place.source_id])
    return ExcerptCitation(
        section_id=place.section_id,
        doc_tag=place.doc_tag,
        title=place.title,
        uri=passage.uri,
        url=place.url + (f"#{place.anchor}" if place.anchor else ""),
        link=link_into(passage, pages.get(place.source_id), start=start, end=end),
        supplied=is_supplied(place.origin),
    )


def head_of(text: str, *, max_tokens: int) -> str:
    """Return the beginning of `text` within `max_tokens` and MAX_EXCERPT_BYTES."""
    short = text[: _CHARACTERS_PER_TOKEN * max_tokens]
    if len(short.encode("utf-8", "surrogatepass")) > MAX_EXCERPT_BYTES:
        short = short[: MAX_EXCERPT_BYTES // _BYTES_PER_CHARACTER]
    return truncate_to_tokens(short, max_tokens)


def tail_of(text: str, *, max_tokens: int) -> str:
    """Return the end of `text` within `max_tokens`, beginning at a word."""
    tail = text[len(text) - min(len(text), _CHARACTERS_PER_TOKEN * max_tokens) :]
    low, high = 0, len(tail)
    while low < high:
        middle = (low + high) // 2
        if count_tokens(tail[middle:]) <= max_tokens:
            high = middle
        else:
            low = middle + 1
    if low == 0:
        return tail
    space = tail.find(" ", low)
    return tail[space + 1 :] if 0 <= space < low + 40 else tail[low:]


def render(output: ExcerptOutput, call: Call) -> str:
    """Return the excerpt with its citation."""
    lines = [output.excerpt]
    marks = [f"passage {output.passage_id}"]
    if output.citation is not None:
        cited = output.citation
        marks.append(f"section {cited.section_id}")
        marks += [SUPPLIED] if cited.supplied else []
        where = enclose(f"{cited.title or 'Untitled'}, {cited.link}")
        lines.append(f"— {where} ({', '.join(marks)})")
    else:
        lines.append(f"({marks[0]})")
    if output.start_char:
        lines.append(f"Begins at character {output.start_char} of the passage.")
    if output.next_start_char is not None:
        lines.append(f"Goes on: kb_read_excerpt with start_char {output.next_start_char}.")
    return "\n".join(lines)
