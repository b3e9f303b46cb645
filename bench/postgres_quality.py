"""Whether PostgreSQL ranks as SQLite does: nDCG@10 of judged sets, by words and reranker, on both.

    python -m bench.postgres_quality [--sets anthropic_docs,k8s_glossary_en,k8s_glossary_ja]

It also tells how many of the best fifty chunks that words find are the same, and for how many
questions they come in the same order.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import anyio
from bench.judged_sets import (
    DEFAULT_DATA,
    DEFAULT_SITES,
    JudgedQuery,
    ingest_pages,
    judged_pages,
    judged_queries,
)
from bench.quality import EVERYWHERE, ndcg
from tests.postgres import empty_database

from citewell.core.question import parse_query
from citewell.inference.calibrated_reranker import CalibratedReranker
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.store.open import open_store
from citewell.store.protocol import Store

Place = tuple[str, int]
"""Where a chunk stands: the URL of its page and its number there."""
_BEST = 50


async def best_by_words(store: Store, query: JudgedQuery) -> list[Place]:
    words = parse_query(query.text).words
    hits = await store.search_words(words, where=EVERYWHERE, limit=_BEST)
    chunks = await store.load_chunks([hit.chunk_id for hit in hits])
    return [(chunk.url, chunk.ordinal) for chunk in chunks]


def tell_agreement(one: Sequence[list[Place]], other: Sequence[list[Place]]) -> str:
    shared = sum(len(set(mine) & set(its)) for mine, its in zip(one, other, strict=True))
    same = sum(mine == its for mine, its in zip(one, other, strict=True))
    share = shared / (sum(map(len, one)) or 1)
    return f"best {_BEST}: {share:.3f} the same, in the same order for {same} of {len(one)}"


async def mean_ndcg(store: Store, queries: Sequence[JudgedQuery]) -> float:
    total = 0.0
    for query in queries:
        found = await retrieve(
            query.text,
            store=store,
            models=Models(embedder=None, reranker=CalibratedReranker()),
            where=EVERYWHERE,
            options=Options(limit=20),
        )
        pages = list(dict.fromkeys(ranked.chunk.url for ranked in found.ranked))
        total += ndcg(pages, query.gains)
    return total / len(queries)


async def measure(name: str) -> None:
    queries = tuple(judged_queries(name, data=DEFAULT_DATA))
    scores: list[float] = []
    best: list[list[list[Place]]] = []
    with empty_database() as address:
        for place in ("sqlite://", address):
            store = await open_store(place)
            try:
                pages = judged_pages(name, data=DEFAULT_DATA, sites=DEFAULT_SITES)
                await ingest_pages(pages, store)
                scores.append(await mean_ndcg(store, queries))
                best.append([await best_by_words(store, query) for query in queries])
            finally:
                await store.aclose()
    print(
        f"{name:<18} {len(queries):5} queries   SQLite {scores[0]:.4f}   PostgreSQL {scores[1]:.4f}"
        f"   {tell_agreement(*best)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sets", default="anthropic_docs,k8s_glossary_en,k8s_glossary_ja")
    for name in parser.parse_args().sets.split(","):
        if not DEFAULT_DATA.exists():
            print(f"no data at {DEFAULT_DATA}")
            return
        anyio.run(measure, name)


if __name__ == "__main__":
    main()
