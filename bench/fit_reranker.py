"""Fits the calibrated reranker on judged queries and writes its weights; prints what it is worth.

    python -m bench.fit_reranker [--data DIR] [--sites DIR] [--cache DIR] [--write] [--report]

A page is as good as its best chunk, so the loss is taken over pages: the log-loss of every page
(for calibration) plus the cross-entropy of the list (for order). Every set weighs the same. Fitted
sets are judged by cross-validation over queries, and once more with the whole set left out.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np
import numpy.typing as npt
from bench.cached_embedder import CachedEmbedder
from bench.judged_sets import (
    DEFAULT_CACHE,
    DEFAULT_DATA,
    DEFAULT_SITES,
    FITTED_SETS,
    JudgedQuery,
    JudgedSet,
    open_set,
)

from citewell.core.records import SearchFilter
from citewell.inference import calibrated_reranker
from citewell.inference.calibrated_reranker import (
    WEIGHTS_FILE,
    RerankerWeights,
    weights_to_json,
)
from citewell.inference.open import open_embedder
from citewell.inference.protocols import Embedder
from citewell.inference.reranker_features import FEATURES, feature_rows
from citewell.retrieve.candidates import find_candidates
from citewell.retrieve.pipeline import DEPTH
from citewell.retrieve.query import read_query

Matrix = npt.NDArray[np.float64]

HELD_OUT_SETS = ("hotpot100", "k8s_glossary_en", "k8s_glossary_ja", "odex_pysite")
HIDDEN_UNITS = 8
STEPS = 200
LEARNING_RATE = 0.05
WEIGHT_DECAY = 1e-3
ORDER_SHARE = 0.5
"""How much the order within a list counts against the calibration of each page."""
FOLDS = 3
MAX_QUERIES = 250
"""Per set; more of the large sets would not move the fit, only slow it."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """Many groups laid end to end."""

    rows: Matrix
    page_starts: npt.NDArray[np.int64]
    group_starts: npt.NDArray[np.int64]
    group_of_page: npt.NDArray[np.int64]
    right: Matrix
    weight: Matrix
    """Per page; a set's pages sum to one."""


def fit(groups: Mapping[str, Sequence[Group]], *, seed: int = 7) -> RerankerWeights:
    """Return the weights that do best on the groups of all the sets together."""
    batch = _lay_out(groups)
    mean = batch.rows.mean(axis=0)
    scale = np.maximum(batch.rows.std(axis=0), 1e-3)
    scaled = np.clip((batch.rows - mean) / scale, -4.0, 4.0)
    random = np.random.default_rng(seed)
    count = scaled.shape[1]
    parameters = {
        "linear": np.zeros(count),
        "hidden": random.normal(0, 1 / np.sqrt(count), (count, HIDDEN_UNITS)),
        "hidden_bias": np.zeros(HIDDEN_UNITS),
        "output": random.normal(0, 0.1, HIDDEN_UNITS),
        "bias": np.array(-2.0),
    }
    _descend(parameters, scaled, batch)
    return RerankerWeights(
        features=FEATURES,
        mean=mean,
        scale=scale,
        linear=parameters["linear"],
        hidden=parameters["hidden"],
        hidden_bias=parameters["hidden_bias"],
        output=parameters["output"],
        bias=float(parameters["bias"]),
    )


def _lay_out(groups: Mapping[str, Sequence[Group]]) -> _Batch:
    rows, page_starts, group_starts, group_of_page, right, weight = [], [], [], [], [], []
    at_row = at_page = at_group = 0
    for members in groups.values():
        for group in members:
            starts = np.flatnonzero(np.diff(group.pages, prepend=-1))
            rows.append(group.rows)
            page_starts.append(starts + at_row)
            group_starts.append(at_page)
            group_of_page.append(np.full(len(starts), at_group))
            right.append(group.right.astype(float))
            weight.append(np.full(len(starts), 1.0 / (len(members) * len(starts))))
            at_row += len(group.rows)
            at_page += len(starts)
            at_group += 1
    return _Batch(
        rows=np.concatenate(rows),
        page_starts=np.concatenate(page_starts),
        group_starts=np.array(group_starts),
        group_of_page=np.concatenate(group_of_page),
        right=np.concatenate(right),
        weight=np.concatenate(weight) / len(groups),
    )


def _descend(parameters: dict[str, Matrix], scaled: Matrix, batch: _Batch) -> None:
    """Adam over the whole batch; changes `parameters` in place."""
    first = {name: np.zeros_like(value) for name, value in parameters.items()}
    second = {name: np.zeros_like(value) for name, value in parameters.items()}
    for step in range(1, STEPS + 1):
        rate = LEARNING_RATE * (0.5 + 0.5 * np.cos(np.pi * step / STEPS))
        for name, slope in _slopes(parameters, scaled, batch).items():
            if name not in ("bias", "hidden_bias"):
                slope = slope + WEIGHT_DECAY * parameters[name]
            first[name] = 0.9 * first[name] + 0.1 * slope
            second[name] = 0.999 * second[name] + 0.001 * slope**2
            move = (first[name] / (1 - 0.9**step)) / (
                np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8
            )
            parameters[name] = parameters[name] - rate * move


def _slopes(parameters: dict[str, Matrix], scaled: Matrix, batch: _Batch) -> dict[str, Matrix]:
    bent = np.tanh(scaled @ parameters["hidden"] + parameters["hidden_bias"])
    odds = scaled @ parameters["linear"] + bent @ parameters["output"] + parameters["bias"]
    best_row = _best_rows(odds, batch.page_starts)
    slope = _odds_slope(odds[best_row], batch)
    bent, seen = bent[best_row], scaled[best_row]
    back = slope[:, None] * parameters["output"] * (1 - bent**2)
    return {
        "linear": seen.T @ slope,
        "hidden": seen.T @ back,
        "hidden_bias": back.sum(axis=0),
        "output": bent.T @ slope,
        "bias": slope.sum(),
    }


