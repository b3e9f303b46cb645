"""Train the reader on written questions, and measure it on sites that took no part.

    python -m bench.fit_reader [--epochs 3] [--per-site 400] [--go-on] [--write]

Needs `torch` and the sites of `reader_lists` (`../shared/data/get-sites /tmp/sites PACKAGE …`). For
each question the network sees what it will be given later: the best units, by words, of the passage
that the question was written from and of others that retrieval found. It learns a score for every
unit such that the units that answer, or "none" with a score of 0, have most of the softmax over all
of them. "None" is right for near misses, for questions about other sites, and for some questions
whose own passage is left out. `--go-on` trains the packaged weights further, at a lower rate.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import numpy as np
import torch
from bench.question_sites import DEFAULT_CACHE, DEFAULT_SITES
from bench.reader_lists import HELD_OUT, ReadList, ReadPassage, by_site, gather_lists, read_written
from bench.reader_network import (
    Granite,
    Weights,
    first_weights,
    load_weights,
    open_granite,
    score_windows,
    write_pack,
)
from torch import Tensor

from citewell.inference.span_reader import READER_FILE, Window, cut_windows
from citewell.research.read_path import READ_CHUNKS

_LAYERS = 4
_BATCH = 8
_OTHERS = 8
"""Passages that are negatives in turn: the best that retrieval found."""
_LEFT_OUT = 0.15
"""How often a question's own passage is left out, so that none of the others answers."""
_RATE = 1.5e-4
_HEAD_RATE = 7.5e-4
_FURTHER = 0.4
"""What is left of both rates where training goes on."""
_WARM_UP = 0.05
_LEAST_RATE = 0.02
_REPORTED = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Windows of one question, with the labels of their units."""

    windows: tuple[Window, ...]
    labels: tuple[tuple[int, ...], ...]


def choose_passages(each: ReadList, chance: random.Random) -> list[ReadPassage]:
    """Return the passages that the network sees this time."""
    others = list(each.others[:_OTHERS])
    chosen = chance.sample(others, min(READ_CHUNKS - 1, len(others)))
    is_left_out = each.is_answered and bool(chosen) and chance.random() < _LEFT_OUT
    return chosen if each.own is None or is_left_out else [each.own, *chosen]


def make_example(
    granite: Granite, question: str, passages: Sequence[ReadPassage], *, one_window: bool
) -> Example:
    """Return the windows of the passages; `one_window` keeps of each the one that answers."""
    windows: list[Window] = []
    labels: list[tuple[int, ...]] = []
    for passage in passages:
        rest = list(passage.labels)
        cut = []
        for window in cut_windows(granite.tokenizer, question, passage.passage):
            cut.append((window, tuple(rest[: len(window.ends)])))
            rest = rest[len(window.ends) :]
        if one_window:
            cut = [max(cut, key=lambda each: 1 in each[1])]
        windows += [window for window, _ in cut]
        labels += [own for _, own in cut]
    return Example(windows=tuple(windows), labels=tuple(labels))


def score_examples(
    granite: Granite, weights: Weights, examples: Sequence[Example], *, is_training: bool
) -> list[tuple[Tensor, Tensor]]:
    """Return scores and labels of each example's units, without those that take no part."""
    windows = [window for example in examples for window in example.windows]
    # Windows of about the same length go together, so that little is padded.
    by_length = sorted(range(len(windows)), key=lambda at: len(windows[at].ids))
    scored: dict[int, Tensor] = {}
    with torch.autocast("cpu", torch.bfloat16):
        for first in range(0, len(windows), _BATCH):
            places = by_length[first : first + _BATCH]
            own = [windows[at] for at in places]
            made = score_windows(granite, weights, own, is_training=is_training)
            scored |= dict(zip(places, made, strict=True))
    scores = [scored[at] for at in range(len(windows))]
    split: list[tuple[Tensor, Tensor]] = []
    for example in examples:
        odds = torch.cat(scores[: len(example.windows)])
        scores = scores[len(example.windows) :]
        labels = torch.tensor([label for row in example.labels for label in row])
        split.append((odds[labels >= 0], labels[labels >= 0]))
    return split


