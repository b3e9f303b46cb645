"""Checking a draft: each of its factual sentences against what the library holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anyio import to_thread

from citewell.answer.claims import claims_of, judge_claim
from citewell.answer.links import link_to_span
from citewell.core.ids import citation_id
from citewell.retrieve.pipeline import Options, retrieve

if TYPE_CHECKING:
    from citewell.answer.claims import ClaimJudgement
    from citewell.core.records import PageOrigin, RankedChunk, SearchFilter
    from citewell.retrieve.pipeline import Models
    from citewell.store.protocol import Store

MAX_CLAIMS = 100
# The chunk that states a fact is among the best few in all but rare cases.
_CHUNKS = 8
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+)++")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedClaim:
    """A sentence of a draft, and the place that says most about it."""

    line: int
    sentence: str
    judgement: ClaimJudgement
    quote: str | None = None
    url: str | None = None
    title: str = ""
    link: str | None = None
    citation: str | None = None
    origin: PageOrigin = "fetched"


async def check_draft(
    draft: str, *, store: Store, models: Models, where: SearchFilter, limit: int = MAX_CLAIMS
) -> list[CheckedClaim]:
    """Return what the library says of each factual sentence, in their order, `limit` at most."""
    checked: list[CheckedClaim] = []
    for start, end in claims_of(draft):
        if len(checked) == limit:
            break
        sentence = draft[start:end]
        # A version in a question says which release to search; in a claim it is what is checked.
        question = _VERSION.sub(" ", sentence) or sentence
        found = await retrieve(
            question, store=store, models=models, where=where, options=Options(limit=_CHUNKS)
        )
        texts = [ranked.chunk.text for ranked in found.chunks]
        judged = await to_thread.run_sync(judge_claim, sentence, texts)
        line = draft.count("\n", 0, start) + 1
        checked.append(await _cite(sentence, line, judged, found.chunks, store))
    return checked


async def _cite(
    sentence: str,
    line: int,
    judged: ClaimJudgement,
    chunks: tuple[RankedChunk, ...],
    store: Store,
) -> CheckedClaim:
    if judged.passage is None or judged.span is None:
        return CheckedClaim(line=line, sentence=sentence, judgement=judged)
    chunk = chunks[judged.passage].chunk
    start, end = chunk.start + judged.span[0], chunk.start + judged.span[1]
    pages = await store.page_texts([chunk.source_id])
    page = pages.get(chunk.source_id)
    is_current = page is not None and page.info.text_hash == chunk.page_hash
    return CheckedClaim(
        line=line,
        sentence=sentence,
        judgement=judged,
        quote=chunk.text[judged.span[0] : judged.span[1]],
        url=chunk.url,
        title=chunk.title,
        link=link_to_span(page, chunk.anchor, start=start, end=end)
        if page is not None and is_current
        else chunk.url,
        citation=citation_id(chunk.source_id, chunk.page_hash, start, end),
        origin=chunk.origin,
    )
