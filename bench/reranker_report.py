"""What the reranker is worth: nDCG@10, and how true its probabilities are."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from bench.reranker_lists import CandidateList, Matrix, family
from bench.reranker_trees import FOLDS, fit, page_odds, without_fold

from citewell.inference.calibrated_reranker import RerankerWeights

Lists = Mapping[str, Sequence[CandidateList]]
Odds = Mapping[str, Sequence[Matrix]]

HIGH = 0.7
"""The probability from which `rag_query_websites` tells a high confidence."""


def report(fitted: Lists, held_out: Lists, *, weights: RerankerWeights) -> None:
    """Print a row per set: fusion, cross-validation, its family left out, and `weights`."""
    columns = "".join(f"{name:>13}" for name in ("CV", "left out", "shipped"))
    print(f"{'set':34}{'fusion':>7}{columns}   high right", flush=True)
    validated, left_out = cross_validate(fitted), leave_out(fitted)
    for name, lists in fitted.items():
        shipped = [page_odds(weights, each) for each in lists]
        worth = [judge(odds, lists) for odds in (validated[name], left_out[name], shipped)]
        _print_row(name, lists, worth, judged_by=validated[name])
    unseen = {name: [page_odds(weights, each) for each in held_out[name]] for name in held_out}
    for name, lists in held_out.items():
        _print_row(name, lists, ["", "", judge(unseen[name], lists)], judged_by=unseen[name])
    _report_reliability("cross-validated", validated, fitted)
    _report_reliability("family left out", left_out, fitted)
    _report_reliability("not fitted", unseen, held_out)


def cross_validate(lists: Lists) -> dict[str, list[Matrix]]:
    """Return, per set and query, the odds of models fitted without the query."""
    folds = [fit(without_fold(lists, fold)) for fold in range(FOLDS)]
    return {
        name: [page_odds(folds[at % FOLDS], each) for at, each in enumerate(members)]
        for name, members in lists.items()
    }


def leave_out(lists: Lists) -> dict[str, list[Matrix]]:
    """Return, per set and query, the odds of a model that saw nothing of the set's family."""
    weights = {
        left: fit({name: each for name, each in lists.items() if family(name) != left})
        for left in {family(name) for name in lists}
    }
    return {
        name: [page_odds(weights[family(name)], each) for each in members]
        for name, members in lists.items()
    }


def judge(odds: Sequence[Matrix], lists: Sequence[CandidateList]) -> str:
    """Return nDCG@10 and the calibration error, ready to print."""
    gain = statistics.fmean(ndcg(one, each) for one, each in zip(odds, lists, strict=True))
    return f"{gain:.3f} ±{calibration_error(*first_results(odds, lists)):.3f}"


def ndcg(scores: Matrix, candidates: CandidateList) -> float:
    """Return nDCG@10 of the pages ordered by `scores`."""
    order = np.argsort(-scores, kind="stable")[:10]
    got = sum(candidates.page_gains[page] / math.log2(at + 2) for at, page in enumerate(order))
    best = sum(gain / math.log2(at + 2) for at, gain in enumerate(candidates.gains[:10]))
    return float(got / best)


def fused_ndcg(lists: Sequence[CandidateList]) -> float:
    """Return the mean nDCG@10 of plain rank fusion, the order in which pages were found."""
    return statistics.fmean(ndcg(-np.arange(float(len(each.right))), each) for each in lists)


def first_results(
    odds: Iterable[Matrix], lists: Iterable[CandidateList]
) -> tuple[Matrix, npt.NDArray[np.bool_]]:
    """Return, per query, the probability told for the first page and whether it was right.

    Only the first page counts: hundreds of pages that are rightly given nothing would hide how
    wrong the confident ones are.
    """
    pairs = list(zip(odds, lists, strict=True))
    told = np.array([1 / (1 + np.exp(-each.max())) for each, _ in pairs])
    right = [candidates.right[each.argmax()] for each, candidates in pairs]
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


def _print_row(
    name: str, lists: Sequence[CandidateList], worth: Sequence[str], *, judged_by: Sequence[Matrix]
) -> None:
    told, right = first_results(judged_by, lists)
    sure = told > HIGH
    share = f"{right[sure].mean():.3f}" if sure.any() else "-"
    columns = "".join(f"{each:>13}" for each in worth)
    print(f"{name:34}{fused_ndcg(lists):7.3f}{columns}{sure.mean():7.2f}{share:>6}", flush=True)


def _report_reliability(what: str, odds: Odds, lists: Lists) -> None:
    results = [first_results(odds[name], lists[name]) for name in lists]
    told = np.concatenate([each for each, _ in results])
    right = np.concatenate([each for _, each in results])
    sure = told > HIGH
    print(f"{what}, all sets together: calibration error {calibration_error(told, right):.3f}")
    print(f"  high: {sure.sum()} of {len(told)} queries, right {right[sure].mean():.3f}")
    bins = np.minimum((told * 10).astype(int), 9)
    for at in range(10):
        inside = bins == at
        if inside.any():
            shares = f"told {told[inside].mean():.2f}, right {right[inside].mean():.2f}"
            print(f"  {at / 10:.1f} to {at / 10 + 0.1:.1f}: {shares}, {inside.sum()} queries")
