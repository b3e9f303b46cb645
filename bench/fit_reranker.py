"""Fits the calibrated reranker on judged queries and writes its weights; prints what it is worth.

    python -m bench.fit_reranker [--data DIR] [--sites DIR] [--cache DIR] [--write] [--report]

Needs `lightgbm`, which the package itself does not. A page is as good as its best chunk, so the
trees are fitted to the best chunk of each page. Every set weighs the same. Fitted sets are judged
by cross-validation over queries, and once more with their whole family left out.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import lightgbm
import numpy as np
import numpy.typing as npt
from bench.cached_embedder import CachedEmbedder
from bench.judged_sets import (
    DEFAULT_CACHE,
    DEFAULT_DATA,
    DEFAULT_SITES,
    FITTED_SETS,
    SITE_SETS,
    JudgedQuery,
    JudgedSet,
    open_set,
)

from citewell.core.records import SearchFilter
from citewell.inference import calibrated_reranker
from citewell.inference.calibrated_reranker import (
    WEIGHTS_FILE,
    RerankerWeights,
    odds_terms,
    weights_to_json,
)
from citewell.inference.open import open_embedder
from citewell.inference.protocols import Embedder
from citewell.inference.reranker_features import FEATURES, feature_rows
from citewell.retrieve.candidates import find_candidates
from citewell.retrieve.pipeline import DEPTH
from citewell.retrieve.query import read_query

Matrix = npt.NDArray[np.float64]

HELD_OUT_SETS = ("xquad_en", "clapnq_dev", "odex_pysite")
ROUNDS = 60
LEAVES = 8
LEARNING_RATE = 0.1
BLEND_WEIGHT = 3.0
START = -3.0
"""What the trees start from: the odds that the blend of word and vector score gives."""
FOLDS = 3
MAX_QUERIES = 250
"""Per set; more of the large sets would not move the fit, only slow it."""
FALLING = frozenset({"word_missing", "vector_below_best", "listing_page", "link_density"})
FREE = frozenset({"vector_missing", "query_length", "first_chunk", "bigram_share"})
"""All other features may only raise the odds: more of a match is never worse."""
_CHUNKS_PER_PAGE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
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


def fit(groups: Mapping[str, Sequence[Group]]) -> RerankerWeights:
    """Return trees fitted to all groups, calibrated on queries that the trees did not see."""
    families = {name: list(members) for name, members in groups.items()}
    seen: list[tuple[Matrix, npt.NDArray[np.bool_], float]] = []
    for fold in range(FOLDS):
        rest = {
            name: [group for at, group in enumerate(members) if at % FOLDS != fold]
            for name, members in families.items()
        }
        trees = fit_trees(rest)
        for members in families.values():
            seen.extend(
                (page_scores(trees, group), group.right, 1.0 / len(members))
                for group in members[fold::FOLDS]
            )
    return calibrate(fit_trees(groups), seen)


def fit_trees(groups: Mapping[str, Sequence[Group]]) -> RerankerWeights:
    """Return boosted trees over each page's best chunk; not calibrated yet."""
    rows, right, weight = [], [], []
    blend = FEATURES.index("blend")
    for members in groups.values():
        for group in members:
            best = _best_rows(group.rows[:, blend], group.pages)
            rows.append(group.rows[best])
            right.append(group.right)
            weight.append(np.full(len(best), 1.0 / len(members)))
    table = np.concatenate(rows)
    weights = np.concatenate(weight)
    booster = lightgbm.train(
        {
            "objective": "binary",
            "num_leaves": LEAVES,
            "learning_rate": LEARNING_RATE,
            "min_data_in_leaf": 40,
            "lambda_l2": 5,
            "feature_fraction": 0.6,
            "bagging_fraction": 0.8,
            "bagging_freq": 1,
            "monotone_constraints": [_direction(name) for name in FEATURES],
            "boost_from_average": False,
            "deterministic": True,
            "num_threads": 1,
            "seed": 3,
            "verbose": -1,
        },
        lightgbm.Dataset(
            table,
            label=np.concatenate(right).astype(int),
            weight=weights * 1000 / len(groups),
            init_score=BLEND_WEIGHT * table[:, blend] + START,
        ),
        ROUNDS,
    )
    return _flatten([tree["tree_structure"] for tree in booster.dump_model()["tree_info"]])


def _direction(feature: str) -> int:
    return 0 if feature in FREE else -1 if feature in FALLING else 1


def _flatten(trees: Sequence[dict[str, Any]]) -> RerankerWeights:
    """Return LightGBM's trees as one row of nodes."""
    nodes: list[list[float]] = []

    def add(node: dict[str, Any]) -> tuple[int, int]:
        at = len(nodes)
        if "leaf_value" in node:
            nodes.append([0, 0.0, at, at, node["leaf_value"]])
            return at, 0
        nodes.append([node["split_feature"], node["threshold"], 0, 0, 0.0])
        left, left_depth = add(node["left_child"])
        right, right_depth = add(node["right_child"])
        nodes[at][2:4] = [left, right]
        return at, 1 + max(left_depth, right_depth)

    placed = [add(tree) for tree in trees]
    feature, threshold, left, right, value = np.array(nodes).T
    return RerankerWeights(
        features=FEATURES,
        roots=np.array([root for root, _ in placed]),
        depth=max(depth for _, depth in placed),
        feature=feature.astype(np.int64),
        threshold=threshold,
        left=left.astype(np.int64),
        right=right.astype(np.int64),
        value=value,
        blend_weight=BLEND_WEIGHT,
        bias=START,
        own_weight=1.0,
        list_weight=0.0,
        lead_weight=0.0,
        base=0.0,
    )


