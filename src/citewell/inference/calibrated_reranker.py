"""A small reranker of our own: features in, calibrated probabilities out; nothing to download.

Boosted trees over the features of `reranker_features`, fitted by bench/fit_reranker.py, which
writes them beside this module. They only correct a plain blend of word and vector scores, so a
list unlike any that was fitted still comes out in a sensible order. The longer a question, the less
they count: on developers' questions the blend by itself is better (bench/reports/ranking.md).
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from citewell.core.errors import InferenceError
from citewell.core.frozen import frozen
from citewell.core.off_loop import in_thread
from citewell.inference.reranker_features import FEATURES, feature_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.inference.protocols import Candidate

WEIGHTS_FILE = "calibrated_reranker.json"
_NODE_FIELDS = ("roots", "feature", "threshold", "left", "right", "value")
ODDS_TERMS = ("own score", "the whole list", "lead on the second page", "fourth page", "constant")

# Fitted to whole pages and mostly short queries, the trees say the less about which chunk answers
# the longer the question: up to so many words they count in full, from so many on not at all.
_SHORT_QUESTION, _LONG_QUESTION = 8, 14
# What release notes and indexes, which mention everything, lose there instead.
_LISTING_COST = 2.0
# With more candidates than that without a vector, the blend is one of words alone.
_MOST_MISSING_VECTORS = 0.5

Matrix = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@frozen
class RerankerWeights:
    """The fitted trees, all their nodes in one row; a leaf's children are itself.

    `odds_weights` turn scores into probabilities: a candidate is the more likely right the higher
    its own score and the further it is ahead of the second page, and the less likely the more the
    whole list has and the higher the fourth page stands, where few lists have a right page.
    """

    features: tuple[str, ...]
    """What the columns were when the trees were fitted."""
    roots: Places
    depth: int
    feature: Places
    threshold: Matrix
    left: Places
    right: Places
    value: Matrix
    blend_weight: float
    odds_weights: Matrix
    """One for each of ODDS_TERMS."""
    usual_rivals: Matrix
    """What the second, third and fourth page usually score; used where there are fewer pages."""

    def score(self, rows: Matrix) -> Matrix:
        """Return a score per row of features; only its order within a list has a meaning."""
        scores: Matrix = self.corrections(rows) + self.blend(rows)
        return scores

    def blend(self, rows: Matrix) -> Matrix:
        """Return what words and vectors say of each row, as the trees take it."""
        return self.blend_weight * rows[:, FEATURES.index("blend")]

    def corrections(self, rows: Matrix) -> Matrix:
        """Return what the trees add to the blend of each row."""
        place = np.tile(self.roots, (len(rows), 1))
        row = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            goes_left = rows[row, self.feature[place]] <= self.threshold[place]
            place = np.where(goes_left, self.left[place], self.right[place])
        added: Matrix = self.value[place].sum(axis=1)
        return added

    def odds(self, scores: Matrix, page_scores: Matrix) -> Matrix:
        """Return calibrated log-odds; `page_scores` are the best score of each page of the list."""
        odds: Matrix = odds_terms(scores, page_scores, self.usual_rivals) @ self.odds_weights
        return np.clip(odds, -30.0, 30.0)


def odds_terms(scores: Matrix, page_scores: Matrix, usual_rivals: Matrix) -> Matrix:
    """Return a row per score and a column for each of ODDS_TERMS."""
    rivals = usual_rivals[len(page_scores) - 1 :]
    first, second, _, fourth = np.sort(np.append(page_scores, rivals))[:-5:-1]
    whole = np.log(np.exp(page_scores - first).sum()) + first
    lead = np.maximum(scores - second, 0.0)
    ones = np.ones(len(scores))
    return np.column_stack([scores, whole * ones, lead, fourth * ones, ones])


class CalibratedReranker:
    """Orders candidates by the probability that they answer the query."""

    async def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return, per candidate, the probability from 0 to 1 that it answers `query`.

        Raises:
            InferenceError: the fitted weights are missing or do not fit the features.
        """
        return await in_thread(_probabilities, query, candidates, load_weights())

    async def aclose(self) -> None:
        """Do nothing: there is nothing to free."""


@cache
def load_weights() -> RerankerWeights:
    """Return the weights that ship with the package.

    Raises:
        InferenceError: they cannot be read or were fitted to other features.
    """
    try:
        text = (files("citewell.inference") / WEIGHTS_FILE).read_text(encoding="utf-8")
        weights = weights_from_json(json.loads(text))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InferenceError("the reranker's weights cannot be read") from error
    if weights.features != FEATURES:
        raise InferenceError("the reranker's weights were fitted to other features")
    return weights


def weights_from_json(fields: Mapping[str, object]) -> RerankerWeights:
    """Return the weights written by `weights_to_json`."""
    names = fields["features"]
    if not isinstance(names, list):
        raise TypeError("features must be a list of names")

    def places(name: str) -> Places:
        return np.asarray(fields[name], dtype=np.int64)

    def values(name: str) -> Matrix:
        return np.asarray(fields[name], dtype=np.float64)

    return RerankerWeights(
        features=tuple(map(str, names)),
        roots=places("roots"),
        depth=int(places("depth")),
        feature=places("feature"),
        threshold=values("threshold"),
        left=places("left"),
        right=places("right"),
        value=values("value"),
        blend_weight=float(values("blend_weight")),
        odds_weights=values("odds_weights"),
        usual_rivals=values("usual_rivals"),
    )


def weights_to_json(weights: RerankerWeights) -> dict[str, object]:
    """Return the weights as plain lists and numbers.

    None is rounded: a threshold just under 0 or 1 parts a list's best from the rest.
    """
    return {
        "features": list(weights.features),
        "depth": weights.depth,
        "blend_weight": weights.blend_weight,
        "odds_weights": weights.odds_weights.tolist(),
        "usual_rivals": weights.usual_rivals.tolist(),
        **{name: getattr(weights, name).tolist() for name in _NODE_FIELDS},
    }


def _probabilities(
    query: str, candidates: Sequence[Candidate], weights: RerankerWeights
) -> list[float]:
    if not candidates:
        return []
    rows = feature_rows(query, candidates)
    corrections, blend = weights.corrections(rows), weights.blend(rows)
    scores = corrections + blend
    best: dict[int, float] = {}
    for candidate, score in zip(candidates, scores, strict=True):
        page = candidate.chunk.source_id
        best[page] = max(best.get(page, -np.inf), float(score))
    odds = weights.odds(scores, np.array(list(best.values())))
    probabilities = 1.0 / (1.0 + np.exp(-odds))
    # A probability says how often a chunk in this place is right, whoever stands there.
    share = _share_of_corrections(rows)
    mentions = _LISTING_COST * rows[:, FEATURES.index("listing_page")]
    standing = blend + share * corrections - (1 - share) * mentions
    order = np.argsort(-standing, kind="stable")
    placed = np.empty_like(probabilities)
    placed[order] = np.sort(probabilities)[::-1]
    return [float(probability) for probability in placed]


def _share_of_corrections(rows: Matrix) -> float:
    """Return how far the trees count in the order of candidates: in full unless vectors decide."""
    if rows[:, FEATURES.index("vector_missing")].mean() > _MOST_MISSING_VECTORS:
        return 1.0
    bigrams = rows[0, FEATURES.index("bigram_share")]
    words = (2 ** rows[0, FEATURES.index("query_length")] - 1) * (1 - bigrams)
    return float(np.clip((_LONG_QUESTION - words) / (_LONG_QUESTION - _SHORT_QUESTION), 0.0, 1.0))
