"""Where the answers to developers' questions are lost, step by step of the read path.

    python -m bench.question_losses [--lines even|odd|all] [--written SITE …] [--cache DIR]

For every question that its site answers: whether a chunk that holds the first part of the answer is
among the best 1, 5, 20 and 50 by words, by vectors, by both (as the reranker blends them) and after
reranking, a unit that holds it among the best 1, 3, 6 and 12 units of the best chunks, and whether
the reader reads one; for all questions, and by how many words they have. `--written` asks those of
`reader_questions.jsonl` about these sites instead, which are ingested where they are not.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import anyio
import numpy as np
from bench.question_sites import (
    DEFAULT_CACHE,
    DEFAULT_SITES,
    PROJECT,
    SITES,
    open_kept_embedder,
    open_library,
    prepare,
)
from bench.questions import DEFAULT_QUESTIONS, AskedQuestion, plain_text, read_questions
from bench.reader_lists import written_questions
from bench.research_engine import default_reranker

from citewell.answer.spans import rank_spans, span_features, split_units
from citewell.core.question import parse_query
from citewell.core.records import RankedChunk, SearchFilter
from citewell.inference.protocols import Embedder
from citewell.inference.reranker_features import FEATURES, feature_rows
from citewell.research.read_path import SPAN_CHUNKS, passage_of, read_best
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.store.protocol import Store

_DEPTH = 50
_CHUNK_RANKS = (1, 5, 20, 50)
_RANKS = {"unit": (1, 3, 6, 12), "unit is read": (1,)}
_LENGTHS = (0, 8, 11, 14, 17, 1_000)
"""Content words, from which on a question counts as longer."""
_WHERE = SearchFilter(project=PROJECT)


async def rank_of_answer(
    question: AskedQuestion, *, store: Store, models: Models, embedder: Embedder
) -> dict[str, int | None]:
    """Return the place, from 1, of the first chunk or unit that answers, by step; None if none."""
    found = await retrieve(
        question.text, store=store, models=models, where=_WHERE, options=Options(limit=_DEPTH)
    )
    hits = await store.search_words(found.query.words, where=_WHERE, limit=_DEPTH)
    by_words = [chunk.text for chunk in await store.load_chunks([hit.chunk_id for hit in hits])]
    by_vectors: list[str] = []
    if embedder.supports(question.text):
        vector = await embedder.embed_query(found.query.text)
        hits = await store.search_vectors(vector, model=embedder.name, where=_WHERE, limit=_DEPTH)
        chunks = await store.load_chunks([hit.chunk_id for hit in hits])
        by_vectors = [chunk.text for chunk in chunks]
    passages = [passage_of(each) for each in found.chunks[:SPAN_CHUNKS]]
    rows = span_features(found.query, passages)
    reads = await read_best(found.query, passages, rows, embedder=embedder)
    units, read = [], []
    for span in rank_spans(found.query, passages, rows=rows):
        text = passages[span.passage].text
        unit = split_units(text)[span.unit]
        units.append(text[unit.start : unit.end])
        if (span.passage, span.unit) in reads:
            read.append(units[-1])
    return {
        "chunk by words": _place(question, by_words),
        "chunk by vectors": _place(question, by_vectors),
        "chunk by both": _place(question, _blended(found.query.text, found.ranked)),
        "chunk reranked": _place(question, [each.chunk.text for each in found.chunks]),
        "unit": _place(question, units),
        "unit is read": 1 if _place(question, read) else None,
    }


def _blended(query: str, ranked: Sequence[RankedChunk]) -> list[str]:
    """Return the texts of candidates by the blend of word and vector scores alone."""
    blend = feature_rows(query, ranked)[:, FEATURES.index("blend")]
    return [ranked[at].chunk.text for at in np.argsort(-blend, kind="stable")[:_DEPTH]]


def _place(question: AskedQuestion, texts: Sequence[str]) -> int | None:
    for place, text in enumerate(map(plain_text, texts), start=1):
        if any(pattern.search(text) for pattern in question.parts[0]):
            return place
    return None


async def run(options: argparse.Namespace) -> None:
    if options.written:
        names = tuple(options.written)
        await prepare(
            names, sites=options.sites, cache=options.cache, again=False, threads=options.threads
        )
        asked = written_questions(names)
    else:
        wanted = {"even": (0,), "odd": (1,), "all": (0, 1)}[options.lines]
        asked = [each for each in read_questions(options.questions) if each.line % 2 in wanted]
    embedder = open_kept_embedder(options.cache, threads=options.threads)
    models = Models(embedder=embedder, reranker=default_reranker())
    places: list[tuple[int, dict[str, int | None]]] = []
    for site in SITES:
        own = [each for each in asked if each.site == site and not each.is_absent]
        if not own or not (options.cache / f"{site}.ingested").exists():
            continue
        async with open_library(options.cache, site, model=embedder.name) as store:
            places += [
                (
                    len(parse_query(each.text).words),
                    await rank_of_answer(each, store=store, models=models, embedder=embedder),
                )
                for each in own
            ]
    await embedder.aclose()
    show([row for _, row in places], "all questions")
    for least, longer in pairwise(_LENGTHS):
        own_rows = [row for words, row in places if least <= words < longer]
        show(own_rows, f"from {least} words on")


def show(places: Sequence[dict[str, int | None]], title: str) -> None:
    """Print how many of the questions have the answer so far up, step by step."""
    print(f"{len(places)} questions: {title}")
    for step in places[0] if places else ():
        ranks = _RANKS.get(step, _CHUNK_RANKS)
        shares = [np.mean([(row[step] or _DEPTH + 1) <= rank for row in places]) for rank in ranks]
        print(f"{step:18}", "  ".join(f"@{r} {s:.3f}" for r, s in zip(ranks, shares, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, default=DEFAULT_QUESTIONS)
    parser.add_argument("--written", nargs="*", default=[], metavar="SITE")
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--lines", choices=("even", "odd", "all"), default="even")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