def calibrate(
    trees: RerankerWeights, lists: Sequence[tuple[Matrix, npt.NDArray[np.bool_], float]]
) -> RerankerWeights:
    """Return `trees` calibrated on lists of (scores, right, weight)."""
    columns, right, weight = [], [], []
    for scores, correct, share in lists:
        columns.append(odds_terms(scores, scores))
        right.append(correct)
        weight.append(np.full(len(scores), share))
    table, truth = np.concatenate(columns), np.concatenate(right).astype(float)
    shares = np.concatenate(weight) / sum(each.sum() for each in weight)
    found = np.array([1.0, 0.0, 0.0, 0.0])
    for _ in range(30):
        told = 1 / (1 + np.exp(-table @ found))
        slope = table.T @ (shares * (told - truth))
        curve = (table * (shares * told * (1 - told))[:, None]).T @ table + 1e-6 * np.eye(4)
        found = found - np.linalg.solve(curve, slope)
    own, whole, lead, base = (float(each) for each in found)
    return replace(trees, own_weight=own, list_weight=whole, lead_weight=lead, base=base)


def _best_rows(values: Matrix, pages: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return, per page, the row with the highest value; the rows of a page lie together."""
    order = np.lexsort((-values, pages))
    return order[np.flatnonzero(np.diff(pages[order], prepend=-1))]


async def collect(judged: JudgedSet, embedder: Embedder | None) -> list[Group]:
    """Return the candidates of every query of a set, as the reranker will see them."""
    groups = []
    for query in judged.queries:
        asked = read_query(query.text)
        candidates = await find_candidates(
            asked, store=judged.store, embedder=embedder, where=SearchFilter(), depth=DEPTH
        )
        if candidates.found:
            rows = feature_rows(asked.text, candidates.found)
            urls = [found.chunk.url for found in candidates.found]
            groups.append(_group(rows, urls, query))
    return groups


def _group(rows: Matrix, urls: Sequence[str], query: JudgedQuery) -> Group:
    number = {url: at for at, url in enumerate(dict.fromkeys(urls))}
    kept: list[tuple[int, int]] = []
    count = dict.fromkeys(number, 0)
    for at, url in enumerate(urls):
        if count[url] < _CHUNKS_PER_PAGE:
            kept.append((number[url], at))
            count[url] += 1
    kept.sort()
    gains = np.array([query.gains.get(url, 0.0) for url in number])
    return Group(
        rows=rows[[at for _, at in kept]],
        pages=np.array([page for page, _ in kept]),
        right=gains > 0,
        gains=tuple(sorted(query.gains.values(), reverse=True)),
        page_gains=gains,
    )


def page_scores(weights: RerankerWeights, group: Group) -> Matrix:
    """Return the score of each page's best chunk."""
    scores = weights.score(group.rows)
    return scores[_best_rows(scores, group.pages)]


def page_odds(weights: RerankerWeights, group: Group) -> Matrix:
    """Return the calibrated odds of each page's best chunk."""
    scores = page_scores(weights, group)
    return weights.odds(scores, scores)


def ndcg(scores: Matrix, group: Group) -> float:
    """Return nDCG@10 of the pages ordered by `scores`."""
    order = np.argsort(-scores, kind="stable")[:10]
    got = sum(group.page_gains[page] / math.log2(at + 2) for at, page in enumerate(order))
    best = sum(gain / math.log2(at + 2) for at, gain in enumerate(group.gains[:10]))
    return float(got / best)


def fused_ndcg(groups: Sequence[Group]) -> float:
    """Return the mean nDCG@10 of plain rank fusion, the order in which pages were found."""
    return statistics.fmean(ndcg(-np.arange(len(group.right)), group) for group in groups)


def first_results(
    odds: Sequence[Matrix], groups: Sequence[Group]
) -> tuple[Matrix, npt.NDArray[np.bool_]]:
    """Return, per query, the probability told for the first page and whether it was right.

    Only the first page counts: hundreds of pages that are rightly given nothing would hide how
    wrong the confident ones are.
    """
    told = np.array([1 / (1 + np.exp(-each.max())) for each in odds])
    right = [group.right[each.argmax()] for each, group in zip(odds, groups, strict=True)]
    return told, np.array(right, dtype=bool)


def calibration_error(told: Matrix, right: npt.NDArray[np.bool_]) -> float:
    """Return how far the told probability lies from the share that was right, over ten bins."""
    bins = np.minimum((told * 10).astype(int), 9)
    gaps = [
        abs(told[bins == at].mean() - right[bins == at].mean()) * (bins == at).mean()
        for at in range(10)
        if (bins == at).any()
    ]
    return float(sum(gaps))


def judge(odds: Sequence[Matrix], groups: Sequence[Group]) -> str:
    """Return nDCG@10 and the calibration error, ready to print."""
    gain = statistics.fmean(ndcg(one, group) for one, group in zip(odds, groups, strict=True))
    return f"{gain:9.3f} ±{calibration_error(*first_results(odds, groups)):.3f}"


def cross_validate(groups: Mapping[str, Sequence[Group]]) -> dict[str, list[Matrix]]:
    """Return, per set and query, the odds of models fitted without the query."""
    folds = []
    for fold in range(FOLDS):
        rest = {
            name: [group for at, group in enumerate(members) if at % FOLDS != fold]
            for name, members in groups.items()
        }
        folds.append(fit(rest))
    return {
        name: [page_odds(folds[at % FOLDS], group) for at, group in enumerate(members)]
        for name, members in groups.items()
    }


def leave_out(groups: Mapping[str, Sequence[Group]]) -> dict[str, list[Matrix]]:
    """Return, per set and query, the odds of a model that saw nothing of the set's family."""
    weights = {
        family: fit({name: each for name, each in groups.items() if _family(name) != family})
        for family in {_family(name) for name in groups}
    }
    return {
        name: [page_odds(weights[_family(name)], group) for group in members]
        for name, members in groups.items()
    }


def _family(name: str) -> str:
    """Return what sets share that have the same pages or translations of them."""
    plain = name.removesuffix(WORDS_ONLY)
    return SITE_SETS.get(plain, plain.removesuffix("_en").removesuffix("_ja"))


def report(fitted: Mapping[str, Sequence[Group]], held_out: Mapping[str, Sequence[Group]]) -> None:
    """Print nDCG@10 and the calibration error of the first result, per set and over all."""
    print(f"{'set':34}{'fusion':>8}{'cross-validated':>16}{'family left out':>17}", flush=True)
    validated, left_out = cross_validate(fitted), leave_out(fitted)
    for name, groups in fitted.items():
        told = judge(validated[name], groups) + judge(left_out[name], groups)
        print(f"{name:34}{fused_ndcg(groups):8.3f}{told}", flush=True)
    weights = fit(fitted)
    for name, groups in held_out.items():
        told = judge([page_odds(weights, group) for group in groups], groups)
        print(f"{name:34}{fused_ndcg(groups):8.3f}{'':16}{told}", flush=True)
    _report_reliability(validated, fitted)


def _report_reliability(
    odds: Mapping[str, Sequence[Matrix]], groups: Mapping[str, Sequence[Group]]
) -> None:
    results = [first_results(odds[name], groups[name]) for name in groups]
    told = np.concatenate([each for each, _ in results])
    right = np.concatenate([each for _, each in results])
    print(f"all fitted sets together: calibration error {calibration_error(told, right):.3f}")
    bins = np.minimum((told * 10).astype(int), 9)
    for at in range(10):
        inside = bins == at
        if inside.any():
            shares = f"told {told[inside].mean():.2f}, right {right[inside].mean():.2f}"
            print(f"  {at / 10:.1f} to {at / 10 + 0.1:.1f}: {shares}, {inside.sum()} queries")


WORDS_ONLY = ", words only"


async def gather(
    names: Sequence[str], options: argparse.Namespace, embedder: CachedEmbedder
) -> dict[str, list[Group]]:
    """Return the groups of every set, with its vectors and once more as if it had none."""
    groups: dict[str, list[Group]] = {}
    for name in names:
        async with open_set(
            name,
            data=options.data,
            sites=options.sites,
            cache=options.cache,
            embedder=embedder,
            max_queries=10_000,
        ) as judged:
            queries = list(judged.queries)
            random.Random(7).shuffle(queries)
            some = JudgedSet(name=name, store=judged.store, queries=tuple(queries[:MAX_QUERIES]))
            if embedder.supports(queries[0].text):
                groups[name] = await collect(some, embedder)
            groups[name + WORDS_ONLY] = await collect(some, None)
        print(f"  {name}: {len(some.queries)} queries", flush=True)
    return groups


async def run(options: argparse.Namespace) -> None:
    model = open_embedder("granite", endpoint="", api_key=None, threads=0)
    assert model is not None, "granite is always there"
    embedder = CachedEmbedder(model, options.cache / "vectors.db")
    fitted = await gather(sorted(FITTED_SETS), options, embedder)
    if options.write:
        place = Path(calibrated_reranker.__file__).with_name(WEIGHTS_FILE)
        fields = json.dumps(weights_to_json(fit(fitted)), separators=(",", ":"))
        place.write_text(fields + "\n", encoding="utf-8")
        print(f"wrote {place.name}, {len(fields)} bytes", flush=True)
    if options.report:
        held_out = await gather(HELD_OUT_SETS, options, embedder)
        report(fitted, held_out)
    await embedder.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--write", action="store_true", help="replace the packaged weights")
    parser.add_argument("--report", action="store_true", help="cross-validate and hold sets out")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
