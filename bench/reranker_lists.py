"""Judged queries with their candidates as the reranker sees them: what it is fitted to."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from bench.cached_embedder import CachedEmbedder
from bench.judged_sets import SITE_SETS, JudgedQuery, JudgedSet, open_set

from citewell.core.question import parse_query
from citewell.core.records import SearchFilter
from citewell.inference.protocols import Embedder
from citewell.inference.reranker_features import feature_rows
from citewell.retrieve.candidates import find_candidates
from citewell.retrieve.pipeline import DEPTH

Matrix = npt.NDArray[np.float64]

WORDS_ONLY = ", words only"
MAX_QUERIES = 250
"""Per set; more of the large sets would not move the fit, only slow it."""
_CHUNKS_PER_PAGE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateList:
    """The candidates of one query: feature rows, the page of each, and which pages are right."""

    rows: Matrix
    pages: npt.NDArray[np.int64]
    """Page number per row, rising, without gaps."""
    right: npt.NDArray[np.bool_]
    """Per page."""
    gains: tuple[float, ...]
    """Judged gains of all right pages, found or not, largest first."""
    page_gains: Matrix
    """Gain per page of the list."""

    def best_rows(self, values: Matrix) -> npt.NDArray[np.int64]:
        """Return, per page, the row with the highest of `values`."""
        order = np.lexsort((-values, self.pages))
        return order[np.flatnonzero(np.diff(self.pages[order], prepend=-1))]


async def gather(
    names: Sequence[str], *, data: Path, sites: Path, cache: Path, embedder: CachedEmbedder
) -> dict[str, list[CandidateList]]:
    """Return the lists of every set, with its vectors and once more as if it had none.

    Sites are embedded as they are asked, so their lists change a little from run to run of a cache.
    """
    lists: dict[str, list[CandidateList]] = {}
    for name in names:
        async with open_set(
            name, data=data, sites=sites, cache=cache, embedder=embedder, max_queries=10_000
        ) as judged:
            queries = list(judged.queries)
            random.Random(7).shuffle(queries)
            some = JudgedSet(name=name, store=judged.store, queries=tuple(queries[:MAX_QUERIES]))
            if embedder.supports(queries[0].text):
                lists[name] = await collect(some, embedder)
            lists[name + WORDS_ONLY] = await collect(some, None)
        print(f"  {name}: {len(some.queries)} queries", flush=True)
    return lists


async def collect(judged: JudgedSet, embedder: Embedder | None) -> list[CandidateList]:
    """Return the candidates of every query of a set that has any."""
    lists = []
    for query in judged.queries:
        asked = parse_query(query.text)
        candidates = await find_candidates(
            asked, store=judged.store, embedder=embedder, where=SearchFilter(), depth=DEPTH
        )
        if candidates.found:
            rows = feature_rows(asked.text, candidates.found)
            urls = [found.chunk.url for found in candidates.found]
            lists.append(_by_page(rows, urls, query))
    return lists


def family(name: str) -> str:
    """Return what sets share that have the same pages or translations of them."""
    plain = name.removesuffix(WORDS_ONLY)
    return SITE_SETS.get(plain, plain.removesuffix("_en").removesuffix("_ja"))


def _by_page(rows: Matrix, urls: Sequence[str], query: JudgedQuery) -> CandidateList:
    number = {url: at for at, url in enumerate(dict.fromkeys(urls))}
    kept: list[tuple[int, int]] = []
    count = dict.fromkeys(number, 0)
    for at, url in enumerate(urls):
        if count[url] < _CHUNKS_PER_PAGE:
            kept.append((number[url], at))
            count[url] += 1
    kept.sort()
    gains = np.array([query.gains.get(url, 0.0) for url in number])
    return CandidateList(
        rows=rows[[at for _, at in kept]],
        pages=np.array([page for page, _ in kept]),
        right=gains > 0,
        gains=tuple(sorted(query.gains.values(), reverse=True)),
        page_gains=gains,
    )
