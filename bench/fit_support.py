"""Fits the judge of research/judge.py and prints its coefficients and what they are worth.

    python -m bench.fit_support [SET…] [--data DIR] [--sites DIR] [--cache DIR] [--limit N]

Cases are those of bench/support_cases.py, even questions only; bench/abstention.py asks the odd
ones. There are two fits: with the cosines of the default model, and without, which serves other
models, no model, and languages that the default does not know. Each table shows every set judged by
coefficients fitted to the other sets: the share of cases said to be supported.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np
import numpy.typing as npt
from bench.judged_sets import DEFAULT_CACHE, DEFAULT_DATA, DEFAULT_SITES, open_set
from bench.research_engine import cached_embedder, default_reranker
from bench.support_cases import KINDS, STORES, Case, cases

from citewell.core.records import SearchFilter
from citewell.inference.protocols import Embedder, Reranker
from citewell.research.support import FEATURES, SUPPORTED, support_features
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.store.protocol import Store

Matrix = npt.NDArray[np.float64]

RIDGE = 3e-3
NEWTON_STEPS = 40
# A set's own and foreign questions weigh more than the single pages, which are a harder question.
_WEIGHT = {"own": 1.0, "foreign": 1.0, "own page": 0.5, "other page": 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A case with its features."""

    case: Case
    features: tuple[float, ...]
    knows_cosine: bool


async def row_of(
    case: Case, *, store: Store, embedder: Embedder | None, reranker: Reranker | None
) -> Row | None:
    """Return the features of what is found for a case; None when nothing is."""
    where = SearchFilter()
    if case.url is not None:
        page = await store.find_page(case.url, project="default")
        where = SearchFilter(source_ids=() if page is None else (page.source_id,))
    found = await retrieve(
        case.query,
        store=store,
        models=Models(embedder=embedder, reranker=reranker),
        where=where,
        options=Options(limit=24),
    )
    cosine = max(found.best_cosines.values(), default=None)
    chunks = [ranked.chunk for ranked in found.ranked]
    features = support_features(case.query, chunks, cosine=cosine)
    if features is None:
        return None
    return Row(case=case, features=tuple(features), knows_cosine=cosine is not None)


def fit(rows: Sequence[Row]) -> tuple[Matrix, float]:
    """Return coefficients and bias by Newton's method; every set and kind weighs as laid down."""
    features = np.array([row.features for row in rows])
    right = np.array([row.case.answerable for row in rows], dtype=float)
    groups = [(row.case.store, row.case.kind) for row in rows]
    weights = np.array([_WEIGHT[kind] / groups.count((name, kind)) for name, kind in groups])
    weights *= len(rows) / weights.sum()
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-6
    design = np.c_[(features - mean) / scale, np.ones(len(rows))]
    ridge = RIDGE * len(rows) * np.eye(design.shape[1])
    beta = np.zeros(design.shape[1])
    for _ in range(NEWTON_STEPS):
        chance = _chance(design @ beta)
        slope = design.T @ (weights * (chance - right)) + ridge @ beta
        curve = (design * (weights * chance * (1 - chance))[:, None]).T @ design + ridge
        beta -= np.linalg.solve(curve, slope)
    coefficients = beta[:-1] / scale
    return coefficients, float(beta[-1] - coefficients @ mean)


def _chance(odds: Matrix) -> Matrix:
    result: Matrix = 1.0 / (1.0 + np.exp(-odds))
    return result


def report(rows: Sequence[Row]) -> None:
    """Print, per set and kind, the share said to be supported by a fit to the other sets."""
    print(f"{'set':24}{'cases':>7}" + "".join(f"{kind:>12}" for kind in KINDS))
    shares: list[list[float]] = []
    for name in dict.fromkeys(row.case.store for row in rows):
        others = [row for row in rows if row.case.store != name]
        own = [row for row in rows if row.case.store == name]
        coefficients, bias = fit(others)
        said = _chance(np.array([row.features for row in own]) @ coefficients + bias) >= SUPPORTED
        by_kind = [
            [bool(yes) for row, yes in zip(own, said, strict=True) if row.case.kind == kind]
            for kind in KINDS
        ]
        shares.append([float(np.mean(each)) if each else np.nan for each in by_kind])
        print(f"{name:24}{len(own):>7}" + "".join(f"{share:>12.3f}" for share in shares[-1]))
    means = np.nanmean(np.array(shares), axis=0)
    print(f"{'mean':24}{len(rows):>7}" + "".join(f"{mean:>12.3f}" for mean in means))


async def run(options: argparse.Namespace) -> None:
    if not options.data.exists():
        print(f"no data at {options.data}; give --data")
        return
    embedder, reranker = cached_embedder(options.cache), default_reranker()
    rows: list[Row] = []
    for name in options.sets or STORES:
        async with open_set(
            name,
            data=options.data,
            sites=options.sites,
            cache=options.cache,
            embedder=embedder,
            max_queries=0,
        ) as judged:
            for case in cases(name, data=options.data, part=0, limit=options.limit):
                models = (embedder, None) if embedder.supports(case.query) else (embedder,)
                for model in models:
                    row = await row_of(case, store=judged.store, embedder=model, reranker=reranker)
                    if row is not None:
                        rows.append(row)
    for name, knows_cosine in (("_WITH_COSINE", True), ("_WITHOUT_COSINE", False)):
        chosen = [row for row in rows if row.knows_cosine is knows_cosine]
        report(chosen)
        coefficients, bias = fit(chosen)
        print(f"{name} = {tuple(round(float(each), 2) for each in coefficients)}")
        print(f"{name}_BIAS = {bias:.2f}\n", flush=True)
    print("for", FEATURES)
    await embedder.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--limit", type=int, default=50)
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
