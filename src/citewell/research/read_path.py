"""The one read path: question → candidates → rank → spans → support → quotes.

Every tool, the shell and the web app ask here and only shape what comes back. `retrieve` ranks
chunks, `answer.quote` picks what is quoted of them, `support` says whether that answers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, islice, zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING

from citewell.answer.definition_quote import quote_definition
from citewell.answer.quote import FRAME_TOKENS, choose_quotes, quote_chunk
from citewell.answer.spans import PassageText, rank_spans, span_features, split_units
from citewell.core.errors import InferenceError
from citewell.core.frozen import frozen
from citewell.core.off_loop import in_thread
from citewell.core.question import parse_query
from citewell.core.text import as_read, preformatted_prose
from citewell.core.tokens import count_tokens
from citewell.inference.protocols import PassageUnits, Reader
from citewell.research.support import KNOWN_MODEL, judge

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from citewell.answer.quote import QuotedSpan, QuoteLimits
    from citewell.answer.spans import Place, SpanRows, Unit
    from citewell.core.question import Query
    from citewell.core.records import Quote, RankedChunk
    from citewell.inference.protocols import Embedder
    from citewell.research.support import Judgement
    from citewell.retrieve.pipeline import Retrieval

# Chunks whose sentences are ranked: on bench/questions.py the answer is among the best twelve in 84
# of 100 questions, and in 89 among the best twenty.
SPAN_CHUNKS = 20
# Sentences that are embedded with their heading where no reader read them, about 5 ms each. Without
# them the first quote answered .48 instead of .58 of the 60 questions of bench/unseen_sites.jsonl;
# beside a reader's odds they find no more answers (bench/reports/questions.md).
_EMBEDDED_SPANS = 8
_MOST_EMBEDDED_CHARACTERS = 600
# What the reader reads: units that the words put first, of the best passages, where one counts less
# the lower its passage stands. A passage is read with the question and its headings, so that units
# of few passages are cheaper than as many of twenty, and they answer as often
# (bench/reports/questions.md).
_READ_UNITS = 16
_READ_PASSAGES = 10
_PLACE_WEIGHT = 0.7
# What speaks for a unit of a page that the caller named, in log-odds: given the right page `answer`
# has .383 instead of .333 of the answers first on the latest sites, and .567 instead of .533 on the
# newest; given an index page, as many as without.
_NAMED_ODDS = 2.0


@frozen
class ChosenQuote:
    """A quote with the chunk it stands in and the part of the question that it is for."""

    ranked: RankedChunk
    span: QuotedSpan
    part: str
    relevance: float
    """0 to 1; orders the quotes."""
    confidence: float
    """The probability that it answers its part."""

    @property
    def text(self) -> str:
        """Its words."""
        return self.ranked.chunk.text[self.span.start : self.span.end]

    def as_quote(self) -> Quote:
        """Return it as a citable quote of its page."""
        quote = quote_chunk(self.ranked.chunk, self.span, confidence=self.confidence)
        return replace(quote, relevance=self.relevance, sub_query=self.part)


@frozen
class JudgedPart:
    """A part of the question with the best chunks for it and how well they support it."""

    query: Query
    chunks: Sequence[RankedChunk]
    passages: Sequence[PassageText]
    """The chunks as quotes are looked for in them."""
    rows: SpanRows
    reads: Mapping[Place, float]
    """The reader's log-odds for the units that the words put first; none without a reader."""
    judgement: Judgement


async def judge_parts(
    found: Retrieval,
    parts: Sequence[str],
    *,
    embedder: Embedder | None,
    named: Collection[int] = (),
) -> dict[str, JudgedPart]:
    """Return how well what was found supports each part of the question.

    Of what seems to answer equally well, that on one of the pages `named` by the caller is quoted.
    """
    is_known = embedder is not None and embedder.name == KNOWN_MODEL
    judged = {}
    for part in parts:
        asked = as_searched(part, found)
        chunks = _for_part(part, parts, found)
        passages = [passage_of(each) for each in chunks]
        rows = await in_thread(span_features, asked, passages)
        reads = await read_best(asked, passages, rows, embedder=embedder)
        judgement = await in_thread(
            partial(
                judge,
                asked.written,
                _own_first(part, found),
                cosine=found.best_cosines.get(parse_query(part).text) if is_known else None,
                unknown_words=found.unknown_words if found.is_sizeable else (),
                reads=list(reads.values()),
            )
        )
        judged[part] = JudgedPart(
            query=asked,
            chunks=chunks,
            passages=passages,
            rows=rows,
            reads={
                place: odds + _NAMED_ODDS * (chunks[place[0]].chunk.source_id in named)
                for place, odds in reads.items()
            },
            judgement=judgement,
        )
    return judged


