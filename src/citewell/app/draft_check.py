"""Check each factual sentence of a draft against the library."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from citewell.answer.claims import claims_of, judge_claim
from citewell.answer.links import link_to_span
from citewell.app.citations import CitedQuote
from citewell.core.frozen import frozen
from citewell.core.off_loop import in_thread
from citewell.retrieve.pipeline import Options, retrieve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from citewell.answer.claims import ClaimPlace, ClaimVerdict
    from citewell.app.citations import CitationMemory
    from citewell.core.records import Caller, PageOrigin, PageText, RankedChunk, SearchFilter
    from citewell.retrieve.pipeline import Models
    from citewell.store.protocol import Store

MAX_CLAIMS = 100
# The chunk that states a fact is among the best few in all but rare cases.
_CHUNKS = 8
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+)++")


@frozen
class CitedPlace:
    """A place of a page that supports or contradicts a sentence."""

    place: ClaimPlace
    quote: CitedQuote
    title: str
    link: str
    origin: PageOrigin


@frozen
class CheckedClaim:
    """A sentence of a draft, its verdict, and the best quotes for and against it, best first."""

    line: int
    sentence: str
    verdict: ClaimVerdict
    supporting: tuple[CitedPlace, ...]
    opposing: tuple[CitedPlace, ...]

    @property
    def rests_on_supplied_text(self) -> bool:
        """Whether the place that decides the verdict is text that a caller supplied."""
        deciding = self.opposing if self.verdict == "contradicted" else self.supporting
        return bool(deciding) and deciding[0].origin == "supplied"


async def check_draft(
    draft: str, *, store: Store, models: Models, where: SearchFilter, limit: int = MAX_CLAIMS
) -> list[CheckedClaim]:
    """Return the verdicts on the factual sentences of a draft, in order, `limit` at most."""
    checked: list[CheckedClaim] = []
    for start, end in claims_of(draft):
        if len(checked) == limit:
            break
        sentence = draft[start:end]
        # A version in a question says which release to search; in a claim it is what is checked.
        question = _VERSION.sub(" ", sentence) or sentence
        retrieval = await retrieve(
            question, store=store, models=models, where=where, options=Options(limit=_CHUNKS)
        )
        texts = [ranked.chunk.text for ranked in retrieval.chunks]
        headings = [
            " › ".join(dict.fromkeys((ranked.chunk.title, *ranked.chunk.heading_path)))
            for ranked in retrieval.chunks
        ]
        judged = await in_thread(judge_claim, sentence, texts, headings)
        pages = await store.page_texts(
            list({ranked.chunk.source_id for ranked in retrieval.chunks})
        )
        cite = partial(_cite, chunks=retrieval.chunks, pages=pages)
        checked.append(
            CheckedClaim(
                line=draft.count("\n", 0, start) + 1,
                sentence=sentence,
                verdict=judged.verdict,
                supporting=tuple(map(cite, judged.supporting)),
                opposing=tuple(map(cite, judged.opposing)),
            )
        )
    return checked


def remember_quotes(
    claims: Iterable[CheckedClaim], *, memory: CitationMemory, caller: Caller
) -> None:
    """Remember the quotes that a caller is shown for the sentences of a draft."""
    for claim in claims:
        quotes = [cited.quote for cited in (*claim.supporting, *claim.opposing)]
        memory.remember(quotes, caller=caller, tool="check_draft", question=claim.sentence)


def _cite(
    place: ClaimPlace, *, chunks: Sequence[RankedChunk], pages: Mapping[int, PageText]
) -> CitedPlace:
    chunk = chunks[place.passage].chunk
    start, end = (chunk.start + offset for offset in place.span)
    page = pages.get(chunk.source_id)
    is_current = page is not None and page.info.text_hash == chunk.page_hash
    return CitedPlace(
        place=place,
        quote=CitedQuote(
            source_id=chunk.source_id,
            page_hash=chunk.page_hash,
            start=start,
            text=chunk.text[slice(*place.span)],
            section=chunk.heading_path[-1] if chunk.heading_path else "",
        ),
        title=chunk.title,
        link=link_to_span(page, chunk.anchor, start=start, end=end)
        if page is not None and is_current
        else chunk.url,
        origin=chunk.origin,
    )