def _best_rows(odds: Matrix, page_starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return, per page, the row with the highest odds."""
    highest = np.maximum.reduceat(odds, page_starts)
    sizes = np.diff(np.append(page_starts, len(odds)))
    is_best = odds >= np.repeat(highest, sizes)
    page_of_row = np.repeat(np.arange(len(page_starts)), sizes)
    rows = np.flatnonzero(is_best)
    return rows[np.unique(page_of_row[rows], return_index=True)[1]]


def _odds_slope(odds: Matrix, batch: _Batch) -> Matrix:
    """Return the slope of the loss by each page's odds."""
    pointwise = batch.weight * (1 / (1 + np.exp(-odds)) - batch.right)
    powers = np.exp(odds - np.maximum.reduceat(odds, batch.group_starts)[batch.group_of_page])
    shares = powers / np.add.reduceat(powers, batch.group_starts)[batch.group_of_page]
    rights = np.add.reduceat(batch.right, batch.group_starts)[batch.group_of_page]
    target = np.where(rights > 0, batch.right / np.maximum(rights, 1), shares)
    # One list counts as much as one page of it does in the pointwise part.
    return (1 - ORDER_SHARE) * pointwise + ORDER_SHARE * batch.weight * (shares - target)


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


def page_odds(weights: RerankerWeights, group: Group) -> Matrix:
    """Return the odds of each page's best chunk."""
    odds = np.full(len(group.right), -np.inf)
    np.maximum.at(odds, group.pages, weights.score(group.rows))
    return odds


def ndcg(scores: Matrix, group: Group) -> float:
    """Return nDCG@10 of the pages ordered by `scores`."""
    order = np.argsort(-scores, kind="stable")[:10]
    got = sum(group.page_gains[page] / math.log2(at + 2) for at, page in enumerate(order))
    best = sum(gain / math.log2(at + 2) for at, gain in enumerate(group.gains[:10]))
    return float(got / best)


def fused_ndcg(groups: Sequence[Group]) -> float:
    """Return the mean nDCG@10 of plain fusion."""
    column = FEATURES.index("page_best")
    first = [np.flatnonzero(np.diff(group.pages, prepend=-1)) for group in groups]
    return statistics.fmean(
        ndcg(group.rows[starts, column], group) for group, starts in zip(groups, first, strict=True)
    )


def calibration_error(pairs: Sequence[tuple[Matrix, npt.NDArray[np.bool_]]]) -> float:
    """Return the expected calibration error of the best page per query, in ten bins.

    Only the first page counts: hundreds of pages that are rightly given nothing would hide how
    wrong the confident ones are.
    """
    tops = [(1 / (1 + np.exp(-odds.max())), right[odds.argmax()]) for odds, right in pairs]
    told = np.array([probability for probability, _ in tops])
    true = np.array([right for _, right in tops], dtype=float)
    bins = np.minimum((told * 10).astype(int), 9)
    gaps = [
        abs(told[bins == at].mean() - true[bins == at].mean()) * (bins == at).mean()
        for at in range(10)
        if (bins == at).any()
    ]
    return float(sum(gaps))


def judge(weights: RerankerWeights, groups: Sequence[Group]) -> tuple[float, float]:
    """Return nDCG@10 and calibration error."""
    pairs = [(page_odds(weights, group), group.right) for group in groups]
    gain = statistics.fmean(
        ndcg(odds, group) for (odds, _), group in zip(pairs, groups, strict=True)
    )
    return gain, calibration_error(pairs)


def cross_validate(groups: Mapping[str, Sequence[Group]]) -> dict[str, tuple[float, float]]:
    """Return, per set, what models fitted without the judged queries reach."""
    folds = []
    for fold in range(FOLDS):
        rest = {
            name: [group for at, group in enumerate(members) if at % FOLDS != fold]
            for name, members in groups.items()
        }
        folds.append(fit(rest))
    results = {}
    for name, members in groups.items():
        pairs = [
            (page_odds(folds[at % FOLDS], group), group.right) for at, group in enumerate(members)
        ]
        gain = statistics.fmean(
            ndcg(odds, group) for (odds, _), group in zip(pairs, members, strict=True)
        )
        results[name] = gain, calibration_error(pairs)
    return results


def leave_out(groups: Mapping[str, Sequence[Group]], name: str) -> tuple[float, float]:
    """Return what a model reaches on a set of which it saw nothing, with or without vectors."""
    family = name.removesuffix(WORDS_ONLY)
    rest = {other: members for other, members in groups.items() if not other.startswith(family)}
    return judge(fit(rest), groups[name])


def report(fitted: Mapping[str, Sequence[Group]], held_out: Mapping[str, Sequence[Group]]) -> None:
    """Print nDCG@10 and the calibration error of the first result, per set."""
    print(f"{'set':34}{'fusion':>8}{'cross-validated':>17}{'set left out':>15}", flush=True)
    validated = cross_validate(fitted)
    for name, groups in fitted.items():
        (gain, error), (alone, alone_error) = validated[name], leave_out(fitted, name)
        print(
            f"{name:34}{fused_ndcg(groups):8.3f}{gain:10.3f} ±{error:.3f}"
            f"{alone:9.3f} ±{alone_error:.3f}",
            flush=True,
        )
    weights = fit(fitted)
    for name, groups in held_out.items():
        gain, error = judge(weights, groups)
        print(f"{name:34}{fused_ndcg(groups):8.3f}{'':17}{gain:9.3f} ±{error:.3f}", flush=True)


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