async def read_best(
    query: Query, passages: Sequence[PassageText], rows: SpanRows, *, embedder: Embedder | None
) -> dict[Place, float]:
    """Return the reader's log-odds for the units worth reading; none without a reader.

    `passages` come best first.
    """
    if not isinstance(embedder, Reader) or not embedder.supports(query.written):
        return {}
    ranked = rank_spans(query, passages, rows=rows)
    spans = [span for span in ranked if span.passage < _READ_PASSAGES]
    spans.sort(key=lambda span: _PLACE_WEIGHT * math.log1p(span.passage) - span.score)
    places = sorted((span.passage, span.unit) for span in spans[:_READ_UNITS])
    by_passage = [
        _units_of(passages[place], [unit for _, unit in own])
        for place, own in groupby(places, key=itemgetter(0))
    ]
    try:
        scores = await embedder.read_passages(query.written, by_passage)
    except InferenceError:
        # As with vectors: the words decide alone.
        return {}
    return dict(zip(places, chain.from_iterable(scores), strict=True))


def _units_of(passage: PassageText, places: Sequence[int]) -> PassageUnits:
    units = split_units(passage.text)
    return PassageUnits(
        path=passage.path,
        units=tuple(_unit_as_read(passage.text, units[at]) for at in places),
    )


def _unit_as_read(text: str, unit: Unit) -> str:
    """Return a unit as models read it: sentences in a fence are sentences."""
    written = text[unit.start : unit.end]
    prose = preformatted_prose(written) if unit.kind == "sentence" else None
    return as_read(written if prose is None else prose)


async def quote_evidence(
    found: Retrieval,
    parts: Sequence[str],
    *,
    judged: Mapping[str, JudgedPart],
    limits: QuoteLimits,
    embedder: Embedder | None,
) -> list[ChosenQuote]:
    """Return the quotes for each part in turn, best first, none twice.

    A part leaves what is quoted first for an earlier one to that: the same sentences seem to answer
    all parts, and the room of a first quote would be lost on them.
    """
    lists: list[list[ChosenQuote]] = []
    for part in parts:
        if (own := judged.get(part)) is None:
            own = (await judge_parts(found, (part,), embedder=embedder))[part]
        definitions = _quote_definitions(own.query, own.chunks, limits=limits)
        spans = await quote_passages(
            own.query,
            own.passages,
            limits=_left_by(definitions, own, limits),
            embedder=embedder,
            rows=own.rows,
            reads=own.reads,
            quoted=_quoted_before(own, [quotes[0] for quotes in lists if quotes]),
        )
        lists.append(_weigh(part, [*definitions, *spans], own))
    return _in_turn(lists, limit=limits.max_quotes)


def _quote_definitions(
    query: Query, chunks: Sequence[RankedChunk], *, limits: QuoteLimits
) -> list[QuotedSpan]:
    """Return the signature and first sentence of the symbols that the question is about.

    What is asked beyond what they are stands in the sentences after it.
    """
    return [
        quote_definition(
            each.chunk.text,
            offset=each.defines_at,
            passage=place,
            limits=limits,
            with_paragraph=query.wants not in ("definition", "fact"),
        )
        for place, each in enumerate(chunks)
        if each.defines_at is not None
    ]


def _left_by(
    definitions: Sequence[QuotedSpan], own: JudgedPart, limits: QuoteLimits
) -> QuoteLimits:
    """Return the limits for what is quoted beside the definitions."""
    if limits.total_tokens is None or not definitions:
        return limits
    texts = [own.passages[span.passage].text[span.start : span.end] for span in definitions]
    taken = sum(count_tokens(text) + FRAME_TOKENS for text in texts)
    left = max(limits.total_tokens - taken, 0)
    return replace(limits, total_tokens=left, least_chance=0.0)


async def quote_passages(
    query: Query,
    passages: Sequence[PassageText],
    *,
    limits: QuoteLimits,
    embedder: Embedder | None,
    rows: SpanRows | None = None,
    reads: Mapping[Place, float] | None = None,
    quoted: Sequence[Place] = (),
) -> list[QuotedSpan]:
    """Return what to quote of passages, best first.

    Where no reader read them, the best sentences are compared by vectors.
    """
    if rows is None:
        rows = await in_thread(span_features, query, passages)
    cosines = {} if reads else await compare_spans(query, passages, embedder=embedder, rows=rows)
    choose = partial(
        choose_quotes, limits=limits, cosines=cosines, rows=rows, reads=reads, quoted=quoted
    )
    return await in_thread(choose, query, passages)


