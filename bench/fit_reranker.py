"""Fits the calibrated reranker on judged queries and writes its weights; prints what it is worth.

    python -m bench.fit_reranker [--data DIR] [--cache DIR] [--write]

A page is as good as its best chunk, so the loss is taken over pages: the log-loss of every page (for
calibration) plus the cross-entropy of the list (for order). Every set weighs the same. Deterministic.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np
import numpy.typing as npt

from bench.judged_sets import DEFAULT_CACHE, DEFAULT_DATA, JudgedSet, open_sets
from citewell.inference.calibrated_reranker import (
    WEIGHTS_FILE,
    RerankerWeights,
    weights_to_json,
)
from citewell.inference.reranker_features import FEATURES

Matrix = npt.NDArray[np.float64]

HIDDEN_UNITS = 8
STEPS = 600
LEARNING_RATE = 0.02
WEIGHT_DECAY = 1e-3
ORDER_SHARE = 0.5
"""How much the order within a list counts against the calibration of each page."""
FOLDS = 5


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
    pages = np.diff(np.append(batch.group_starts, len(odds)))
    pointwise = batch.weight * (1 / (1 + np.exp(-odds)) - batch.right)
    powers = np.exp(odds - np.maximum.reduceat(odds, batch.group_starts)[batch.group_of_page])
    shares = powers / np.add.reduceat(powers, batch.group_starts)[batch.group_of_page]
    rights = np.add.reduceat(batch.right, batch.group_starts)[batch.group_of_page]
    target = np.where(rights > 0, batch.right / np.maximum(rights, 1), shares)
    # One list counts as much as one page of it does in the pointwise part.
    return (1 - ORDER_SHARE) * pointwise + ORDER_SHARE * batch.weight * (shares - target)