def loss_of(scores: Tensor, labels: Tensor) -> Tensor:
    """Return how unlikely the right units are, or that there is none, in nats."""
    whole = torch.logsumexp(torch.cat([torch.zeros(1), scores]), 0)
    right = scores[labels == 1]
    return whole - torch.logsumexp(right, 0) if len(right) else whole


def train(
    granite: Granite, weights: Weights, lists: Sequence[ReadList], *, epochs: float, pace: float
) -> None:
    """Train the weights in place; `pace` is what the rates are multiplied by."""
    heads = [weights[name] for name in ("head.w", "head.b", "kind_emb")]
    layers = [tensor for tensor in weights.values() if all(tensor is not head for head in heads)]
    groups = [
        {"params": heads, "lr": pace * _HEAD_RATE},
        {"params": layers, "lr": pace * _RATE},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98))
    steps = max(1, int(len(lists) * epochs / _BATCH))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, partial(_pace, steps=steps))
    chance = random.Random(1)
    waiting: list[ReadList] = []
    losses = list[float]()
    for step in range(1, steps + 1):
        if len(waiting) < _BATCH:
            waiting += chance.sample(lists, len(lists))
        batch = [waiting.pop() for _ in range(min(_BATCH, len(waiting)))]
        examples = [
            make_example(granite, each.question, choose_passages(each, chance), one_window=True)
            for each in batch
        ]
        scored = score_examples(granite, weights, examples, is_training=True)
        loss = torch.stack([loss_of(*each) for each in scored]).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % _REPORTED == 0:
            recent = np.mean(losses[-_REPORTED:])
            print(f"{step} of {steps}: loss {recent:.3f}", flush=True)


def _pace(step: int, *, steps: int) -> float:
    warm = max(1, int(_WARM_UP * steps))
    return min(1.0, (step + 1) / warm) * max(_LEAST_RATE, 1 - step / steps)


def measure(granite: Granite, weights: Weights, lists: Sequence[ReadList]) -> str:
    """Return how often the best unit answers, and how well unanswered questions are told apart."""
    best: list[bool] = []
    odds: dict[str, list[float]] = {"answered": [], "near misses": [], "of other sites": []}
    for each in lists:
        passages = [*([] if each.own is None else [each.own]), *each.others][:READ_CHUNKS]
        if not passages:
            continue
        example = make_example(granite, each.question, passages, one_window=False)
        with torch.no_grad():
            [(scores, labels)] = score_examples(granite, weights, [example], is_training=False)
        kind = "answered" if each.is_answered else "near misses" if each.own else "of other sites"
        odds[kind].append(float(torch.logsumexp(scores, 0)))
        if each.is_answered:
            best.append(bool(labels[scores.argmax()] == 1))
    right = odds.pop("answered")
    told_apart = ", ".join(
        f"{kind} {np.mean([high > low for high in right for low in own]):.3f}"
        for kind, own in odds.items()
    )
    return f"best unit answers {np.mean(best):.3f}; told apart (AUC): {told_apart}"


async def run(options: argparse.Namespace) -> None:
    names = list(dict.fromkeys(each.site for each in read_written()))
    lists = await gather_lists(
        names, sites=options.sites, cache=options.cache, per_site=options.per_site
    )
    trained_on, held_out = by_site(lists)
    granite = open_granite()
    fresh = partial(first_weights, granite, layers=_LAYERS)
    weights = load_weights(READER_FILE) if options.go_on else fresh()
    print(f"{len(trained_on)} questions, {len(held_out)} of {len(HELD_OUT)} sites held out")
    print(measure(granite, weights, held_out), flush=True)
    pace = _FURTHER if options.go_on else 1.0
    train(granite, weights, trained_on, epochs=options.epochs, pace=pace)
    print(measure(granite, weights, held_out))
    if options.write:
        write_pack(granite, weights, READER_FILE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--per-site", type=int, default=400, help="questions of a site at most")
    parser.add_argument("--go-on", action="store_true", help="start from the packaged weights")
    parser.add_argument("--write", action="store_true", help="replace the packaged weights")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