async def compare_spans(
    query: Query, passages: Sequence[PassageText], *, embedder: Embedder | None, rows: SpanRows
) -> dict[Place, float]:
    """Return the cosine between the question and the spans that its words put first."""
    # The weight of a cosine was fitted to one model; those of another lie on another scale.
    if embedder is None or embedder.name != KNOWN_MODEL or not embedder.supports(query.text):
        return {}
    places: list[Place] = []
    texts: list[str] = []
    for span in rank_spans(query, passages, rows=rows)[:_EMBEDDED_SPANS]:
        passage = passages[span.passage]
        unit = split_units(passage.text)[span.unit]
        heading = passage.path[-1] if passage.path else ""
        text = _unit_as_read(passage.text, unit)[:_MOST_EMBEDDED_CHARACTERS]
        if embedder.supports(text):
            places.append((span.passage, span.unit))
            texts.append(f"{heading}: {text}" if heading else text)
    try:
        asked = await embedder.embed_query(query.text)
        vectors = await embedder.embed_passages(texts) if texts else ()
    except InferenceError:
        # The words decide alone; the search itself has noted that the model fails.
        return {}
    return {place: float(vector @ asked) for place, vector in zip(places, vectors, strict=True)}


def _quoted_before(own: JudgedPart, others: Sequence[ChosenQuote]) -> list[Place]:
    """Return the units of a part's passages that other quotes hold."""
    return [
        (place, at)
        for place, ranked in enumerate(own.chunks)
        for other in others
        if other.ranked.chunk.chunk_id == ranked.chunk.chunk_id
        for at, unit in enumerate(split_units(ranked.chunk.text))
        if unit.start < other.span.end and other.span.start < unit.end
    ]


def passage_of(ranked: RankedChunk) -> PassageText:
    """Return a ranked chunk as quotes are looked for in it."""
    chunk = ranked.chunk
    return PassageText(
        text=chunk.text,
        path=(chunk.title, *chunk.heading_path),
        relevance=ranked.relevance,
        section=(chunk.source_id, chunk.section),
    )


def _weigh(part: str, spans: Sequence[QuotedSpan], own: JudgedPart) -> list[ChosenQuote]:
    standing = max((each.relevance for each in own.chunks), default=0.0)
    return [
        ChosenQuote(
            ranked=own.chunks[span.passage],
            span=span,
            part=part,
            relevance=standing * span.share,
            confidence=own.judgement.confidence_in(chance=span.chance, share=span.share),
        )
        for span in spans
    ]


def _in_turn(lists: Sequence[Sequence[ChosenQuote]], *, limit: int) -> list[ChosenQuote]:
    """Return the best of each list, then the second of each, leaving out what overlaps."""
    chosen: list[ChosenQuote] = []
    for rank in range(max(map(len, lists), default=0)):
        for quotes in lists:
            if rank < len(quotes) and len(chosen) < limit and not _repeats(quotes[rank], chosen):
                chosen.append(quotes[rank])
    return chosen


def _repeats(quote: ChosenQuote, others: Iterable[ChosenQuote]) -> bool:
    return any(
        quote.text in other.text
        or other.text in quote.text
        or (
            quote.ranked.chunk.chunk_id == other.ranked.chunk.chunk_id
            and quote.span.start < other.span.end
            and other.span.start < quote.span.end
        )
        for other in others
    )


def as_searched(part: str, found: Retrieval) -> Query:
    """Return the part with its slips corrected."""
    asked = parse_query(part)
    return found.queries.get(asked.text, asked)


def _for_part(part: str, parts: Sequence[str], found: Retrieval) -> Sequence[RankedChunk]:
    """Return the best chunks for a part: where there are several, its own and the whole's."""
    if len(parts) == 1:
        return found.chunks[:SPAN_CHUNKS]
    own = found.by_query.get(parse_query(part).text, ())
    whole = next(iter(found.by_query.values()), ())
    both = (each for pair in zip_longest(own, whole) for each in pair if each is not None)
    best = {each.chunk.chunk_id: each for each in islice(both, 2 * SPAN_CHUNKS)}
    return sorted(list(best.values())[:SPAN_CHUNKS], key=lambda each: -each.relevance)


def _own_first(part: str, found: Retrieval) -> list[RankedChunk]:
    """Return the chunks found, those that `part` itself brought first."""
    own = found.by_query.get(parse_query(part).text, ())
    known = {each.chunk.chunk_id for each in own}
    return [*own, *(each for each in found.ranked if each.chunk.chunk_id not in known)]
