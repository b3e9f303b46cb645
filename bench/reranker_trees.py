"""Fitting the calibrated reranker: trees that put right pages first, then what their scores mean.

The trees are fitted to the order within each list. Fitted to being right they learned that the
first page by words is often the right one, and it could hardly be overtaken any more: nDCG@10 by
cross-validation was .845 over the fitted sets, .858 by the order. Probabilities come afterwards,
from scores of queries that the trees did not see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
from bench.reranker_lists import CandidateList, Matrix

from citewell.inference.calibrated_reranker import ODDS_TERMS, RerankerWeights, odds_terms
from citewell.inference.reranker_features import FEATURES

ROUNDS = 120
BLEND_WEIGHT = 3.0
"""Of the blend of word and vector score, from which the trees start."""
FOLDS = 3
FALLING = frozenset({"word_missing", "vector_below_best", "listing_page", "link_density"})
FREE = frozenset({"vector_missing", "query_length", "first_chunk", "bigram_share"})
"""All other features may only raise a page: more of a match is never worse."""
_PARAMETERS = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 10,
    "num_leaves": 8,
    "learning_rate": 0.1,
    "min_data_in_leaf": 40,
    "lambda_l2": 5,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "deterministic": True,
    "num_threads": 1,
    "seed": 3,
    "verbose": -1,
}
_NEWTON_STEPS = 30


def fit(lists: Mapping[str, Sequence[CandidateList]]) -> RerankerWeights:
    """Return trees fitted to all lists, calibrated on queries that the trees did not see."""
    seen: list[tuple[Matrix, npt.NDArray[np.bool_], float]] = []
    for fold in range(FOLDS):
        trees = fit_trees(without_fold(lists, fold))
        for members in lists.values():
            seen.extend(
                (page_scores(trees, each), each.right, 1.0 / len(members))
                for each in members[fold::FOLDS]
            )
    return calibrate(fit_trees(lists), seen)


def without_fold(
    lists: Mapping[str, Sequence[CandidateList]], fold: int
) -> dict[str, list[CandidateList]]:
    """Return all lists but every third of each set, beginning with the one at `fold`."""
    return {
        name: [each for at, each in enumerate(members) if at % FOLDS != fold]
        for name, members in lists.items()
    }


def fit_trees(lists: Mapping[str, Sequence[CandidateList]]) -> RerankerWeights:
    """Return boosted trees over each page's best chunk; every set weighs the same."""
    rows, right, weight = [], [], []
    blend = FEATURES.index("blend")
    for members in lists.values():
        for each in members:
            rows.append(each.rows[each.best_rows(each.rows[:, blend])])
            right.append(each.right)
            weight.append(np.full(len(each.right), 1.0 / len(members)))
    table, weights = np.concatenate(rows), np.concatenate(weight)
    booster = lightgbm.train(
        {**_PARAMETERS, "monotone_constraints": [_direction(name) for name in FEATURES]},
        lightgbm.Dataset(
            table,
            label=np.concatenate(right).astype(int),
            weight=weights / weights.mean(),
            group=[len(each) for each in rows],
            init_score=BLEND_WEIGHT * table[:, blend],
        ),
        ROUNDS,
    )
    return _flatten([tree["tree_structure"] for tree in booster.dump_model()["tree_info"]])


def calibrate(
    trees: RerankerWeights, lists: Sequence[tuple[Matrix, npt.NDArray[np.bool_], float]]
) -> RerankerWeights:
    """Return `trees` calibrated on lists of (scores, right, weight), by Newton's method."""
    columns, right, weight = [], [], []
    rivals = usual_rivals([scores for scores, *_ in lists])
    for scores, correct, share in lists:
        columns.append(odds_terms(scores, scores, rivals))
        right.append(correct)
        weight.append(np.full(len(scores), share))
    table, truth = np.concatenate(columns), np.concatenate(right).astype(float)
    shares = np.concatenate(weight) / sum(each.sum() for each in weight)
    found = np.zeros(len(ODDS_TERMS))
    for _ in range(_NEWTON_STEPS):
        told = 1 / (1 + np.exp(-table @ found))
        slope = table.T @ (shares * (told - truth))
        curve = (table * (shares * told * (1 - told))[:, None]).T @ table
        found = found - np.linalg.solve(curve + 1e-6 * np.eye(len(found)), slope)
    return replace(trees, odds_weights=found, usual_rivals=rivals)


def usual_rivals(lists: Sequence[Matrix]) -> Matrix:
    """Return the median score of the second, third and fourth page, over lists that have them."""
    places = [np.sort(scores)[::-1][1:4] for scores in lists if len(scores) >= 4]
    rivals: Matrix = np.median(places, axis=0)
    return rivals


def page_scores(weights: RerankerWeights, candidates: CandidateList) -> Matrix:
    """Return the score of each page's best chunk."""
    scores = weights.score(candidates.rows)
    return scores[candidates.best_rows(scores)]


def page_odds(weights: RerankerWeights, candidates: CandidateList) -> Matrix:
    """Return the calibrated odds of each page's best chunk."""
    scores = page_scores(weights, candidates)
    return weights.odds(scores, scores)


def _direction(feature: str) -> int:
    return 0 if feature in FREE else -1 if feature in FALLING else 1


def _flatten(trees: Sequence[dict[str, Any]]) -> RerankerWeights:
    """Return LightGBM's trees as one row of nodes; not calibrated yet."""
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
        odds_weights=np.zeros(len(ODDS_TERMS)),
        usual_rivals=np.zeros(0),
    )
