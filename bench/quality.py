"""Search quality on judged sets: words, vectors, plain rank fusion and ours, side by side.

    python -m bench.quality [SET…] [--data DIR] [--sites DIR] [--cache DIR] [--max-queries N]

Every set is ingested into a SQLite store of its own (kept in the cache for the next run) and asked
through the real `retrieve()`. A page stands where its best chunk does. Sets marked * were used to
fit the reranker, so "ours" and "blocks" are too good there: `python -m bench.fit_reranker --report`
has their cross-validated numbers, which are the ones to quote.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path

import anyio
from bench.cached_embedder import CachedEmbedder
from bench.judged_sets import (
    DEFAULT_CACHE,
    DEFAULT_DATA,
    DEFAULT_SITES,
    DOCUMENT_SETS,
    FITTED_SETS,
    SITE_SETS,
    JudgedQuery,
    JudgedSet,
    open_set,
)

from citewell.core.question import parse_query
from citewell.core.records import SearchFilter
from citewell.inference.calibrated_reranker import CalibratedReranker
from citewell.inference.open import open_embedder
from citewell.retrieve.fuse import fuse_by_reciprocal_rank
from citewell.retrieve.pipeline import Models, Options, retrieve

EVERYWHERE = SearchFilter()
LIST_LENGTH = 100
METHODS = ("words", "vectors", "rrf 20", "rrf 60", "unranked", "ours", "blocks")


async def rankings(
    query: JudgedQuery, judged: JudgedSet, embedder: CachedEmbedder
) -> list[list[str]]:
    """Return the pages each of METHODS finds, best first."""
    store = judged.store
    asked = parse_query(query.text)
    by_words = await store.search_words(asked.words, where=EVERYWHERE, limit=LIST_LENGTH)
    by_vectors = []
    if embedder.supports(query.text):
        vector = await embedder.embed_query(asked.text)
        by_vectors = await store.search_vectors(
            vector, model=embedder.name, where=EVERYWHERE, limit=LIST_LENGTH
        )
    lists = [[hit.chunk_id for hit in hits] for hits in (by_words, by_vectors)]
    for offset in (20, 60):
        fused = fuse_by_reciprocal_rank([(ids, 1.0) for ids in lists[:2]], rank_offset=offset)
        lists.append(sorted(fused, key=lambda chunk_id: -fused[chunk_id])[:LIST_LENGTH])
    pages = [await _pages_of(ids, judged) for ids in lists]
    unranked, reranked = [
        await retrieve(
            query.text,
            store=store,
            models=Models(embedder=embedder, reranker=reranker),
            where=EVERYWHERE,
            options=Options(limit=20),
        )
        for reranker in (None, CalibratedReranker())
    ]
    return [
        *pages,
        _once([ranked.chunk.url for ranked in unranked.ranked]),
        _once([ranked.chunk.url for ranked in reranked.ranked]),
        _once([ranked.chunk.url for ranked in reranked.chunks]),
    ]


async def _pages_of(chunk_ids: Sequence[int], judged: JudgedSet) -> list[str]:
    return _once([chunk.url for chunk in await judged.store.load_chunks(chunk_ids)])


def _once(urls: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(urls))


def ndcg(pages: Sequence[str], gains: dict[str, float], *, cut: int = 10) -> float:
    """Return the discounted gain of the first `cut` pages against the best possible."""
    best = sorted(gains.values(), reverse=True)[:cut]
    got = [gains.get(page, 0.0) for page in pages[:cut]]
    return _discounted(got) / _discounted(best)


def hit(pages: Sequence[str], gains: dict[str, float], *, cut: int) -> float:
    """Return 1 when a right page is among the first `cut`."""
    return float(any(gains.get(page, 0.0) > 0 for page in pages[:cut]))


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


async def measure(judged: JudgedSet, embedder: CachedEmbedder) -> dict[str, float]:
    """Print one set's rows: nDCG@10, hit@1 and hit@5 per method; return nDCG@10 by method."""
    gains_by_method: dict[str, float] = {}
    found = [await rankings(query, judged, embedder) for query in judged.queries]
    print(f"{_mark(judged.name):24}{len(found):>6}", end="")
    for at in range(len(METHODS)):
        scored = [
            (lists[at], query.gains) for lists, query in zip(found, judged.queries, strict=True)
        ]
        gain = statistics.fmean(ndcg(pages, gains) for pages, gains in scored)
        first = statistics.fmean(hit(pages, gains, cut=1) for pages, gains in scored)
        fifth = statistics.fmean(hit(pages, gains, cut=5) for pages, gains in scored)
        print(f"  {gain:.3f} {first:.3f} {fifth:.3f}", end="")
        gains_by_method[f"nDCG@10, {judged.name}, {METHODS[at]}"] = round(gain, 4)
    print(flush=True)
    return gains_by_method


def _mark(name: str) -> str:
    return f"{name} *" if name in FITTED_SETS else name


async def run(options: argparse.Namespace) -> None:
    if not options.data.exists():
        print(f"no data at {options.data}; give --data")
        return
    model = open_embedder("granite", endpoint="", api_key=None, threads=0)
    assert model is not None, "granite is always there"
    embedder = CachedEmbedder(model, options.cache / "vectors.db")
    print(" " * 30 + "".join(f"  {method:17}" for method in METHODS))
    print(f"{'set':24}{'asked':>6}" + "  nDCG  hit1  hit5 " * len(METHODS))
    found: dict[str, float] = {}
    for name in options.sets or (*DOCUMENT_SETS, *SITE_SETS):
        async with open_set(
            name,
            data=options.data,
            sites=options.sites,
            cache=options.cache,
            embedder=embedder,
            max_queries=options.max_queries,
        ) as judged:
            found |= await measure(judged, embedder)
    if options.json is not None:
        await anyio.Path(options.json).write_text(json.dumps(found, indent=1), "utf-8")
    print('* fitted on: "ours" and "blocks" are in-sample; quote bench.fit_reranker --report')
    await embedder.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--max-queries", type=int, default=600)
    parser.add_argument("--json", type=Path, help="write nDCG@10 here")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
