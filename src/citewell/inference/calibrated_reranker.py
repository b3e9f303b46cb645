"""A small reranker of our own: features in, calibrated probabilities out; no model to download.

One hidden layer over the features of `reranker_features`, fitted by bench/fit_reranker.py, which
writes the weights beside this module.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from anyio.to_thread import run_sync

from citewell.core.errors import InferenceError
from citewell.inference.reranker_features import FEATURES, feature_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.inference.protocols import Candidate

WEIGHTS_FILE = "calibrated_reranker.json"
# Features that lie further out than anything the fit saw say no more than the furthest it did.
_FURTHEST = 4.0

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerWeights:
    """The fitted numbers; `features` names the columns they were fitted to, in order."""

    features: tuple[str, ...]
    mean: Matrix
    scale: Matrix
    linear: Matrix
    hidden: Matrix
    hidden_bias: Matrix
    output: Matrix
    bias: float

    def score(self, rows: Matrix) -> Matrix:
        """Return the log-odds per row of features."""
        scaled = np.clip((rows - self.mean) / self.scale, -_FURTHEST, _FURTHEST)
        bent = np.tanh(scaled @ self.hidden + self.hidden_bias)
        odds: Matrix = scaled @ self.linear + bent @ self.output + self.bias
        return odds


class CalibratedReranker:
    """Orders candidates by the probability that they answer the query."""

    def __init__(self, weights: RerankerWeights | None = None) -> None:
        self._weights = weights

    async def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return, per candidate, the probability from 0 to 1 that it answers `query`.

        Raises:
            InferenceError: the fitted weights are missing or do not fit the features.
        """
        weights = self._weights or load_weights()
        return await run_sync(_probabilities, query, candidates, weights)

    async def aclose(self) -> None:
        """Hold nothing that needs freeing."""


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
    arrays = {
        name: np.asarray(fields[name], dtype=np.float64)
        for name in ("mean", "scale", "linear", "hidden", "hidden_bias", "output", "bias")
    }
    names = fields["features"]
    if not isinstance(names, list):
        raise TypeError("features must be a list of names")
    bias = float(arrays.pop("bias"))
    return RerankerWeights(features=tuple(map(str, names)), bias=bias, **arrays)


def weights_to_json(weights: RerankerWeights) -> dict[str, object]:
    """Return the weights as plain lists and numbers, rounded to what matters."""
    fields: dict[str, object] = {"features": list(weights.features)}
    for name in ("mean", "scale", "linear", "hidden", "hidden_bias", "output"):
        fields[name] = np.round(getattr(weights, name), 5).tolist()
    fields["bias"] = round(weights.bias, 5)
    return fields


def _probabilities(
    query: str, candidates: Sequence[Candidate], weights: RerankerWeights
) -> list[float]:
    if not candidates:
        return []
    odds = np.clip(weights.score(feature_rows(query, candidates)), -30.0, 30.0)
    probabilities: Matrix = 1.0 / (1.0 + np.exp(-odds))
    return [float(probability) for probability in probabilities]
