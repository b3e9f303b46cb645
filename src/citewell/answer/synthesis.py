"""A short cited text from excerpts: what a model is asked, what of it is kept, and quotes instead.

`[n]` cites the n-th excerpt. A sentence that cites none of them does not get out.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from citewell.answer.quote import QuoteLimits, choose_quotes
from citewell.answer.spans import PassageText
from citewell.core.boundary import Boundary, label
from citewell.core.page_slice import starts_inside
from citewell.core.question import parse_query
from citewell.core.text import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import RankedChunk

MAX_EXCERPTS = 5
MAX_SYNTHESIS_TOKENS = 700
_ONE_QUOTE = QuoteLimits(max_quotes=1, first_tokens=1)
_CITATION = re.compile(r"[\[【](\d{1,3}(?:\s*[,;、]\s*\d{1,3})*)[\]】]")
# Models put the citation after the full stop as often as before it.
_STOP_THEN_CITATION = re.compile(
    r"([.!?。！？])(\s*(?:[\[【]\d{1,3}(?:\s*[,;、]\s*\d{1,3})*[\]】]\s*)+)"
)


def citation_text(url: str, heading_path: Sequence[str]) -> str:
    """Return a source as people cite it, with the section it stands in."""
    path = " > ".join(label(heading) for heading in heading_path)
    return f"Source: {url} (Section: '{path}')" if path else f"Source: {url}"


def synthesis_prompt(query: str, excerpts: Sequence[RankedChunk]) -> str:
    """Return what a language model is asked; the same for the same query and excerpts."""
    boundary = Boundary(_nonce(query, excerpts))
    shown = "\n\n".join(
        f"[{number}] {boundary.quote(_cite(excerpt))}\n{boundary.quote(excerpt.chunk.text)}"
        for number, excerpt in enumerate(excerpts, start=1)
    )
    return (
        f"User query: {query}\n\n"
        f"Relevant excerpts from processed websites:\n{boundary.note}\n\n{shown}\n\n"
        "Synthesize a comprehensive answer with source citations. Use only what the excerpts say, "
        "and write in the language of the query. End every sentence with the numbers of the "
        "excerpts it rests on, such as [1] or [1][3]; sentences without a number are removed."
    )


def keep_cited(text: str, *, excerpts: int) -> str:
    """Return the sentences of `text` that cite an excerpt from 1 to `excerpts`, and no others.

    A citation of an excerpt that does not exist is taken out; so is the sentence, if it has no
    other one.
    """
    moved = _STOP_THEN_CITATION.sub(lambda match: f" {match[2].strip()}{match[1]} ", text)
    kept: list[str] = []
    last_end = 0
    for start, end in sentence_spans(moved):
        sentence, is_cited = _with_valid_citations(moved[start:end], excerpts)
        if is_cited:
            starts_line = "\n" in moved[last_end:start]
            kept.append(("\n" if starts_line and kept else " " if kept else "") + sentence)
        last_end = end
    return "".join(kept)


def join_quotes(query: str, excerpts: Sequence[RankedChunk]) -> str:
    """Return the best sentences of each excerpt, word for word, each with its citation."""
    asked = parse_query(query)
    lines: list[str] = []
    for number, excerpt in enumerate(excerpts, start=1):
        chunk = excerpt.chunk
        passage = PassageText(text=chunk.text, path=(chunk.title, *chunk.heading_path))
        spans = choose_quotes(asked, [passage], limits=_ONE_QUOTE)
        for span in spans:
            before = "…" if starts_inside(chunk.text, span.start) else ""
            after = "…" if span.is_cut else ""
            lines.append(f"“{before}{chunk.text[span.start : span.end]}{after}” [{number}]")
    return "\n".join(lines)


def _cite(excerpt: RankedChunk) -> str:
    return citation_text(excerpt.chunk.url, excerpt.chunk.heading_path)


def _with_valid_citations(sentence: str, excerpts: int) -> tuple[str, bool]:
    found = 0

    def check(match: re.Match[str]) -> str:
        nonlocal found
        numbers = [int(number) for number in re.findall(r"\d+", match[1])]
        valid = [number for number in numbers if 1 <= number <= excerpts]
        found += len(valid)
        return "".join(f"[{number}]" for number in valid)

    checked = _CITATION.sub(check, sentence)
    return re.sub(r"(?<!\s)\s++(?=[.!?。！？])", "", checked).strip(), found > 0


def _nonce(query: str, excerpts: Sequence[RankedChunk]) -> str:
    # A client may have to be asked twice for the same thing, so it cannot be random; that it hangs
    # on the query and on all excerpts keeps a page from foreseeing it.
    prompt = "\0".join((query, *(excerpt.chunk.text for excerpt in excerpts)))
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:12]
